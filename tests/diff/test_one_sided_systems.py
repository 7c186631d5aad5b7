"""Systems whose entries lie on one side of the diagonal, systems in full whose matrix is planned, what is listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff.solving import low_rank_plan, system_net
from hilbert.arrays.systems.banded import Band
from hilbert.arrays.systems.linear_systems import gmres
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from hilbert.arrays.systems.triangles import Triangle
from linmap.matrices.made.matrix_plans import sparse_plan
from tests.structured_maps import pieces, summed

SCIPY: Any = scipy_of()
RNG = np.random.default_rng


def made(n: int, *names: str, is_squared: bool = False) -> Any:
    """The derivative in x of A(p) x for A = 3 + some pieces, or A²."""
    every = pieces(n, RNG(0))
    return hb.derivative(summed(n, [every[name] for name in names], is_squared=is_squared), wrt=1)


def way(d: Any) -> str:
    return str(hb.cost(hb.solve(d))).splitlines()[-1].rpartition(": ")[2]


@pytest.mark.parametrize("is_upper", [False, True])
@pytest.mark.parametrize("width", [0, 1, 3, 40, 99])
def test_a_triangle_is_solved_by_substitution(width: int, is_upper: bool) -> None:  # noqa: FBT001 - a parameter
    """Solutions, determinants and the inverse at the places of entries, beside the matrix in full."""
    n, rng = 100, RNG(width)
    a = np.tril(np.triu(rng.standard_normal((n, n)), -width)) / (width + 1) + 2.0 * np.eye(n)
    a = a.T if is_upper else a
    rows, cols = np.nonzero(a)
    system, values = SparseSystem(rows, cols, n, n, SCIPY), a[rows, cols]
    assert system.by_band
    assert system.band.is_triangular
    b = rng.standard_normal((3, n))
    np.testing.assert_allclose(system.solved(values, b, "singular"), np.linalg.solve(a, b.T).T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(system.undone(values).solve(b, True) @ a, b, atol=1e-9)  # noqa: FBT003 - see `Factors`
    np.testing.assert_allclose(system.logdet(values), np.linalg.slogdet(a)[1])
    np.testing.assert_allclose(system.near_inverse(values), np.linalg.inv(a)[cols, rows], atol=1e-12)
    values[rows == cols] = np.where(np.arange(n) == 7, 0.0, 2.0)
    assert system.logdet(values) == -np.inf
    with pytest.raises(hb.SpaceError, match="singular"):
        system.solved(values, b, "singular")
    with pytest.raises(np.linalg.LinAlgError):
        system.near_inverse(values)


def test_no_right_side() -> None:
    """LAPACK's substitution would write beside an array of no columns."""
    places = np.arange(5)
    system = Triangle(Band.of(places, places, 5), places, places, SCIPY)
    factors = system.made(np.ones(5))
    for flipped in (False, True):
        assert factors.solve(np.empty((0, 5)), flipped).shape == (0, 5)


def test_a_triangle_without_a_diagonal_entry_is_singular() -> None:
    n = 9
    rows, cols = np.tril_indices(n)
    kept = (rows != 4) | (cols != 4)
    system = SparseSystem(rows[kept], cols[kept], n, n, SCIPY, how="band")
    values = np.ones(kept.sum())
    assert system.logdet(values) == -np.inf
    with pytest.raises(hb.SpaceError, match="singular"):
        system.solved(values, np.ones((1, n)), "singular")
    with pytest.raises(np.linalg.LinAlgError):
        system.near_inverse(values)


def test_half_of_the_entries_are_eliminated_on_one_side_only() -> None:
    """Sums are a triangle, with a diagonal on the other side a band; across both sides the matrix is made in full."""
    assert way(made(300, "sums")) == "in a band of 299 + 1 + 0 diagonals"
    assert way(made(300, "sums", "band")) == "in a band of 299 + 1 + 1 diagonals"
    assert way(made(300, "sums", "order")) == "by its matrix"
    assert way(made(300, "sums", is_squared=True)) == "by its matrix"  # each entry is a sum of many products


@pytest.mark.parametrize(
    ("names", "is_squared"), [(("sums",), False), (("sums", "order"), False), (("sums",), True), (("ring",), True)]
)
def test_what_is_listed_is_predicted(names: tuple[str, ...], *, is_squared: bool) -> None:
    """The prediction is at most three times the largest array that the plan makes, and at least half of that."""
    body = made(100, *names, is_squared=is_squared).body
    largest = max(leaf.size for leaf in sparse_plan(body).runner.line.slots)
    assert largest / 2 <= system_net.tuples(body) <= 3 * largest


def test_entries_of_too_many_products_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where a method is searched for, nor where one is named: that is an error."""
    d = made(1000, "sums", "rank one", is_squared=True)
    assert system_net.tuples(d.body) > system_net.TUPLES
    monkeypatch.setattr("diff.solving.system_plan.system_entries", None)
    monkeypatch.setattr(low_rank_plan, "pattern", None)
    assert way(d) == "by GMRES, or by its matrix"
    x = d.dom.random(RNG(0))
    with pytest.raises(hb.SpaceError, match="its entries are sums of too many products"):
        hb.solve(d, how="band")(x, x, x)
    with pytest.raises(hb.SpaceError, match="it is no sparse matrix plus terms of low rank"):
        hb.solve(d, how="low rank")(x, x, x)


@pytest.mark.parametrize("names", [("dense", "diagonal"), ("dense", "sums", "ring"), ("rank one", "dense")])
def test_a_matrix_in_full_is_planned(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is not run on a basis; the solution is that of numpy, for several right sides, too."""
    d = made(200, *names)
    p, b = d.dom.random(RNG(1)), d.dom.random(RNG(2))
    a = hb.matrix(d.at(p, d.dom.zeros()), "array")
    monkeypatch.setattr("hilbert.program.transform.run_linear_system._Solver._in_full", None)
    solve = hb.solve(d)
    assert way(d) == "by its matrix"
    np.testing.assert_allclose(solve(p, d.dom.zeros(), b).array, np.linalg.solve(a, b.array), rtol=1e-9, atol=1e-10)
    rows = (d.dom ** hb.Fin.of(3)).random(RNG(3))
    found = (hb.linalg.inverse(d.at(p, d.dom.zeros())) ** hb.Fin.of(3))(rows).array
    np.testing.assert_allclose(found, np.linalg.solve(a, rows.array.T).T, rtol=1e-9, atol=1e-10)


def test_a_try_of_gmres_ends_where_it_is_slow() -> None:
    """The residual must fall at half the rate that is needed: otherwise five products are enough."""
    n, products = 200, list[int]()
    rng = RNG(0)
    hard, easy = rng.standard_normal((n, n)), np.eye(n) + np.outer(np.ones(n), rng.standard_normal(n)) / n

    def tried(a: Any) -> tuple[float, int]:
        def apply(x: Any) -> Any:
            products.append(len(x))
            return x @ a.T

        products.clear()
        _, left = gmres(np, apply, rng.standard_normal((2, n)), once=True)
        return left, len(products)

    left, count = tried(hard)
    assert left > 0.0
    assert count == 2 + 5
    left, count = tried(easy)
    assert left == 0.0
