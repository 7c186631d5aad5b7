"""The inner product is symmetric, bilinear and positive definite; of a compound space it is the sum of its parts'."""

import math

import numpy as np
from hypothesis import given

from linmap.contraction import outer
from linmap.term.nodes import Section
from tests.linear_terms import SCALARS
from tests.strategies import Source, elements, sources


@given(sources())
def test_symmetric(s: Source) -> None:
    """v ⊙ w = w ⊙ v."""
    V = s.space()
    v, w = s.vector(V), s.vector(V)
    assert v.inner(w) == w.inner(v)


@given(sources())
def test_bilinear(s: Source) -> None:
    """(j·u + k·v) ⊙ w = j·(u ⊙ w) + k·(v ⊙ w)."""
    V = s.space()
    u, v, w = s.vector(V), s.vector(V), s.vector(V)
    j, k = s.one_of(SCALARS), s.one_of(SCALARS)
    assert (j * u + k * v).inner(w) == j * u.inner(w) + k * v.inner(w)


@given(sources())
def test_positive_definite(s: Source) -> None:
    """v ⊙ v ≥ 0, and v ⊙ v = 0 only for v = 0; ‖v‖² = v ⊙ v."""
    V = s.space()
    v = s.vector(V)
    assert v.inner(v) >= 0.0
    assert (v.inner(v) == 0.0) == (not np.any(v.flat()))
    assert math.isclose(v.norm() ** 2, v.inner(v))


@given(sources())
def test_is_the_sum_over_all_entries(s: Source) -> None:
    """v ⊙ w = Σ v_i·w_i."""
    V = s.space()
    v, w = s.vector(V), s.vector(V)
    assert v.inner(w) == float(np.dot(v.flat(), w.flat()))


@given(sources())
def test_of_a_direct_sum(s: Source) -> None:
    """(v₁, …, vₙ) ⊙ (w₁, …, wₙ) = Σ vᵢ ⊙ wᵢ."""
    V = s.sum()
    v, w = s.vector(V), s.vector(V)
    assert v.inner(w) == sum(v[k].inner(w[k]) for k in range(len(V.parts)))


@given(sources())
def test_of_a_copower(s: Source) -> None:
    """v ⊙ w = Σ_x v_x ⊙ w_x."""
    V = s.copower()
    v, w = s.vector(V), s.vector(V)
    assert v.inner(w) == sum(a.inner(b) for a, b in zip(elements(v), elements(w), strict=True))


@given(sources())
def test_of_a_tensor_product(s: Source) -> None:
    """(u₁⊗v₁) ⊙ (u₂⊗v₂) = (u₁⊙u₂)·(v₁⊙v₂)."""
    U, V = s.space(6), s.space(6)
    u1, u2, v1, v2 = s.vector(U), s.vector(U), s.vector(V), s.vector(V)
    first, second = (Section(outer(U, V), 1, v)(u) for u, v in ((u1, v1), (u2, v2)))
    assert first.inner(second) == u1.inner(u2) * v1.inner(v2)
