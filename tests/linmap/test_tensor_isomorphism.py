"""V ⊸ W ≅ W ⊗ V both ways, and the universal property of ⊗ (§2.2)."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from adjoint import adjoint
from diff import affine, fun, sin, tanh
from hilbert import Copower, Fin, R, SpaceError, TensorProduct, Unit, direct_sum, formal, from_factors, rank
from hilbert.relation import agreement
from hilbert.tensors.formal_tensors import alike
from hilbert.tensors.rank_one_sums import families
from linmap import (
    diagonal,
    equal,
    identity,
    linear,
    matrix,
    red,
    section,
    structure,
    tensor,
    total,
    trace,
    transpose,
    universal,
)
from linmap.contraction import matrix_matrix, matrix_vector, tensor_contraction
from linmap.matrices.made.linear_tensors import FEW
from linmap.matrices.structure.structure import LowRank
from linmap.term.nodes import Compose, Lifted
from tests import oracle
from tests.formal_vectors import formal_vector
from tests.linear_terms import CONTRACTIONS, between
from tests.strategies import Source, close, elements, gathered, same, sources

RNG = np.random.default_rng(0)


# --- V ⊸ W ≅ W ⊗ V ---


@given(sources())
def test_linear_is_contraction(s: Source) -> None:
    """linear(t)(v) = t ∗ v, and linear(t)* = linear(tᵀ)."""
    space = s.tensor()
    t = formal_vector(s, space)
    v, w = s.vector(space.right), s.vector(space.left)
    f = linear(t)
    rows = _matrix(t)
    assert (f.dom, f.cod) == (space.right, space.left)
    assert f(v).dense().flat().tolist() == (rows @ v.flat()).tolist()
    assert adjoint(f)(w).dense().flat().tolist() == (rows.T @ w.flat()).tolist()
    assert same(adjoint(f)(w).dense(), linear(transpose(space)(t))(w).dense())
    assert np.array_equal(matrix(f, as_="array"), rows)


def _matrix(t: Any) -> Any:
    """The matrix of t ∈ W ⊗ V."""
    W, V = t.space.left, t.space.right
    leaves = iter(t.dense().leaves)
    blocks = [[np.reshape(next(leaves), (a.size, b.size)) for b in V.leaves] for a in W.leaves]
    if not W.leaves or not V.leaves:
        return np.zeros((W.dim, V.dim))
    return np.concatenate([np.concatenate(row, axis=1) for row in blocks], axis=0)


@given(sources())
def test_tensor_is_the_inverse_of_linear(s: Source) -> None:
    """tensor(linear(t)) = t."""
    t = formal_vector(s, s.tensor())
    assert equal(tensor(linear(t)), t)


@settings(max_examples=200)
@given(sources())
def test_linear_is_the_inverse_of_tensor(s: Source) -> None:
    """linear(tensor(f)) = f; a map whose term proves no low rank has a tensor on request only."""
    f = between(s, s.space(12), s.space(12), 3)
    v = s.vector(f.dom)
    due = oracle.matrix(f)
    try:
        t = tensor(f)
    except SpaceError as error:
        assert "dense=True" in str(error)  # noqa: PT017 - one of two results
        t = tensor(f, dense=True)
        assert not t.is_formal
    assert t.space == TensorProduct(f.cod, f.dom)
    note(t)
    assert np.allclose(_matrix(t), due)
    assert close(linear(t)(v).dense(), f(v).dense())


@given(sources())
def test_the_adjoint_of_a_tensor(s: Source) -> None:
    """equal(linear(t)*, linear(tᵀ)) for terms without a dense part: the same composition through ℝ^r."""
    V, W = s.field ** s.index(empty=False), s.field ** s.index(empty=False)
    X = Fin.of(s.size(4, 1))
    t = from_factors(s.vector(Copower(W, X)), s.vector(Copower(V, X)))
    assert equal(adjoint(linear(t)), linear(transpose(t.space)(t)))


def test_griewank() -> None:
    """The derivative of b·sin(aᵀx) is rank 1, found in the term, with factors b and a."""
    X, Y = Fin.of(50), Fin.of(40)
    a, b = (R**X).random(RNG), (R**Y).random(RNG)
    f = fun(R**X)(lambda x: sin(a @ x) * b)
    _, d = affine(f, (R**X).random(RNG))
    assert structure(d) == LowRank(1, (40, 50))
    t = matrix(d)
    assert t.is_formal
    assert rank(t) == 1
    assert equal(t, tensor(d))
    assert np.allclose(t.array, matrix(d, as_="array"))


def test_bow_tie() -> None:
    """A network through 4 neurons has a Jacobian of rank 4, as a formal tensor."""
    X, H = Fin.of(60), Fin.of(4)
    B: Any = (R ** (X * H)).random(RNG)
    A = (R ** (H * X)).random(RNG)
    f = fun(R**X)(lambda x: tanh(B @ tanh(A @ x)))
    _, d = affine(f, (R**X).random(RNG))
    t = matrix(d, as_="tensor")
    assert rank(t) == 4
    assert np.allclose(t.array, matrix(d, as_="array"))
    v = (R**X).random(RNG)
    assert np.allclose(linear(t)(v).array, d(v).array)


def test_many_terms_are_one_composition() -> None:
    """The sum of many rank-one terms is applied through one ℝ^r."""
    V, W = R ** Fin.of(30), R ** Fin.of(20)
    t = formal(TensorProduct(W, V), [])
    for k in range(40):
        t = t + (k + 1.0) * W.random(RNG).tensor(V.random(RNG))
    f, v = linear(t), V.random(RNG)
    assert len(families(t)[0]) > FEW
    assert isinstance(f, Compose)
    assert [part.cod for part in f.parts] == [R ** Fin.of(40), W]
    assert np.allclose(f(v).array, t.array @ v.array)
    assert alike(tensor(f), t)


def test_a_sum_of_families_shares_factors() -> None:
    """The terms of leaves that share their factors are one family."""
    V, W = direct_sum(R ** Fin.of(4), R ** Fin.of(5)), direct_sum(R ** Fin.of(3), R ** Fin.of(6), R ** Fin.of(2))
    X = Fin.of(3)
    t = from_factors((W**X).random(RNG), (V**X).random(RNG))
    assert rank(t) == 3
    assert rank(2 * t + W.random(RNG).tensor(V.random(RNG))) == 4
    assert rank(transpose(t.space)(t)) == 3
    assert rank(tensor(linear(t))) == 3


def test_dense_only_on_request() -> None:
    """A map of no proven rank below its spaces' says what to do."""
    V = R ** Fin.of(3)
    with pytest.raises(SpaceError, match="dense=True"):
        tensor(identity(V))
    assert tensor(identity(V), dense=True).array.tolist() == np.eye(3).tolist()
    X = Fin.of(3)
    a, b, c = ((R ** (X * X)).random(RNG) for _ in range(3))
    product: Any = section(matrix_matrix(X, X, X), 0, a) @ section(matrix_matrix(X, X, X), 0, b)
    chain: Any = reduce(lambda f, g: f @ g, [section(matrix_vector(X, X), 0, m) for m in (a, b, c)])
    for f, said in ((chain, "no rank below 3"), (product, "share an axis")):
        with pytest.raises(SpaceError, match=said):
            tensor(f)
        assert np.allclose(_matrix(tensor(f, dense=True)), matrix(f, as_="array"))


def test_traces_of_tensors() -> None:
    """trace(linear(u ⊗ v)) = u ⊙ v, with a formal datum in a section too."""
    V = R ** Fin.of(4)
    u, v = V.random(RNG), V.random(RNG)
    t = u.tensor(v)
    assert np.isclose(trace(linear(t)), u.inner(v))
    c = section(tensor_contraction(V, V, R), 0, t)
    assert np.allclose(diagonal(c).dense().flat(), np.diag(matrix(c, as_="array")))


# --- the universal property ---

DISCRETE = {"pick", "basis vector", "select", "labels with a Boolean", "labels with an element"}
REAL = [name for name in CONTRACTIONS if name not in DISCRETE]


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=40)
@given(s=sources())
def test_universal_property(name: str, s: Source) -> None:
    """u ⋄ v = ⋄̄(u ⊗ v), and ⋄̄ is linear: on dense and formal tensors."""
    c = CONTRACTIONS[name](s)
    u, v = s.vector(c.left), s.vector(c.right)
    f = universal(c)
    assert (f.dom, f.cod) == (TensorProduct(c.left, c.right), c.cod)
    assert same(f(u.tensor(v)).dense(), section(c, 0, u)(v))
    t = formal_vector(s, f.dom)
    assert same(f(t).dense(), f(t.dense()))


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=20)
@given(s=sources())
def test_adjoint_of_the_universal_map(name: str, s: Source) -> None:
    """⋄̄(t) ⊙ w = t ⊙ ⋄̄*(w)."""
    f = universal(CONTRACTIONS[name](s))
    t, w = s.vector(f.dom), s.vector(f.cod)
    assert f(t).inner(w) == t.inner(adjoint(f)(w))
    assert np.allclose(matrix(adjoint(f), as_="array"), matrix(f, as_="array").T)


@given(sources())
def test_relations_by_labels(s: Source) -> None:
    """red_R of labels by definition, under a copower, and Rᵀᵀ = R."""
    letters = "ijk"[: s.size(3, 1)]
    source = "".join(s.one_of(letters) for _ in range(s.size(3)))
    target = "".join(s.one_of(letters) for _ in range(s.size(2)))
    axes = {c: Fin.of(s.size(4)) for c in letters}
    X, Y = (_product([axes[c] for c in labels]) for labels in (source, target))
    r = agreement(f"{source}->{target}", X, Y)
    assert r == r.T.T
    f = red(r, s.field)
    v, w = s.vector(f.dom), s.vector(f.cod)
    due = np.zeros(Y.size)
    x, y = r.holds()
    np.add.at(due, y, v.flat()[x])
    assert f(v).flat().tolist() == due.tolist()
    assert f(v).inner(w) == v.inner(adjoint(f)(w))
    Z = s.index(3)
    u = s.vector(Copower(f.dom, Z))
    assert same(Lifted(f, Z)(u), gathered(Copower(f.cod, Z), [f(part) for part in elements(u)]))


def _product(axes: list[Any]) -> Any:
    made: Any = Unit()
    for axis in axes:
        made = made * axis if made.axes else axis
    return made


def test_applied_to_terms_one_by_one() -> None:
    """⋄̄(Σ_r u_r ⊗ v_r) takes r applications of ⋄, in one call: nothing of dim U·dim V entries."""
    V = R ** (Fin.of(200) * Fin.of(300))
    W = R ** (Fin.of(300) * Fin.of(100))
    c = matrix_matrix(Fin.of(200), Fin.of(300), Fin.of(100))
    pairs = [(V.random(RNG), W.random(RNG)) for _ in range(3)]
    t = formal(TensorProduct(V, W), pairs)
    assert np.allclose(universal(c)(t).array, sum(u.array @ v.array for u, v in pairs))
    assert V.dim * W.dim == 1_800_000_000


def test_total_of_nothing() -> None:
    """0 : V ⊸ W is the tensor without terms."""
    V = R ** Fin.of(3)
    t = tensor(0.0 * total(Fin.of(3)))
    assert t.norm() == 0.0
    assert linear(formal(TensorProduct(V, V), []))(V.random(RNG)).norm() == 0.0
