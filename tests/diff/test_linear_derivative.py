"""h'(v) = h for a linear h, and K_w'(v) = 0, Thm 4.1 (2), (3)."""

import pytest
from hypothesis import given, note, settings

from diff import affine, derivative
from diff.terms.nodes import Constant
from tests.linear_terms import NODES, is_exact
from tests.strategies import Source, close, same, sources


@pytest.mark.parametrize("cls", NODES)
@settings(max_examples=15)
@given(s=sources())
def test_linear_map_is_its_own_derivative(cls: type, s: Source) -> None:
    """h^[1](x) = (h x, h), at every point, for every node class."""
    h = NODES[cls](s, 3)
    note(h)
    x, dx = s.vector(h.dom), s.vector(h.dom)
    value, linear = affine(h, x)
    exact = is_exact(h)
    assert same(value, h(x)) if exact else close(value, h(x))
    assert same(linear(dx), h(dx)) if exact else close(linear(dx), h(dx))


@given(sources())
def test_derivative_of_a_constant(s: Source) -> None:
    """K_w^[1](x) = (w, 0), with no arcs at all."""
    V, w = s.space(), s.vector(s.space())
    value, linear = affine(Constant(V, w), s.vector(V))
    assert same(value, w)
    assert same(linear(s.vector(V)), w.space.zeros())
    assert not derivative(Constant(V, w)).body.arcs
