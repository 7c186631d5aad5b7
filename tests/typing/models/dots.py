"""Products along a named axis: it stands first or last in each of two tables, or is the only one."""

from typing import reveal_type

from diff import Expr, dot, fun
from hilbert import Fin, Matrix, R, Scalar, Vector


class Shared: ...


class Left: ...


class Right: ...


shared, left, right = Fin(Shared, 2), Fin(Left, 3), Fin(Right, 4)
A, B = (R ** (shared * left)).ones(), (R ** (left * shared)).ones()
C, D = (R ** (shared * right)).ones(), (R ** (right * shared)).ones()
V = (R**shared).ones()


@fun(A.space, B.space, C.space, D.space, V.space)
def products(
    a: Expr[Matrix[Shared, Left]],
    b: Expr[Matrix[Left, Shared]],
    c: Expr[Matrix[Shared, Right]],
    d: Expr[Matrix[Right, Shared]],
    v: Expr[Vector[Shared]],
) -> Expr[Scalar]:
    reveal_type(dot(a, c, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(a, d, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(b, c, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(b, d, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(a, v, over=shared))  # N: Expr[Vector[Left]]
    reveal_type(dot(b, v, over=shared))  # N: Expr[Vector[Left]]
    reveal_type(dot(v, c, over=shared))  # N: Expr[Vector[Right]]
    reveal_type(dot(v, d, over=shared))  # N: Expr[Vector[Right]]
    reveal_type(dot(v, v, over=shared))  # N: Expr[Field]
    reveal_type(dot(A, c, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(A, d, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(B, c, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(B, d, over=shared))  # N: Expr[Matrix[Left, Right]]
    reveal_type(dot(A, v, over=shared))  # N: Expr[Vector[Left]]
    reveal_type(dot(B, v, over=shared))  # N: Expr[Vector[Left]]
    reveal_type(dot(V, c, over=shared))  # N: Expr[Vector[Right]]
    reveal_type(dot(V, d, over=shared))  # N: Expr[Vector[Right]]
    reveal_type(dot(V, v, over=shared))  # N: Expr[Field]
    return dot(v, v, over=shared)


def main() -> None:
    reveal_type(dot(A, C, over=shared))  # N: Vec[Matrix[Left, Right]]
    reveal_type(dot(A, D, over=shared))  # N: Vec[Matrix[Left, Right]]
    reveal_type(dot(B, C, over=shared))  # N: Vec[Matrix[Left, Right]]
    reveal_type(dot(B, D, over=shared))  # N: Vec[Matrix[Left, Right]]
    reveal_type(dot(A, V, over=shared))  # N: Vec[Vector[Left]]
    reveal_type(dot(B, V, over=shared))  # N: Vec[Vector[Left]]
    reveal_type(dot(V, C, over=shared))  # N: Vec[Vector[Right]]
    reveal_type(dot(V, D, over=shared))  # N: Vec[Vector[Right]]
    reveal_type(dot(V, V, over=shared))  # N: Vec[Field]
    assert float(products(A, B, C, D, V)) == 2.0
