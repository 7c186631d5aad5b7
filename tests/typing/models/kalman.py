"""A linear system x' = A•x + B•u, y = C•x: composition, sums, forks, joins, projections and injections."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint, check_adjoint
from diff import derivative, fun
from hilbert import DirectSum, Fin, R, Vec, Vector, direct_sum
from linmap import LinMap, fork, identity, inject, join, parallel, project, scale, zero


class State: ...


class Control: ...


class Observed: ...


state, control, observed = Fin(State, 3), Fin(Control, 2), Fin(Observed, 1)
X, U, Y = R**state, R**control, R**observed
Both = direct_sum(X, U)


def dynamics(rng: np.random.Generator) -> LinMap[Vector[State], Vector[State]]:
    a = (R ** (state * state)).random(rng)
    return derivative(fun(X)(lambda x: a @ x)).at(X.zeros())


def steering(rng: np.random.Generator) -> LinMap[Vector[Control], Vector[State]]:
    b = (R ** (state * control)).random(rng)
    return derivative(fun(U)(lambda u: b @ u)).at(U.zeros())


def observation(rng: np.random.Generator) -> LinMap[Vector[State], Vector[Observed]]:
    c = (R ** (observed * state)).random(rng)
    return derivative(fun(X)(lambda x: c @ x)).at(X.zeros())


def smoothed(
    gain: LinMap[Vector[Observed], Vector[State]], y: Vec[Vector[Observed]], x: Vec[Vector[State]]
) -> Vec[Vector[State]]:
    return x + gain(y)


def main() -> None:
    rng = np.random.default_rng(0)
    a, b, c = dynamics(rng), steering(rng), observation(rng)
    step = join(a, b)
    reveal_type(step)  # N: LinMap[DirectSum[Vector[State], Vector[Control]], Vector[State]]
    twice = step @ fork(step, project(Both, 1))
    reveal_type(twice)  # N: LinMap[DirectSum[Vector[State], Vector[Control]], Vector[State]]
    output = c @ twice
    reveal_type(output)  # N: LinMap[DirectSum[Vector[State], Vector[Control]], Vector[Observed]]
    reveal_type(adjoint(output))  # N: LinMap[Vector[Observed], DirectSum[Vector[State], Vector[Control]]]
    x, u = X.random(rng), U.random(rng)
    assert np.allclose(step(x, u).array, (a(x) + b(u)).array)
    assert np.allclose(twice(x, u).array, (a(a(x) + b(u)) + b(u)).array)
    only_control = output @ inject(Both, 1)
    reveal_type(only_control)  # N: LinMap[Vector[Control], Vector[Observed]]
    drift: LinMap[DirectSum[Vector[State], Vector[Control]], DirectSum[Vector[State], Vector[Control]]] = parallel(
        0.5 * a - scale(0.1, X), zero(U, U)
    )
    moved = identity(Both) + 2.0 * drift
    reveal_type(moved(x, u)[0])  # N: Vec[Vector[State]]
    assert check_adjoint(output @ moved).ok
    assert smoothed(adjoint(c), c(x), x).space == X
