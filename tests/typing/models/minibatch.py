"""The mean loss over a mini-batch, with shared parameters: objective and gradient (paper, Ex. 7.1)."""

from typing import reveal_type

import numpy as np

from adjoint import value_and_grad
from diff import Expr, fun, inner, lift, tanh
from hilbert import Copower, DirectSum, Fin, Matrix, R, Scalar, Vec, Vector, direct_sum


class Pixel: ...


class Hidden: ...


class Batch: ...


pixel, hidden, batch = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 10)
X, Y = R**pixel, R**hidden
Params = direct_sum(R ** (hidden * pixel), R**hidden)
Sample = direct_sum(X, Y)


@fun(Params, Sample)
def loss(
    p: Expr[DirectSum[Matrix[Hidden, Pixel], Vector[Hidden]]], s: Expr[DirectSum[Vector[Pixel], Vector[Hidden]]]
) -> Expr[Scalar]:
    error = tanh(p[0] @ s[0] + p[1]) - s[1]
    return inner(error, error)


mean = fun(R**batch)(lambda losses: losses.mean())
objective = mean @ lift(loss, batch)
gradient = value_and_grad(objective, wrt=0)


def step(
    p: Vec[DirectSum[Matrix[Hidden, Pixel], Vector[Hidden]]],
    data: Vec[Copower[DirectSum[Vector[Pixel], Vector[Hidden]], Fin[Batch]]],
) -> Vec[DirectSum[Matrix[Hidden, Pixel], Vector[Hidden]]]:
    return p - 0.5 * gradient(p, data)[1]


def main() -> None:
    rng = np.random.default_rng(0)
    reveal_type(objective)  # N: Copower[DirectSum[Vector[Pixel], Vector[Hidden]], Fin[Batch]]], Field]
    p, truth = Params.zeros(), Params.random(rng)
    x = rng.standard_normal((10, 4))
    y = np.tanh(x @ truth[0].array.T + truth[1].array)
    data = (Sample**batch).vec((x, y))
    reveal_type(gradient(p, data))  # N: Vec[DirectSum[Field, DirectSum[Matrix[Hidden, Pixel], Vector[Hidden]]]]
    before = float(objective(p, data))
    for _ in range(50):
        p = step(p, data)
    assert float(objective(p, data)) < 0.2 * before
