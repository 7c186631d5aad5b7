"""Whatever is made prints: functions, derivatives, adjoints, simplified; each name is explained, once."""

import re
from typing import Any

import pytest
from hypothesis import given, settings

from adjoint import adjoint
from diff import derivative, program
from linmap import simplify
from tests.function_terms import function
from tests.linear_terms import linear_map
from tests.programs import PROGRAMS, VALUES_ONLY
from tests.strategies import Source, sources

NAMED = re.compile(r"^ +where (\S+) [=∈:⊆] ", re.MULTILINE)
BOUND = re.compile(r"(?<!\w)[ud][₀-₉]+")
"""Names for what several parts share."""
DEFINED = re.compile(r"^ +where [ud][₀-₉]+ =", re.MULTILINE)


def check_text(f: Any) -> None:
    """At most 40 lines of 100 columns; every name of a shared part has one line that says what it is."""
    text = str(f)
    lines = text.splitlines()
    assert 0 < len(lines) <= 40, text
    assert all(len(line) <= 100 for line in lines), text
    names = NAMED.findall(text)
    assert len(names) == len(set(names)), text
    if not re.search(r"… \d+ more", text):
        assert set(BOUND.findall(text)) <= set(names), text
        assert set(BOUND.findall(DEFINED.sub("", text))) == set(BOUND.findall(text)), (
            f"a definition is not used: {text}"
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_print(name: str) -> None:
    """A program, its derivative and the adjoint of that, simplified or not."""
    f = PROGRAMS[name]
    check_text(f)
    if name in VALUES_ONLY:
        return
    d = derivative(f)
    for term in (d, adjoint(d), simplify(d), program(f), d.uncurried):
        check_text(term)


@settings(max_examples=200)
@given(sources())
def test_functions_print(s: Source) -> None:
    """Random functions, as terms and as programs, and what is derived from them."""
    f = function(s, 3)
    d = derivative(f)
    for term in (f, program(f), d, adjoint(d), simplify(f), simplify(d), derivative(d.uncurried)):
        check_text(term)


@settings(max_examples=200)
@given(sources())
def test_linear_maps_print(s: Source) -> None:
    """Random linear maps and their adjoints."""
    f = linear_map(s, 3)
    for term in (f, adjoint(f), simplify(f)):
        check_text(term)
