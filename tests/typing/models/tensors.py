"""Tensor products: outer products, transposition, re-bracketing, distribution, and matrices as V^X ⊗ W^Y."""

from typing import reveal_type

import numpy as np

from diff import Expr, fun, outer, select
from hilbert import Copower, DirectSum, Field, Fin, R, TensorProduct, Vector, direct_sum
from linmap import transpose
from linmap.unitary import assoc, bars, bra, distrib, ket, tensor_copower, tensor_matrix, unassoc, undistrib


class Row: ...


class Column: ...


row, column = Fin(Row, 2), Fin(Column, 3)
X, Y = R**row, R**column


def three(v: TensorProduct[DirectSum[Field, Field, Field], Vector[Row]]) -> None:
    reveal_type(distrib(v))  # N: LinMap[TensorProduct[DirectSum[Field, Field, Field], Vector[Row]], Any]
    reveal_type(undistrib(direct_sum(R * X, R * X, R * X)))  # N: , TensorProduct[Any, Any]]


@fun(X, Y)
def product(x: Expr[Vector[Row]], y: Expr[Vector[Column]]) -> Expr[TensorProduct[Vector[Row], Vector[Column]]]:
    return outer(x, y)


def main() -> None:
    rng = np.random.default_rng(0)
    x, y = X.random(rng), Y.random(rng)
    t = product(x, y)
    reveal_type(t)  # N: Vec[TensorProduct[Vector[Row], Vector[Column]]]
    reveal_type(transpose(X * Y))  # N: , TensorProduct[Vector[Column], Vector[Row]]]
    assert np.allclose(transpose(X * Y)(t).array, t.array.T)
    other = (X * Y).zeros()
    reveal_type(t > other)  # N: Vec[Any]
    reveal_type(t >= 0.0)  # N: Vec[Any]
    reveal_type(t < other)  # N: Vec[Any]
    reveal_type(t <= 0.0)  # N: Vec[Any]
    below = fun(X * Y, X * Y)(lambda t, u: (select(t > u, t), select(t >= 0.0, u), select(t < u, t), select(t <= 0.0, u)))
    assert below(t, other).space == direct_sum(X * Y, X * Y, X * Y, X * Y)
    reveal_type(tensor_matrix(X * Y)(t))  # N: Vec[Matrix[Row, Column]]
    reveal_type(assoc((X * Y) * R))  # N: , TensorProduct[Vector[Row], TensorProduct[Vector[Column], Field]]]
    back = unassoc(X * (Y * R)) @ assoc((X * Y) * R)
    reveal_type(back)  # N: , TensorProduct[TensorProduct[Vector[Row], Vector[Column]], Field]]
    reveal_type(bra(X))  # N: LinMap[Vector[Row], TensorProduct[Field, Vector[Row]]]
    reveal_type(ket(X))  # N: LinMap[Vector[Row], TensorProduct[Vector[Row], Field]]
    reveal_type(bars(R * X))  # N: LinMap[TensorProduct[Field, Vector[Row]], Vector[Row]]
    reveal_type(bars(X * R) @ ket(X))  # N: LinMap[Vector[Row], Vector[Row]]
    reveal_type(tensor_copower(X * (Y**column)))  # N: Copower[TensorProduct[Field, Vector[Column]], Product[Fin[Row], Fin[Column]]]
    many: Copower[TensorProduct[Vector[Row], Vector[Column]], Fin[Row]] = (X * Y) ** row
    reveal_type(undistrib(many))  # N: , TensorProduct[Copower[Vector[Row], Fin[Row]], Vector[Column]]]
    reveal_type(distrib((X**row) * Y))  # N: , Copower[TensorProduct[Vector[Row], Vector[Column]], Fin[Row]]]
    pair = direct_sum(X, R) * Y
    reveal_type(distrib(pair))  # N: , DirectSum[TensorProduct[Vector[Row], Vector[Column]], TensorProduct[Field, Vector[Column]]]]
    reveal_type(undistrib(distrib(pair).cod) @ distrib(pair))  # N: , TensorProduct[DirectSum[Vector[Row], Field], Vector[Column]]]
    three(direct_sum(R, R, R) * X)
