"""Axes: class X(Axis, size=n) has X.set = Fin(X, n), X.of(m) = Fin(X, m); a record's space is read in annotations."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import Axis, Fin, Part, R, SpaceError

T = TypeVar("T")


class Pixel(Axis, size=3):
    """An axis with a size."""


class Hidden(Axis):
    """An axis without one."""


class Depth:
    """A tag of the plain kind."""


class Layer(hb.Record):
    """Parts with axes of both kinds."""

    weights: Part[hb.Matrix[Hidden, Pixel]]
    bias: Part[hb.Vector[Hidden]]


class Net(Layer):
    """A part of each form."""

    layer: Part[Layer]
    stack: Part[hb.Copower[Layer, Fin[Depth]]]
    scale: Part[hb.Scalar]
    on: Part[hb.Boolean]
    count: Part[hb.Integers]
    unit: Part[hb.Elements[Fin[Hidden]]]
    pair: Part[hb.DirectSum[hb.Scalar, hb.Vector[Pixel]]]
    tensor: Part[hb.TensorProduct[hb.Vector[Pixel], hb.Vector[Hidden]]]
    either: Part[hb.Copower[hb.Field, hb.Product[hb.Coproduct[Fin[Pixel], Fin[Depth]], Fin[Hidden]]]]
    one: Part[hb.Copower[hb.Scalar, hb.Unit]]
    empty: Part[hb.Zero]


def another(size: int | None = None) -> type[Axis]:
    """Another axis with the name of one of this module."""

    class Hidden(Axis, size=size):
        """It has the name of the other one."""

    return Hidden


Other: Any = another()
Sized: Any = another(5)


class Clash(hb.Record):
    """Two axes of one name, neither of them with a size."""

    x: Part[hb.Vector[Hidden]]
    y: Part[hb.Vector[Other]]


class BothSized(hb.Record):
    """Two axes of one name, whose sizes are declared."""

    y: Part[hb.Vector[Sized]]
    Pixel: Part[hb.Vector[Pixel]]


class Itself(hb.Record):
    """A part that is the record again."""

    x: Part[Itself]


class Unknown(hb.Record):
    """An annotation that says no space."""

    x: Part[Any]


class Parametric(hb.Record):
    """An axis that is a parameter."""

    x: Part[hb.Vector[T]]  # type: ignore[valid-type]


class Unnamed(hb.Record):
    """An axis without a name."""

    x: Part[hb.Vector[hb.Anonymous]]


class Missing(hb.Record):
    """A name that nobody defined."""

    x: Part[hb.Vector[Nobody]]  # type: ignore[name-defined]  # noqa: F821


untyped: Any = Layer


def said(make: Callable[[], object]) -> str:
    """The message of the error."""
    with pytest.raises(SpaceError) as caught:
        make()
    return str(caught.value)


def test_the_index_set_of_an_axis() -> None:
    """X.set is Fin(X, n), and X.of(m) is Fin(X, m)."""
    assert Pixel.set == Fin(Pixel, 3)
    assert Pixel.of(100) == Fin(Pixel, 100)
    assert Pixel.of(3) == Pixel.set
    assert Hidden.of(0).size == 0
    assert str(R ** (Hidden.of(2) * Pixel.set)) == "ℝ^{Hidden2×Pixel3}"
    assert float((R**Pixel.set).ones().sum()) == 3.0
    assert hb.Labelled(Pixel, ["a", "b"]).tag is Pixel
    assert said(lambda: Hidden.set) == (
        "the axis Hidden has no size: write Hidden.of(n), or declare one, class Hidden(Axis, size=n)"
    )


def test_axes_are_compared_and_pickled_by_their_classes() -> None:
    """Two axes of one name are two; an axis at the top level of a module pickles."""
    assert Pixel.set != another(3).of(3)
    for copied in (pickle.loads(pickle.dumps(Pixel.set)), copy.deepcopy(Pixel.set)):
        assert copied == Pixel.set
    f = hb.fun(R ** Fin(Hidden, 5))(lambda x: x.sum())
    assert "printed alike" in said(lambda: f((R**Sized.set).ones()))
    assert "cannot be pickled" in said(lambda: pickle.dumps(Sized.set))


@pytest.mark.parametrize("size", [-1, True, 3.0, "3", 2**63, np.ones(2)])
def test_a_size_is_checked(size: Any) -> None:
    """A size is an integer ≥ 0, where the class is declared."""
    words = "elements are more" if isinstance(size, int) and size > 3 else "integer ≥ 0"
    assert words in said(lambda: another(size))
    assert words in said(lambda: Hidden.of(size))


def test_what_is_no_axis() -> None:
    """Subclasses of axes, parameters, instances and attributes that every axis has are refused."""

    def subclass() -> None:
        class Smaller(Pixel, size=2):
            """A subclass of a subclass."""

    def generic() -> None:
        class Grid(Axis, Generic[T], size=2):
            """A generic tag."""

    def named() -> None:
        class Odd(Axis, size=2):
            """An axis with a method of its own."""

            def set(self) -> None:
                """Hides the index set."""

    assert said(subclass).startswith("the axis Smaller is a subclass of Pixel, and axes are classes of their own")
    assert "write class Grid(Axis, size=n)" in said(generic)
    assert said(named) == "the axis Odd has an attribute set, which every axis has: give it another name"
    made: Any = Pixel
    assert "write Pixel.set for its index set, or Pixel.of(n)" in said(made)
    assert "Pixel(…) makes nothing" in said(lambda: made(3))


def test_an_axis_in_place_of_its_index_set() -> None:
    """The message says Pixel.set where the class is given, and that an index set is no vector and no space."""
    tag: Any = Pixel
    plain: Any = Depth
    X: Any = Pixel.set
    assert said(lambda: R**tag).endswith("not the class Pixel: write R ** Pixel.set")
    assert said(lambda: hb.Elements(tag)).endswith("write Pixel.set")
    assert said(lambda: Hidden.of(2) * tag).endswith("write Pixel.set")
    assert said(lambda: Fin(*[tag])).endswith("write Pixel.set")
    assert said(lambda: R**plain).endswith("write R ** Fin(Depth, n)")
    f: Any = hb.fun(R**Pixel.set)(lambda x: x.sum())
    assert "is the index set Pixel3, where a vector of ℝ^Pixel3 is due" in said(lambda: f(X))
    assert "fun takes spaces, not the index set Pixel3" in said(lambda: hb.fun(X))


def test_the_space_of_a_record() -> None:
    """Theta.space(X=n) is Theta with the space of each annotation."""
    hidden, depth = Hidden.of(2), Fin(Depth, 4)
    layer = Layer(weights=R ** (hidden * Pixel.set), bias=R**hidden)
    assert Layer.space(Hidden=2) == layer
    net = Net(
        weights=layer.weights,
        bias=layer.bias,
        layer=layer,
        stack=layer**depth,
        scale=R,
        on=hb.Bool,
        count=hb.Z,
        unit=hb.Elements(hidden),
        pair=hb.direct_sum(R, R**Pixel.set),
        tensor=(R**Pixel.set) * (R**hidden),
        either=R ** ((Pixel.set + depth) * hidden),
        one=R ** hb.Unit(),
        empty=hb.Zero(),
    )
    assert Net.space(Hidden=2, Depth=4) == net
    assert BothSized.space().dim == 8
    assert hb.Record.space().dim == 0


def test_other_sizes_labels_and_precision() -> None:
    """A given size goes before the declared one; an index set of the tag stands for a size; R32 is the field."""
    assert Layer.space(Hidden=2, Pixel=7).weights == R ** (Hidden.of(2) * Pixel.of(7))
    users = hb.Labelled(Hidden, ["ada", "bob"])
    assert Layer.space(Hidden=users).bias == R**users
    assert {leaf.dtype for leaf in Layer.space(hb.R32, Hidden=2).leaves} == {"float32"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Layer.space, "Layer.space: no size is given for Hidden: write Layer.space(Hidden=n)"),
        (lambda: Net.space(Hidden=2), "Net.space: no size is given for Depth: write Net.space(Hidden=…, Depth=n)"),
        (lambda: Layer.space(Hiden=2), "Layer.space: no axis is called Hiden; its axes are Hidden, Pixel"),
        (
            lambda: untyped.space(Hidden=2.0),
            "Layer.space(Hidden=…): the size of an index set is an integer ≥ 0, not 2.0",
        ),
        (
            lambda: Layer.space(Hidden=True),
            "Layer.space(Hidden=…): the size of an index set is an integer ≥ 0, not True",
        ),
        (
            lambda: Layer.space(Hidden=Pixel.set),
            "Layer.space: Hidden=… is a size, or an index set of the axis Hidden, not the index set Pixel3",
        ),
        (
            lambda: untyped.space(8),
            (
                "Layer.space takes sizes by the names of axes, Layer.space(Pixel=8), and before them R or R32, the "
                "field of scalars, not 8"
            ),
        ),
        (
            lambda: Clash.space(Hidden=3),
            (
                f"Clash.space: Hidden is the name of 2 axes, {__name__}.Hidden and {__name__}.another.<locals>.Hidden: "
                "rename one, or declare their sizes"
            ),
        ),
        (Itself.space, "Itself is a part of itself, and spaces are finite: give the spaces of the parts"),
        (
            Unknown.space,
            "the annotation of Unknown.x does not say its space, for Any is none: give the spaces of the parts",
        ),
        (
            Parametric.space,
            (
                "the annotation of Parametric.x does not say its space, for hilbert.index.index.Fin[~T] is none: give "
                "the spaces of the parts"
            ),
        ),
        (
            Unnamed.space,
            "Unnamed.x has an axis without a name, which no size can be given for: give the spaces of the parts",
        ),
        (
            Missing.space,
            (
                "Missing.x is annotated with Nobody, which is not known where Missing is defined: define it before, or "
                "give the spaces of the parts"
            ),
        ),
    ],
)
def test_what_a_record_refuses(make: Callable[[], object], message: str) -> None:
    """A name that is missing, unknown or shared, a value that is no size, and an annotation that says no space."""
    assert said(make) == message


def test_annotations_inside_of_a_function() -> None:
    """Names are read where the class stands, in a function too; types that are no text wherever."""

    class Own(Axis, size=6):
        """An axis of this function."""

    class Inner(hb.Record):
        """A record of this function."""

        x: Part[hb.Matrix[Own, Pixel]]

    assert Inner.space() == Inner(x=R ** (Own.set * Pixel.set))
    local: Any = type("Local", (hb.Record,), {"__annotations__": {"x": Part[hb.Vector[Sized]]}})
    assert local.space().dim == 5
