"""The vector space axioms, in every space: (u + v) + w = u + (v + w), …, (j·k)·v = j·(k·v)."""

import math

import pytest
from hypothesis import given

from hilbert import R, direct_sum
from tests.linear_terms import SCALARS
from tests.strategies import Source, same, sources


@given(sources())
def test_addition(s: Source) -> None:
    """(u + v) + w = u + (v + w), u + v = v + u, u + 0 = u, u + (−u) = 0, u − v = u + (−v)."""
    V = s.space()
    u, v, w = s.vector(V), s.vector(V), s.vector(V)
    assert same((u + v) + w, u + (v + w))
    assert same(u + v, v + u)
    assert same(u + V.zeros(), u)
    assert same(u + (-u), V.zeros())
    assert same(u - v, u + (-v))


@given(sources())
def test_scalar_multiplication(s: Source) -> None:
    """k·(u + v) = k·u + k·v, (j + k)·v = j·v + k·v, (j·k)·v = j·(k·v), 1·v = v, v·k = k·v, v/2 = ½·v."""
    V = s.space()
    u, v = s.vector(V), s.vector(V)
    j, k = s.one_of(SCALARS), s.one_of(SCALARS)
    assert same(k * (u + v), k * u + k * v)
    assert same((j + k) * v, j * v + k * v)
    assert same((j * k) * v, j * (k * v))
    assert same(1.0 * v, v)
    assert same(v * k, k * v)
    assert same(v / 2.0, 0.5 * v)


@given(sources())
def test_operations_change_no_operand(s: Source) -> None:
    """u + v, −u, k·u and u ⊙ v leave the arrays of u and v as they are, and their results are read-only."""
    V = s.space()
    u, v = s.vector(V), s.vector(V)
    for result in (u + v, u - v, -u, 2.0 * u, u / 2.0):
        assert all(not leaf.flags.writeable for leaf in result.leaves)
    u.inner(v)
    assert s.unchanged()


def test_sums_that_overflow() -> None:
    """What is too large is ∞, as in numpy; ∞ − ∞ is NaN; what cancels is exact."""
    D = direct_sum(R, R)
    assert D.vec((1e308, 1e308)).inner(D.ones()) == math.inf
    assert D.vec((1e154, 1e154)).norm() == pytest.approx(math.sqrt(2.0) * 1e154)
    assert D.vec((1.5e308, 1.5e308)).norm() == math.inf
    assert math.isnan(D.vec((math.inf, -math.inf)).inner(D.ones()))
    assert D.vec((1e16, 1.0)).inner(D.vec((1.0, 1.0))) == 1e16 + 1.0
