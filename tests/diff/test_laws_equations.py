"""Every equation of functions holds on generated functions, in value and derivative."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from diff import affine
from linmap.laws import EQUATIONS
from tests.equation_terms import ingredients, is_of_functions
from tests.oracle import value
from tests.strategies import Source, close, sources


@pytest.mark.parametrize("name", [name for name, e in EQUATIONS.items() if is_of_functions(e)])
@settings(max_examples=20)
@given(s=sources(smooth=True, single=False))
def test_equation(name: str, s: Source) -> None:
    """left(x) = right(x), left'(x)(dx) = right'(x)(dx)."""
    e = EQUATIONS[name]
    given_ = ingredients(s, e)
    left, right = e.left(*given_), e.right(*given_)
    assert (left.dom, left.cod) == (right.dom, right.cod)
    x, dx = s.vector(left.dom), s.vector(left.dom.tangent)
    assert close(value(left, x), value(right, x))
    assert close(affine(left, x)[1](dx), affine(right, x)[1](dx))
