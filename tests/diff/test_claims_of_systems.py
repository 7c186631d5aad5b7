"""Claims of docs/solving.md that are seen by a test of their own: which way is taken, and which digits it keeps."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hilbert.all as library
from diff.solving import inverse_diagonal
from diff.solving.low_rank_plan import low_rank_plan
from hilbert import SpaceError
from hilbert.arrays.elimination import block_inverse, level_sweep
from hilbert.arrays.elimination.level_sweep import Levels
from hilbert.arrays.elimination.sparse_lu import SparseLU
from hilbert.arrays.systems import scipy_modules, sparse_systems
from hilbert.arrays.systems.block_elimination import Elimination
from hilbert.arrays.systems.low_rank_systems import LowRankSystem, SingularBaseError
from hilbert.arrays.systems.normal_equations import NormalEquations
from hilbert.arrays.systems.sparse_systems import SparseSystem

hb: Any = library
SCIPY: Any = scipy_modules.scipy_of()


def plan(f: Any) -> str:
    return str(hb.cost(hb.solve(hb.derivative(f, wrt=1)))).splitlines()[-1].partition("unknowns")[2]


def test_a_sparse_way_that_is_slower_is_not_taken() -> None:
    n = 90
    V = hb.R ** hb.Fin.of(n)
    rng = np.random.default_rng(0)
    places = [(int(i), int(j)) for i, j in zip(*np.nonzero(rng.random((n, n)) < 0.2), strict=False)]
    across = hb.red(hb.relations.pairs(places, V.index, V.index))
    f = hb.fun(V, V)(lambda p, x: p * x + across(x))
    assert plan(f) == ": by its matrix"


def test_woodbury_gives_digits_back() -> None:
    n, rng = 50, np.random.default_rng(0)
    base = SparseSystem(np.arange(n), np.arange(n), n, n, SCIPY)
    s = np.where(np.arange(n) == 0, 1e-7, 1.0)
    u = rng.standard_normal((1, n))
    b = rng.standard_normal((1, n))
    a = np.diag(s) + u.T @ u
    x = LowRankSystem(base, 1).solved((s, u, u), b, "")[0]
    left = np.max(np.abs(a @ x - b[0]))
    assert left < 1e-13


def test_blocks_that_lose_digits_are_not_taken() -> None:
    n = 1000
    rows = np.concatenate([np.arange(n), np.full(n - 1, n - 1), np.arange(n - 1)])
    cols = np.concatenate([np.arange(n), np.arange(n - 1), np.full(n - 1, n - 1)])
    system = SparseSystem(rows, cols, n, n, SCIPY)
    assert "by eliminating" in system.way
    values = np.concatenate([np.full(n, 2.0), np.full(2 * (n - 1), 0.01)])
    values[0], values[n], values[2 * n - 1] = 1e-18, 1.0, 1.0  # a block that is nearly 0: rows are to be exchanged
    b = np.random.default_rng(0).standard_normal((1, n))
    x = system.solved(values, b, "singular")
    np.testing.assert_allclose(system.applied(values, x), b, atol=1e-10)


def test_blocks_are_eliminated_where_little_is_left() -> None:
    k, n = 100, 400  # 100 unknowns that all meet each other, and 300 that meet two of them
    np.arange(k)
    rng = np.random.default_rng(0)
    pairs = {(i, j) for i in range(k) for j in range(k)} | {(i, i) for i in range(n)}
    for i in range(k, n):
        for j in rng.choice(k, 2, replace=False):
            pairs |= {(i, int(j)), (int(j), i)}
    rows, cols = np.array(sorted(pairs)).T
    assert Elimination.of(rows, cols, n, SCIPY) is None


@pytest.mark.filterwarnings("ignore")
def test_what_is_left_is_singular() -> None:
    n = 300
    rows = np.concatenate([np.arange(n), np.full(n - 1, n - 1), np.arange(n - 1)])
    cols = np.concatenate([np.arange(n), np.arange(n - 1), np.full(n - 1, n - 1)])
    of: Any = Elimination.of(rows, cols, n, SCIPY)
    flipped = False
    values = np.ones(len(rows))
    values[n - 1] = n - 1.0
    with pytest.raises(np.linalg.LinAlgError):
        of.made(values).solve(np.ones((1, n)), flipped)


def test_a_column_without_a_pivot_has_determinant_zero() -> None:
    n = 300
    rng = np.random.default_rng(0)
    pairs = np.array(
        sorted({(k, int((7 * k + c) % n)) for k in range(n) for c in (0, 1, 40, 90)} | {(k, k) for k in range(n)})
    )
    rows, cols = pairs.T
    system = SparseSystem(rows, cols, n, n, SCIPY, how="sparse")
    assert system.way == "by sparse LU"
    values = rng.uniform(1.0, 2.0, len(rows))
    values[cols == 5] = 0.0
    assert system.logdet(values) == -np.inf


def test_an_inverse_that_loses_digits_is_solved_for() -> None:
    n = 101
    rng = np.random.default_rng(0)
    a = (
        np.diag(np.where(np.arange(n) % 2, 1e-14, 2.0))
        + np.diag(rng.uniform(1, 2, n - 1), 1)
        + np.diag(rng.uniform(1, 2, n - 1), -1)
    )
    rows, cols = np.nonzero(a)
    system = SparseSystem(rows, cols, n, n, SCIPY)
    assert system.by_band
    np.testing.assert_allclose(system.near_inverse(a[rows, cols]), np.linalg.inv(a)[cols, rows], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("small", [1e-300, 1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("kind", ["tridiagonal", "tridiagonal, scaled", "grid"])
def test_a_small_pivot_costs_the_inverse_no_digits(small: float, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some small diagonal entries of a matrix that is far from singular; those of a band are not solved for."""
    rng, n = np.random.default_rng(0), 300
    rows, cols = grid(*((n,) if "tri" in kind else (15, 20)))
    values = np.where(rows == cols, rng.uniform(4.0, 6.0, len(rows)), rng.uniform(0.5, 1.5, len(rows)))
    values[(rows == cols) & (rows % 47 == 1)] = small
    scale = 10.0 ** rng.uniform(-3, 3, (2, n)) if "scaled" in kind else np.ones((2, n))
    a = np.zeros((n, n))
    a[rows, cols], sides = values, scale[0, rows] * scale[1, cols]
    if "tri" in kind:
        monkeypatch.setattr(sparse_systems, "by_columns", None)
    found = SparseSystem(rows, cols, n, n, SCIPY).near_inverse(values * sides) * sides
    np.testing.assert_allclose(found, np.linalg.inv(a)[cols, rows], rtol=1e-9, atol=1e-10)


def test_the_inverse_is_not_held_in_full() -> None:
    n = 2000
    pairs = np.array(sorted({(k, int((7 * k + c) % n)) for k in range(n) for c in (0, 1)} | {(k, k) for k in range(n)}))
    rows, cols = pairs.T
    system = SparseSystem(rows, cols, n, n, SCIPY, how="sparse")
    assert not system.by_band
    values = np.where(rows == cols, 9.0, 1.0)
    tracemalloc.start()
    system.near_inverse(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 2


def pattern(rng: Any, n: int, count: int, *, alike: bool) -> Any:
    """A regular matrix with some entries, mostly in several parts that never meet."""
    i, j = rng.integers(0, max(n, 1), (2, count if n else 0))
    j = np.where(i // 12 == j // 12, j, i)  # parts of 12 unknowns at most
    a = np.diag(rng.uniform(3.0, 4.0, n) * rng.choice([-1.0, 1.0], n))
    a[i, j] += rng.uniform(0.1, 0.3, len(i))
    a[j, i] += rng.uniform(0.1, 0.3, len(i)) * alike
    some = rng.permutation(n)
    return a[np.ix_(some, some)]


@pytest.mark.parametrize("least", [0, 2, 10**9], ids=["sparse", "some sparse", "full"])
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, 40),
    count=st.integers(0, 80),
    alike=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_a_sweep_finds_the_inverse(least: int, seed: int, n: int, count: int, *, alike: bool, dtype: Any) -> None:
    """Levels in any order of the unknowns give the inverse at the places of a matrix, in its precision."""
    rng = np.random.default_rng(seed)
    a = pattern(rng, n, count, alike=alike)
    rows, cols = np.nonzero(a)
    values = a[rows, cols].astype(dtype)
    tolerance = 1e-10 if dtype == np.float64 else 1e-3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(level_sweep, "SPARSE", least)
        for order in (np.arange(n), rng.permutation(n)):
            found = Levels(rows, cols, n, order).near_inverse(values, SCIPY.sparse)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, np.linalg.inv(a)[cols, rows], atol=tolerance, rtol=tolerance)


def grid(*sizes: int) -> tuple[Any, Any]:
    """The places of neighbours on a grid."""
    at = np.arange(np.prod(sizes)).reshape(sizes)
    some = [(at.ravel(), at.ravel())]
    for k, size in enumerate(sizes):
        low, high = (np.take(at, np.arange(size - 1) + i, k).ravel() for i in (0, 1))
        some += [(low, high), (high, low)]
    rows, cols = (np.concatenate(side) for side in zip(*some, strict=True))
    return rows, cols


@pytest.mark.parametrize(
    ("sizes", "lanes", "how"),
    [((19, 20), 1, None), ((18, 18), 3, None), ((6, 7, 8), 1, None), ((19, 20), 1, "sparse"), ((40, 17), 1, "band")],
)
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_grids_are_not_solved_for(
    sizes: Any, lanes: int, how: Any, monkeypatch: pytest.MonkeyPatch, *, is_symmetric: bool
) -> None:
    """The inverse at the places of grids, in lanes too, needs no solution; nor do many, but by a limit on memory."""
    rng, n = np.random.default_rng(0), int(np.prod(sizes))
    rows, cols = (np.concatenate([side + k * n for k in range(lanes)]) for side in grid(*sizes))
    system = SparseSystem(rows, cols, n * lanes, n, SCIPY, how=how)
    system.apart = None
    a = np.zeros((n * lanes, n * lanes))
    a[rows, cols] = np.where(rows == cols, 6.5, rng.uniform(-1.0, -0.5, len(rows)))
    a = a + a.T if is_symmetric else a
    with monkeypatch.context() as patch:
        patch.setattr(sparse_systems, "by_columns", None)
        found = system.near_inverse(a[rows, cols])
    np.testing.assert_allclose(found, np.linalg.inv(a)[cols, rows], atol=1e-12)
    monkeypatch.setattr(sparse_systems, "FILL", 100)
    monkeypatch.setattr(Levels, "near_inverse", None)
    np.testing.assert_allclose(system.near_inverse(a[rows, cols]), found, atol=1e-12)


def bundle(rng: Any, points: int, seen: int, cameras: int) -> Any:
    """Places of weights that meet a point and a camera each, of points and cameras: two rounds of blocks."""
    point, camera = rng.integers(0, points, seen), rng.integers(0, cameras, seen)
    w, p, c = np.arange(seen), seen + 3 * point, seen + 3 * points + 5 * camera
    n = seen + 3 * points + 5 * cameras
    a = np.eye(n, dtype=bool)
    for k in range(seen):
        some = np.r_[w[k], p[k] + np.arange(3), c[k] + np.arange(5)]
        a[np.ix_(some, some)] = True
    order = rng.permutation(n)
    return a[np.ix_(order, order)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_blocks_are_not_solved_for(monkeypatch: pytest.MonkeyPatch, dtype: Any, *, is_symmetric: bool) -> None:
    """The inverse at the places of blocks, in several rounds, needs no solution, unless one of them is singular."""
    rng = np.random.default_rng(0)
    a = bundle(rng, 60, 200, 6) * rng.uniform(0.1, 0.2, (410, 410))
    a = ((a + a.T if is_symmetric else a) + 20.0 * np.diag(rng.choice([-1.0, 1.0], 410))).astype(dtype)
    rows, cols = np.nonzero(a)
    system = SparseSystem(rows, cols, 410, 410, SCIPY, how="elimination", bordered=False)
    assert system.blocks is not None
    assert len(system.blocks.rounds) == 2
    tolerance = 1e-10 if dtype == np.float64 else 1e-4
    with monkeypatch.context() as patch:
        patch.setattr(sparse_systems, "by_columns", None)
        patch.setattr(Levels, "near_inverse", None)
        patch.setattr(block_inverse, "PAIRS", 1000)
        found = system.near_inverse(a[rows, cols])
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.linalg.inv(a)[cols, rows], rtol=tolerance, atol=tolerance)
    order = system.blocks.order
    a[order[:1], order[:1]] = 0.0
    found = system.near_inverse(a[rows, cols])
    np.testing.assert_allclose(found, np.linalg.inv(a)[cols, rows], rtol=tolerance, atol=tolerance)


def test_singular_levels() -> None:
    """A regular matrix with a singular level is solved for; the derivative at a singular matrix is an error."""
    rows, cols = grid(20, 20)
    system = SparseSystem(rows, cols, 400, 400, SCIPY)
    values = np.where(rows == cols, 4.5, -1.0)
    values[(rows == cols) & (rows == 0)] = values[(rows == cols) & (rows == 399)] = 0.0  # where levels begin
    a = np.zeros((400, 400))
    a[rows, cols] = values
    with pytest.raises(np.linalg.LinAlgError):
        system.levels.near_inverse(values, SCIPY.sparse)
    np.testing.assert_allclose(system.near_inverse(values), np.linalg.inv(a)[cols, rows], atol=1e-12)
    values[(rows == 7) | (cols == 7)] = 0.0
    with pytest.raises(np.linalg.LinAlgError):
        system.near_inverse(values)


def test_small_diagonal_entries_are_exchanged() -> None:
    n, rng = 400, np.random.default_rng(0)
    some = rng.integers(0, n, (1200, 2))
    pairs = {(int(i), int(j)) for i, j in some} | {(int(j), int(i)) for i, j in some} | {(i, i) for i in range(n)}
    rows, cols = np.array(sorted(pairs)).T
    system = SparseSystem(rows, cols, n, n, SCIPY, how="sparse")
    assert not system.by_band
    assert system._lu.alike
    values = rng.uniform(1.0, 2.0, len(rows))
    values[(rows == cols) & (rows % 3 == 0)] = 1e-18
    b = rng.standard_normal((1, n))
    x = system.solved(values, b, "")
    far = np.max(np.abs(system.applied(values, x) - b))
    assert far < 1e-9


def test_ranks_are_a_quarter_at_most() -> None:
    n = 100
    X, K = hb.Fin.of(n), hb.Fin.of(20)
    V = hb.R**X
    rng = np.random.default_rng(0)
    us = [(hb.R ** (K * X)).random(rng) for _ in range(2)]

    def of(some: Any) -> Any:
        return hb.derivative(hb.fun(V, V)(lambda p, x: sum((u.T @ (u @ x) for u in some), p * x)), wrt=1).body

    found: Any = low_rank_plan(of(us[:1]), 1e6)
    assert found.rank == 20
    assert low_rank_plan(of(us), 1e6) is None


def test_the_determinant_lemma_makes_no_matrix() -> None:
    n = 3000
    V = hb.R ** hb.Fin.of(n)
    d = hb.derivative(hb.fun(V)(lambda x: x * x + x.sum().rep(V)))
    f = hb.linalg.logdet(d)
    x = V.vec(np.linspace(1.0, 2.0, n))
    f(x)
    tracemalloc.start()
    f(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n


def test_woodbury_that_is_slower_is_not_taken() -> None:
    n = 100
    X, K = hb.Fin.of(n), hb.Fin.of(25)
    V = hb.R**X
    U = (hb.R ** (K * X)).random(np.random.default_rng(0))
    across = hb.red(hb.relations.pairs([(k, (7 * k + c) % n) for k in range(n) for c in (0, 1, 40, 90)], X, X))
    assert plan(hb.fun(V, V)(lambda p, x: p * x + across(x) + U.T @ (U @ x))) == ": by its matrix"


def test_laplace_has_a_limit_on_rounds() -> None:
    f = hb.fun(hb.R, hb.R)(lambda t, x: hb.exp(x) - t * x)
    with pytest.raises(SpaceError, match="round"):
        hb.laplace(f, hb.R.vec(5.0), at_most=1)(hb.R.vec(2.0))


def test_damping_falls_where_steps_are_good() -> None:
    T = np.linspace(0.0, 3.0, 60)
    V = hb.R ** hb.Fin.of(60)
    t, y = V.vec(T), V.vec(2.0 * np.exp(-0.8 * T))
    f = hb.fun(hb.R, hb.R)(lambda a, k: a * hb.exp(-k * t) - y)
    fit = hb.levenberg_marquardt(f, f.dom.vec((1.0, 1.0)), damping=1e3)
    assert fit.rounds < 40
    assert fit.losses[-1] < 1e-15


@pytest.mark.parametrize(("m", "n"), [(5, 3), (200, 100)], ids=["s26 s28", "s27 s28"])
def test_damping_is_by_the_diagonal(m: int, n: int) -> None:
    rng = np.random.default_rng(0)
    j = np.zeros((m, n))
    i = np.arange(m)
    j[i, i % n] = rng.uniform(1, 100, m)
    j[i, (i + 1) % n] = rng.uniform(1, 2, m)
    r, c = np.nonzero(j)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(r, minlength=m))])
    eq = NormalEquations((m, n), indptr, c)
    w, b, lam = rng.uniform(1, 2, m), rng.standard_normal(m), 0.7
    assert (eq.sparse is None) == (n == 3)
    a = j.T @ (w[:, None] * j)
    np.testing.assert_allclose(
        eq.solved(j[r, c], w, b, lam), np.linalg.solve(a + lam * np.diag(np.diag(a)), j.T @ (w * b)), rtol=1e-9
    )
    e = np.where(c == 1, 0.0, j[r, c])  # an unknown that nothing depends on
    x = eq.solved(e, w, b, lam)
    assert np.isfinite(x).all()
    assert abs(x[1]) < 1e-6


def test_factors_without_room_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hilbert.arrays.systems.sparse_systems.FILL", 500)
    n = 300
    V = hb.R ** hb.Fin.of(n)
    d = hb.derivative(hb.fun(V)(lambda x: 3.0 * hb.exp(x) - x.pad(1, 0).crop(0, n) * 0.123))
    assert "in a band" not in str(hb.cost(hb.solve(d)))


def test_least_squares_lose_few_digits() -> None:
    rng = np.random.default_rng(0)
    q, p = np.linalg.qr(rng.standard_normal((60, 30)))[0], np.linalg.qr(rng.standard_normal((30, 30)))[0]
    m = q @ np.diag(np.logspace(0, -5, 30)) @ p
    X, Y = hb.Fin.of(30), hb.Fin.of(60)
    M = (hb.R ** (Y * X)).vec(m)
    a = hb.derivative(hb.fun(hb.R**X)(lambda x: M @ x)).at((hb.R**X).zeros())
    u = (hb.R**X).random(rng)
    assert np.max(np.abs(hb.linalg.lstsq(a, a(u)).array - u.array)) < 1e-9


def test_rounds_are_counted() -> None:
    f = hb.fun(hb.R)(lambda x: hb.exp(x) - 5.0 + x * x)
    assert hb.levenberg_marquardt(f, hb.R.vec(0.0), at_most=2).rounds == 2


def test_blocks_are_what_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 1000
    rows = np.concatenate([np.arange(n), np.full(n - 1, n - 1), np.arange(n - 1)])
    cols = np.concatenate([np.arange(n), np.arange(n - 1), np.full(n - 1, n - 1)])
    system = SparseSystem(rows, cols, n, n, SCIPY)
    monkeypatch.setattr(SparseLU, "made", None)
    values = np.concatenate([np.full(n, 2.0), np.full(2 * (n - 1), 0.01)])
    b = np.ones((1, n))
    np.testing.assert_allclose(system.applied(values, system.solved(values, b, "")), b)


def test_the_inverse_of_a_band_in_another_order_takes_no_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    n, rng = 300, np.random.default_rng(0)
    some = rng.permutation(n)
    i, j = np.indices((n, n))
    a = ((rng.uniform(1.0, 2.0, (n, n)) + 9.0 * np.eye(n)) * (abs(i - j) <= 2))[np.ix_(some, some)]
    rows, cols = np.nonzero(a)
    system = SparseSystem(rows, cols, n, n, SCIPY)
    assert system.way == "in a band of 2 + 1 + 2 diagonals"
    monkeypatch.setattr("hilbert.arrays.systems.sparse_systems.by_columns", None)
    np.testing.assert_allclose(system.near_inverse(a[rows, cols]), np.linalg.inv(a)[cols, rows], atol=1e-12)


def test_positive_matrices_exchange_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where a diagonal entry is small beside its column; others do."""
    n = 300
    rows, cols = (
        np.r_[np.arange(n), np.arange(1, n), np.zeros(n - 1, int)],
        np.r_[np.arange(n), np.zeros(n - 1, int), np.arange(1, n)],
    )
    values = np.r_[1e9, np.full(n - 1, 1e-4), np.full(2 * n - 2, 1.0)]
    own, exchanged = SCIPY.factors.splu, list[bool]()

    def splu(*args: Any, **options: Any) -> Any:
        found = own(*args, **options)
        exchanged.append(not np.array_equal(found.perm_r, found.perm_c))
        return found

    monkeypatch.setattr(SCIPY.factors, "splu", splu)
    for positive in (True, False):
        system = SparseSystem(rows, cols, n, n, SCIPY, positive=positive, how="sparse", bordered=False)
        system._lu.made(values)
    assert exchanged == [False, True]


def test_a_base_that_is_nearly_singular_is_an_error() -> None:
    """Woodbury's formula loses all digits there: another method is to be taken."""
    n = 50
    base = SparseSystem(np.arange(n), np.arange(n), n, n, SCIPY)
    s = np.where(np.arange(n) < 2, 1e-17, 1.0)
    u = np.random.default_rng(0).standard_normal((2, n))
    with pytest.raises(SingularBaseError):
        LowRankSystem(base, 2).solved((s, u, u), np.ones((1, n)), "singular")


def test_the_diagonal_of_an_inverse_is_by_the_method_that_is_told() -> None:
    n = 100
    d = hb.derivative(hb.fun(hb.R ** hb.Fin.of(n))(lambda x: 3.0 * x - x.pad(1, 0).crop(0, n) + x * x * x))
    for how in ("band", "sparse"):
        found: Any = inverse_diagonal._plan(d.body, how, False)  # noqa: FBT003 - not positive
        assert found.system.method == how


@pytest.mark.parametrize("small", [0.0, 1e-18])
def test_the_determinant_where_the_base_of_low_rank_is_singular(small: float) -> None:
    """log |det A| and its derivatives are those of the matrix in full, also where S has no digits."""
    n, rng = 50, np.random.default_rng(0)
    base = SparseSystem(np.arange(n), np.arange(n), n, n, SCIPY)
    s, u, v = np.where(np.arange(n) < 2, small, 1.0), rng.standard_normal((2, n)), rng.standard_normal((2, n))
    system, undone = LowRankSystem(base, 2), np.linalg.inv(np.diag(s) + u.T @ v)
    assert np.isclose(system.logdet((s, u, v)), np.linalg.slogdet(np.diag(s) + u.T @ v)[1], rtol=1e-9)
    for found, due in zip(system.slopes((s, u, v)), (np.diag(undone), v @ undone, u @ undone.T), strict=True):
        np.testing.assert_allclose(found, due, rtol=1e-7, atol=1e-9)
