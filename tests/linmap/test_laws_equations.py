"""Every equation of the table holds on generated maps; spaces, index sets and vectors are drawn by its signature."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from linmap.laws import EQUATIONS, RULES
from linmap.laws.rule import Equation
from tests.linear_terms import between
from tests.oracle import matrix
from tests.redexes import index, space
from tests.strategies import Source, sources


def ingredients(s: Source, e: Equation) -> list[Any]:
    """Maps "f : U ⊸ V", vectors "u ∈ U" and index sets "X", letters standing for the same things throughout."""
    spaces: dict[str, Any] = {}
    found: list[Any] = []
    for text in e.maps:
        name, _, kind = text.replace(":", " : ", 1).partition(" ")
        letters = kind.replace(":", "").replace("∈", "").replace("⊸", "").split()
        for letter in letters:
            spaces.setdefault(letter, space(s))
        if "⊸" in kind:
            found.append(between(s, spaces[letters[0]], spaces[letters[1]], 1))
        elif "∈" in kind:
            found.append(s.vector(spaces[letters[0]]))
        else:
            assert name in {"X", "Y"}
            found.append(index(s))
    return found


@pytest.mark.parametrize("name", EQUATIONS)
def test_equation(name: str) -> None:
    """left = right."""
    e = EQUATIONS[name]

    @settings(max_examples=20)
    @given(sources(single=False))
    def law(s: Source) -> None:
        given_ = ingredients(s, e)
        left, right = e.left(*given_), e.right(*given_)
        assert (left.dom, left.cod) == (right.dom, right.cod)
        assert (matrix(left) == matrix(right)).all()

    law()


def test_a_law_is_a_rule_or_an_equation() -> None:
    """Formulas are told apart by their orientation only."""
    assert not set(RULES) & set(EQUATIONS)
    assert all(rule.formula for rule in RULES.values())
    assert all(e.formula for e in EQUATIONS.values())
