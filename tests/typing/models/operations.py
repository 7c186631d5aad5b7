"""Operations of one's own: of one, two, three and more arguments, with their derivatives."""

from typing import Any, reveal_type

import numpy as np

from diff import Expr, operation
from hilbert import Fin, R, Scalar, Vector
from linmap import linear_map


class Item: ...


V = R ** Fin(Item, 3)


def tangent(x: Expr[Vector[Item]], y: Expr[Scalar], dx: Expr[Vector[Item]]) -> Expr[Scalar]:
    return dx.sum()


def added(xp: Any, *arrays: Any) -> Any:
    return sum(arrays)


class Doubled:
    """What scipy's operators have."""

    shape = (3, 3)

    def matvec(self, x: np.ndarray) -> np.ndarray:
        return 2.0 * x

    def rmatvec(self, x: np.ndarray) -> np.ndarray:
        return 2.0 * x

    @property
    def H(self) -> "Doubled":
        return self


def main() -> None:
    by_functions = linear_map("models: tripled", V, V, lambda xp, x: 3.0 * x, lambda xp, y: 3.0 * y)
    reveal_type(by_functions)  # N: LinMap[Vector[Item], Vector[Item]]
    by_an_operator = linear_map("models: doubled", V, V, Doubled())
    reveal_type(by_an_operator)  # N: LinMap[Vector[Item], Vector[Item]]
    assert float((by_functions @ by_an_operator)(V.ones()).sum()) == 18.0
    total = operation("models: total", V, to=R, value=lambda xp, x: x.sum(-1), tangent=tangent)
    reveal_type(total)  # N: Map[Vector[Item], Field]
    two = operation("models: two", R, R, to=R, value=added, tangent=lambda x, y, z, dx, dy: dx + dy)
    reveal_type(two)  # N: Map[DirectSum[Field, Field], Field]
    three = operation(
        "models: three", R, R, R, to=R, value=added, tangent=lambda x, y, z, w, dx, dy, dz: dx + dy + dz
    )
    reveal_type(three)  # N: Map[DirectSum[Field, Field, Field], Field]
    four = operation("models: four", R, R, R, R, to=R, value=added)
    reveal_type(four)  # N: Map[Any, Field]
    one = R.vec(1.0)
    assert float(total(V.ones()) + two(one, one) + three(one, one, one) + four(one, one, one, one)) == 12.0
