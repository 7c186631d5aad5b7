"""Values as texts: what is printed reads back, bit for bit; what is no value is refused, however deep."""

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from adjoint.languages.value_spaces import element, value_of
from adjoint.languages.value_text import ValueTextError, parse, text
from hilbert import R32, Bool, Elements, Fin, Labelled, R, Type, Vec, Z, direct_sum
from tests.strategies import Pair, Single

atoms = st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    atoms, lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple), max_leaves=20
)
X, Y = Fin.of(3), Fin.of(2)
SPACES: list[Type] = [
    R,
    R32,
    Z,
    Bool**X,
    R ** (X * Y),
    (R**X) ** Y,
    direct_sum(R, R32**X),
    direct_sum(R, direct_sum(R**Y, R)) ** X,
    direct_sum(direct_sum(), direct_sum(R**Y)),
    direct_sum() ** X,
    Elements(Labelled.of(["a", "b", "c"])) ** Y,
    (R**X) * (R**Y),
    direct_sum(R, R**X) * (R**Y),
    Pair(first=R, second=direct_sum(R, R**X)) ** Y,
    direct_sum(Pair.of_parts((Z, R)), Single(first=R**Y)),
    R ** Fin.of(0),
    direct_sum(R, R) ** Fin.of(0),
]


def same(a: Any, b: Any) -> bool:
    """Whether two values agree, type by type and bit by bit."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        is_nan = math.isnan(a) and math.isnan(b)
        return type(b) is float and (is_nan or (a == b and math.copysign(1, a) == math.copysign(1, b)))
    return type(a) is type(b) and bool(a == b)


@given(values)
def test_printed_values_read_back(value: Any) -> None:
    """Of any nesting; blanks do not matter outside of texts."""
    assert same(parse(text(value)), value)
    assert same(parse(f" {text(value)} "), value)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_vectors_read_back(space: Type) -> None:
    """An element of a space is a value, and the value that element."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        v: Vec[Any] = space.random(rng)
        again = element([parse(text(value_of(v)))], space)
        assert again.space == space
        assert all(
            np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(v.dense().leaves, again.leaves, strict=True)
        )


@pytest.mark.parametrize(
    "text", ["(" * 10**5, "[" * 10**5, "[(" * 10**5, "(1," * 10**5, "1" * 10**5, '"' + "a" * 10**6]
)
def test_deep_and_long_texts(text: str) -> None:
    """They are refused with a column, not by a traceback."""
    with pytest.raises(ValueTextError, match="column"):
        parse(text)


def test_deep_values() -> None:
    """Depth is no limit: a value is printed as it was read."""
    deep = "[" * 10**5 + "]" * 10**5
    value = parse(deep)
    assert text(value) == deep
    while value:  # taken apart from outside: freeing it all at once would nest as deep
        value = value[0]


@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "1 2",
        "1,2",
        "(1",
        "1)",
        "[1)",
        "(,)",
        "[,1]",
        "[1,,2]",
        "tru",
        "True",
        "nan1",
        "1e",
        "0x1",
        "1_0",
        "--1",
        "'a'",
    ],
)
def test_no_values(word: str) -> None:
    """What is no value is none, whatever Python would make of it."""
    with pytest.raises(ValueTextError):
        parse(word)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *(("1.", 1.0), (".5", 0.5), ("+1", 1), ("-0", 0), ("1E3", 1000.0)),
        *(("( 1 )", 1), ("((1))", 1), ("(1,)", (1,)), ("[1,]", [1])),
    ],
)
def test_other_ways_to_write_a_value(word: str, value: Any) -> None:
    """Points at the ends of numbers, brackets around one value, a comma at the end."""
    assert same(parse(word), value)
