"""Operations of one's own: of one, two, three and more arguments, with their derivatives."""

from typing import Any, reveal_type

from diff import Expr, operation
from hilbert import Fin, R, Scalar, Vector


class Item: ...


V = R ** Fin(Item, 3)


def tangent(x: Expr[Vector[Item]], y: Expr[Scalar], dx: Expr[Vector[Item]]) -> Expr[Scalar]:
    return dx.sum()


def added(xp: Any, *arrays: Any) -> Any:
    return sum(arrays)


def main() -> None:
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
