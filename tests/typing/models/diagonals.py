"""Diagonals, traces and copies along one of two axes of one index set; numbers beside a value in `where`."""

from typing import reveal_type

from diff import Expr, fun, where
from hilbert import Fin, Matrix, R, Scalar, Vector


class Node: ...


node = Fin(Node, 3)
V, M = R**node, R ** (node * node)


@fun(M, V)
def energy(A: Expr[Matrix[Node, Node]], x: Expr[Vector[Node]]) -> Expr[Scalar]:
    spread = x.rep(M, over=0) - x.rep(M, over=1)
    return A.trace() + A.diagonal() @ x + (spread * x.diag()).sum() + where(x > 0.0, x, 0).sum()


def main() -> None:
    v = V.ones()
    reveal_type(v.diag())  # N: Vec[Matrix[Node, Node]]
    reveal_type(v.diag().diagonal())  # N: Vec[Vector[Node]]
    reveal_type(v.diag().trace())  # N: Vec[Field]
    reveal_type(where(v > 0.0, v, 0.0))  # N: Vec[Vector[Node]]
    reveal_type(where(v > 0.0, 1, v))  # N: Vec[Vector[Node]]
    assert energy(M.ones(), v).space == R
