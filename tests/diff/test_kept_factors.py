"""Laws of kept factors: one elimination for all that a program asks of a map at a point, and never an old one."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from hilbert.arrays.elimination import kept_factors
from hilbert.arrays.systems import (
    banded,
    linear_systems,
    low_rank_systems,
    scipy_modules,
    sparse_systems,
)
from hilbert.arrays.systems.low_rank_systems import LowRankSystem
from hilbert.arrays.systems.sparse_systems import SparseSystem

hb: Any = library
SCIPY: Any = scipy_modules.scipy_of()
N = 240
V = hb.R ** hb.Fin.of(N)
TABLE = np.random.default_rng(0)
THIN = (hb.R ** (hb.Fin.of(5) * hb.Fin.of(N))).vec(TABLE.standard_normal((5, N)) / 4.0)
FULL = (hb.R ** (hb.Fin.of(N) * hb.Fin.of(N))).vec(TABLE.standard_normal((N, N)) / 8.0)
BLOCK = (hb.R ** (hb.Fin.of(60) * hb.Fin.of(60))).vec(TABLE.standard_normal((60, 60)) / 4.0)
ARROW = [(k, 0) for k in range(1, N)] + [(0, k) for k in range(1, N)]  # one unknown that meets all
SCATTERED = [(k, (37 * k + c) % N) for k in range(N) for c in (5, 11, 40)]


def shifted(x: Any, k: int) -> Any:
    return x[:-k].pad(k, 0, to=V.index)


def met(pairs: list[tuple[int, int]], x: Any) -> Any:
    return hb.red(hb.relations.pairs(pairs, V.index, V.index))(x)


def in_blocks(p: Any, x: Any) -> Any:
    rows = hb.Fin.of(60) * hb.Fin.of(4)
    return (3.0 + p * p) * x + (BLOCK @ (p * x).reshape(rows)).reshape(V.index)


MAPS: dict[str, Any] = {
    "3 diagonals": lambda p, x: (3.0 + p * p) * x + p * shifted(x, 1) - 0.5 * shifted(p * x, 1) + shift_back(x),
    "a band": lambda p, x: (3.0 + p * p) * x + p * shifted(x, 3) - 0.5 * shifted(x, 1) + shift_back(x),
    "blocks": in_blocks,
    "elimination": lambda p, x: (3.0 + p * p) * x + 0.05 * p * met(ARROW, x),
    "sparse": lambda p, x: (4.0 + p * p) * x + p * met(SCATTERED, x),
    "low rank": lambda p, x: (3.0 + p * p) * x + THIN.T @ ((THIN * 0.5) @ (p * x)),
    "full": lambda p, x: (4.0 + p * p) * x + FULL @ (p * x),
}
WAYS = {
    "3 diagonals": "in a band of 1 + 1 + 1",
    "a band": "in a band of 3 + 1 + 1",
    "blocks": "in 4 blocks of 60",
    "elimination": "by eliminating",
    "sparse": "by sparse LU",
    "low rank": "by Woodbury's formula",
    "full": "by its matrix",
}


def shift_back(x: Any) -> Any:
    return 0.3 * x[1:].pad(0, 1, to=V.index)


def parts(name: str) -> tuple[Any, Any, Any]:
    """The derivative, and b·A(p)⁻¹b + log |det A(p)| with its value and gradient."""
    d = hb.derivative(hb.fun(V, V)(MAPS[name]), wrt=1)
    how = {"elimination": "elimination", "sparse": "sparse", "blocks": "blocks"}.get(name)
    solve, logdet, b, zero = hb.solve(d, how=how), hb.linalg.logdet(d, how=how), V.vec(np.cos(np.arange(N))), V.zeros()
    assert WAYS[name] in str(hb.cost(solve)).splitlines()[-1]
    f = hb.fun(V)(lambda p: b @ solve(p, zero, b) + logdet(p, zero))
    return d, f, hb.value_and_grad(f)


def point(seed: int = 0) -> Any:
    return V.vec(np.random.default_rng(seed).uniform(0.5, 1.5, N))


@pytest.fixture(autouse=True)
def kept_from_few_unknowns_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(banded, "MANY", 3)
    monkeypatch.setattr(sparse_systems, "MANY", 100)  # common unknowns are looked for


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The eliminations, by name; those of numpy for matrices of more than 16 unknowns.

    Selected inverses of bands eliminate blocks of at most so many by themselves; those of levels are not taken here.
    """
    found: list[str] = []
    monkeypatch.setattr(sparse_systems, "seconds_by_columns", lambda *_: 0.0)
    own = kept_factors.factors_of

    def counted(names: Any, numbers: Any, make: Any, **options: Any) -> Any:
        def told() -> Any:
            found.append(str(names[0]))
            return make()

        return own(names, numbers, told, **options)

    for module in (banded, sparse_systems, low_rank_systems, linear_systems):
        monkeypatch.setattr(module, "factors_of", counted)
    for name in ("solve", "inv", "slogdet"):
        function = getattr(np.linalg, name)

        def run(a: Any, *args: Any, function: Any = function, name: str = name) -> Any:
            if a.shape[-1] > 16:
                found.append(name)
            return function(a, *args)

        monkeypatch.setattr(np.linalg, name, run)
    return found


@pytest.mark.parametrize("name", MAPS)
def test_one_elimination_for_value_and_gradient(name: str, made: list[str]) -> None:
    _, _, both = parts(name)
    for seed in (1, 2):
        made.clear()
        both(point(seed))
        assert len(made) == 1, made
    made.clear()
    both(point(2))
    assert made == []


@pytest.mark.parametrize("name", MAPS)
def test_values_and_derivatives(name: str) -> None:
    """Beside matrices of numpy and differences of these."""
    d, f, both = parts(name)
    b = np.cos(np.arange(N))

    def expected(p: Any) -> Any:
        a = hb.matrix(d.at(V.vec(p), V.zeros()), "array")
        return b @ np.linalg.solve(a, b) + np.linalg.slogdet(a)[1]

    p, way = point(3).array, np.random.default_rng(4).standard_normal(N)
    value, slope = both(V.vec(p))
    assert np.isclose(value.array, expected(p), rtol=1e-12)
    h = 1e-5
    assert np.isclose(slope.array @ way, (expected(p + h * way) - expected(p - h * way)) / (2 * h), rtol=1e-6)
    ends = [hb.grad(f)(V.vec(p + sign * h * way)).array for sign in (1, -1)]
    second = hb.hvp(f)(V.vec(p), V.vec(way)).array
    np.testing.assert_allclose(second, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", MAPS)
def test_threads_lifts_code_and_pickles(name: str) -> None:
    _, f, both = parts(name)
    points = [point(seed) for seed in range(6)]
    due = [[np.array(a) for a in both(p).leaves] for p in points]
    with ThreadPoolExecutor(4) as pool:
        for found, one in zip(pool.map(both, points * 4), due * 4, strict=True):
            for a, b in zip(found.leaves, one, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)
    many = (V ** hb.Fin.of(6)).vec(np.stack([p.array for p in points]))
    lifted = hb.fun(many.space)(lambda ps: hb.each(f, ps))
    np.testing.assert_allclose(lifted(many).array, [one[0] for one in due], rtol=1e-12)
    slopes = hb.grad(hb.fun(many.space)(lambda ps: lifted(ps).sum()))(many).array
    np.testing.assert_allclose(slopes, [one[1] for one in due], rtol=1e-10, atol=1e-13)
    for other in (hb.compiled(both), pickle.loads(pickle.dumps(both))):
        for p, one in zip(points, due, strict=True):
            for a, b in zip(other(p).leaves, one, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_numbers_that_change_in_place() -> None:
    """Neither entries nor rows that were changed since give old factors."""
    rng, n = np.random.default_rng(0), 200
    for reach in (0, 1, 2, 70):
        rows, cols = np.nonzero(np.isin(np.subtract.outer(np.arange(n), np.arange(n)), (-reach, 0, reach)))
        system, values = SparseSystem(rows, cols, n, n, SCIPY), rng.uniform(1.0, 2.0, len(rows))
        values[rows == cols] += 5.0
        rank = LowRankSystem(system, 3)
        u, v, b = rng.standard_normal((3, n)), rng.standard_normal((3, n)), rng.standard_normal((2, n))
        for changed in (values, values, u, v, u):
            changed[..., 3] *= 1.5
            a = np.zeros((n, n))
            a[rows, cols] = values
            np.testing.assert_allclose(system.solved(values, b, ""), np.linalg.solve(a, b.T).T, rtol=1e-9)
            assert np.isclose(system.logdet(values), np.linalg.slogdet(a)[1])
            whole = a + u.T @ v
            np.testing.assert_allclose(rank.solved((values, u, v), b, ""), np.linalg.solve(whole, b.T).T, rtol=1e-7)
            np.testing.assert_allclose(rank.inverse((values, u, v)), np.linalg.inv(whole), rtol=1e-7, atol=1e-10)
            assert np.isclose(rank.logdet((values, u, v)), np.linalg.slogdet(whole)[1])
    a, b = 9.0 * np.eye(100) + rng.standard_normal((100, 100)), rng.standard_normal((100, 1))
    for k in range(3):
        a[k] *= 2.0
        np.testing.assert_allclose(linear_systems.solution(np, a, b), np.linalg.solve(a, b), rtol=1e-10)
        np.testing.assert_allclose(linear_systems.solution(np, a.T, b), np.linalg.solve(a.T, b), rtol=1e-10)


def test_first_numbers_in_other_arrays() -> None:
    """Factors that are kept hold no array of the caller's: it may change, and others may have its first numbers."""
    rng, n = np.random.default_rng(0), 300
    for reach in (0, 1, 2, 70):
        rows, cols = np.nonzero(np.isin(np.subtract.outer(np.arange(n), np.arange(n)), (-reach, 0, reach)))
        values = rng.uniform(1.0, 2.0, len(rows)) + 5.0 * (rows == cols)
        u, v, b = rng.standard_normal((3, n)), rng.standard_normal((3, n)), rng.standard_normal((2, n))
        system = SparseSystem(rows, cols, n, n, SCIPY)
        a = np.zeros((n, n))
        a[rows, cols] = values
        first, rank = [values.copy(), u.copy(), v.copy()], LowRankSystem(system, 3)
        rank.solved((values, u, v), b, "")
        system.solved(values, b, "")
        for changed in (values, u, v):
            changed[...] = 3.0 * changed
        np.testing.assert_allclose(system.solved(first[0], b, ""), np.linalg.solve(a, b.T).T, rtol=1e-9)
        whole = np.linalg.inv(a + first[1].T @ first[2])
        np.testing.assert_allclose(rank.inverse(tuple(first)), whole, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(rank.solved(tuple(first), b, ""), b @ whole.T, rtol=1e-7, atol=1e-10)


def test_a_transpose_has_the_factors_of_its_matrix(made: list[str]) -> None:
    rng, n = np.random.default_rng(0), 150
    for reach in (1, 3, 40):
        rows, cols = np.nonzero(np.isin(np.subtract.outer(np.arange(n), np.arange(n)), (-1, 0, reach)))
        values = rng.uniform(1.0, 2.0, len(rows)) + 5.0 * (rows == cols)
        a, b = np.zeros((n, n)), rng.standard_normal((2, n))
        a[rows, cols] = values
        made.clear()
        u, v = rng.standard_normal((2, 2, n))
        systems = [SparseSystem(*some, n, n, SCIPY) for some in ((rows, cols), (cols, rows))]
        x, y = (system.solved(values, b, "") for system in systems)
        assert len(made) == 1
        z, w = (LowRankSystem(system, 2) for system in systems)
        one, other = z.solved((values, u, v), b, ""), w.solved((values, v, u), b, "")
        assert len(made) == 2
        near = [system.slopes((values, *some)) for system, some in ((z, (u, v)), (w, (v, u)))]
        assert len(made) == 2
        made.clear()
        np.testing.assert_allclose(x @ a.T, b, atol=1e-10)
        np.testing.assert_allclose(y @ a, b, atol=1e-10)
        whole = a + u.T @ v
        np.testing.assert_allclose(one @ whole.T, b, atol=1e-9)
        np.testing.assert_allclose(other @ whole, b, atol=1e-9)
        undone = np.linalg.inv(whole)
        for (at, left, right), m, (i, j), (p, q) in (
            (near[0], undone, (rows, cols), (u, v)),
            (near[1], undone.T, (cols, rows), (v, u)),
        ):
            np.testing.assert_allclose(at, m[j, i], rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(left, q @ m, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(right, p @ m.T, rtol=1e-8, atol=1e-10)


def test_few_factors_are_kept() -> None:
    n, rng = 150, np.random.default_rng(0)
    for _ in range(20):
        linear_systems.logdet(np, rng.standard_normal((n, n)))
    kept = kept_factors._KEPT
    assert len(kept) <= kept_factors.COUNT
    linear_systems.logdet(np, rng.standard_normal((n, n)))
    assert sum(entry[-1] for entry in kept_factors._KEPT) <= kept_factors.KEEP


def test_the_room_for_factors_holds_numbers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of numbers count as entries of factors do; what is too large alone is not kept, nor what is older."""
    monkeypatch.setattr(kept_factors, "KEEP", 100)
    monkeypatch.setattr(kept_factors, "_KEPT", ())
    told = list[str]()

    def asked(name: str, count: int) -> None:
        def make() -> kept_factors.Factors:
            told.append(name)
            return kept_factors.Factors(lambda b, _: b, lambda: 0.0, 1)

        kept_factors.factors_of((name, name), lambda _: (np.zeros(count),), make)

    for name, count in (("large", 100), ("large", 100), ("one", 60), ("one", 60), ("two", 60), ("one", 60)):
        asked(name, count)
    assert told == ["large", "large", "one", "two", "one"]
