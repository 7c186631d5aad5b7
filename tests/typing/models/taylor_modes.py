"""Jets, Taylor coefficients, derivatives of order r, a Laplacian, and a differential equation by Taylor steps."""

import math
from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import (
    Expr,
    directional,
    fun,
    inner,
    interpolated,
    jet,
    laplacian,
    lift,
    ode_series,
    ode_solve,
    sin,
    tanh,
    taylor,
)
from hilbert import Fin, Map, Matrix, R, Scalar, Vec, Vector


class Place: ...


class Hidden: ...


class Sample: ...


place, hidden = Fin(Place, 3), Fin(Hidden, 4)
X, W = R**place, R ** (hidden * place)


@fun(X)
def energy(x: Expr[Vector[Place]]) -> Expr[Scalar]:
    return inner(sin(x), x)


@fun(W, X)
def network(w: Expr[Matrix[Hidden, Place]], x: Expr[Vector[Place]]) -> Expr[Scalar]:
    return tanh(w @ x) @ tanh(w @ x)


@fun(X, X)
def kepler(q: Expr[Vector[Place]], v: Expr[Vector[Place]]) -> tuple[Expr[Vector[Place]], Expr[Vector[Place]]]:
    return v, -((q @ q) ** -1.5) * q


@fun(X, X)
def third(x: Expr[Vector[Place]], v: Expr[Vector[Place]]) -> Expr[Scalar]:
    c = taylor(energy, x, v, 3)
    reveal_type(c)  # N: tuple[Expr[Field], ...]
    return 6.0 * c[3]


def series(f: Map[Vector[Place], Scalar], x: Vec[Vector[Place]], v: Vec[Vector[Place]]) -> float:
    c = taylor(f, x, v, 4)
    reveal_type(c)  # N: tuple[Vec[Field], ...]
    return sum(float(a) * 0.1**n for n, a in enumerate(c))


def main() -> None:
    rng = np.random.default_rng(0)
    x, v, w = X.random(rng), X.random(rng), W.random(rng)
    reveal_type(jet(energy, 1, 1))  # N: Map[DirectSum[Vector[Place], Vector[Place]], DirectSum[Field, Field]]
    reveal_type(jet(energy, 1, 2)(x, v, v))  # N: Vec[DirectSum[Field, Field, Field]]
    value, slope, curvature = jet(energy, 1, 2)(x, v, 0.0 * v).split()
    reveal_type(curvature)  # N: Vec[Field]
    assert np.isclose(float(curvature), float(directional(energy, 2)(x, v, v)))
    assert np.isclose(float(slope), grad(energy)(x).inner(v))
    assert np.isclose(float(value), float(energy(x)))
    reveal_type(directional(energy, 1)(x, v))  # N: Vec[Field]
    reveal_type(directional(energy, 3))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place], Vector[Place]], Field]
    assert np.isclose(float(directional(energy, 3, polarised=True)(x, v, v, v)), float(third(x, v)))
    reveal_type(laplacian(energy))  # N: Map[Vector[Place], Field]
    reveal_type(laplacian(network, 1)(w, x))  # N: Vec[Field]
    many = lift(laplacian(network, 1), Fin(Sample, 5))
    assert many.cod == R ** Fin(Sample, 5)
    corner = jet(energy, 2, 2, given=[(0, 0), (0, 1), (1, 0)], wanted=[(0, 0), (0, 1), (1, 0), (1, 1)])
    assert len(corner.cod.parts) == 4
    assert len(interpolated(energy, 3, 2).cod.parts) == 10
    assert series(energy, x, v) != 0.0
    start = kepler.dom.vec(([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    reveal_type(ode_solve(kepler, start, 1.0))  # N: Vec[DirectSum[Vector[Place], Vector[Place]]]
    orbit = ode_solve(kepler, start, [0.5, math.pi], 1e-10, order=16)
    reveal_type(orbit)  # N: list[Vec[DirectSum[Vector[Place], Vector[Place]]]]
    q, p = orbit[1].split()
    assert np.allclose(q.array, [-1.0, 0.0, 0.0])
    assert np.allclose(p.array, [0.0, -1.0, 0.0])
    reveal_type(ode_series(kepler, 3))  # N: Map[DirectSum[Vector[Place], Vector[Place]], Any]
