"""Few common unknowns behind a band, or blocks: systems, determinants, inverses at known places, and their cost."""

from __future__ import annotations

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from adjoint import grad, hessian, laplace, value_and_grad
from diff import derivative, exp, fun, inner, lift, square
from hilbert import DirectSum, Fin, R, SpaceError
from hilbert.arrays.elimination.common_unknowns import Border
from hilbert.arrays.elimination.kept_factors import Factors
from hilbert.arrays.systems import sparse_systems
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from linmap import cost, diagonal, matrix, trace

SP: Any = scipy_of()
hb: Any = library
linalg, solve = hb.linalg, hb.solve


def arrow(seed: int, others: int, count: int, width: int, *, alike: bool) -> Any:
    """A matrix in a band with common unknowns, all in some other order."""
    rng = np.random.default_rng(seed)
    n = others + count
    i, j = np.indices((n, n))
    a = rng.standard_normal((n, n))
    a = (a + a.T if alike else a) + (2 * width + 2 + 0.5 * n) * np.eye(n)
    a = a * ((abs(i - j) <= width) | (i >= others) | (j >= others))
    some = rng.permutation(n)
    return a[np.ix_(some, some)], np.argsort(some)[others:]


def others_of(rows: Any, cols: Any, size: int, block: int) -> SparseSystem:
    """The systems of the others."""
    return SparseSystem(rows, cols, size, block, SP, bordered=False)


@pytest.mark.parametrize(("others", "count", "width"), [*product((1, 2, 7, 50), (1, 2, 5), (0, 1, 3))])
@pytest.mark.parametrize("alike", [True, False])
def test_borders_are_schur_complements(others: int, count: int, width: int, *, alike: bool) -> None:
    """Solutions with A and its transpose, log |det A| and A⁻¹ at the places, in lanes, are those of dense matrices."""
    parts = [arrow(seed, others, count, width, alike=alike) for seed in (others, others)]  # lanes of one pattern
    n = others + count
    a = np.zeros((2 * n, 2 * n))
    for k, (part, _) in enumerate(parts):
        a[k * n : k * n + n, k * n : k * n + n] = part * (1.0 + k)
    rows, cols = np.nonzero(a)
    values, b = a[rows, cols], np.random.default_rng(0).standard_normal((3, 2 * n))
    border = Border((rows, cols), 2 * n, n, np.sort(parts[0][1]), others_of)
    found = border.made(values)
    np.testing.assert_allclose(found.solve(b, False) @ a.T, b, atol=1e-10)  # noqa: FBT003 - see `Factors`
    np.testing.assert_allclose(found.solve(b, True) @ a, b, atol=1e-10)  # noqa: FBT003 - see `Factors`
    assert np.isclose(found.logdet(), np.linalg.slogdet(a)[1], rtol=1e-12)
    turned = Border((cols[::-1], rows[::-1]), 2 * n, n, border.last, others_of).made(values[::-1])
    for factors, flipped in ((found, False), (turned, True)):
        near = border.near_inverse(factors.sides(flipped), values)
        np.testing.assert_allclose(near, np.linalg.inv(a)[cols, rows], atol=1e-12)


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_common_unknowns_are_found(count: int, *, alike: bool) -> None:
    """A system finds the unknowns that meet many others, and says so."""
    a, last = arrow(count, 600, count, 2, alike=alike)
    rows, cols = np.nonzero(a)
    system = SparseSystem(rows, cols, len(a), len(a), SP)
    unknowns = f"{count} unknown{'s' * (count > 1)}"
    assert system.way == f"by eliminating a band of 2 + 1 + 2 diagonals, then {unknowns} in full"
    assert system.border is not None
    assert np.array_equal(system.border.common, np.sort(last))
    b = np.random.default_rng(0).standard_normal((2, len(a)))
    np.testing.assert_allclose(system.solved(a[rows, cols], b, "singular") @ a.T, b, atol=1e-8)
    np.testing.assert_allclose(system.near_inverse(a[rows, cols]), np.linalg.inv(a)[cols, rows], atol=1e-10)
    again = SparseSystem(cols[::-1], rows[::-1], len(a), len(a), SP)  # by the kept factors of the transpose
    turned = SparseSystem(cols, rows, len(a), len(a), SP)
    np.testing.assert_allclose(again.near_inverse(a[rows, cols][::-1]), np.linalg.inv(a)[cols, rows][::-1], atol=1e-10)
    np.testing.assert_allclose(turned.solved(a[rows, cols], b, "singular") @ a, b, atol=1e-8)


def test_no_common_unknowns() -> None:
    """Bands and grids have none; a dense row without a column is one; what has no inverse for any entries is left."""
    i = np.arange(900)
    for rows, cols in ((np.r_[i, i[1:]], np.r_[i, i[:-1]]), (np.r_[i, i[30:]], np.r_[i, i[:-30]])):
        assert SparseSystem(rows, cols, 900, 900, SP).border is None
    rows, cols = np.r_[i, i[1:], np.full(800, 899)], np.r_[i, i[:-1], i[:800]]
    assert SparseSystem(np.r_[rows, i[:-1]], np.r_[cols, i[1:]], 900, 900, SP).border is not None
    empty = (
        np.r_[np.full(900, 899), i[:-1], i[2:-1]],
        np.r_[i, np.full(899, 899), i[1:-2]],
    )  # two rows meet the last only
    assert SparseSystem(*empty, 900, 900, SP).border is None


def laplacian(n: int) -> tuple[Any, Any, Any, Any]:
    """Steps between neighbours, which are singular, under the constraint that all sum to 0: a regular matrix."""
    ones = np.ones(n)
    main = np.r_[1.0, 2.0 * ones[2:], 1.0]
    steps = SP.sparse.diags_array([-ones[1:], main, -ones[1:]], offsets=[-1, 0, 1])
    side = SP.sparse.coo_array(ones[:, None])
    whole = SP.sparse.block_array([[steps, side], [side.T, None]]).tocoo()
    return whole, *whole.coords, whole.data


def test_singular_others() -> None:
    """A matrix whose other unknowns are singular is solved by sparse LU; a method that is told does not give way."""
    whole, rows, cols, values = laplacian(300)
    n, dense = 301, whole.toarray()
    system = SparseSystem(rows, cols, n, n, SP)
    assert system.border is not None
    assert isinstance(system.factors(values)[0], Factors)
    b = np.random.default_rng(0).standard_normal((2, n))
    np.testing.assert_allclose(system.solved(values, b, "singular"), np.linalg.solve(dense, b.T).T, atol=1e-7)
    assert np.isclose(system.logdet(values), np.linalg.slogdet(dense)[1])
    np.testing.assert_allclose(system.near_inverse(values), np.linalg.inv(dense)[cols, rows], atol=1e-8)
    told = SparseSystem(rows, cols, n, n, SP, how="elimination")
    with pytest.raises(SpaceError, match="what is eliminated first is singular at this point"):
        told.solved(values, b, "singular")
    zero = np.where(rows == cols, 0.0, values)
    zero[(rows == 5) | (cols == 5)] = 0.0
    with pytest.raises(SpaceError, match="no solution"):
        system.solved(zero, b, "no solution")
    assert system.logdet(zero) == -np.inf


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("count", [1, 3])
def test_singular_others_are_not_solved_for(monkeypatch: pytest.MonkeyPatch, count: int, *, alike: bool) -> None:
    """The inverse at the places takes two solutions for each common unknown, with kept factors of the transpose too."""
    n = 400 + count
    a, last = arrow(count, 400, count, 2, alike=alike)
    others = np.setdiff1d(np.arange(n), last)
    a[others, others] -= a[np.ix_(others, others)].sum(1)  # rows that sum to 0
    rows, cols = np.nonzero(a)
    system, turned = (SparseSystem(*places, n, n, SP) for places in ((rows, cols), (cols, rows)))
    assert system.border is not None
    assert isinstance(system.factors(a[rows, cols])[0], Factors)
    due = np.linalg.inv(a)[cols, rows]
    with monkeypatch.context() as patch:
        patch.setattr(sparse_systems, "by_columns", None)
        for some in (system, turned):
            np.testing.assert_allclose(some.near_inverse(a[rows, cols]), due, atol=1e-9 * np.abs(due).max())


def test_others_that_are_singular_twice() -> None:
    """The inverse at the places of two separate matrices, singular but for a constraint each, is that in full."""
    whole = SP.sparse.block_diag([laplacian(300)[0]] * 2).tocoo()
    (rows, cols), values = whole.coords, whole.data
    system = SparseSystem(rows, cols, 602, 602, SP)
    assert system.border is not None
    due = np.linalg.inv(whole.toarray())[cols, rows]
    np.testing.assert_allclose(system.near_inverse(values), due, atol=1e-8)


def test_the_others_fill_no_more_than_they_need() -> None:
    """Sparse LU with the common unknowns last has at most twice the entries of the matrix, however many there are."""
    for n in (1000, 4000):
        _, rows, cols, values = laplacian(n)
        system = SparseSystem(rows, cols, n + 1, n + 1, SP)
        assert system.factors(values)[0].entries <= 3 * len(values)


def test_cost_is_linear() -> None:
    """Work, entries of factors and memory of a band with five common unknowns grow as the number of the others."""
    found = []
    for others in (2000, 8000):
        near = np.arange(others)
        band = [(near[k:], near[: others - k]) for k in (0, 1)]
        sides = [
            (np.repeat(others + np.arange(5), others), np.tile(near, 5)),
            (others + np.arange(5), others + np.arange(5)),
        ]
        half = [np.concatenate([pair[k] for pair in (*band, *sides)]) for k in (0, 1)]
        off = half[0] != half[1]
        rows, cols = np.r_[half[0], half[1][off]], np.r_[half[1], half[0][off]]
        n = others + 5
        values = np.where(rows == cols, np.where(rows < others, 3.0, float(others)), 0.3)
        system = SparseSystem(rows, cols, n, n, SP)
        assert system.border is not None
        system.logdet(values)
        tracemalloc.start()
        system.near_inverse(1.5 * values)
        found.append((system.flops, system.fill, system.factors(values)[0].entries, tracemalloc.get_traced_memory()[1]))
        tracemalloc.stop()
    for few, many in zip(*found, strict=True):
        assert many <= 4.5 * few


# --- as users write ---


N = Fin.of(300)
V, Few = R**N, R ** Fin.of(3)
L = DirectSum((V, Few))
RNG = np.random.default_rng(5)
Z = (R ** (N * Few.index)).vec(0.3 * RNG.standard_normal((300, 3)))
COUNTS = V.vec(RNG.poisson(2.0, 300).astype(float))


def joint(p: Any, x: Any) -> Any:
    """A chain and three coefficients behind counts."""
    u, c = x.split()
    eta = u + Z @ c
    return inner(exp(eta) - COUNTS * eta, V.ones()) + 0.5 * exp(p) * square(u[1:] - 0.9 * u[:-1]).sum() + 0.5 * (c @ c)


MODEL: Any = fun(R, L)(joint)
H: Any = derivative(grad(MODEL, 1), wrt=1)


def test_a_field_with_coefficients() -> None:
    """solve, its lift, logdet, and their derivatives to the second order, of a Hessian with few common unknowns."""
    p, x, b = R.vec(0.3), 0.1 * L.random(RNG), L.random(RNG)
    a = matrix(H.at(p, x), "array")
    assert "then 3 unknowns in full" in str(cost(solve(H))).splitlines()[-1]
    assert "then 3 unknowns in full" in str(cost(solve(H, how="elimination"))).splitlines()[-1]
    for s in (solve(H), solve(H, how="elimination")):
        np.testing.assert_allclose(s((p, x), b).flat(), np.linalg.solve(a, b.flat()), rtol=1e-8, atol=1e-12)
    many: Any = lift(fun(R, L, L)(lambda p, x, b: solve(H)((p, x), b)), Fin.of(4), over=(0, 1, 2))
    ps, xs, bs = (some.random(RNG) for some in many.dom.parts)
    made = many(0.1 * ps, 0.1 * xs, bs)
    for k in range(4):
        due = np.linalg.solve(matrix(H.at(0.1 * ps[k], 0.1 * xs[k]), "array"), bs[k].flat())
        np.testing.assert_allclose(made[k].flat(), due, rtol=1e-8, atol=1e-12)
    log = linalg.logdet(H)
    f: Any = fun(R)(lambda q: log((q, x)) + inner(solve(H)((q, x), b), b))
    assert np.isclose(f(p).array, np.linalg.slogdet(a)[1] + b.flat() @ np.linalg.solve(a, b.flat()), rtol=1e-10)
    h = 1e-4
    value, slope = value_and_grad(f)(p)
    ends = [f(R.vec(0.3 + k * h)).array for k in (1, -1)]
    assert np.isclose(slope.array, (ends[0] - ends[1]) / (2 * h), rtol=1e-6)
    assert np.isclose(hessian(f, p).item(), (ends[0] + ends[1] - 2 * value.array) / h**2, rtol=1e-3)


def test_laplace_of_a_field_with_coefficients() -> None:
    """The slope of Laplace's approximation is that of its differences."""
    marginal = laplace(MODEL, L.zeros())
    slope, h = grad(marginal)(R.vec(0.5)), 1e-5
    ends = [marginal(R.vec(0.5 + k * h)).array for k in (1, -1)]
    assert np.isclose(slope.array, (ends[0] - ends[1]) / (2 * h), rtol=1e-5)


SPARSE: dict[str, Any] = {
    "band": fun(V)(lambda x: 3.0 * x - x.pad(1, 0).crop(0, 300) - 0.5 * x.pad(0, 1).crop(1, 301) + x * x * x),
    "triangle": fun(V)(lambda x: exp(x) + x.pad(0, 1).crop(1, 301)),
    "elimination": grad(fun(L)(lambda x: joint(R.vec(0.2), x))),
    "low rank": fun(V)(lambda x: exp(x) + x.sum().rep(V)),
    "no entry on the diagonal": fun(V)(lambda x: 2.0 * x.roll(1)),
    "full": fun(V)(lambda x: exp(x) * (x @ x)),
}


@pytest.mark.parametrize("kind", SPARSE)
def test_diagonals_of_inverses(kind: str) -> None:
    """The diagonal and the trace of an inverse, of a map and of a derivative in the point, are those of the matrix."""
    f = SPARSE[kind]
    d, x = derivative(f), 0.2 * f.dom.random(RNG) + 0.1 * f.dom.ones()
    undone = np.linalg.inv(matrix(d.at(x), "array"))
    for found in (linalg.inverse(d.at(x)), linalg.inverse(d).at(x)):
        assert diagonal(found).space == f.dom
        np.testing.assert_allclose(diagonal(found).flat(), np.diag(undone), rtol=1e-9, atol=1e-12)
        assert np.isclose(trace(found), np.trace(undone))


@pytest.mark.parametrize("how", ["band", "elimination", "sparse", "low rank", "full", "GMRES"])
def test_diagonals_by_a_method(how: Any) -> None:
    """The diagonal of an inverse is the same by each method that solves."""
    f = SPARSE["low rank" if how == "low rank" else "elimination"]
    at = derivative(f).at(f.dom.zeros())
    undone = np.diag(np.linalg.inv(matrix(at, "array")))
    np.testing.assert_allclose(diagonal(linalg.inverse(at, how=how)).flat(), undone, rtol=1e-7)


def test_the_diagonal_of_the_inverse_of_many_unknowns() -> None:
    """Of 10⁵ unknowns no more is made than some arrays of the size of the matrix; a singular matrix is an error."""
    n = 10**5
    W = R ** Fin.of(n)
    f = fun(W)(lambda x: 3.0 * x - x.pad(1, 0).crop(0, n) - x.pad(0, 1).crop(1, n + 1))
    undone = linalg.inverse(derivative(f).at(W.zeros()))
    diagonal(undone)
    tracemalloc.start()
    found = diagonal(undone)
    assert tracemalloc.get_traced_memory()[1] < 100 * 8 * 3 * n
    tracemalloc.stop()
    assert np.isclose(found.array[n // 2], 1.0 / np.sqrt(5.0))
    zero = fun(W)(lambda x: x * x)
    with pytest.raises(SpaceError, match="diagonal: a matrix of 100000 rows is singular"):
        diagonal(linalg.inverse(derivative(zero).at(W.zeros())))


def test_factors_of_other_lanes_are_not_taken() -> None:
    """Two arrows side by side are one system, or two: the same entries, with other common unknowns."""
    parts = [arrow(seed, 400, 2, 1, alike=False)[0] for seed in (1, 1)]
    n = len(parts[0])
    a = np.kron(np.eye(2), parts[0])
    rows, cols = np.nonzero(a)
    for block in (n, 2 * n):
        system = SparseSystem(rows, cols, 2 * n, block, SP)
        assert system.border is not None
        np.testing.assert_allclose(system.near_inverse(a[rows, cols]), np.linalg.inv(a)[cols, rows], atol=1e-10)


def test_singular_others_without_symmetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse LU with the common unknowns last solves with a matrix and its transpose, and is not given up."""
    whole, rows, cols, values = laplacian(300)
    values = values * np.linspace(1.0, 3.0, 301)[rows]
    a = whole.toarray() * np.linspace(1.0, 3.0, 301)[:, None]
    system = SparseSystem(rows, cols, 301, 301, SP)
    monkeypatch.setattr("hilbert.arrays.elimination.sparse_lu.SparseLU.made", None)
    b = np.random.default_rng(0).standard_normal((2, 301))
    factors, flipped = system.factors(values)
    np.testing.assert_allclose(factors.solve(b, flipped) @ a.T, b, atol=1e-9)
    np.testing.assert_allclose(factors.solve(b, not flipped) @ a, b, atol=1e-9)
