"""`data` compares what it is told with what the classes say, where that can be read: at once, not at the first call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest

from diff import Expr, arrow, as_vector, data, sequence, term, variant
from diff.higher import TermError
from hilbert import Fin, R, Scalar

# ruff: noqa: UP037 - quoted annotations are among what is tested


@variant
class Const:
    """A number."""

    value: Expr[Scalar]


@variant
class Let:
    """A binding, whose `value` is no number."""

    value: "Term"
    body: "Term"


@variant
class Bind:
    """A binding with a name of its own for what it binds."""

    bound: "Const | Bind"
    body: "Later"  # type: ignore[name-defined]  # noqa: F821 - says nothing


@variant
class Counted:
    """A number of Python's."""

    k: int


@variant
class Many:
    """A list of parts."""

    parts: list[Many]


@variant
class Some:
    """A sequence of parts."""

    parts: "Sequence[Some]"


@variant
class Rose:
    """A tuple of parts, as it is due."""

    label: Expr[Scalar]
    parts: "tuple[Rose, ...]"


@variant
class Row:
    """A tuple of vectors."""

    items: tuple[Expr[Scalar], ...]


@variant
class Applied:
    """A function."""

    f: Callable[[Expr[Scalar]], Expr[Scalar]]


@variant
class Holder:
    """Other data."""

    rose: Rose


class Base:
    """What several classes are."""


@variant
class Below(Base):
    """One of them."""

    left: Base
    right: Below | None
    whatever: Any


Term: TypeAlias = Const | Let
LET = "Let.value is annotated Term, which is of these classes: give fields that recur a name of their own"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: data(Const, Let, value=R), f"data(…, value=R): {LET}"),
        (
            lambda: data(Counted),
            "of which space is Counted.k, int? write data(…, k=V) and annotate it Expr[…]: data hold",
        ),
        (lambda: data(Many), "Many.parts is annotated list[Many], and what data hold is a tuple: tuple[…, ...]"),
        (lambda: data(Some), "Some.parts is annotated Sequence[Some], and what data hold is a tuple: tuple[…, ...]"),
        (lambda: data(Rose, label=R, parts=R), "Rose.parts is annotated tuple[Rose, ...], which is of these classes"),
        (lambda: data(Row), "of which space is Row.items, tuple[Expr[Scalar], ...]? write data(…, items=sequence(V))"),
        (
            lambda: data(Row, items=R),
            "Row.items is annotated tuple[Expr[Scalar], ...]: write data(…, items=sequence(R))",
        ),
        (
            lambda: data(Const, value=sequence(R)),
            "Const.value is annotated Expr[Scalar], which is a vector: write data(…, ",
        ),
        (lambda: data(Applied), "write data(…, f=arrow(V, W))"),
        (lambda: data(Holder), "of which space is Holder.rose, Rose? write data(…, rose=data(…))"),
    ],
)
def test_what_does_not_fit_is_said_at_once(made: Callable[[], Any], said: str) -> None:
    """The class, the field, its annotation, and what to write."""
    with pytest.raises(TermError) as found:
        made()
    assert said in str(found.value)
    assert found.value.code == "type"


def test_what_is_right_is_taken() -> None:
    """What these messages say to write; bases, unions with None or with more classes; and what cannot be read."""
    rose = data(Rose, label=R)
    made = [
        data(Const, Bind, value=R),
        data(Row, items=sequence(R)),
        data(Applied, f=arrow(R, R)),
        data(Holder, rose=rose),
        data(Counted, k=R),
        data(Below),
        data(Let),
        rose,
    ]
    assert len(set(map(repr, made))) == len(made)


def test_classes_of_a_function_are_read() -> None:
    """By their names, whose annotations no module can resolve."""

    @variant
    class Leaf:
        value: Expr[Scalar]

    @variant
    class Node:
        left: Leaf | Node
        value: "Leaf | Node"

    with pytest.raises(TermError, match=r"Node\.value is annotated .*Leaf | Node.*, which is of these classes"):
        data(Leaf, Node, value=R ** Fin.of(2))


def test_the_message_at_the_class_is_of_use() -> None:
    """With a name of its own the field recurs."""
    kind = data(Const, Bind, value=R)

    @term(kind)
    def value(t: Const | Bind) -> Expr[Scalar]:
        match t:
            case Const(number):
                return number
            case Bind(bound, body):
                return value(bound) + value(body)

    two = Const(R.vec(2.0))
    assert float(as_vector(value(Bind(two, two)))) == 4.0
    assert float(value.evaluated(Bind(two, Bind(two, two))).array) == 6.0
