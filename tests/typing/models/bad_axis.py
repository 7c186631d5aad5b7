"""Axes: a size that is none, another tag, an instance; sizes of a record that are none."""

from __future__ import annotations

from diff import fun
from hilbert import Axis, Matrix, Part, R, Record, Vector


class Pixel(Axis, size=4): ...


class Hidden(Axis): ...


class Layer(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


hidden = Hidden.of(2)


total = fun(R**Pixel.set)(lambda x: x @ x)


def bad_instance() -> None:
    Pixel()  # E: call-arg


def bad_size() -> None:
    Pixel.of("4")  # E: arg-type


def bad_declared_size() -> None:
    class Grey(Axis, size="4"): ...  # E: arg-type


def bad_tag() -> None:
    (R ** Pixel.of(3)).ones() + (R ** Hidden.of(3)).ones()  # E: operator


def bad_vector() -> None:
    total((R**hidden).ones())  # E: arg-type


def bad_value() -> None:
    total(Pixel.set)  # E: call-overload


def bad_matrix() -> None:
    total((R ** (Pixel.set * Pixel.set)).ones())  # E: arg-type


def bad_nested() -> None:
    total(((R**Pixel.set) ** hidden).ones())  # E: arg-type


def bad_exponent() -> None:
    R**Pixel  # E: type-var


def bad_labels() -> None:
    Layer.space(Hidden="2")  # E: arg-type


def bad_position() -> None:
    Layer.space(2)  # E: arg-type
