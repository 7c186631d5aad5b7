"""Linear algebra: systems with one and several right sides, and factorisations, of vectors and of expressions."""

from typing import reveal_type

from diff import (
    Expr,
    cholesky,
    det,
    eigh,
    exp,
    expm,
    fun,
    inv_sqrtm,
    inverse,
    logdet,
    logm,
    matrix_function,
    qr,
    solve,
    solve_triangular,
    sqrtm,
    svd,
)
from hilbert import Fin, Matrix, R, Scalar, Vector


class Row: ...


class Column: ...


class Side: ...


row, column, side = Fin(Row, 2), Fin(Column, 2), Fin(Side, 3)
A = (R ** (row * column)).vec([[2.0, 0.0], [0.0, 4.0]])
S = (R ** (row * row)).vec([[2.0, 1.0], [1.0, 2.0]])
b, B = (R**row).ones(), (R ** (row * side)).ones()


@fun(A.space, S.space, b.space, B.space)
def solved(
    a: Expr[Matrix[Row, Column]],
    s: Expr[Matrix[Row, Row]],
    v: Expr[Vector[Row]],
    w: Expr[Matrix[Row, Side]],
) -> Expr[Scalar]:
    reveal_type(solve(a, v))  # N: Expr[Vector[Column]]
    reveal_type(solve(a, w))  # N: Expr[Matrix[Column, Side]]
    reveal_type(solve_triangular(a, v))  # N: Expr[Vector[Column]]
    reveal_type(solve_triangular(a, w, lower=False))  # N: Expr[Matrix[Column, Side]]
    reveal_type(solve(A, v))  # N: Expr[Vector[Column]]
    reveal_type(solve(A, w))  # N: Expr[Matrix[Column, Side]]
    reveal_type(solve_triangular(A, v))  # N: Expr[Vector[Column]]
    reveal_type(solve_triangular(A, w, lower=False))  # N: Expr[Matrix[Column, Side]]
    reveal_type(inverse(a))  # N: Expr[Matrix[Column, Row]]
    reveal_type(expm(s))  # N: Expr[Matrix[Row, Row]]
    reveal_type(sqrtm(s))  # N: Expr[Matrix[Row, Row]]
    reveal_type(inv_sqrtm(S))  # N: Vec[Matrix[Row, Row]]
    reveal_type(logm(s))  # N: Expr[Matrix[Row, Row]]
    reveal_type(matrix_function(exp, s))  # N: Expr[Matrix[Row, Row]]
    reveal_type(det(a))  # N: Expr[Field]
    reveal_type(logdet(a))  # N: Expr[Field]
    reveal_type(cholesky(s))  # N: Expr[Matrix[Row, Row]]
    reveal_type(eigh(s))  # N: Expr[DirectSum[Vector[Row], Matrix[Row, Row]]]
    reveal_type(qr(a))  # N: Expr[DirectSum[Matrix[Row, Column], Matrix[Column, Column]]]
    reveal_type(svd(a))  # N: Expr[DirectSum[Copower[Field, Product[Fin[Row], Any]], Copower[Field, Any], Cop
    return solve(a, v).sum()


def main() -> None:
    reveal_type(solve(A, b))  # N: Vec[Vector[Column]]
    reveal_type(solve(A, B))  # N: Vec[Matrix[Column, Side]]
    reveal_type(solve_triangular(A, b))  # N: Vec[Vector[Column]]
    reveal_type(solve_triangular(A, B, lower=False))  # N: Vec[Matrix[Column, Side]]
    reveal_type(inverse(A))  # N: Vec[Matrix[Column, Row]]
    reveal_type(det(A))  # N: Vec[Field]
    reveal_type(logdet(A))  # N: Vec[Field]
    reveal_type(cholesky(S))  # N: Vec[Matrix[Row, Row]]
    reveal_type(eigh(S))  # N: Vec[DirectSum[Vector[Row], Matrix[Row, Row]]]
    reveal_type(qr(A))  # N: Vec[DirectSum[Matrix[Row, Column], Matrix[Column, Column]]]
    reveal_type(svd(A))  # N: Vec[DirectSum[Copower[Field, Product[Fin[Row], Any]], Copower[Field, Any], Cop
    assert float(solved(A, S, b, B)) == 0.75
