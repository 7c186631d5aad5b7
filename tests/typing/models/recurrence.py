"""A recurrent network, unrolled: h_t = tanh(A⋆h_{t-1} + B⋆x_t), with the same parameters at every step."""

from typing import reveal_type

import numpy as np

from adjoint import check_derivative, grad
from diff import Expr, fun, tanh
from hilbert import Copower, DirectSum, Elements, Fin, Matrix, R, Scalar, Vector, direct_sum


class State: ...


class Input: ...


class Time: ...


state, source, time = Fin(State, 3), Fin(Input, 2), Fin(Time, 4)
Params = direct_sum(R ** (state * state), R ** (state * source))
S, X = R**state, R**source
STEPS = [Elements(time).vec(t) for t in range(4)]


@fun(Params, S, X**time)
def final(
    p: Expr[DirectSum[Matrix[State, State], Matrix[State, Input]]],
    h: Expr[Vector[State]],
    xs: Expr[Copower[Vector[Input], Fin[Time]]],
) -> Expr[Scalar]:
    a, b = p.split()
    for t in STEPS:
        reveal_type(xs[t])  # N: Expr[Vector[Input]]
        h = tanh(a @ h + b @ xs[t])
    return h @ h


def main() -> None:
    rng = np.random.default_rng(0)
    p, h, xs = Params.random(rng), S.random(rng), (X**time).random(rng)
    reveal_type(grad(final, wrt=0)(p, h, xs))  # N: Vec[DirectSum[Matrix[State, State], Matrix[State, Input]]]
    assert check_derivative(final, p, h, xs).ok
