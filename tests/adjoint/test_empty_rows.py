"""Entries that no pair of a relation reads have no slope: every form of relation, with empty rows, in both modes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import grad
from diff import fun, jvp, sqrt, taylor
from linmap import red
from tests.relation_forms import ALL, dense
from tests.strategies import Source, sources


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=10)
@given(s=sources(single=False))
def test_empty_rows_and_columns(form: str, s: Source) -> None:
    """√ is read by red_R, and reads what red_R makes: entries without a partner are 0, with slope 0."""
    relation = ALL[form](s)
    table = dense(relation)
    f = red(relation)
    V = f.dom
    degrees, counts = table.sum(axis=1), table.sum(axis=0)
    x = V.vec((degrees > 0).astype(float).reshape(V.leaves[0].shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slopes = grad(fun(V)(lambda x: f(sqrt(x)).sum()))(x)
        reads = fun(V)(lambda x: sqrt(f(x)))
        tangents = jvp(reads)(V.ones(), V.ones())
        first = taylor(reads, V.ones(), V.ones(), 1)[1]
    assert np.array_equal(np.reshape(slopes.array, -1), 0.5 * degrees)
    due = 0.5 * np.sqrt(counts)  # counts / (2·√counts)
    assert np.allclose(np.reshape(tangents.array, -1), due, rtol=1e-15)
    assert np.allclose(np.reshape(first.array, -1), due, rtol=1e-15)
