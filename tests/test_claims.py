"""Claims of the documentation, each with the test that fails when the code behind it is broken."""

from __future__ import annotations

import gc
import importlib
import tracemalloc
import weakref
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import adjoint, check_adjoint, grad
from diff import Expr, const, contract, derivative, fun, lift, maximum, minimum, relu, sin, sparse_product
from hilbert import R32, Bool, Elements, Fin, Labelled, R, SpaceError, Zero, direct_sum
from hilbert.base.term import postorder
from hilbert.relation import Composite, full, function, geq, leq, less, pairs, partial
from linmap import (
    compose,
    cumsum,
    curry,
    delta,
    equal,
    linear,
    matrix,
    red,
    rep,
    scale,
    section,
    structure,
    tensor,
    total,
    transpose,
    uncurry,
)
from linmap.contraction import hadamard, matrix_matrix, matrix_vector, tensor_contraction
from linmap.term.nodes import Reduce
from linmap.unitary import tensor_matrix


class Row:
    """The tag of an axis."""


RNG = np.random.default_rng(0)
X, Y, Z = Fin.of(2), Fin.of(3), Fin.of(4)


def test_delta_on_the_right() -> None:
    """Δ of a family of (⋄v_z): (Δ v)(u)_z = u_z ⋄ v_z."""
    c = matrix_vector(Y, X)
    u, v = (c.left**Z).random(RNG), (c.right**Z).random(RNG)
    np.testing.assert_allclose(delta(c, 1, v, Z)(u).array, np.einsum("zij,zj->zi", u.array, v.array))


def test_ties() -> None:
    """At x = y the left side is taken, of minimum too."""
    for p in (maximum, minimum):
        assert grad(p)(R.vec(1.0), R.vec(1.0)).array == (1.0, 0.0)


def test_relu_at_0() -> None:
    assert float(grad(fun(R)(relu))(R.vec(0.0))) == 0.0


def test_division_is_division() -> None:
    """x / 3 is numpy's quotient, traced and on vectors."""
    v = (R ** Fin.of(100)).random(RNG)
    f = fun(v.space)(lambda x: x / 3.0)
    assert np.array_equal(f(v).array, v.array / 3.0)
    assert np.array_equal((v / 3.0).array, v.array / 3.0)


def test_line() -> None:
    def body(x: Expr[Any]) -> Any:
        y = x + 1.0
        return y + np.ones(3)

    with pytest.raises(SpaceError, match="return y"):
        fun(R ** Fin.of(3))(body)


def test_a_repeated_array_is_not_written_into() -> None:
    """x + rep(2·b): b dies there, and has fewer axes than the sum."""
    f = lift(fun(R**Y, R**Y)(lambda b, x: x + 2.0 * b), X)
    b, x = (R**Y).random(RNG), ((R**Y) ** X).random(RNG)
    np.testing.assert_allclose(f(b, x).array, x.array + 2.0 * b.array)


def test_results_are_dropped() -> None:
    """Twenty steps that cannot overwrite hold two or three arrays at once."""
    V = R ** Fin.of(10**5)

    def body(x: Expr[Any]) -> Any:
        for _ in range(20):
            x = x.cumsum()
        return x

    f, v = fun(V)(body), V.zeros()
    f(v)
    tracemalloc.start()
    f(v)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * 8 * 10**5


def test_kernels_by_both_operands() -> None:
    """One matrix times arrays of other sizes: a kernel for each."""
    A = (R ** (Y * X)).random(RNG)
    B, C = (R ** (X * (Y * Z))).random(RNG), (R ** (X * (Z * X))).random(RNG)
    f = fun(A.space, B.space, C.space)(lambda A, B, C: (contract("ij,jkl->ikl", A, B), contract("ij,jkl->ikl", A, C)))
    for found, other in zip(f(A, B, C).split(), (B, C), strict=True):
        np.testing.assert_allclose(found.array, np.einsum("ij,jkl->ikl", A.array, other.array))


def test_a_filled_array_in_another_order() -> None:
    """∇_B Σ A_ij·B_ji = Aᵀ."""
    M = R ** (Y * Y)
    A, B = M.random(RNG), M.random(RNG)
    f = fun(M, M)(lambda a, b: contract("ij,ji->ij", a, b).sum())
    np.testing.assert_allclose(grad(f, 1)(A, B).array, A.array.T)


def test_read_only() -> None:
    v = (R**Y).vec([1.0, 2.0, 3.0])
    for w in (v * v, v > 0.0, v @ v + 1.0, v.roll(1), v.cumsum(), relu(v)):
        assert not getattr(w.array, "flags", None) or not w.array.flags.writeable


def test_options() -> None:
    v = (R**Y).vec([1.0, 2.0, 4.0])
    assert v.cumsum(reverse=True, exclusive=False).array.tolist() == [7.0, 6.0, 4.0]


def test_nan_fails() -> None:
    V = R**X
    with np.errstate(all="ignore"):
        assert not check_adjoint(section(hadamard(V), 0, V.vec([float("nan"), 1.0])))


def test_relative() -> None:
    assert check_adjoint(1e12 * cumsum(Fin.of(5)))


def test_tangent() -> None:
    assert (Elements(X) ** Y).tangent == Zero() == ((Bool**X) ** Y).tangent


def test_truth() -> None:
    with pytest.raises(SpaceError, match="no truth value"):
        bool((Bool ** Fin.of(1)).vec([True]))


def test_coins() -> None:
    assert set((Bool ** Fin.of(100)).random(RNG).array.tolist()) == {True, False}


def test_scale_leaves_elements_alone() -> None:
    assert set((Elements(Y) ** Fin.of(100)).random(RNG, scale=0.1).array.tolist()) == {0, 1, 2}


def test_brackets() -> None:
    with pytest.raises(SpaceError) as error:
        (R**X).zeros() + (R**Y).zeros()
    assert "same arrays" not in str(error.value)


def test_a_scaled_tensor_times_a_vector() -> None:
    """(2·u⊗v)⊗w = 2·(u⊗v)⊗w on formal tensors."""
    u, v, w = ((R ** Fin.of(n)).random(RNG) for n in (2, 3, 4))
    t = (2.0 * u.tensor(v)).tensor(w)
    np.testing.assert_allclose(t.array, 2.0 * np.einsum("i,j,k->ijk", u.array, v.array, w.array))


def test_number_and_scalar() -> None:
    """tensor(f) of k·(s ·) • (w v*): the number times the scalar."""
    u, v = (R**X).random(RNG), (R**Y).random(RNG)
    f = 3.0 * (scale(R.vec(2.0), R**X) @ linear(u.tensor(v)))
    np.testing.assert_allclose(tensor(f).array, 6.0 * np.outer(u.array, v.array))


def test_equal_tells_spaces_apart() -> None:
    """Formal tensors of two spaces with the same entries are not equal."""
    one, two = R ** Fin.of(2), R ** Fin(Row, 2)
    entries = [1.0, 2.0]
    s, t = one.vec(entries).tensor(one.vec(entries)), two.vec(entries).tensor(two.vec(entries))
    assert not equal(s, t)
    assert not equal(s.dense(), t)


def test_arcs_that_no_input_reaches_go() -> None:
    w = (R**Y).random(RNG)
    assert len(derivative(fun(R**Y)(lambda x: x + sin(const(w)))).body.arcs) <= 1


def test_names() -> None:
    f = tensor_matrix((R**X) * (R**Y))
    assert str(adjoint(f)) != str(f)


def test_equal_tells_sides_apart() -> None:
    """(A∗) and (∗A) of square matrices are two maps."""
    c = matrix_matrix(Y, Y, Y)
    A = c.left.random(RNG)
    assert not equal(section(c, 0, A), section(c, 1, A))


def test_norm_sees_cancellation() -> None:
    """‖u⊗v − 3u⊗⅓v‖ is 0 to rounding, not to its square root."""
    u, v = (R ** Fin.of(20)).random(RNG), (R ** Fin.of(30)).random(RNG)
    difference = u.tensor(v) - (3.0 * u).tensor(v / 3.0)
    assert difference.is_formal
    assert difference.norm() < 1e-13 * u.norm() * v.norm()


def test_elements_in_flat_order() -> None:
    towns = Labelled.of(["a", "b", "c"])
    assert towns.at(["a", "b", "c", "a", "c", "b"], X * Y).array.tolist() == [[0, 1, 2], [0, 2, 1]]


def test_a_table_is_prepared_once() -> None:
    r = function([0, 2, 1, 0, 2, 2], Fin.of(6), Y)
    red(r)((R ** Fin.of(6)).zeros())
    before = r.prepared
    red(r, R)(2.0 * (R ** Fin.of(6)).ones())
    adjoint(red(r))((R**Y).zeros())
    assert all(a is b for a, b in zip(before, r.prepared, strict=True))


def test_two_million_paths() -> None:
    """Up to 134 million paths are written out."""
    W = Fin.of(200)
    assert (leq(W) @ geq(W)).size == 200 * 200


def test_strict_orders() -> None:
    """< ∘ < leaves an element between: it is not <."""
    W = Fin.of(4)
    assert sorted(zip(*(p.tolist() for p in (less(W) @ less(W)).holds()), strict=True)) == [(0, 2), (0, 3), (1, 3)]


def test_composition_with_a_converse_stays_symbolic() -> None:
    """gᵀ ∘ R for a function g: at most one y between, whatever R is."""
    made = function([0, 1, 0], Y, X).T @ leq(X)
    assert isinstance(made, Composite)
    assert made.size == 4


def test_a_table_is_a_copy() -> None:
    keep = np.array([True, False, True])
    r = partial(keep, Y)
    keep[0] = False
    assert r.size == 2


def test_through_the_empty_set() -> None:
    O = Fin.of(0)
    assert (full(O, Y) @ full(X, O)).size == 0


def test_the_count_is_a_bound() -> None:
    """Through two relations: at most |R| times the largest degree of S."""
    r, s = pairs([(0, 0), (1, 1)], X, X), pairs([(0, 0), (0, 1), (0, 2), (1, 2)], X, Y)
    f = red(s) @ section(hadamard(R**X), 0, (R**X).ones()) @ red(r)
    form = structure(f)
    assert matrix(f, as_="sparse").nnz == 4 <= getattr(form, "entries", 6)


def test_permutation() -> None:
    assert str(structure(transpose(R ** (X * Y)))) == "permutation"


def test_a_sum_of_copies() -> None:
    """Σ • rep = |X|·id."""
    assert matrix(total(Y) @ rep(Y), as_="array").tolist() == [[3.0]]


def test_blocks_of_the_smaller_size() -> None:
    """A relation on all of X×Y beside dense blocks in Y: the blocks are single entries."""
    S = R ** (X * Y)

    inner = section(matrix_vector(Y, Y), 0, (R ** (Y * Y)).random(RNG))
    f = uncurry((R**Y) ** X) @ inner**X @ curry(S) + red(pairs([(0, 5), (4, 1)], X * Y, X * Y))
    ((block,),) = matrix(f, as_="blocks")
    np.testing.assert_allclose(block.toarray(), matrix(f, as_="array"))


def test_the_example_is_the_network() -> None:
    """Ex. 7.1 in docs/examples/digits.py: g₃ ∘ g₂ ∘ g₁ with h = tanh, tanh, id."""

    digits = importlib.import_module("docs.examples.digits")
    p, x = digits.network.dom.parts[0].random(RNG), digits.network.dom.parts[1].random(RNG)
    (W1, b1), (W2, b2), (W3, b3) = p.array
    due = W3 @ np.tanh(W2 @ np.tanh(W1 @ x.array + b1) + b2) + b3
    np.testing.assert_allclose(digits.network(p, x).array, due)


def test_rows_of_several_entries_elsewhere() -> None:
    """A sparse matrix on V = ℝ² in JAX: gather, product by the weights, segment sum."""

    rows, cols = np.sort(RNG.integers(0, 40, 6000)), RNG.integers(0, 30, 6000)

    f = sparse_product(rows, cols, Fin.of(30), Fin.of(40), R32**X)
    w, v = RNG.integers(-3, 4, 6000).astype(np.float32), RNG.integers(-3, 4, (30, 2)).astype(np.float32)
    found = f(f.dom.vec((jnp.asarray(w), jnp.asarray(v))))
    assert np.array_equal(np.asarray(found.array), f(f.dom.vec((w, v))).array)


def test_contraction_of_sums() -> None:
    """(w⊗v) ∗ (v'⊗u) = (v⊙v')·(w⊗u) where W is a direct sum and V is none."""

    W, V, U = direct_sum(R, R**Y), R**X, R**Z
    w, v, other, u = W.random(RNG), V.random(RNG), V.random(RNG), U.random(RNG)
    f = section(tensor_contraction(W, V, U), 0, w.tensor(v).dense())
    np.testing.assert_allclose(
        f(other.tensor(u).dense()).flat().reshape(4, 4), v.inner(other) * np.outer(w.flat(), u.array)
    )


def test_a_vector_deep_in_a_tuple() -> None:

    S = direct_sum(direct_sum(R**X, R), R)
    v = (R**X).random(RNG)
    assert equal(S.vec(((v, 1.0), 2.0))[0][0], v)


def test_infinities() -> None:
    """∞ − ∞ is NaN in v ⊙ w, as in numpy."""

    S = direct_sum(R, R)
    assert np.isnan(S.vec((np.inf, -np.inf)).inner(S.ones()))


def test_the_smallest_part_is_named(monkeypatch: pytest.MonkeyPatch) -> None:

    def wrong(f: Any) -> Any:
        return 2.0 * adjoint(f) if any(isinstance(n, Reduce) for n in postorder(f)) else adjoint(f)

    monkeypatch.setattr(importlib.import_module("adjoint.checks.check_derivatives"), "adjoint", wrong)
    f = compose(2.0 * (cumsum(Y) @ scale(2.0, R**Y)), scale(3.0, R**Y))
    assert check_adjoint(f).failing == str(cumsum(Y))


def test_a_run_keeps_nothing() -> None:
    """After a call nothing holds the factors of its formal arguments."""
    M = R ** (X * Y)

    f = fun(M, R**Y)(lambda m, x: m @ x)
    u, v, x = (R**X).random(RNG), (R**Y).random(RNG), (R**Y).random(RNG)
    t = tensor_matrix((R**X) * (R**Y))(u.tensor(v))
    assert t.is_formal
    f(t, x)
    kept = [weakref.ref(a) for a in t.leaves[0].parts]
    del t, u, v
    gc.collect()
    assert all(r() is None for r in kept)


def test_a_number_beside_a_vector() -> None:
    v: Any = R.vec(1.0)
    assert ((R**X).zeros() + v).array.tolist() == [1.0] * X.size
    with pytest.raises(SpaceError, match=r"only \+, - and \* repeat a scalar: k.rep\(V\) is the"):
        maximum((R**X).zeros(), v)
    single: Any = R32.vec(1.0)
    with pytest.raises(SpaceError, match="the precisions differ"):
        _ = (R**X).zeros() + single
