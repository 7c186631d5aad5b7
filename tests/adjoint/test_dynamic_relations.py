"""Jacobians of functions where dynamic elements meet relations: the columns are the derivative's, in every form."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb

X = hb.Fin.of(3)
V, E = hb.R**X, hb.Elements(X) ** X

BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum after a gather": lambda v, y: v[y].cumsum(),
    "pad after a gather": lambda v, y: v[y].pad(1, 1),
    "concatenation": lambda v, y: hb.concatenate(X, X)(v, v[y]),
    "segment sum after a gather": lambda v, y: hb.segment_sum([0, 1, 0], hb.Fin.of(2))(v[y]),
    "pool after a gather": lambda v, y: hb.pool(X, 2, stride=1)(v[y]),
    "gather after a roll": lambda v, y: v.roll(1)[y],
    "gather after a flip": lambda v, y: v.flip()[y],
    "pad after a scatter": lambda v, y: v.scatter(y).pad(1, 1),
}


@pytest.mark.parametrize("name", BODIES)
def test_jacobian(name: str) -> None:
    """Column k of the matrix is f'(x)(e_k)."""
    f = hb.fun(V, E)(BODIES[name])
    x, y = V.vec([1.0, 2.0, 3.0]), E.vec([0, 0, 2])
    linear = hb.derivative(f)(x, y)
    due = np.stack([np.ravel(linear(e, hb.Zero().zeros()).array) for e in V.basis()], axis=1)
    np.testing.assert_array_equal(hb.jacobian(f, x, y), due)
    np.testing.assert_array_equal(hb.matrix(linear, as_="sparse").toarray(), due)


def test_hessian() -> None:
    """The Hessian of Σ d³, d = cumsum(v[y]), is 6·Jᵀ diag(d) J."""

    @hb.fun(V, E)
    def f(v: Any, y: Any) -> Any:
        d = v[y].cumsum()
        return hb.inner(d * d, d)

    J, d = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 1.0]]), np.array([1.0, 2.0, 5.0])
    found = hb.hessian(f, V.vec([1.0, 2.0, 3.0]), E.vec([0, 0, 2]))
    np.testing.assert_allclose(found, 6 * J.T @ np.diag(d) @ J)


def test_folding_keeps_the_order_of_labels() -> None:
    """∇ of Σ A_ji B_ij in A is Bᵀ: a number is folded into a contraction only where no axis moves."""
    M = hb.R ** (X * X)
    B = M.vec(np.arange(9.0).reshape(3, 3))
    f = hb.fun(M)(lambda A: hb.contract("ji,ij->ij", A, hb.const(B)).sum())
    assert np.array_equal(hb.grad(f)(B).array, B.array.T)


@pytest.mark.parametrize("n", [1, 4, 40])
def test_constant_tables_are_known(n: int) -> None:
    """The elements of a constant are a relation as that of `gather` is: entries of both are listed, in any form."""
    rng = np.random.default_rng(n)
    to, places = rng.integers(0, n, 3 * n), hb.Fin.of(3 * n)
    V = hb.R ** hb.Fin.of(n)
    table = (hb.Elements(hb.Fin.of(n)) ** places).vec(to)
    gathered = hb.gather(to, hb.Fin.of(n), hb.R, rows=places)
    by_constant = hb.fun(V)(lambda v: hb.inner(hb.tanh(v[table]), hb.tanh(v[table])) + v[table].sum())
    by_relation = hb.fun(V)(lambda v: hb.inner(hb.tanh(gathered(v)), hb.tanh(gathered(v))) + gathered(v).sum())
    x = V.vec(rng.normal(size=n))
    found, due = (hb.derivative(hb.grad(f)) for f in (by_constant, by_relation))
    assert str(hb.structure(found)) == str(hb.structure(due))
    assert str(hb.structure(found.at(x))) == str(hb.structure(due.at(x)))
    a, b = (hb.matrix(d.at(x)) for d in (found, due))
    assert type(a) is type(b)
    dense_a, dense_b = (np.asarray(hb.matrix(d.at(x), as_="array")) for d in (found, due))
    np.testing.assert_allclose(dense_a, dense_b, rtol=1e-14, atol=0)
    moved = V.vec(rng.normal(size=n))
    for point in (x, moved, x):
        sparse_a, sparse_b = (hb.matrix(d.at(point), as_="sparse").toarray() for d in (found, due))
        np.testing.assert_allclose(sparse_a, sparse_b, rtol=1e-14, atol=0)
