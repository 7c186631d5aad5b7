"""Every equation of linear maps holds on generated maps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from hilbert import Fin, R
from linmap.laws import EQUATIONS, RULES
from tests.equation_terms import ingredients, is_of_functions
from tests.oracle import matrix
from tests.strategies import Source, sources


@pytest.mark.parametrize("name", [name for name, e in EQUATIONS.items() if not is_of_functions(e)])
@settings(max_examples=20)
@given(s=sources(single=False))
def test_equation(name: str, s: Source) -> None:
    """left = right."""
    e = EQUATIONS[name]
    given_ = ingredients(s, e)
    left, right = e.left(*given_), e.right(*given_)
    assert (left.dom, left.cod) == (right.dom, right.cod)
    assert (matrix(left) == matrix(right)).all()


def test_a_law_is_a_rule_or_an_equation() -> None:
    """No law is both, and each has a formula."""
    assert not set(RULES) & set(EQUATIONS)
    assert all(rule.formula for rule in RULES.values())
    assert all(e.formula for e in EQUATIONS.values())


def test_contraction_from_the_left() -> None:
    """(t ∗ u) ∗ is what `contraction is associative` speaks of: x ↦ t ∗ u ∗ x, not x ↦ x ∗ t ∗ u."""
    V = R ** Fin.of(2)
    t, u = ((V * V).vec(entries) for entries in ([[1.0, 2.0], [0.0, 1.0]], [[1.0, 0.0], [3.0, 1.0]]))
    e = EQUATIONS["contraction is associative"]
    due = np.kron(t.array @ u.array, np.eye(2))
    assert (matrix(e.left(t, u)) == due).all()
    assert (matrix(e.right(t, u)) == due).all()
