"""Unitary operators that move nothing or re-order: zip, curry, split, stack and their inverses."""

from typing import reveal_type

import numpy as np

from diff import Expr, fun
from hilbert import Copower, DirectSum, Fin, R, Scalar, Vector, direct_sum
from linmap import concatenate, curry, split, stack, transpose, uncurry, unstack, unzip_parts, zip_parts


class Row: ...


class Column: ...


row, column = Fin(Row, 2), Fin(Column, 3)
X, Y = R**row, R**column
square = fun(X)(lambda x: x @ x)


@fun(direct_sum(X, R) ** column)
def weighted(data: Expr[Copower[DirectSum[Vector[Row], Scalar], Fin[Column]]]) -> Expr[Vector[Column]]:
    xs, weights = unzip_parts(data.space)(data).split()
    reveal_type(xs)  # N: Expr[Copower[Vector[Row], Fin[Column]]]
    squares = (square**column)(xs)
    return weights * squares


def main() -> None:
    rng = np.random.default_rng(0)
    data = (direct_sum(X, R) ** column).random(rng)
    xs, weights = data.array
    assert np.allclose(weighted(data).array, weights * (xs**2).sum(axis=1))
    together = zip_parts(direct_sum(X**column, R**column))
    reveal_type(together)  # N: , Copower[DirectSum[Vector[Row], Field], Fin[Column]]]
    apart = unzip_parts(direct_sum(X, R) ** column)
    reveal_type(apart)  # N: , DirectSum[Copower[Vector[Row], Fin[Column]], Vector[Column]]]
    reveal_type(apart @ together)  # N: , DirectSum[Copower[Vector[Row], Fin[Column]], Vector[Column]]]
    three = zip_parts(direct_sum(X**column, R**column, R**column))
    reveal_type(three)  # N: Vector[Column]], Copower[DirectSum[Vector[Row], Field, Field], Fin[Column]]]
    reveal_type(unzip_parts(direct_sum(direct_sum(X, R), direct_sum(Y, R))))  # N: DirectSum[Vector[Column], Field]], Any]
    both = split(R ** (row + column))
    reveal_type(both)  # N: , DirectSum[Vector[Row], Vector[Column]]]
    joined = concatenate(row, column)
    reveal_type(joined @ both)  # N: , Copower[Field, Coproduct[Fin[Row], Fin[Column]]]]
    m = (R ** (row * column)).random(rng)
    reveal_type(transpose(R ** (row * column))(m))  # N: Vec[Matrix[Column, Row]]
    assert np.array_equal(transpose(R ** (row * column))(m).array, m.array.T)
    reveal_type(uncurry(X**column) @ curry(R ** (column * row)))  # N: LinMap[Matrix[Column, Row], Matrix[Column, Row]]
    reveal_type(stack(column, X))  # N: LinMap[Any, Copower[Vector[Row], Fin[Column]]]
    assert (stack(column, X) @ unstack(column, X)).dom == X**column
