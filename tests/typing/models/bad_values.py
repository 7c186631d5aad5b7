"""Vectors that do not meet: products of two spaces, a matrix without its axes, sums over a foreign axis, v @ A."""

from adjoint import grad
from diff import fun, inner
from hilbert import Fin, R
from linmap import cumsum


class Row: ...


class Column: ...


class Batch: ...


row, column = Fin(Row, 2), Fin(Column, 3)
v, w, m = (R**column).ones(), (R**row).ones(), (R ** (row * column)).ones()
n = ((R**column) ** row).ones()


def bad_vector() -> None:
    v * w  # E: operator


def bad_nested() -> None:
    n.sum(Fin(Batch, 4))  # E: arg-type


def bad_quotient() -> None:
    v / w  # E: operator


def bad_comparison() -> None:
    _ = v > w  # E: operator


def bad_inner() -> None:
    inner(v, w)  # E: misc


def bad_matrix() -> None:
    m[0]  # E: call-overload


def bad_position() -> None:
    v[1.5]  # E: call-overload


def bad_axis() -> None:
    v.sum(row)  # E: arg-type


def bad_application() -> None:
    v @ cumsum(column)  # E: operator


def bad_transpose() -> None:
    cumsum(column).T  # E: attr-defined


def bad_sum_of_spaces() -> None:
    R**row + R**column  # E: operator


def bad_parts() -> None:
    grad(fun(R**row, R**column)(lambda x, y: inner(x, x) * inner(y, y)), "w")  # E: arg-type
