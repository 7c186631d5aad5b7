"""What is known from around a term, and what is not, where its type is found."""

from __future__ import annotations

import pytest

from diff.higher import Module, TermError


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("([1, 2] : list int)", "list int"),
        ("([[|1, 2|]] : list (R^(Pixel:2)))", "list R^(Pixel:2)"),
        ("([|1, 2|] + [|3, 4|] : R^(Pixel:2))", "R^(Pixel:2)"),
    ],
)
def test_numbers_as_they_are_due(text: str, due: str) -> None:
    """In a list that is written, and in a sum, numbers are those of the type around."""
    assert str(Module().term(text)[1]) == due


def test_a_factor_is_not_what_the_product_is() -> None:
    """A number in front of a vector stays a number where the product's type is written."""
    module = Module()
    assert not list(module.read("data Maybe a = Nothing | Just a"))
    text = "((case Just 3 of {Nothing -> 2 | Just x -> x}) * [|1, 2|] : R^2)"
    assert str(module.term(text)[1]) == "R^2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("([|1, 2|] : R^3)", "the term is of type R^2 where R^3 is due"),
        ("([|[1, 2], [3, 4]|] : R^4)", "the term is of type R^(2 x 2) where R^4 is due"),
        ("(true : real)", "the term is of type bool where real is due"),
    ],
)
def test_numbers_that_are_not_those_due(text: str, said: str) -> None:
    """Of another form than the space's, or truth values."""
    with pytest.raises(TermError) as caught:
        Module().term(text)
    assert str(caught.value) == f"<text>:1:2: {said}"


@pytest.mark.parametrize(("arg", "ty"), [("(1, 2, 3)", "real * real * real"), (" [1]", "list real")])
def test_how_many_arguments_a_primitive_takes(arg: str, ty: str) -> None:
    """A tuple of another length is no arguments of it, and neither is what is no tuple."""
    with pytest.raises(TermError) as caught:
        Module().term(f"less{arg}")
    assert str(caught.value) == f"<text>:1:1: less takes 2 arguments, less(x, y), not one of type {ty}"


@pytest.mark.parametrize(
    ("text", "ty"),
    [
        (r"\x. equal(x, [|1, 2|])", "R^2 → Bool^2"),
        (r"\x. equal([|1, 2|], x)", "R^2 → Bool^2"),
        (r"\x. x + [|1, 2|]", "R^2 → R^2"),
        (r"\x y. x - y", "real → real → real"),
        (r"\x y. x + y", "real → real → real"),
        (r"\x. x + <1, [|1, 2|]>", "real * R^2 → real * R^2"),
        (r"\x y. and(x, y)", "bool → bool → bool"),
        (r"\x. not x", "bool → bool"),
        (r"\x. sin x", "real → real"),
        (r"\p. less p", "real * real → bool"),
        (r"\m. and (case m of {Nothing -> <true, true> | Just b -> <b, true>})", "Maybe bool → bool"),
    ],
)
def test_arguments_say_the_space_of_each_other(text: str, ty: str) -> None:
    """Of a primitive and of a sign: the first whose type is known, else it is a real, or a truth value."""
    module = Module()
    assert not list(module.read("data Maybe a = Nothing | Just a"))
    assert str(module.term(text)[1]) == ty


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<1, 2> - <3, 4>", "<text>:1:1: - applies to vectors, not to one of type real * real"),
        ("1 + <3, 4>", "<text>:1:5: a part of + is of type real * real where real is due"),
        ("not 1", "<text>:1:5: the argument of not is of type real where bool is due"),
        ("sin [1]", "<text>:1:5: sin applies to vectors, not to one of type list real"),
        ("pow([1], 2)", "<text>:1:4: pow applies to vectors, not to one of type list real"),
        (r"\x. pow(x, [1])", "<text>:1:8: pow applies to vectors, not to one of type list real"),
        ("and(true, 1)", "<text>:1:4: the argument of and is of type real where bool is due"),
    ],
)
def test_arguments_of_no_space(text: str, said: str) -> None:
    """What is no vector, or of another space than the first."""
    with pytest.raises(TermError) as caught:
        Module().term(text)
    assert str(caught.value) == said
