"""Comparisons have discrete results; select keeps what a condition holds for."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, fun, select
from hilbert import Bool, Boolean, Copower, Fin, R, Scalar, Vector


class Item: ...


class Batch: ...


item, batch = Fin(Item, 5), Fin(Batch, 2)
X = R**item
LIMIT, TOP, KEEP = R.vec(0.0), X.vec([1.0] * 5), Bool.vec(data=True)


@fun(X, R)
def inside(x: Expr[Vector[Item]], k: Expr[Scalar]) -> Expr[Copower[Boolean, Fin[Item]]]:
    above, below = x > 0.0, x < TOP
    reveal_type(above)  # N: Expr[Copower[Boolean, Fin[Item]]]
    reveal_type(below)  # N: Expr[Copower[Boolean, Fin[Item]]]
    reveal_type(x >= TOP)  # N: Expr[Copower[Boolean, Fin[Item]]]
    reveal_type(x <= 1.0)  # N: Expr[Copower[Boolean, Fin[Item]]]
    reveal_type(k > LIMIT)  # N: Expr[Boolean]
    reveal_type(k >= 0.5)  # N: Expr[Boolean]
    reveal_type(k < 1.0)  # N: Expr[Boolean]
    reveal_type(k <= 1.0)  # N: Expr[Boolean]
    return (above & below) | ~(x >= -1.0)


@fun((R**item) ** batch)
def nested(x: Expr[Copower[Vector[Item], Fin[Batch]]]) -> Expr[Copower[Vector[Item], Fin[Batch]]]:
    reveal_type(x > 0.0)  # N: Expr[Copower[Copower[Boolean, Fin[Item]], Fin[Batch]]]
    reveal_type(x >= 0.5)  # N: Expr[Copower[Copower[Boolean, Fin[Item]], Fin[Batch]]]
    reveal_type(x < 0.0)  # N: Expr[Copower[Copower[Boolean, Fin[Item]], Fin[Batch]]]
    reveal_type(x <= 0.5)  # N: Expr[Copower[Copower[Boolean, Fin[Item]], Fin[Batch]]]
    return select(x > 0.0, x)


@fun(X, R, Bool)
def clipped(x: Expr[Vector[Item]], k: Expr[Scalar], keep: Expr[Boolean]) -> Expr[Scalar]:
    positive = select(x > 0.0, x)
    reveal_type(positive)  # N: Expr[Vector[Item]]
    whole = select(keep & (k > 0.0), positive)
    reveal_type(whole)  # N: Expr[Vector[Item]]
    return whole @ x


def main() -> None:
    x, k = X.vec([-2.0, -0.5, 0.25, 0.5, 2.0]), R.vec(1.0)
    assert inside(x, k).array.tolist() == [True, False, True, True, False]
    assert np.isclose(float(clipped(x, k, KEEP)), 0.0625 + 0.25 + 4.0)
    slope = grad(clipped, wrt=0)(x, k, KEEP)
    reveal_type(slope)  # N: Vec[Vector[Item]]
    assert np.allclose(slope.array, 2.0 * np.maximum(x.array, 0.0))
    y = nested(((R**item) ** batch).vec([x.array, -x.array]))
    assert np.allclose(y.array[1], np.maximum(-x.array, 0.0))
