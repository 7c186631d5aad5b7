"""Unitary operators: f* • f = id and f • f* = id."""

from typing import Any

import pytest
from hypothesis import given, settings

from adjoint import adjoint
from hilbert import Copower, Coproduct
from linmap import split, stack, unstack
from tests.linear_terms import UNITARIES
from tests.strategies import Source, same, sources


def check(s: Source, f: Any) -> None:
    """f* is the inverse of f, on both sides, also under a copower."""
    for g in (f, f ** s.index(3)):
        v, w = s.vector(g.dom), s.vector(g.cod)
        assert same((adjoint(g) @ g)(v), v)
        assert same((g @ adjoint(g))(w), w)


@pytest.mark.parametrize("name", UNITARIES)
@settings(max_examples=10)
@given(s=sources())
def test_the_adjoint_is_the_inverse(name: str, s: Source) -> None:
    """For every unitary node."""
    check(s, UNITARIES[name](s))


@given(sources())
def test_stack_and_split(s: Source) -> None:
    """stack : V ⊕ … ⊕ V ⊸ V^X and split : V^{X+Y} ⊸ V^X ⊕ V^Y are unitary, made of reductions."""
    V, X = s.space(6), s.index(empty=False)
    check(s, stack(X, V))
    check(s, unstack(X, V))
    check(s, split(Copower(V, Coproduct(X, s.index()))))
    assert adjoint(stack(X, V)) == unstack(X, V)
