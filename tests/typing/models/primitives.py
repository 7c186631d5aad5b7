"""Primitives apply to vectors and expressions of every space, and compose as maps of the field."""

from typing import Any, reveal_type

import numpy as np

from diff import Expr, atan2, exp, fun, hypot, inner, log, maximum, sin, sqrt
from hilbert import Copower, DirectSum, Fin, R, Scalar, Vec, Vector, direct_sum


class Item: ...


class Batch: ...


item, batch = Fin(Item, 3), Fin(Batch, 2)
X = R**item
FLOOR = X.vec([0.1, 0.2, 0.3])


@fun(X, R)
def polar(x: Expr[Vector[Item]], k: Expr[Scalar]) -> Expr[Vector[Item]]:
    reveal_type(sqrt(exp(x)))  # N: Expr[Vector[Item]]
    reveal_type(sin(k))  # N: Expr[Field]
    reveal_type(hypot(x, FLOOR))  # N: Expr[Vector[Item]]
    reveal_type(maximum(FLOOR, x))  # N: Expr[Vector[Item]]
    return atan2(maximum(x, 0.0), maximum(0.5, x))


@fun(direct_sum(X, R) ** batch)
def waves(x: Expr[Copower[DirectSum[Vector[Item], Scalar], Fin[Batch]]]) -> Expr[Copower[DirectSum[Vector[Item], Scalar], Fin[Batch]]]:
    return sin(x) + 1.0


def untyped(a: Any) -> None:
    reveal_type(hypot(a, a))  # N: Any
    reveal_type(inner(a, a))  # N: Any


def main() -> None:
    x = X.vec([1.0, 2.0, 3.0])
    reveal_type(log(x))  # N: Vec[Vector[Item]]
    reveal_type(hypot(x, FLOOR))  # N: Vec[Vector[Item]]
    reveal_type(log @ sin)  # N: Map[Field, Field]
    reveal_type(hypot)  # N: Binary
    reveal_type((exp**item) @ (sin**item))  # N: Map[Vector[Item], Vector[Item]]
    value: Vec[Scalar] = (log @ exp)(R.vec(2.0))
    assert np.isclose(float(value), 2.0)
    assert np.allclose(hypot(x, FLOOR).array, np.hypot(x.array, FLOOR.array))
    assert polar(x, R.vec(0.0)).space == X
    assert waves((direct_sum(X, R) ** batch).zeros()).array[1].tolist() == [1.0, 1.0]
