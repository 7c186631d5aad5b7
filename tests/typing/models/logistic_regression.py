"""Logistic regression: labels are elements of an index set, the loss is −ln softmax(W⋆x + b)_label."""

from typing import reveal_type

import numpy as np

from adjoint import grad, value_and_grad
from diff import Expr, exp, fun, lift, log
from hilbert import Copower, DirectSum, Elements, Fin, Matrix, R, Scalar, Vector, direct_sum


class Label: ...


class Feature: ...


class Batch: ...


label, feature, batch = Fin(Label, 3), Fin(Feature, 2), Fin(Batch, 60)
Params = direct_sum(R ** (label * feature), R**label)
Example = direct_sum(R**feature, Elements(label))


@fun(Params, Example)
def loss(
    p: Expr[DirectSum[Matrix[Label, Feature], Vector[Label]]],
    e: Expr[DirectSum[Vector[Feature], Elements[Fin[Label]]]],
) -> Expr[Scalar]:
    w, b = p.split()
    x, target = e.split()
    score = w @ x + b
    reveal_type(score)  # N: Expr[Vector[Label]]
    reveal_type(score[target])  # N: Expr[Field]
    return log(exp(score).sum()) - score[target]


@fun(Params, Example**batch)
def objective(
    p: Expr[DirectSum[Matrix[Label, Feature], Vector[Label]]],
    e: Expr[Copower[DirectSum[Vector[Feature], Elements[Fin[Label]]], Fin[Batch]]],
) -> Expr[Scalar]:
    return lift(loss, batch)(p, e).mean()


def main() -> None:
    reveal_type(lift(loss, batch))  # N: , Vector[Batch]]
    reveal_type(grad(objective, wrt=0))  # N: , DirectSum[Matrix[Label, Feature], Vector[Label]]]
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    centers = np.array([[2.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]])
    data = (Example**batch).vec((centers[labels] + 0.1 * rng.standard_normal((60, 2)), labels))
    p = Params.zeros()
    step = value_and_grad(objective, wrt=0)
    for _ in range(100):
        p = p - step(p, data)[1]
    assert float(step(p, data)[0]) < 0.05
