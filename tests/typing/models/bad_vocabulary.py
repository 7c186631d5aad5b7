"""Operations along an axis that is not there, or of another kind."""

from diff import conv, dot, fun
from hilbert import Elements, Fin, R


class Row: ...


class Column: ...


class Other: ...


row, column, other = Fin(Row, 2), Fin(Column, 3), Fin(Other, 4)
M = R ** (row * column)
v, m, n = (R**row).zeros(), M.zeros(), ((R**row) ** column).zeros()


def bad_vector() -> None:
    v.max(over=column)  # E: arg-type


def bad_matrix() -> None:
    m.logsumexp(over=other)  # E: arg-type


def bad_nested() -> None:
    n.product(over=other)  # E: arg-type


def bad_body() -> None:
    fun(M)(lambda a: a.sum(over=row) + a.sum(over=column))  # E: operator


def bad_position() -> None:
    m.min(over=2)  # E: call-overload


def bad_axis() -> None:
    m.sum(axis=0)  # E: call-overload


def bad_dot() -> None:
    dot(m, v, over=column)  # E: arg-type, misc


def bad_element() -> None:
    v[m.argmax(over=column)]  # E: index


def bad_discrete() -> None:
    Elements(row).vec(0).softmax()  # E: arg-type


def bad_order() -> None:
    v.argmax().max()  # E: arg-type


def bad_cast() -> None:
    v.argmax().cast(R)  # E: misc


def bad_bounds() -> None:
    v.clip(m, 1.0)  # E: arg-type


def bad_comparison() -> None:
    v.equals(m)  # E: arg-type


def bad_kernel() -> None:
    conv(m, m)  # E: arg-type
