"""Formal tensors as objects: identities, recompression, families, text, arrays of other libraries, bad input."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given

from hilbert import (
    R32,
    Copower,
    Fin,
    R,
    SpaceError,
    TensorProduct,
    Vec,
    compress,
    direct_sum,
    formal,
    from_factors,
    rank,
)
from hilbert.arrays.formal.formal_array import MANY, Block, Formal, block
from hilbert.tensors.formal_tensors import alike, empty
from hilbert.tensors.rank_one_sums import Family, families, merged
from linmap import equal, linear, transpose
from linmap.unitary import assoc, tensor_matrix, unassoc
from tests.formal_vectors import formal_vector
from tests.strategies import Source, same, sources

RNG = np.random.default_rng(1)
X, Y, Z = Fin.of(30), Fin.of(20), Fin.of(4)
V, W = R**X, R**Y


def parts(v: Vec[Any]) -> list[Any]:
    """All arrays of a vector."""
    return [part for leaf in v.leaves for part in getattr(leaf, "parts", (leaf,))]


# --- identities ---


@given(sources(smooth=True, single=False))
def test_tensor_identities(s: Source) -> None:
    """⊗ is bilinear, the vector space axioms hold, and t = dense(t): up to rounding."""
    A, B = s.space(8), s.space(8)
    u, v, w, x = s.vector(A), s.vector(A), s.vector(B), s.vector(B)
    k = s.one_of((-1.5, 0.3, 7.0))
    t = formal_vector(s, TensorProduct(A, B))
    assert equal((u + v).tensor(w), u.tensor(w) + v.tensor(w))
    assert equal(u.tensor(w + x), u.tensor(w) + u.tensor(x))
    assert equal((k * u).tensor(w), k * u.tensor(w))
    assert equal(u.tensor(k * w), k * u.tensor(w))
    assert equal(t + u.tensor(w), u.tensor(w) + t)
    assert equal((t + u.tensor(w)) + v.tensor(x), t + (u.tensor(w) + v.tensor(x)))
    assert equal(k * (t + u.tensor(w)), k * t + k * u.tensor(w))
    assert equal(t - t, formal(t.space, []))
    assert equal(t, t.dense())
    assert equal(t.dense(), t)


def test_what_differs_is_not_equal() -> None:
    """A relative difference of 10⁻¹² is seen, though ‖s − t‖² by Gram matrices would drown it."""
    u, v, w = V.random(RNG), W.random(RNG), W.random(RNG)
    t = u.tensor(v)
    s = 1e-12 * u.tensor(w)
    for other in (t + s, (u + 1e-12 * V.random(RNG)).tensor(v), t.dense() + s.dense()):
        assert not equal(t, other)
    assert equal(t, t + 1e-17 * u.tensor(w))
    assert not equal(t, v.tensor(u))
    assert t != u.tensor(v)  # == goes by the token, like that of dense vectors


def test_nan_is_equal_to_itself_only() -> None:
    """A tensor with NaN equals itself, as a dense vector does, and nothing else."""
    u = V.vec(np.full(30, np.nan))
    t = u.tensor(W.zeros())
    assert equal(t, t)
    assert equal(t, pickle.loads(pickle.dumps(t)))
    assert not equal(t, formal(t.space, []))
    assert math.isnan(t.norm())


@given(sources(smooth=True, single=False))
def test_norm_sees_cancellation(s: Source) -> None:
    """‖t + d − t‖ is ‖d‖ to rounding of t, not to its square root."""
    t = formal_vector(s, s.tensor())
    d = formal_vector(s, t.space)
    found, due = ((t + 1e-9 * d) - t).norm(), 1e-9 * d.dense().norm()
    assert abs(found - due) <= 1e-13 * (t.dense().norm() + d.dense().norm() + 30.0)


# --- storage ---


def test_factors_are_shared() -> None:
    """Leaves share factors, through vector operations and linear maps; u ⊗ v copies nothing."""
    A, B = direct_sum(V, R ** (Z * Z)), direct_sum(W, R, V)
    u, v = A.random(RNG), B.random(RNG)
    t = u.tensor(v)
    assert all(any(np.shares_memory(part, leaf) for leaf in (*u.leaves, *v.leaves)) for part in parts(t))
    s = from_factors((A**Z).random(RNG), (B**Z).random(RNG))
    for made in (s, 2 * s, s + s, -s, transpose(s.space)(s)):
        sizes = {part.ctypes.data: part.size for part in parts(made)}
        assert sum(sizes.values()) == 4 * (A.dim + B.dim)


def test_rank_does_not_grow_where_factors_agree() -> None:
    """(v₁⊗w) + (v₂⊗w) = (v₁+v₂)⊗w, a·t + b·t = (a+b)·t."""
    u, v, w = V.random(RNG), V.random(RNG), W.random(RNG)
    t = u.tensor(w)
    assert rank(t + t) == rank(3 * t - t / 2) == 1
    assert rank(t + v.tensor(w)) == 1
    assert rank(t + v.tensor(W.random(RNG))) == 2


def test_many_terms_stay_few_blocks() -> None:
    """n additions keep a few blocks, whose ranks differ by factors of two."""
    t = formal(TensorProduct(V, W), [])
    for _ in range(100):
        t = t + V.random(RNG).tensor(W.random(RNG))
    (leaf,) = t.leaves
    assert rank(t) == 100
    assert len(leaf.blocks) <= 2 * MANY


def test_arrays_are_read_only() -> None:
    """No part can be written to, and a user's array is viewed, not copied."""
    a = np.ones(30)
    t = V.vec(a).tensor(W.zeros()) + V.random(RNG).tensor(W.random(RNG))
    for part in (*parts(t), *parts(t.dense()), *parts(pickle.loads(pickle.dumps(t)))):
        assert not part.flags.writeable
    assert a.flags.writeable


@given(sources())
def test_families_add_up(s: Source) -> None:
    """t = Σ families + rest; merging families changes nothing."""
    t = formal_vector(s, s.tensor())
    found, rest = families(t)
    for some in (found, merged(found)):
        assert same(_total(t, some, rest), t.dense())


def _total(t: Vec[Any], found: list[Family[Any, Any]], rest: Vec[Any] | None) -> Vec[Any]:
    """Σ families + rest, in the space of t."""
    total = t.space.zeros() if rest is None else rest.dense()
    for f in found:
        left, right = f.left.dense(), f.right.dense()
        weights = None if f.weights is None else f.weights.dense()
        scaled = left if weights is None else _times(weights, left)
        total = total + float(f.k) * from_factors(scaled, right).dense()
    return total


def _times(weights: Vec[Any], family: Vec[Any]) -> Vec[Any]:
    (w,) = weights.leaves
    leaves = tuple(leaf * np.reshape(w, (-1,) + (1,) * (leaf.ndim - 1)) for leaf in family.leaves)
    return Vec(family.space, leaves)


def _block(k: float, n: int, *axes: tuple[int, ...]) -> Block:
    """k Σ over n terms of factors on groups of the axes of 30 × 20 × 4 numbers; () is weights."""
    return block(k, [(RNG.integers(1, 5, (n, *((30, 20, 4)[a] for a in some))).astype(float), some) for some in axes])


def test_families_are_merged() -> None:
    """Those with plain arrays are one, with their numbers and weights; one of a factor for each axis stays."""
    space = TensorProduct(R ** (X * Y), R**Z)
    blocks = _block(2.0, 1, (0, 1), (2,)), _block(3.0, 2, (), (0, 1), (2,)), _block(5.0, 3, (0,), (1,), (2,))
    for some, due in ((blocks, [3, 3]), (blocks[:2], [3]), (blocks[:1], [1]), (blocks[::2], [1, 3]), (blocks[2:], [3])):
        t = Vec(space, (Formal((30, 20, 4), "float64", some),))
        found, rest = families(t)
        made = merged(found)
        assert rest is None
        assert rank(t) == sum(due)
        assert [f.rank for f in made] == due
        assert (made == found) == (len(due) == len(some))
        assert same(_total(t, made, None), t.dense())


@pytest.mark.parametrize(
    ("number", "weights", "due"), [(1.0, 1.0, [2]), (0.0, 1.0, [2, 2]), (3.0, 1.0, [2, 2, 2]), (1.0, -1.0, [2, 2, 2])]
)
def test_families_of_leaves_that_share_some(number: float, weights: float, due: list[int]) -> None:
    """A leaf of (A ⊕ B) ⊗ (C ⊕ D) without terms, or with another number or other weights, is in no family of three."""
    space = TensorProduct(direct_sum(V, R**Z), direct_sum(W, R**X))
    left, right = ([RNG.integers(1, 5, (2, n)).astype(float) for n in sizes] for sizes in ((30, 4), (20, 30)))
    given = {w: np.array([w, 2.0 * w]) for w in (1.0, -1.0)}

    def leaf(i: int, j: int, k: float = 1.0, w: float = 1.0) -> Formal:
        made = block(k, [(given[w], ()), (left[i], (0,)), (right[j], (1,))])
        return Formal((left[i].shape[1], right[j].shape[1]), "float64", (made,))

    last = leaf(1, 1, number, weights) if number else empty(space.left.leaves[1], space.right.leaves[1])
    t = Vec(space, (leaf(0, 0), leaf(0, 1), leaf(1, 0), last))
    found, rest = families(t)
    assert same(_total(t, found, rest), t.dense())
    assert [f.rank for f in found] == due


# --- recompression ---


@given(sources(smooth=True, single=False))
def test_compression(s: Source) -> None:
    """The error is what the report says and at most what was asked for; the terms are no more than before."""
    t = formal_vector(s, s.tensor())
    tolerance = s.one_of((0.0, 1e-12, 0.1, 0.5, 2.0))
    made, report = compress(t, tolerance)
    scale = t.dense().norm()
    error = (made.dense() - t.dense()).norm()
    assert abs(error - report.error) <= 1e-12 * (scale + 1.0)
    assert report.error <= tolerance * scale + 1e-14
    assert rank(made) == report.after <= min(t.space.left.dim, t.space.right.dim)
    assert report.dense or report.after <= report.before


def test_compression_finds_the_rank() -> None:
    """20 terms in a space of rank 3 become 3, with orthogonal factors, in O(r (dim V + dim W))."""
    us, vs = [V.random(RNG) for _ in range(3)], [W.random(RNG) for _ in range(3)]
    pairs = []
    for _ in range(20):
        a, b = RNG.standard_normal((2, 3))
        pairs.append((a[0] * us[0] + a[1] * us[1] + a[2] * us[2], b[0] * vs[0] + b[1] * vs[1] + b[2] * vs[2]))
    t = formal(TensorProduct(V, W), pairs)
    made, report = compress(t, 1e-12)
    assert (report.before, report.after, report.dense) == (20, 3, False)
    assert equal(made, t)
    assert str(report).startswith("rank 20 → 3, error ")
    ((f,), _) = families(made)
    for side in (f.left, f.right):
        gram = side.array @ side.array.T
        assert np.allclose(gram, np.diag(np.diag(gram)), atol=1e-9 * np.abs(gram).max())
    assert np.isclose(compress(t, 2.0)[1].relative, 1.0)


@pytest.mark.parametrize("tolerance", [0.0, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0])
def test_compression_takes_the_fewest_terms(tolerance: float) -> None:
    """Σ 2⁻ⁿ eₙ⊗eₙ: the terms that are left out are together at most tolerance·‖t‖, and with one more they are not."""
    values = 0.5 ** np.arange(20)
    t = formal(TensorProduct(V, W), [(k * u, w) for k, u, w in zip(values, V.basis(), W.basis(), strict=False)])
    made, report = compress(t, tolerance)
    left_out = [np.linalg.norm(values[n:]) for n in range(21)]
    assert rank(made) == report.after == next(n for n in range(21) if left_out[n] <= tolerance * left_out[0])
    assert report.relative == pytest.approx(left_out[report.after] / left_out[0])


def test_compression_takes_a_dense_part_in() -> None:
    """A dense part of low rank becomes terms."""
    t = V.random(RNG).tensor(W.random(RNG))
    s = t + V.random(RNG).tensor(W.random(RNG)).dense()
    made, report = compress(s, 1e-12)
    assert (report.before, report.after, report.dense) == (1, 2, True)
    assert made.is_formal
    assert equal(made, s)


def test_factors_across_are_not_compressed() -> None:
    """(U ⊗ V) ⊗ W with a factor in V ⊗ W is no sum of terms t ⊗ w."""
    U = R**Z
    t = unassoc(TensorProduct(U, TensorProduct(V, W)))(U.random(RNG).tensor(TensorProduct(V, W).random(RNG)))
    with pytest.raises(SpaceError, match="across both sides"):
        compress(t, 0.0)
    with pytest.raises(SpaceError, match="part of it is dense"):
        rank(t)
    v = W.random(RNG)
    assert np.allclose(linear(t)(v).array, t.array @ v.array)


# --- nesting ---


def test_nested_products_keep_factors() -> None:
    """(u ⊗ v) ⊗ w has three factors, under assoc too."""
    U = R**Z
    u, v, w = U.random(RNG), V.random(RNG), W.random(RNG)
    t = u.tensor(v).tensor(w)
    assert sum(part.size for part in parts(t)) == 4 + 30 + 20
    s = assoc(t.space)(t)
    assert equal(s, u.tensor(v.tensor(w)))
    assert sum(part.size for part in parts(s)) == 54
    assert rank(s) == rank(t) == 1
    assert np.allclose(t.array, np.einsum("i,j,k->ijk", u.array, v.array, w.array))
    both = (u.tensor(v) + U.random(RNG).tensor(V.random(RNG))).tensor(w + W.random(RNG))
    assert rank(both) == 2
    assert np.allclose(linear(both)(w).array, both.array @ w.array)


# --- text ---


@given(sources())
def test_source_evaluates_back(s: Source) -> None:
    """repr of a small tensor is an expression for an equal one; of another, a name for this one."""
    from diff.names import NAMES
    from tests.strategies import RECORDS, Hidden, Pixel

    t = formal_vector(s, s.tensor(9))
    classes: list[type] = [Pixel, Hidden, *itertools.chain(*RECORDS)]
    assert alike(eval(repr(t), NAMES | {cls.__name__: cls for cls in classes}), t)  # noqa: S307 - our own text


def test_text() -> None:
    """str shows the terms and their number."""
    u, v = V.random(RNG), W.random(RNG)
    t = from_factors((V**Z).random(RNG), (W**Z).random(RNG))
    assert str(u.tensor(v)) == "a⊗b (rank 1) ∈ ℝ^30 ⊗ ℝ^20"
    assert str(t - 2 * u.tensor(v)) == "a₁⊗b₁ + … + a₄⊗b₄ − 2·c⊗d (rank 5) ∈ ℝ^30 ⊗ ℝ^20"
    assert str(-t + t.dense()) == "−(a₁⊗b₁ + … + a₄⊗b₄) + dense (rank 4) ∈ ℝ^30 ⊗ ℝ^20"
    assert str(formal(TensorProduct(V, W), [])) == "0 (rank 0) ∈ ℝ^30 ⊗ ℝ^20"
    assert str(tensor_matrix(t.space)(t)) == "<formal array [30, 20]: rank 4> ∈ ℝ^{30×20}"


# --- other libraries ---


def test_jax_arrays_stay_jax_arrays() -> None:
    """Factors of JAX are operated on by JAX, and mixed libraries are refused."""
    jnp = jax.numpy
    A, B = R32**X, R32**Y
    u, v = A.vec(jnp.arange(30, dtype="float32")), B.vec(jnp.ones(20, "float32"))
    t = u.tensor(v)
    n = RNG.standard_normal((30, 20)).astype("float32")
    dense = TensorProduct(A, B).vec(jnp.asarray(n))
    due = np.outer(np.arange(30), np.ones(20))
    small = compress(t + t, 1e-6)[0]
    for made in (t, t + t, 2 * t - t / 2, transpose(t.space)(t), linear(t)(v), t + dense, small, t.dense()):
        assert all(isinstance(part, jax.Array) for part in parts(made))
    assert np.allclose((2 * t - t / 2).array, 1.5 * due)
    assert np.allclose((t + dense).array, due + n)
    assert np.isclose(t.norm(), np.linalg.norm(due))
    assert np.isclose(t.inner(dense), np.sum(due * n), rtol=1e-4)
    assert rank(compress(t + t + t, 1e-6)[0]) == 1
    assert alike(pickle.loads(pickle.dumps(t)), t)
    with pytest.raises(SpaceError, match="move"):
        linear(t)(B.zeros())


def test_numpy_leaves_operators_to_formal_arrays() -> None:
    """A formal leaf is no array: numpy refuses to convert it."""
    (leaf,) = V.random(RNG).tensor(W.random(RNG)).leaves
    assert isinstance(leaf, Formal)
    with pytest.raises(SpaceError, match=r"v\.dense\(\)"):
        np.asarray(leaf)
    assert repr(leaf) == "<formal array [30, 20]: rank 1>"


def test_formal_and_stacked_families_agree() -> None:
    """formal(space, pairs) is from_factors of the stacked vectors, over any index set."""
    pairs = [(V.random(RNG), W.random(RNG)) for _ in range(4)]
    left = Copower(V, Z).vec(np.stack([u.array for u, _ in pairs]))
    right = Copower(W, Z).vec(np.stack([v.array for _, v in pairs]))
    t = formal(TensorProduct(V, W), pairs)
    assert same(t.dense(), from_factors(left, right).dense())
    twice = Fin.of(2) * Fin.of(2)
    shaped = [Copower(w.space.base, twice).vec(np.reshape(w.array, (2, 2, -1))) for w in (left, right)]
    assert same(t.dense(), from_factors(*shaped).dense())
