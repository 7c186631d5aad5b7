"""Records: vectors and expressions that are put together of wrong parts."""

from __future__ import annotations

import numpy as np

from diff import entry, fun, made
from hilbert import Copower, Fin, Matrix, Part, R, Record, Scalar, Vector, direct_sum, initial, load, save
from linmap import pack, unpack


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


def bad_entry_value() -> None:
    """An entry has a value in the space of its part."""
    made(L, entry(Layer.weights, W.zeros()), entry(Layer.bias, X.zeros()))  # E: misc


def bad_entry_value_in_a_body() -> None:
    """An entry has a value in the space of its part: in a function, too."""
    fun(X)(lambda x: made(L, entry(Layer.weights, W.zeros()), entry(Layer.bias, x)))  # E: misc


def bad_entry_of_another() -> None:
    """`made(P, …)` takes entries of the record P."""
    made(L, entry(Layer.weights, W.zeros()), entry(Other.bias, H.zeros()))  # E: misc


def bad_no_entry() -> None:
    """`made(P, …)` takes entries, not values."""
    made(L, W.zeros(), H.zeros())  # E: call-overload


def bad_entry_of_text() -> None:
    """An entry begins with a lens."""
    entry("bias", H.zeros())  # E: call-overload


def bad_entry_of_an_array() -> None:
    """The value of an entry is a vector or an expression, no array."""
    entry(Layer.bias, np.zeros(2))  # E: call-overload


def bad_class_for_space() -> None:
    """`made(P, …)` takes the space P, not the class."""
    made(Layer, entry(Layer.weights, W.zeros()), entry(Layer.bias, H.zeros()))  # E: call-overload


def bad_made_of_another() -> None:
    """What is made is of the class of P."""
    made(L, entry(Layer.weights, W.zeros()), entry(Layer.bias, H.zeros())) + O.zeros()  # E: operator


def bad_replace_lens() -> None:
    """`replace` takes a lens of the record."""
    L.zeros().replace(Other.bias, H.zeros())  # E: arg-type


def bad_vector() -> None:
    """`replace` takes a vector of the space of the part."""
    L.zeros().replace(Layer.bias, X.zeros())  # E: misc


def bad_matrix() -> None:
    """`replace` takes a vector of the space of the part: in a function, too."""
    fun(L)(lambda p: p.replace(Layer.weights, p[Layer.weights].T))  # E: misc


def bad_nested() -> None:
    """Of a copower of records the parts of all are replaced."""
    (L**sample).zeros().replace(Layer.bias, H.zeros())  # E: arg-type


def bad_replace_by_an_expression() -> None:
    """`replace` in a vector takes no expression."""
    fun(H)(lambda b: L.zeros().replace(Layer.bias, b))  # E: arg-type, return-value


def bad_nominal() -> None:
    """Vectors of two records do not add, though their parts are the same."""
    L.zeros() + O.zeros()  # E: operator


def bad_plain_sum() -> None:
    """Vectors of a record and of the direct sum of its parts do not add."""
    L.zeros() - direct_sum(W, H).zeros()  # E: operator


def bad_nominal_in_a_body() -> None:
    """Expressions of two records do not add."""
    fun(L, O)(lambda p, q: p + q)  # E: operator


def bad_leaf_result() -> None:
    """`map_leaves` takes a function that gives a vector."""
    L.zeros().map_leaves(lambda path, v: v.norm())  # E: arg-type, return-value


def bad_seed() -> None:
    """`initial` draws from a source of random numbers, no seed."""
    initial(L, 0)  # E: arg-type


def bad_save_order() -> None:
    """`save` takes the vector, then the file."""
    save("p.npz", L.zeros())  # E: arg-type


def bad_load_order() -> None:
    """`load` takes the space, then the file."""
    load("p.npz", L)  # E: arg-type, type-var


def bad_pack_of_a_sum() -> None:
    """`pack` is for records."""
    pack(direct_sum(W, H))  # E: type-var


def bad_unpack_of_a_space() -> None:
    """`unpack` is for records."""
    unpack(H)  # E: type-var
