"""Relational reduction: (red_R v)_y = Σ_{(x,y)∈R} v_x, for every form of relation, any base space, both directions."""

from typing import Any

import pytest
from hypothesis import given, settings

from hilbert import Fin, R, Relation, Vec
from hilbert.relation import equality, full, leq, pairs
from linmap import cumsum, red, rep, total
from linmap.term.nodes import Lifted, Reduce
from tests.strategies import FORMS, Source, elements, gathered, same, sources


def by_definition(relation: Relation[Any, Any], v: Vec[Any], f: Reduce) -> Vec[Any]:
    """The sum over the pairs of the relation, one after the other."""
    given_parts = elements(v) if relation.dom.axes else [v]
    parts = [f.base.zeros() for _ in range(relation.cod.size)]
    for x, y in zip(*(side.tolist() for side in relation.holds()), strict=True):
        parts[y] += given_parts[x]
    return gathered(f.cod, parts) if relation.cod.axes else parts[0]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(s=sources())
def test_definition(form: str, s: Source) -> None:
    """red_R and red_{Rᵀ} agree with the definition."""
    relation, V = FORMS[form](s), s.space(8)
    for r in (relation, relation.T):
        f = Reduce(r, V)
        v = s.vector(f.dom)
        assert same(f(v), by_definition(r, v, f))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(s=sources())
def test_definition_under_copowers(form: str, s: Source) -> None:
    """(red_R)^Z applies red_R to every element of Z."""
    relation, V = FORMS[form](s), s.space(6)
    f = Reduce(relation, V)
    lifted = Lifted(f, s.index())
    v = s.vector(lifted.dom)
    assert same(lifted(v), gathered(lifted.cod, [by_definition(relation, part, f) for part in elements(v)]))


@given(sources())
def test_derived_reductions(s: Source) -> None:
    """Σ_X v = Σ_x v_x, (rep v)_x = v, (scan v)_y = Σ_{x≤y} v_x, scan* sums the others; red_id = id."""
    W = s.copower()
    V, X = W.base, W.index
    v, u = s.vector(W), s.vector(V)
    running, parts = V.zeros(), []
    for part in elements(v):
        running += part
        parts.append(running)
    assert same(total(X, V)(v), running)
    assert same(cumsum(X, V)(v), gathered(W, parts))
    rest = [running - part + own for part, own in zip(parts, elements(v), strict=True)]
    assert same(cumsum(X, V, reverse=True)(v), gathered(W, rest))
    assert same(rep(X, V)(u), gathered(W, [u] * X.size))
    assert same(red(equality(X), V)(v), v)
    assert red(leq(X), V) == cumsum(X, V)
    assert same((red(full(X, X), V))(v), (rep(X, V) @ total(X, V))(v))


@pytest.mark.parametrize("_", range(8))
def test_pairs_print_as_they_come_first(_: int) -> None:
    """A relation is named as it first stands in a term, and its transpose by that name, whatever their tokens are."""
    r = pairs([(0, 0), (0, 2), (1, 2)], Fin.of(2), Fin.of(3))
    assert str(red(r.T, R) @ red(r, R)) == "red[aᵀ] • red[a]\n  where a ⊆ 2×3"
