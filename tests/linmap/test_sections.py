"""Bilinear maps: (u⋄)(v) = u⋄v = (⋄v)(u), and each of the named ones means what the paper says."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from diff import dot
from diff.terms.nodes import Bilinear
from hilbert import Copower, Vec
from linmap import delta, gather, scale, section
from linmap.contraction import (
    Contraction,
    basis_vector,
    hadamard,
    inner,
    matrix_matrix,
    matrix_vector,
    outer,
    pick,
    scalar,
    tensor_contraction,
)
from tests.linear_terms import CONTRACTIONS
from tests.strategies import Source, elements, gathered, same, sources


def value(c: Contraction[Any, Any, Any], u: Vec[Any], v: Vec[Any]) -> Vec[Any]:
    """u ⋄ v, as the function, checked against the sections that are linear maps."""
    found: Vec[Any] = Bilinear(c)(u, v)
    if v.space.is_space:
        assert same(section(c, 0, u)(v), found)
    if u.space.is_space:
        assert same(section(c, 1, v)(u), found)
    return found


@pytest.mark.parametrize("name", CONTRACTIONS)
@settings(max_examples=10)
@given(s=sources())
def test_both_sections(name: str, s: Source) -> None:
    """(u⋄)(v) = u⋄v = (⋄v)(u), and the lifted map is zipped: (u ⋄^X v)_x = u_x ⋄ v_x, which is Δ of the family."""
    c = CONTRACTIONS[name](s)
    X = s.index(3)
    lifted = c.lifted(X)
    u, v = s.vector(lifted.left), s.vector(lifted.right)
    parts = [value(c, a, b) for a, b in zip(elements(u), elements(v), strict=True)]
    assert same(value(lifted, u, v), gathered(Copower(c.cod, X), parts))
    if c.right.is_space:
        assert same(delta(c, 0, u, X)(v), value(lifted, u, v))


@given(sources())
def test_of_any_space(s: Source) -> None:
    """u ⊙ v, k·v, v·w entry by entry, and (u⊗v) ∗ (v'⊗w) = (v⊙v')·(u⊗w)."""
    U, V, W = s.space(4), s.space(4), s.space(4)
    u, v, other, w = s.vector(U), s.vector(V), s.vector(V), s.vector(W)
    if V.leaves:
        k = s.vector(s.field)
        assert float(value(inner(V), v, other)) == v.inner(other)
        assert float(dot(v)(other)) == v.inner(other)
        assert same(value(scalar(V), k, v), float(k) * v)
        assert same(scale(k, V)(v), float(k) * v)
    assert np.array_equal(value(hadamard(V), v, other).flat(), v.flat() * other.flat())
    found = value(tensor_contraction(U, V, W), value(outer(U, V), u, v), value(outer(V, W), other, w))
    assert same(found, v.inner(other) * value(outer(U, W), u, w))


@given(sources())
def test_of_matrices(s: Source) -> None:
    """A⋆x and A∗B are numpy's products, with X × Y as rows and columns."""
    Z, Y, X = s.index(), s.index(), s.index()
    A, B, x = s.vector(s.field ** (Z * Y)), s.vector(s.field ** (Y * X)), s.vector(s.field**Y)
    a = A.flat().reshape(Z.size, Y.size)
    assert np.array_equal(value(matrix_vector(Z, Y, s.field), A, x).flat(), a @ x.flat())
    b = B.flat().reshape(Y.size, X.size)
    assert np.array_equal(value(matrix_matrix(Z, Y, X, s.field), A, B).flat(), (a @ b).reshape(-1))


@given(sources())
def test_at_an_element(s: Source) -> None:
    """pick(x, v) = v_x = π_x(v), and the basis vector of x is e_x."""
    V, X = s.space(6), s.index(empty=False)
    v, x = s.vector(V**X), s.vector(basis_vector(X).right)
    place = int(x.leaves[0])
    assert same(value(pick(X, V), v, x), elements(v)[place])
    assert same(gather(x, V)(v), elements(v)[place])
    k = s.vector(s.field)
    assert np.array_equal(value(basis_vector(X, s.field), k, x).flat(), float(k) * np.eye(X.size)[place])
