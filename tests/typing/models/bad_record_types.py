"""Records: mistakes that only a type checker sees: the run compares no annotations."""

from __future__ import annotations

from hilbert import Copower, Fin, Matrix, Part, R, Record, Scalar, Vector, direct_sum


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


def bad_part_of_int() -> None:
    """Part[V] is for a space or a discrete type V: a class of Python is none."""
    class Bad(Record):
        rate: Part[int]  # E: type-var


def bad_part_of_index() -> None:
    """Part[V] is for a space or a discrete type V: an index set is none."""
    class Bad(Record):
        axis: Part[Fin[Pixel]]  # E: type-var


def bad_part_of_two() -> None:
    """Part[V] has one argument."""
    class Bad(Record):
        pair: Part[Scalar, Scalar]  # E: type-arg


def bad_vector() -> None:
    """The space of a part is of its type: another axis."""
    Layer(weights=W, bias=X)  # E: arg-type


def bad_matrix() -> None:
    """The space of a part is of its type: a transposed matrix."""
    Layer(weights=T, bias=H)  # E: arg-type


def bad_nested() -> None:
    """The space of a part is of its type: another record."""
    Net(encoder=O, stack=L**sample, offset=R)  # E: arg-type


def bad_direct_sum() -> None:
    """A direct sum of the same parts is no record."""
    Net(encoder=direct_sum(W, H), stack=L**sample, offset=R)  # E: arg-type


def bad_copower() -> None:
    """A copower of a record is no record."""
    Net(encoder=L**sample, stack=L**sample, offset=R)  # E: arg-type


def bad_no_copower() -> None:
    """A record is no copower of it."""
    Net(encoder=L, stack=L, offset=R)  # E: arg-type


def bad_compose() -> None:
    """Lenses compose where one ends in the record in which the other begins."""
    Net.offset / Layer.bias  # E: operator


def bad_compose_turned() -> None:
    """Lenses compose from the outside in."""
    Layer.bias / Net.encoder  # E: operator
