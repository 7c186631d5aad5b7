"""Linear regression: the mean of (x_s ⊙ w + b − y_s)² over the samples s."""

from typing import reveal_type

import numpy as np

from adjoint import grad, value_and_grad
from diff import Expr, fun
from hilbert import Fin, Matrix, R, Scalar, Vector


class Sample: ...


class Feature: ...


sample, feature = Fin(Sample, 50), Fin(Feature, 3)
X, Y, W = R ** (sample * feature), R**sample, R**feature


@fun(W, R, X, Y)
def loss(
    w: Expr[Vector[Feature]], b: Expr[Scalar], x: Expr[Matrix[Sample, Feature]], y: Expr[Vector[Sample]]
) -> Expr[Scalar]:
    ones = y * 0.0 + 1.0
    residual = x @ w + b * ones - y
    return (residual**2).mean()


def main() -> None:
    rng = np.random.default_rng(0)
    x = X.random(rng)
    truth = W.vec([1.0, -2.0, 0.5])
    y = fun(X)(lambda x: x @ truth + 3.0)(x)
    reveal_type(y)  # N: Vec[Vector[Sample]]
    reveal_type(loss)  # N: Map[DirectSum[Vector[Feature], Field, Matrix[Sample, Feature], Vector[Sample]], Field]
    w, b = W.zeros(), R.zeros()
    slope_w, slope_b = grad(loss, wrt=0), grad(loss, wrt=1)
    reveal_type(slope_w(w, b, x, y))  # N: Vec[Vector[Feature]]
    for _ in range(200):
        w, b = w - 0.2 * slope_w(w, b, x, y), b - 0.2 * slope_b(w, b, x, y)
    assert (w - truth).norm() < 1e-6
    value = value_and_grad(loss, wrt=0)(w, b, x, y)
    reveal_type(value[0])  # N: Vec[Field]
    assert float(value[0]) < 1e-12
