"""Every linear term means what its definition says: f(v) = M·v for the matrix M of `tests.oracle`."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from linmap.net.lower import net
from linmap.term.linear_map import LinMap
from linmap.term.nodes import Identity, Lifted
from tests.census import Census
from tests.linear_terms import CONTRACTIONS, NODES, UNITARIES, is_exact, section
from tests.oracle import matrix
from tests.strategies import Source, sources

SAME_SPACES = {Identity}
"""The node classes that have one space only: id : V ⊸ V by definition. Every other class must join unequal spaces."""


def check(s: Source, f: LinMap[Any, Any]) -> None:
    """f(v) in storage order is M·v, and so is net(f)(v)."""
    note(f)
    v = s.vector(f.dom)
    due = matrix(f) @ v.flat()
    found = f(v)
    assert found.space == f.cod
    tolerance = 0.0 if is_exact(f) else 1e-4 * max(1.0, float(np.max(np.abs(due), initial=0.0)))
    assert np.allclose(found.flat(), due, rtol=0.0, atol=tolerance), f"{found.flat()} is not {due}"
    assert np.array_equal(net(f)(v).flat(), found.flat())


@settings(max_examples=60)
@given(s=sources())
def law_of_nodes(cls: type, census: Census, s: Source) -> None:
    """A term and its copower are what the oracle says, and are counted."""
    f = NODES[cls](s, 3)
    for g in (f, Lifted(f, s.index())):
        census.record(g)
        check(s, g)


@pytest.mark.parametrize("cls", NODES)
def test_nodes(cls: type) -> None:
    """Every node class, alone and under a copower; a class that occurs too seldom is an error of this test."""
    census = Census()
    law_of_nodes(cls, census)
    census.require(cls, unequal=cls not in SAME_SPACES)


@pytest.mark.parametrize("name", CONTRACTIONS)
@settings(max_examples=10)
@given(s=sources())
def test_sections(name: str, s: Source) -> None:
    """The sections of every bilinear map, of its lifting (Δ of a family), and their copowers."""
    c = CONTRACTIONS[name](s)
    f = section(s, c)
    check(s, f)
    check(s, section(s, c.lifted(s.index(3))))
    check(s, Lifted(f, s.index(3)))


@pytest.mark.parametrize("name", UNITARIES)
@settings(max_examples=10)
@given(s=sources())
def test_unitary_operators(name: str, s: Source) -> None:
    """Every unitary operator, alone and under a copower."""
    f = UNITARIES[name](s)
    check(s, f)
    check(s, Lifted(f, s.index(3)))
