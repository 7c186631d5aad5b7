"""Axes with other names or sizes: an axis that is not there, a matrix without `over`, a vector that names none of them."""

from diff import fun
from hilbert import Axis, R


class Pixel(Axis, size=3): ...


class Hidden(Axis, size=3): ...


class Row(Axis, size=2): ...


V, M = R**Pixel.set, R ** (Row.set * Pixel.set)
square = fun(V)(lambda x: x @ x)


def bad_vector() -> None:
    square(V.ones().named(Hidden.set))  # E: arg-type


def bad_matrix() -> None:
    M.ones().named(Hidden.set, over=1) @ V.ones()  # E: operator


def bad_nested() -> None:
    ((V**Row.set).ones()).named(Hidden.set) + (V**Row.set).ones()  # E: operator


def bad_name() -> None:
    V.ones().named(3)  # E: call-overload


def bad_over() -> None:
    M.ones().named(Row.set, over=Hidden.set)  # E: arg-type


def bad_pad() -> None:
    M.ones().pad(1, 1)  # E: call-overload


def bad_crop() -> None:
    M.ones().crop(0, 1)  # E: call-overload


def bad_pad_over() -> None:
    M.ones().pad(1, 1, over=Hidden.set)  # E: arg-type


def bad_add() -> None:
    M.ones().add((R**Hidden.set).ones())  # E: arg-type


def bad_times() -> None:
    fun(M, R**Hidden.set)(lambda A, v: A.times(v))  # E: arg-type


def bad_number() -> None:
    M.ones().add(3.0)  # E: arg-type


def bad_to() -> None:
    V.ones().pad(0, 0, to=Hidden.set) + V.ones()  # E: operator
