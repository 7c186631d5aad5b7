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
def test_equation(name: str) -> None:
    """left(x) = right(x), left'(x)(dx) = right'(x)(dx)."""
    e = EQUATIONS[name]

    @settings(max_examples=20)
    @given(sources(smooth=True, single=False))
    def law(s: Source) -> None:
        given_ = ingredients(s, e)
        left, right = e.left(*given_), e.right(*given_)
        assert (left.dom, left.cod) == (right.dom, right.cod)
        x, dx = s.vector(left.dom), s.vector(left.dom.tangent)
        assert close(value(left, x), value(right, x))
        assert close(affine(left, x)[1](dx), affine(right, x)[1](dx))

    law()
