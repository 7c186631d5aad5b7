"""Records: lenses and parts that there are not, or of other types."""

from __future__ import annotations

from diff import fun
from hilbert import Copower, Fin, Lens, Matrix, Part, R, Record, Scalar, Vector, direct_sum


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


def bad_no_part() -> None:
    """A lens is of a part that there is."""
    Layer.scale  # E: attr-defined


def bad_no_space() -> None:
    """A space has the parts of its class."""
    L.scale  # E: attr-defined


def bad_other_record() -> None:
    """`p[lens]` takes a lens of the record of p."""
    L.zeros()[Other.bias]  # E: index


def bad_other_record_in_a_body() -> None:
    """`p[lens]` takes a lens of the record of p: in a function, too."""
    fun(L)(lambda p: 2.0 * p[Other.bias])  # E: index


def bad_of_a_subclass() -> None:
    """A lens of a subclass is none of the base class."""
    L.zeros()[Deep.scale]  # E: index


def bad_skipped() -> None:
    """A part of a part is reached through the part."""
    N.zeros()[Layer.bias]  # E: index


def bad_compose_with_text() -> None:
    """Lenses compose with lenses."""
    Net.encoder / "bias"  # E: operator


def bad_position() -> None:
    """The parts of a record have no positions."""
    L.zeros()[0]  # E: index


def bad_position_in_a_body() -> None:
    """The parts of a record have no positions: in a function, too."""
    fun(L)(lambda p: p[0])  # E: index


def bad_text() -> None:
    """A part is named by a lens, not by a string."""
    L.zeros()["bias"]  # E: index


def bad_attribute() -> None:
    """`p.bias` is not typed: write `p[Layer.bias]`."""
    L.zeros().bias  # E: attr-defined


def bad_attribute_in_a_body() -> None:
    """`p.bias` is not typed: write `p[Layer.bias]`, in a function, too."""
    fun(L)(lambda p: p.bias.sum())  # E: attr-defined


def bad_split() -> None:
    """A record is not split: its parts have names."""
    L.zeros().split()  # E: misc


def bad_of_a_direct_sum() -> None:
    """A lens takes a part of a record, not of a direct sum."""
    direct_sum(W, H).zeros()[Layer.bias]  # E: index


def bad_vector() -> None:
    """A lens takes a part of a record, not of a vector."""
    H.zeros()[Layer.bias]  # E: index


def bad_matrix() -> None:
    """A part has its own axes."""
    L.zeros()[Layer.weights] @ H.zeros()  # E: operator


def bad_matrix_in_a_body() -> None:
    """A part has its own axes: in a function, too."""
    fun(L, X)(lambda p, x: p[Layer.bias] + x)  # E: operator


def bad_all_of_them() -> None:
    """Of a copower of records a lens takes the parts of all."""
    (L**sample).zeros()[Layer.bias] + H.zeros()  # E: operator


def bad_nested() -> None:
    """Through a stack of records a lens takes the parts of all."""
    N.zeros()[Net.stack / Layer.bias] + H.zeros()  # E: operator


def bad_annotation() -> None:
    """A lens has the types of its record and its part."""
    chosen: Lens[Layer, Vector[Pixel]] = Layer.bias  # E: assignment
    L.zeros()[chosen] + X.zeros()
