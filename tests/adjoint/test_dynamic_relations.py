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
    table: Any = (hb.Elements(hb.Fin.of(n)) ** places).vec(to)
    gathered: Any = hb.gather(to, hb.Fin.of(n), hb.R, rows=places)
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


@pytest.mark.parametrize("sizes", [(50, 20, 10), (50, 5, 10), (5, 50, 10)])
def test_elements_of_elements_are_counted_from_either_end(sizes: tuple[int, int, int]) -> None:
    """v ↦ v[i][j] has at most |j| entries, as its adjoint has, whichever of v, i and j is the largest."""
    X, Y, Z = (hb.Fin.of(k) for k in sizes)
    f = hb.derivative(hb.fun(hb.R**X, hb.Elements(X) ** Y, hb.Elements(Y) ** Z)(lambda v, i, j: v[i][j]))
    due = f"at most {Z.size} of "
    assert due in str(hb.structure(f))
    assert due in str(hb.structure(hb.adjoint(f)))


def by_argsort(x: Any) -> Any:
    """The sines of a sparse map of products in lanes, in its order."""
    S = hb.sparse([0, 1, 2], [0, 1, 2], [1.0, 2.0, 3.0], X, X)
    y = S(x * x * hb.exp(-(x * x).roll(1) * (x * x).roll(1)))
    return hb.sin(y)[y.argsort()]


def lanes(x: Any) -> Any:
    """Values of lanes in their order, with a branch that no lane takes."""
    z = hb.build(lambda i: x[i] * x[i] + x[0], X)
    return hb.where(z > z + 1.0, hb.sin(z), z).sort()


SORTED: dict[str, Callable[[Any], Any]] = {
    "product of three": lambda x: (x * x.roll(1)).sort(),
    "in lanes": lambda x: hb.each(lambda a, b: a * hb.exp(-b * b), x * x, (x * x).roll(1)).sort(),
    "argsort": by_argsort,
    "filled": lanes,
    "most": lambda x: (x * x.roll(1)).roll(1) * (x * x + x[0]).max(),
}
AFTER: dict[str, Callable[[Any], Any]] = {
    "alone": lambda y: y,
    "cumsum": lambda y: y.cumsum(),
    "fold": lambda y: hb.fold(lambda s, e: (0.5 * s + e, 0.5 * s + e), hb.const(hb.R.vec(0.0)), y)[1],
}


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("body", SORTED)
def test_hessians_of_what_is_sorted(body: str, after: str) -> None:
    """In a sum of many products with an order that is known at the point: in every form, by differences."""
    g = hb.fun(V)(lambda x: hb.sin(AFTER[after](SORTED[body](x))).sum())
    x, second = V.vec([0.3, -1.0, 2.0]), hb.derivative(hb.grad(g))
    step = 1e-5
    due = np.stack([(hb.grad(g)(x + step * e).array - hb.grad(g)(x - step * e).array) / (2 * step) for e in V.basis()])
    at: Any = second.at(x)
    found = [hb.matrix(at, as_=form) for form in ("array", "sparse")]
    found = [found[0], found[1].toarray(), hb.matrix(at, as_="blocks")[0][0].toarray(), hb.hessian(g, x)]
    for made in found:
        np.testing.assert_allclose(made, due, atol=1e-7)
    np.testing.assert_allclose(hb.diagonal(at).array, np.diag(due), atol=1e-7)
    assert str(hb.structure(second))
    assert str(hb.cost(second))
