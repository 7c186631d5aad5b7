"""A sum of sparse terms and of terms of low rank stays one, whatever it is composed with, in memory for its entries."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hilbert.all as hb
from diff.solving.low_rank_plan import low_rank_plan
from hilbert.relation import band, function, shift
from linmap.contraction import hadamard
from linmap.matrices.network import network
from linmap.matrices.structure.matrix_shapes import DenseForm, LowRank, SumForm
from linmap.matrices.tables.low_rank_terms import PART
from linmap.net.lower import net
from tests.oracle import matrix as due_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(0)


def sparse_maps(n: int) -> list[Any]:
    """Maps of few entries: a diagonal, differences there and back, bands, shifts, a gather, pairs."""
    X = hb.Fin.of(n)
    V = hb.R**X
    weights = hb.section(hadamard(V), 0, V.random(RNG))
    d = hb.differences(X) if n > 1 else hb.identity(V)
    inside = hb.crop(hb.Fin.of(n + 2), 1, n + 1, to=X)
    places = RNG.integers(0, max(n, 1), n)
    return [
        hb.identity(V),
        weights,
        hb.adjoint(d) @ d,
        hb.red(band(X, 1, 1)),
        hb.red(shift(X, 1)),
        inside @ hb.pad(X, 2, 0),
        hb.gather(function(places, X, X)),
        hb.sparse(places, np.arange(n), RNG.standard_normal(n), X, X),
    ]


def low_rank(n: int, rank: int) -> Any:
    """A map by way of so few values, whose matrices are constants."""
    V, K = hb.R ** hb.Fin.of(n), hb.R ** hb.Fin.of(rank)
    inner, outer = ((hb.R ** (W.index * K.index)).random(RNG) for W in (V, V))
    return hb.fun(V)(lambda v: outer @ (inner.T @ v))


@st.composite
def programs(draw: st.DrawFn) -> tuple[int, Any, Any, int]:
    """A size, a map that is composed of sparse maps and of some of low rank, its sparse part, and the rank beside."""
    n = draw(st.sampled_from([0, 1, 2, 7, 50]))
    some = [(f, due_matrix(f)) for f in sparse_maps(n)]
    f, entries = draw(st.sampled_from(some))
    rank = 0
    for _ in range(draw(st.integers(1, 6))):
        g, more = draw(st.sampled_from(some))
        match draw(st.sampled_from(["after", "before", "plus", "low rank", "low rank"])):
            case "after":
                f, entries = g @ f, more @ entries
            case "before":
                f, entries = f @ g, entries @ more
            case "plus":
                f, entries = f + g, np.abs(entries) + np.abs(more)
            case _:
                r = draw(st.integers(1, 3))
                f, rank = f + hb.derivative(low_rank(n, r)).at((hb.R ** hb.Fin.of(n)).zeros()), rank + r
    return n, f, entries, rank


def parts(form: Any) -> tuple[Any, ...]:
    """The terms of a form."""
    return form.parts if isinstance(form, SumForm) else (form,)


@pytest.mark.parametrize("large", [2**11, 0])
@settings(max_examples=40)
@given(programs())
def test_sparse_and_low_rank(large: int, program: tuple[int, Any, Any, int]) -> None:
    """(S + UV)T and S(T + UV) are sparse and of the rank of UV: so says the form, and entries and factors add up."""
    n, f, entries, rank = program
    before = network.LARGE
    network.LARGE = large
    try:
        form = hb.structure(hb.compose(f, hb.identity(f.dom)))
    finally:
        network.LARGE = before
    due = due_matrix(f)
    assert np.allclose(hb.matrix(f, "array"), due)
    if PART * rank <= n and 6 * np.count_nonzero(entries) <= n * n and n > 7:
        assert not any(isinstance(part, DenseForm) for part in parts(form))
        assert sum(part.rank for part in parts(form) if isinstance(part, LowRank)) <= rank
    plan = low_rank_plan(net(f), np.inf)
    if plan is not None:
        values, *sides = plan.runner.run([])
        total = plan.base.matrix([values]).toarray()
        for k, term in enumerate(plan.terms):
            left, right = (np.reshape(side, (term.rank, -1)) for side in sides[2 * k : 2 * k + 2])
            total[slice(*term.rows), slice(*term.cols)] += left.T @ right
        assert np.allclose(total, due)


def first(u: Any) -> Any:
    """First differences."""
    return u[1:] - u[:-1]


def second(u: Any) -> Any:
    """Second differences, at once."""
    return u[2:] - 2.0 * u[1:-1] + u[:-2]


def walk(n: int, p: Any, u: Any) -> Any:
    """The precision of a random walk with a ridge, applied."""
    d = hb.exp(p) * first(u)
    X = hb.Fin.of(n)
    return d.pad(1, 0, to=X) - d.pad(0, 1, to=X) + u


def energies(n: int) -> dict[str, tuple[Callable[[Any, Any], Any], int, int]]:
    """Functions of a parameter and n unknowns; the diagonals of each Hessian's sparse part, and the rank beside."""
    Z = (hb.R ** (hb.Fin.of(n) * hb.Fin.of(3))).random(np.random.default_rng(0))

    def projected(p: Any, u: Any) -> Any:
        q = walk(n, p, u)
        return 0.5 * (u @ q) - 0.5 * hb.square(Z.T @ q).sum()

    return {
        "first": (lambda p, u: hb.exp(p) * hb.square(first(u)).sum() + hb.square(Z.T @ u).sum(), 3, 3),
        "second": (lambda p, u: hb.exp(p) * hb.square(second(u)).sum() + u @ u + u.sum() * u.sum(), 5, 1),
        "second, by first": (lambda _, u: hb.square(first(first(u))).sum() + hb.square(Z.T @ u).sum(), 5, 3),
        "third": (lambda _, u: hb.exp(first(second(u))).sum() + hb.square(u[1:].sum()) + u @ u, 7, 1),
        "logsumexp": (lambda _, u: hb.log(hb.exp(u).sum()) + hb.square(second(u)).sum(), 5, 1),
        "one observed": (lambda _, u: hb.square(second(u)).sum() + hb.square(u[0]) + hb.sin(u.sum()), 5, 1),
        "ten": (lambda _, u: sum((hb.sin((Z.T @ u)[0] * k) for k in range(10)), hb.square(second(u)).sum()), 5, 10),
        "u Q u - |Zᵀ Q u|²": (projected, 3, 3),
    }


@pytest.mark.parametrize("n", [300, 20_000, 100_000])
@pytest.mark.parametrize("name", energies(9))
def test_hessians(name: str, n: int) -> None:
    """A Hessian is a band and a rank, and is solved by Woodbury's formula; the plan takes memory for its entries."""
    f, diagonals, rank = energies(n)[name]
    V = hb.R ** hb.Fin.of(n)
    d = hb.derivative(hb.grad(hb.fun(hb.R, V)(f), 1), wrt=1)
    tracemalloc.start()
    form: Any = hb.structure(d)
    way = str(hb.cost(hb.solve(d))).splitlines()[-1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    half = diagonals // 2
    entries = diagonals * n - half * (half + 1)
    shown = str(form).removesuffix(", positive")
    at_most = {f"sparse, {entries} of {n}·{n} entries + rank {k}" for k in range(1, rank + 1)}
    assert shown in at_most
    assert "by Woodbury's formula, in a band" in way
    assert peak < 3 * 10**7 + 3000 * n


@pytest.mark.parametrize("n", [7, 50])
@pytest.mark.parametrize("name", energies(9))
def test_hessians_have_their_entries(name: str, n: int) -> None:
    """The matrix is that of the map applied to all basis vectors."""
    V = hb.R ** hb.Fin.of(n)
    d = hb.derivative(hb.grad(hb.fun(hb.R, V)(energies(n)[name][0]), 1), wrt=1)
    A = d.at(hb.R.vec(0.3), V.random(RNG))
    assert np.allclose(hb.matrix(A, "array"), due_matrix(A))


def dense(n: int) -> dict[str, Callable[[Any], Any]]:
    """Functions of n unknowns whose Hessians are full, though no array of the term is."""
    X = hb.Fin.of(n)
    V, sums = hb.R**X, hb.cumsum(X)
    return {
        "sums": lambda u: hb.exp(sums(u)).sum() + hb.square(second(u)).sum(),
        "differences of sums": lambda u: hb.square(second(sums(u))).sum() + u.sum() * u.sum(),
        "pairs": lambda u: hb.each(lambda a: hb.exp(u - a.rep(V)).sum(), u, over=X).sum() + hb.square(second(u)).sum(),
        "outer": lambda u: hb.sin(hb.outer(u, u)).sum() + u @ u,
    }


@pytest.mark.parametrize("n", [20_000, 100_000])
@pytest.mark.parametrize("name", dense(9))
def test_no_list_of_all_pairs(name: str, n: int) -> None:
    """A large full matrix is called dense, planned for GMRES, and refused by other methods, in memory for n."""
    V = hb.R ** hb.Fin.of(n)
    d = hb.derivative(hb.grad(hb.fun(V)(dense(n)[name])))
    tracemalloc.start()
    text, way = str(hb.structure(d)), str(hb.cost(hb.solve(d))).splitlines()[-1]
    with pytest.raises(hb.SpaceError, match="its entries are sums of too many products"):
        hb.cost(hb.solve(d, how="band"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text.startswith(f"dense {n}×{n}")
    assert "GMRES" in way
    assert peak < 3 * 10**7 + 3000 * n


@pytest.mark.parametrize("how", ["band", "blocks", "elimination", "sparse"])
def test_methods_without_low_rank(how: Any) -> None:
    """A method for entries alone is refused where a large matrix has terms of low rank."""
    n = 20_000
    V = hb.R ** hb.Fin.of(n)
    d = hb.derivative(hb.grad(hb.fun(hb.R, V)(energies(n)["first"][0]), 1), wrt=1)
    with pytest.raises(hb.SpaceError, match=f"how='{how}' does not solve this system: it has terms of low rank"):
        hb.cost(hb.solve(d, how=how))
