"""`where`: one condition for functions and for values, or one for each entry; of vectors, expressions and numbers."""

from typing import reveal_type

from diff import Expr, fun, where
from hilbert import Copower, Fin, R, Scalar, Vector


class Item: ...


class Row: ...


item, row = Fin(Item, 3), Fin(Row, 2)
V, W = R**item, (R**row) ** item
v, w = V.ones(), W.ones()
one, mask = R.vec(1.0) > 0.0, v > 0.0


@fun(R, V, W)
def chosen(
    k: Expr[Scalar], x: Expr[Vector[Item]], y: Expr[Copower[Vector[Row], Fin[Item]]]
) -> Expr[Vector[Item]]:
    single, each = k > 0.0, x > 0.0
    reveal_type(where(single, lambda: k, lambda: k + k))  # N: Expr[Field]
    two = where(single, lambda: (k, x), lambda: (k, x))
    reveal_type(two)  # N: tuple[Expr[Field], Expr[Vector[Item]]]
    three = where(single, lambda: (k, x, k), lambda: (k, x, k))
    reveal_type(three)  # N: tuple[Expr[Field], Expr[Vector[Item]], Expr[Field]]
    reveal_type(where(single, x, v))  # N: Expr[Vector[Item]]
    reveal_type(where(single, v, 0.0))  # N: Expr[Vector[Item]]
    reveal_type(where(single, 0.0, x))  # N: Expr[Vector[Item]]
    reveal_type(where(each, x, 0.0))  # N: Expr[Vector[Item]]
    reveal_type(where(each, 0.0, v))  # N: Expr[Vector[Item]]
    reveal_type(where(one, x, v))  # N: Expr[Vector[Item]]
    reveal_type(where(mask, x, v))  # N: Expr[Vector[Item]]
    reveal_type(where(one, x, 0.0))  # N: Expr[Vector[Item]]
    reveal_type(where(mask, x, 0.0))  # N: Expr[Vector[Item]]
    return where(mask, x, v)


def main() -> None:
    reveal_type(where(one, v, 0.0))  # N: Vec[Vector[Item]]
    reveal_type(where(one, 0.0, v))  # N: Vec[Vector[Item]]
    reveal_type(where(mask, v, v))  # N: Vec[Vector[Item]]
    reveal_type(where(mask, 0.0, v))  # N: Vec[Vector[Item]]
    assert chosen(R.vec(1.0), v, w).space == V
