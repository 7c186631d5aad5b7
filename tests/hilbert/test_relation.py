"""Relations are symbolic objects closed under transpose."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from hilbert import Relation
from hilbert.relation import equality, full, geq, leq, pairs
from tests.strategies import FORMS, Source, sources


def dense(relation: Relation[Any, Any]) -> Any:
    """The truth table of R ⊆ X × Y, of shape (|X|, |Y|)."""
    table = np.zeros((relation.dom.size, relation.cod.size), dtype=bool)
    x, y = relation.holds()
    assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == len(x), "a pair stands twice"
    table[x, y] = True
    return table


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(s=sources(single=False))
def test_transpose(form: str, s: Source) -> None:
    """Rᵀ = {(y, x) : (x, y) ∈ R}, and Rᵀᵀ = R by ==."""
    relation = FORMS[form](s)
    assert relation.T.dom == relation.cod
    assert relation.T.cod == relation.dom
    assert np.array_equal(dense(relation.T), dense(relation).T)
    assert relation == relation.T.T
    assert hash(relation.T.T) == hash(relation)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(s=sources(single=False))
def test_pickle(form: str, s: Source) -> None:
    """loads(dumps(R)) = R."""
    relation = FORMS[form](s)
    found = pickle.loads(pickle.dumps(relation))
    assert found == relation
    assert hash(found) == hash(relation)
    assert np.array_equal(dense(found), dense(relation))


@given(sources(single=False))
def test_meaning(s: Source) -> None:
    """X × Y, id, ≤ and ≥ hold where their names say, and a pair that is given twice counts once."""
    X, Y = s.index(unit=True), s.index(unit=True)
    n, m = X.size, Y.size
    x, y = np.arange(n)[:, None], np.arange(n)[None, :]
    assert np.array_equal(dense(full(X, Y)), np.ones((n, m), dtype=bool))
    assert np.array_equal(dense(equality(X)), x == y)
    assert np.array_equal(dense(leq(X)), x <= y)
    assert np.array_equal(dense(geq(X)), x >= y)
    given_pairs = [(0, m - 1), (n - 1, 0), (0, m - 1)] if n and m else []
    table = np.zeros((n, m), dtype=bool)
    for place in given_pairs:
        table[place] = True
    assert np.array_equal(dense(pairs(given_pairs, X, Y)), table)
