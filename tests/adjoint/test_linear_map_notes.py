"""The operators of the notes on differentiation by linear maps (§§2–4) are ours, and keep every law stated there.

⊙ is application, ⊙R application of the adjoint; × and ⋈ are `fork` and `join`; V and H, the maps of a family over X
stacked and side by side, are these with `stack` and `unstack`. L and L' over a finite index set are V and H; over ℕ, L'
is a sum without end.
"""

from __future__ import annotations

from functools import reduce
from operator import add as plus
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from hypothesis import given

from adjoint import adjoint
from hilbert import Fin, R, Vec
from linmap import LinMap, equal, fork, identity, join, matrix, scale, stack, unstack, zero
from tests.linear_terms import between
from tests.strategies import Source, elements, gathered, same, sources

if TYPE_CHECKING:
    from hilbert import Index, Space

AnyMap: TypeAlias = "LinMap[Any, Any]"
exact = given(sources(single=False))
"""Entries are small integers in double precision: both sides of a law are the same to the last bit."""


def on_top(X: Index, family: list[AnyMap]) -> AnyMap:
    """V(v) : s ⊸ t^X, for v : (s ⊸ t)^X."""
    stacked: AnyMap = stack(X, family[0].cod)
    every: AnyMap = fork(*family)
    return stacked @ every


def beside(X: Index, family: list[AnyMap]) -> AnyMap:
    """H(v) : t^X ⊸ s, for v : (t ⊸ s)^X."""
    parts: AnyMap = unstack(X, family[0].dom)
    return join(*family) @ parts


def back(r: Vec[Any], m: AnyMap) -> Vec[Any]:
    """The reverse application, r ⊙R m = mᵀ ⊙ r."""
    return adjoint(m)(r)


def dense(m: AnyMap) -> Any:
    return matrix(m, as_="array")


def maps(s: Source, V: Space, W: Space, n: int = 1) -> list[AnyMap]:
    return [between(s, V, W, 1) for _ in range(n)]


def one(s: Source, V: Space, W: Space) -> AnyMap:
    return between(s, V, W, 1)


def agree(s: Source, f: AnyMap, g: AnyMap) -> None:
    """Two maps have one type and one value at a random argument, and so have their transposes."""
    x, r = s.vector(f.dom), s.vector(f.cod)
    assert same(f(x), g(x))
    assert same(back(r, f), back(r, g))


def family(s: Source, V: Space, W: Space) -> tuple[Index, list[AnyMap]]:
    X = Fin.of(s.integer(1, 3))
    return X, maps(s, V, W, X.size)


def total(vectors: list[Vec[Any]]) -> Vec[Any]:
    return reduce(plus, vectors)


# --- §2: linear maps and inner products ---


@exact
def test_linear(s: Source) -> None:
    m = one(s, V := s.space(), s.space())
    x, y = s.vector(V), s.vector(V)
    assert same(m(x + y), m(x) + m(y))
    assert same(m(3.0 * x), 3.0 * m(x))
    assert same(m(V.zeros()), m.cod.zeros())


@exact
def test_vector_space(s: Source) -> None:
    V = s.space()
    u, v, w = s.vector(V), s.vector(V), s.vector(V)
    assert same(u + (v + w), (u + v) + w)
    assert same(u + v, v + u)
    assert same(v + V.zeros(), v)
    assert same(0.0 * v, V.zeros())
    assert same(1.0 * v, v)
    assert same(2.0 * (3.0 * v), 6.0 * v)
    assert same(2.0 * (u + v), 2.0 * u + 2.0 * v)
    assert same((2.0 + 3.0) * v, 2.0 * v + 3.0 * v)


@exact
def test_inner_product(s: Source) -> None:
    """In R it is the product, in V^X and in tuples the sum of those of the components."""
    assert R.vec(3.0).inner(R.vec(5.0)) == 15.0
    S, C = s.sum(least=1), s.copower()
    for V, parts in ((S, list), (C, elements)):
        v, w = s.vector(V), s.vector(V)
        assert v.inner(w) == sum(a.inner(b) for a, b in zip(parts(v), parts(w), strict=True))


# --- §3: actions, the matrix of each operator, and the laws ---


@exact
def test_actions(s: Source) -> None:
    """What each operator does to x."""
    U, V, W = s.space(4), s.space(4), s.space(4)
    f, g, h, k = one(s, V, W), one(s, U, V), one(s, V, W), one(s, V, U)
    x, y, u = s.vector(V), s.vector(U), s.vector(W)
    assert same((f @ g)(y), f(g(y)))
    assert same((f + h)(x), f(x) + h(x))
    assert same(zero(V, W)(x), W.zeros())
    assert same(identity(V)(x), x)
    assert same(scale(3.0, V)(x), 3.0 * x)
    both = fork(f, k)(x)
    assert same(both, both.space.vec((f(x), k(x))))
    joined = join(f, one(s, W, W))
    pair = joined.dom.vec((x, u))
    assert same(joined(pair), f(x) + joined(joined.dom.vec((V.zeros(), u))))


@exact
def test_actions_of_families(s: Source) -> None:
    V, W = s.space(4), s.space(4)
    X, fs = family(s, V, W)
    x = s.vector(V)
    assert same(on_top(X, fs)(x), gathered(W**X, [f(x) for f in fs]))
    xs = s.vector(V**X)
    assert same(beside(X, fs)(xs), total([f(v) for f, v in zip(fs, elements(xs), strict=True)]))


@exact
def test_matrices(s: Source) -> None:
    """Product, sum, zero matrix, identity, k·identity, stacked, side by side, transposed."""
    U, V, W = s.space(4), s.space(4), s.space(4)
    f, g, h, k, l = one(s, V, W), one(s, U, V), one(s, V, W), one(s, V, U), one(s, U, W)
    assert np.array_equal(dense(f @ g), dense(f) @ dense(g))
    assert np.array_equal(dense(f + h), dense(f) + dense(h))
    assert np.array_equal(dense(zero(V, W)), np.zeros((W.dim, V.dim)))
    assert np.array_equal(dense(identity(V)), np.eye(V.dim))
    assert np.array_equal(dense(scale(3.0, V)), 3.0 * np.eye(V.dim))
    assert np.array_equal(dense(fork(f, k)), np.vstack([dense(f), dense(k)]))
    assert np.array_equal(dense(join(f, l)), np.hstack([dense(f), dense(l)]))
    assert np.array_equal(dense(adjoint(f)), dense(f).T)


@exact
def test_matrices_of_families(s: Source) -> None:
    """V and H of a family over X, where a component of t^X stands together: t is ℝ^Y."""
    V, W = R ** Fin.of(s.size(3)), R ** Fin.of(s.size(3))
    X, fs = family(s, V, W)
    assert np.array_equal(dense(on_top(X, fs)), np.vstack([dense(f) for f in fs]))
    assert np.array_equal(dense(beside(X, fs)), np.hstack([dense(f) for f in fs]))


@exact
def test_units(s: Source) -> None:
    U, V, W = s.space(), s.space(), s.space()
    m = one(s, V, W)
    agree(s, zero(W, U) @ m, zero(V, U))
    agree(s, m @ zero(U, V), zero(U, W))
    agree(s, identity(W) @ m, m)
    agree(s, m @ identity(V), m)
    agree(s, m + zero(V, W), m)
    agree(s, zero(V, W) + m, m)
    agree(s, fork(zero(V, W), zero(V, U)), zero(V, fork(m, zero(V, U)).cod))


@exact
def test_composition_over_tuples(s: Source) -> None:
    T, U, V, W = s.space(4), s.space(4), s.space(4), s.space(4)
    m, n1, n2 = one(s, V, W), one(s, T, V), one(s, U, V)
    agree(s, m @ join(n1, n2), join(m @ n1, m @ n2))
    m1, m2, n = one(s, V, W), one(s, V, U), one(s, T, V)
    agree(s, fork(m1, m2) @ n, fork(m1 @ n, m2 @ n))
    p1, p2, q1, q2 = one(s, U, W), one(s, V, W), one(s, T, U), one(s, T, V)
    agree(s, join(p1, p2) @ fork(q1, q2), (p1 @ q1) + (p2 @ q2))
    r1, r2 = one(s, U, W), one(s, V, W)
    agree(s, join(p1, p2) + join(r1, r2), join(p1 + r1, p2 + r2))


@exact
def test_composition_is_associative(s: Source) -> None:
    T, U, V, W = s.space(4), s.space(4), s.space(4), s.space(4)
    f, g, h = one(s, V, W), one(s, U, V), one(s, T, U)
    agree(s, (f @ g) @ h, f @ (g @ h))
    assert equal((f @ g) @ h, f @ (g @ h))


@exact
def test_scales(s: Source) -> None:
    V = s.space()
    a, b = float(s.integer(-4, 4)), float(s.integer(-4, 4))
    agree(s, scale(a, V) @ scale(b, V), scale(a * b, V))
    agree(s, scale(a, V) + scale(b, V), scale(a + b, V))
    agree(s, scale(1.0, V), identity(V))


# --- §4: transposition and reverse application ---


@exact
def test_transpose_is_defined_by_the_inner_product(s: Source) -> None:
    """(mᵀ ⊙ t) • s = t • (m ⊙ s), and (mᵀ)ᵀ = m."""
    m = one(s, s.space(), s.space())
    x, r = s.vector(m.dom), s.vector(m.cod)
    assert back(r, m).inner(x) == r.inner(m(x))
    assert adjoint(adjoint(m)) == m
    assert same(back(x, adjoint(m)), m(x))


@exact
def test_transposes(s: Source) -> None:
    """The table: each operator and its transpose."""
    U, V, W = s.space(4), s.space(4), s.space(4)
    f, g, h, k, l = one(s, V, W), one(s, U, V), one(s, V, W), one(s, V, U), one(s, U, W)
    agree(s, adjoint(f @ g), adjoint(g) @ adjoint(f))
    agree(s, adjoint(fork(f, k)), join(adjoint(f), adjoint(k)))
    agree(s, adjoint(join(f, l)), fork(adjoint(f), adjoint(l)))
    agree(s, adjoint(f + h), adjoint(f) + adjoint(h))
    agree(s, adjoint(zero(V, W)), zero(W, V))
    agree(s, adjoint(identity(V)), identity(V))
    agree(s, adjoint(scale(3.0, V)), scale(3.0, V))
    X, fs = family(s, V, W)
    agree(s, adjoint(on_top(X, fs)), beside(X, [adjoint(f) for f in fs]))
    agree(s, adjoint(beside(X, fs)), on_top(X, [adjoint(f) for f in fs]))


@exact
def test_reverse_application(s: Source) -> None:
    """The table of r ⊙R m, operator by operator, pushed inwards until no linear map is left."""
    U, V, W = s.space(4), s.space(4), s.space(4)
    f, g, h, k, l = one(s, V, W), one(s, U, V), one(s, V, W), one(s, V, U), one(s, U, W)
    r, q = s.vector(W), s.vector(U)
    assert same(back(r, f @ g), back(back(r, f), g))
    forked, joined = fork(f, k), join(f, l)
    assert same(back(forked.cod.vec((r, q)), forked), back(r, f) + back(q, k))
    assert same(back(r, joined), joined.dom.vec((back(r, f), back(r, l))))
    assert same(back(r, f + h), back(r, f) + back(r, h))
    assert same(back(r, zero(V, W)), V.zeros())
    assert same(back(r, identity(W)), r)
    assert same(back(r, scale(3.0, W)), 3.0 * r)
    X, fs = family(s, V, W)
    rs = s.vector(W**X)
    assert same(back(rs, on_top(X, fs)), total([back(v, f) for f, v in zip(fs, elements(rs), strict=True)]))
    assert same(back(r, beside(X, fs)), gathered(V**X, [back(r, f) for f in fs]))
