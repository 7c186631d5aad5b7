"""Records: what is wrong in their declaration and in making their spaces."""

from __future__ import annotations

import numpy as np

from diff import fun
from hilbert import Copower, Fin, Matrix, Part, R, Record, Scalar, Vector


class Pixel: ...


class Hidden: ...


class Sample: ...


class Layer(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Other(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Deep(Layer):
    scale: Part[Scalar]


class Net(Record):
    encoder: Part[Layer]
    stack: Part[Copower[Layer, Fin[Sample]]]
    offset: Part[Scalar]


pixel, hidden, sample = Fin(Pixel, 3), Fin(Hidden, 2), Fin(Sample, 5)
W, T, X, H = R ** (hidden * pixel), R ** (pixel * hidden), R**pixel, R**hidden
L, O = Layer(weights=W, bias=H), Other(weights=W, bias=H)
D = Deep(weights=W, bias=H, scale=R)
N = Net(encoder=L, stack=L**sample, offset=R)


def bad_member() -> None:
    """A part is not called like a member of every space."""
    class Bad(Record):
        dim: Part[Scalar]  # E: assignment


def bad_method() -> None:
    """A part is not called like a member of every space."""
    class Bad(Record):
        vec: Part[Scalar]  # E: assignment


def bad_record_member() -> None:
    """A part is not called like a member of records."""
    class Bad(Record):
        lenses: Part[Scalar]  # E: assignment, misc


def bad_declared_again() -> None:
    """A part of a base class is not declared again."""
    class Bad(Layer):
        bias: Part[Scalar]  # E: assignment


def bad_missing() -> None:
    """Every part has its space."""
    Layer(weights=W)  # E: call-arg


def bad_missing_of_base() -> None:
    """Every part has its space: those of the base class, too."""
    Deep(scale=R)  # E: call-arg


def bad_extra() -> None:
    """There are no other parts than those declared."""
    Layer(weights=W, bias=H, scale=R)  # E: call-arg


def bad_positional() -> None:
    """Spaces are given by name."""
    Layer(W, H)  # E: call-arg


def bad_a_vector() -> None:
    """A part is a space, no vector of it."""
    Layer(weights=W, bias=H.zeros())  # E: arg-type


def bad_an_index_set() -> None:
    """A part is a space, no index set."""
    Layer(weights=W, bias=hidden)  # E: arg-type


def bad_an_array() -> None:
    """A part is a space, no array."""
    Layer(weights=W, bias=np.zeros(2))  # E: arg-type


def bad_changed() -> None:
    """The space of a part is not changed."""
    L.bias = H  # E: arg-type


def bad_a_class() -> None:
    """A class is no space."""
    fun(Layer)(lambda p: p)  # E: call-overload
