"""⋄'(u, v) = (u⋄)•π₂ + (⋄v)•π₁ for every bilinear map, Thm 4.1 (4)."""

from typing import Any

import pytest
from hypothesis import given, settings

from diff import affine
from diff.terms.nodes import Bilinear
from hilbert import DirectSum
from linmap import project, section
from linmap.term.linear_map import LinMap
from tests.linear_terms import CONTRACTIONS
from tests.strategies import Source, close, sources


@pytest.mark.parametrize("name", CONTRACTIONS)
@settings(max_examples=15)
@given(s=sources(smooth=True))
def test_product_rule(name: str, s: Source) -> None:
    """Also lifted, and with a discrete operand, whose tangent is 0 and whose section is missing from the sum."""
    c = CONTRACTIONS[name](s)
    if s.flag():
        c = c.lifted(s.index(3))
    u, v = s.vector(c.left), s.vector(c.right)
    value, linear = affine(Bilinear(c), u, v)
    dx = s.vector(linear.dom)
    assert close(value, Bilinear(c)(u, v))
    rule = _rule(c, u, v)
    assert close(linear(dx), rule(rule.dom.unflat(dx.flat())))


def _rule(c: Any, u: Any, v: Any) -> LinMap[Any, Any]:
    if not c.right.is_space:
        return section(c, 1, v)
    if not c.left.is_space:
        return section(c, 0, u)
    V = DirectSum((c.left, c.right))
    due: LinMap[Any, Any] = section(c, 0, u) @ project(V, 1) + section(c, 1, v) @ project(V, 0)
    return due
