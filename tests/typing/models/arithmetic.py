"""Expressions with numbers and constant vectors on either side; scalars times vectors; matrix products."""

from typing import reveal_type

import numpy as np

from diff import Expr, contract, fun
from hilbert import Fin, Matrix, R, Scalar, Vector


class Row: ...


class Column: ...


row, column = Fin(Row, 2), Fin(Column, 3)
X, Y, M = R**row, R**column, R ** (row * column)
V, W, K = X.vec([1.0, 2.0]), M.vec([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), R.vec(2.0)


@fun(X, R, M)
def linear(x: Expr[Vector[Row]], k: Expr[Scalar], m: Expr[Matrix[Row, Column]]) -> Expr[Vector[Row]]:
    reveal_type(1.0 + x - V)  # N: Expr[Vector[Row]]
    reveal_type(V - x + 2.0)  # N: Expr[Vector[Row]]
    reveal_type(-x)  # N: Expr[Vector[Row]]
    reveal_type(k * x)  # N: Expr[Vector[Row]]
    reveal_type(x * k)  # N: Expr[Vector[Row]]
    reveal_type(k * V)  # N: Expr[Vector[Row]]
    reveal_type(V * k)  # N: Expr[Vector[Row]]
    reveal_type(K * x)  # N: Expr[Vector[Row]]
    reveal_type((V * x) * 2.0)  # N: Expr[Vector[Row]]
    reveal_type(x / k + x / x + x / 3.0)  # N: Expr[Vector[Row]]
    reveal_type(V / k)  # N: Expr[Vector[Row]]
    reveal_type(V / x + 1.0 / x)  # N: Expr[Vector[Row]]
    reveal_type(x + k)  # N: Expr[Vector[Row]]
    reveal_type(k - x)  # N: Expr[Vector[Row]]
    reveal_type(V + k)  # N: Expr[Vector[Row]]
    reveal_type(V - k)  # N: Expr[Vector[Row]]
    reveal_type(k + V)  # N: Expr[Vector[Row]]
    reveal_type(k - V)  # N: Expr[Vector[Row]]
    reveal_type(x - K)  # N: Expr[Vector[Row]]
    reveal_type(K - x)  # N: Expr[Vector[Row]]
    reveal_type(k + k - K)  # N: Expr[Field]
    reveal_type(m @ m.T)  # N: Expr[Matrix[Row, Row]]
    reveal_type(m.T @ x)  # N: Expr[Vector[Column]]
    reveal_type(x @ V)  # N: Expr[Field]
    reveal_type(W @ m.T)  # N: Expr[Matrix[Row, Row]]
    reveal_type(W @ (m.T @ x))  # N: Expr[Vector[Row]]
    reveal_type(V @ x)  # N: Expr[Field]
    reveal_type(m.T @ W)  # N: Expr[Matrix[Column, Column]]
    reveal_type(m.mean())  # N: Expr[Field]
    reveal_type(x.sum() ** 2)  # N: Expr[Field]
    return k * x


@fun(M, Y)
def labelled(m: Expr[Matrix[Row, Column]], y: Expr[Vector[Column]]) -> Expr[Vector[Row]]:
    reveal_type(contract("ij,j->i", m, y))  # N: Expr[Any]
    return contract("ij,j->i", m, y, to=X)


def main() -> None:
    assert linear(V, K, W).array.tolist() == [2.0, 4.0]
    y = Y.vec([1.0, 0.0, -1.0])
    assert np.array_equal(labelled(W, y).array, W.array @ y.array)
    reveal_type(V + K)  # N: Vec[Vector[Row]]
    reveal_type(K - V)  # N: Vec[Vector[Row]]
    reveal_type(K + K)  # N: Vec[Field]
    square = R ** (row * row)
    product = fun(square, square)(lambda a, b: a @ b)
    reveal_type(product)  # N: Map[DirectSum[Matrix[Row, Row], Matrix[Row, Row]], Matrix[Row, Row]]
    a, b = square.vec([[1.0, 2.0], [3.0, 4.0]]), square.vec([[0.0, 1.0], [1.0, 0.0]])
    assert np.array_equal(product(a, b).array, a.array @ b.array)
