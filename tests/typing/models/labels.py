"""Discrete values: one-hot encodings and projections at a dynamic element, also lifted."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, fun, lift, onehot
from hilbert import Copower, Elements, Fin, R, Scalar, Vector


class Label: ...


class Batch: ...


label, batch = Fin(Label, 4), Fin(Batch, 3)
X, L = R**label, Elements(label)
FIXED = L.vec(2)


@fun(L)
def encode(y: Expr[Elements[Fin[Label]]]) -> Expr[Vector[Label]]:
    return onehot(y)


@fun(X, L)
def component(x: Expr[Vector[Label]], y: Expr[Elements[Fin[Label]]]) -> Expr[Scalar]:
    reveal_type(x[y])  # N: Expr[Field]
    reveal_type(x[FIXED])  # N: Expr[Field]
    return x[y] + x[FIXED]


@fun(X, L**batch)
def counted(x: Expr[Vector[Label]], ys: Expr[Copower[Elements[Fin[Label]], Fin[Batch]]]) -> Expr[Vector[Label]]:
    reveal_type(x[ys])  # N: Expr[Vector[Batch]]
    reveal_type(x[ys])  # N: Expr[Vector[Batch]]
    return x[ys].scatter(ys)


def main() -> None:
    rng = np.random.default_rng(0)
    x, y = X.random(rng), L.vec(1)
    reveal_type(encode(y))  # N: Vec[Vector[Label]]
    assert encode(y).array.tolist() == [0.0, 1.0, 0.0, 0.0]
    assert np.isclose(float(component(x, y)), x.array[1] + x.array[2])
    many = lift(component, batch)
    reveal_type(many)  # N: Map[DirectSum[Vector[Label], Copower[Elements[Fin[Label]], Fin[Batch]]], Vector[Batch]]
    ys = (L**batch).vec([0, 2, 3])
    assert np.allclose(many(x, ys).array, x.array[[0, 2, 3]] + x.array[2])
    reveal_type(encode**batch)  # N: Map[Copower[Elements[Fin[Label]], Fin[Batch]], Copower[Vector[Label], Fin[Batch]]]
    assert (encode**batch)(ys).array.shape == (3, 4)
    reveal_type(grad(component, wrt=0)(x, y))  # N: Vec[Vector[Label]]
    assert grad(component, wrt=0)(x, y).array.tolist() == [0.0, 1.0, 1.0, 0.0]
    reveal_type(counted(x, ys))  # N: Vec[Vector[Label]]
    assert np.array_equal(counted(x, ys).array, x.array * [1.0, 0.0, 1.0, 1.0])
