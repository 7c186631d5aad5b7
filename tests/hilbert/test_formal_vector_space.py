"""Formal tensors form the same Hilbert space as dense ones: 0 + · ⊙ on formal and mixed operands."""

from __future__ import annotations

import math
import pickle

from hypothesis import given

from hilbert import formal
from hilbert.tensors.formal_tensors import alike
from tests.formal_vectors import formal_vector
from tests.strategies import Source, same, sources


@given(sources())
def test_operations_agree_with_dense_ones(s: Source) -> None:
    """dense(k·s + t/l − w) = k·dense(s) + dense(t)/l − dense(w), exactly on small integers."""
    V = s.tensor()
    a, b, c = formal_vector(s, V), formal_vector(s, V), s.vector(V)
    k, n = s.one_of((-2.0, 0.0, 1.0, 3.0)), s.one_of((-4.0, 0.5, 2.0))
    x, y = a.dense(), b.dense()
    assert same((a + b).dense(), x + y)
    assert same((a - b).dense(), x - y)
    assert same((a + c).dense(), x + c)
    assert same((c - a).dense(), c - x)
    assert same((-a).dense(), -x)
    assert same((k * a + b / n - c).dense(), k * x + y / n - c)
    assert same(V.unflat(a.flat()), x)
    assert s.unchanged()


@given(sources())
def test_inner_product_and_norm(s: Source) -> None:
    """s ⊙ t = dense(s) ⊙ dense(t) by the factors, ‖t‖² = t ⊙ t."""
    V = s.tensor()
    a, b, c = formal_vector(s, V), formal_vector(s, V), s.vector(V)
    assert a.inner(b) == a.dense().inner(b.dense())
    assert a.inner(c) == c.inner(a) == a.dense().inner(c)
    assert math.isclose(a.norm(), a.dense().norm(), rel_tol=1e-12 if s.field.dtype == "float64" else 1e-5, abs_tol=1e-5)


@given(sources())
def test_zero(s: Source) -> None:
    """0 has no terms, and t + 0 = t."""
    V = s.tensor()
    t, zero = formal_vector(s, V), formal(V, [])
    assert same((t + zero).dense(), t.dense())
    assert same(zero.dense(), V.zeros())
    assert zero.norm() == 0.0
    assert (t - t).norm() == 0.0


@given(sources())
def test_pickling(s: Source) -> None:
    """loads(dumps(t)) == t, read-only, with the same parts."""
    t = formal_vector(s, s.tensor())
    back = pickle.loads(pickle.dumps(t))
    assert back == t
    assert same(back.dense(), t.dense())
    assert alike(back, t)
    parts = [part for leaf in back.leaves for part in getattr(leaf, "parts", (leaf,))]
    assert not any(part.flags.writeable for part in parts if part.ndim)
