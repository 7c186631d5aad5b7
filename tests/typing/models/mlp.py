"""Two layers h(W⋆x + b), composed as a traced function that calls another one (paper, Ex. 7.1)."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, fun, inner, tanh
from hilbert import Fin, Matrix, R, Scalar, Vec, Vector


class Pixel: ...


class Hidden: ...


class Label: ...


pixel, hidden, label = Fin(Pixel, 8), Fin(Hidden, 5), Fin(Label, 3)
W1, B1, W2, B2 = R ** (hidden * pixel), R**hidden, R ** (label * hidden), R**label
X, Y = R**pixel, R**label

layer = fun(W1, X, B1)(lambda w, x, b: tanh(w @ x + b))
linear = fun(W2, B1, B2)(lambda w, x, b: w @ x + b)


@fun(W1, B1, W2, B2, X, Y)
def loss(
    w1: Expr[Matrix[Hidden, Pixel]],
    b1: Expr[Vector[Hidden]],
    w2: Expr[Matrix[Label, Hidden]],
    b2: Expr[Vector[Label]],
    x: Expr[Vector[Pixel]],
    y: Expr[Vector[Label]],
) -> Expr[Scalar]:
    h = layer(w1, x, b1)
    reveal_type(h)  # N: Expr[Vector[Hidden]]
    error = linear(w2, h, b2) - y
    return inner(error, error)


def frozen_first(w1: Vec[Matrix[Hidden, Pixel]], b1: Vec[Vector[Hidden]]) -> None:
    """A network whose first layer is constant: vectors among the arguments are constants."""
    tail = fun(W2, X)(lambda w2, x: w2 @ layer(w1, x, b1))
    reveal_type(tail)  # N: Map[DirectSum[Matrix[Label, Hidden], Vector[Pixel]], Vector[Label]]


def main() -> None:
    rng = np.random.default_rng(0)
    w1, b1, w2, b2 = W1.random(rng), B1.zeros(), W2.random(rng), B2.zeros()
    x, y = X.random(rng), Y.random(rng)
    reveal_type(layer)  # N: Map[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel], Vector[Hidden]], Vector[Hidden]]
    reveal_type(layer(w1, x, b1))  # N: Vec[Vector[Hidden]]
    reveal_type(grad(loss, wrt=0)(w1, b1, w2, b2, x, y))  # N: Vec[Matrix[Hidden, Pixel]]
    reveal_type(grad(loss)(w1, b1, w2, b2, x, y)[5])  # N: Vec[Vector[Label]]
    error = loss(w1, b1, w2, b2, x, y)
    w2 = w2 - 0.01 * grad(loss, wrt=2)(w1, b1, w2, b2, x, y)
    assert float(loss(w1, b1, w2, b2, x, y)) < float(error)
    frozen_first(w1, b1)
