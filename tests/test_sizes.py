"""Sizes beyond memory: spaces and maps are formulas and stay so, arrays are refused before they are made."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hilbert.all as hb
from hilbert.relation import band, full, function, leq, pairs, shift
from linmap.matrices.made.sparse_pattern import laid_out

LONG = hb.Fin.of(2**62)
WIDE = hb.Fin.of(2**40) * hb.Fin.of(2**40)
BEYOND = "than memory has addresses"


@pytest.mark.parametrize("X", [LONG, WIDE])
def test_formulas_have_any_size(X: Any) -> None:
    """Texts, laws, structure and what a cost is made of need no array."""
    V = hb.R**X
    assert str(hb.structure(hb.cumsum(X))).startswith(f"sparse, {X.size * (X.size + 1) // 2} of")
    assert str(hb.structure(hb.identity(V))) == "identity"
    assert str(hb.structure(hb.roll(X, 3))) == "permutation"
    assert str(hb.structure(hb.crop(X, 1, 5))) == f"sparse, 4 of 4·{X.size} entries"
    assert str(hb.structure(hb.gram(hb.cumsum(X)))) == f"dense {X.size}×{X.size}"
    ways = hb.simplify(hb.total(X) @ hb.rep(X))
    assert ways(hb.R.vec(1.0)).array == X.size
    assert hb.simplify(hb.flip(X) @ hb.flip(X)) is not None


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda X: (hb.R**X).zeros(),
    "ones": lambda X: (hb.R**X).ones(),
    "random": lambda X: (hb.R**X).random(np.random.default_rng(0)),
    "repetition": lambda X: hb.rep(X)(hb.R.vec(1.0)),
    "constant": lambda X: hb.grad(hb.fun(hb.R)(lambda x: hb.total(X)(hb.rep(X)(x)))),
    "diagonal": lambda X: hb.diagonal(hb.identity(hb.R**X)),
    "Fourier transform": hb.fft,
    "table by a rule": lambda X: hb.build(lambda _: hb.const(hb.R.vec(1.0)), X),
    "trace": lambda X: hb.trace(hb.cumsum(X)),
    "factors": lambda X: hb.factors(hb.total(X)),
    "sparse matrix": lambda X: hb.matrix(hb.identity(hb.R**X), "sparse"),
    "blocks": lambda X: hb.matrix(hb.identity(hb.R**X), "blocks"),
    "pattern": lambda X: hb.cost(hb.cumsum(X), "sparse"),
    "rows": lambda X: hb.matrix(hb.pad(hb.Fin.of(1), 0, X.size - 1), "sparse"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_beyond_memory_are_refused(name: str) -> None:
    """A SpaceError says how many entries there would be; numpy is not asked."""
    with pytest.raises(hb.SpaceError, match=BEYOND):
        ARRAYS[name](LONG)


LARGE = hb.Fin.of(2**25)  # whose square has addresses, but no machine
VAST = hb.Fin.of(2**50)
HELD: dict[str, tuple[Callable[[], Any], str]] = {
    "zeros": ((hb.R**VAST).zeros, "a space of any size is a formula"),
    "full": (lambda: (hb.R**VAST).full(2.0), "a space of any size is a formula"),
    "random": (lambda: (hb.R**VAST).random(np.random.default_rng(0)), "a space of any size is a formula"),
    "vec": (
        lambda: (hb.R ** (LARGE * LARGE)).vec(np.broadcast_to(np.float32(1.0), (2**25, 2**25))),
        "a space of any size is a formula",
    ),
    "basis": (lambda: next((hb.R**VAST).basis()), "a space of any size is a formula"),
    "table by a rule": (lambda: hb.build(lambda _: hb.const(hb.R.vec(1.0)), VAST), "a space of any size"),
    "matrix": (lambda: hb.matrix(hb.identity(hb.R**LARGE), "array"), 'as_="sparse" has the entries alone'),
    "matrix with a limit": (lambda: hb.matrix(hb.identity(hb.R**LARGE), "array", limit=9), 'as_="sparse" has'),
    "sparse matrix": (lambda: hb.matrix(hb.rep(LARGE) @ hb.total(LARGE), "sparse"), r"d\(v\) of d = derivative"),
    "cost": (lambda: hb.cost(hb.rep(LARGE) @ hb.total(LARGE), "sparse"), r"structure\(f\) counts the entries"),
    "cost of blocks": (lambda: hb.cost(hb.cumsum(LARGE), "blocks"), r"structure\(f\) counts the entries"),
    "dense tensor": (lambda: hb.tensor(hb.identity(hb.R**LARGE), dense=True), "limit=N looks for an order"),
    "Laplacian": (
        lambda: hb.laplacian(hb.fun(hb.R**LARGE)(lambda x: hb.sin(x).sum())),
        r"trace\(derivative\(grad\(f\)\).at\(x\)\)",
    ),
    "Fourier transform": (lambda: hb.fft(hb.Fin.of(2**25 - 39)), "a size with small factors"),
    "picture": (lambda: shift(VAST, 1).picture(), "the same relation on smaller sets"),
    "picture of few columns": (lambda: full(hb.Fin.of(2), VAST).picture(), "the same relation on smaller sets"),
    "degrees": (lambda: leq(VAST).degrees(), "the same relation on smaller sets"),
}


@pytest.mark.parametrize("name", HELD)
def test_arrays_that_memory_does_not_hold(name: str) -> None:
    """A SpaceError, which is a MemoryError too, says how many entries and what to write instead."""
    make, remedy = HELD[name]
    with pytest.raises(
        hb.SpaceError, match=rf"array of \d+ entries \(.* is more than memory holds: .*{remedy}"
    ) as found:
        make()
    assert isinstance(found.value, MemoryError)


def test_what_was_asked_for_is_no_remedy() -> None:
    """A sparse matrix that memory does not hold is not advised where it was taken."""
    with pytest.raises(hb.SpaceError, match=r"holds: diagonal\(d\), trace\(d\)"):
        hb.matrix(hb.rep(LARGE) @ hb.total(LARGE), "sparse")


def test_pairs_that_memory_does_not_hold() -> None:
    """They are counted by formula, and room is asked for before any is listed."""
    f, pairs_ = hb.cumsum(LARGE), 2**24 * (2**25 + 1)
    with pytest.raises(hb.SpaceError, match=rf"an array of {2 * pairs_} entries .* is more than memory holds"):
        hb.matrix(f, "sparse")


def test_a_step_that_memory_does_not_hold() -> None:
    """The line is named where the step was written."""
    f = hb.fun(hb.R)(lambda x: hb.sin(hb.rep(LARGE * LARGE)(x)).sum())
    with pytest.raises(
        hb.SpaceError, match=r"array of 1125899906842624 entries \(33554432×33554432 of float64"
    ) as found:
        f(hb.R.vec(1.0))
    assert any("test_sizes.py:" in note for note in found.value.__notes__)


def test_a_trace_where_the_laplacian_has_no_memory() -> None:
    """What the message says: the trace of the Hessian takes what its structure needs."""
    n = 10**5
    x = (hb.R ** hb.Fin.of(n)).random(np.random.default_rng(0))
    f = hb.fun(x.space)(lambda x: hb.sin(x).sum())
    np.testing.assert_allclose(hb.trace(hb.derivative(hb.grad(f)).at(x)), -np.sin(x.array).sum(), rtol=1e-10)


@pytest.mark.parametrize("entries", [2**60, 2**60 + 1, 2**61])
def test_arrays_of_two_to_the_sixty_entries(entries: int) -> None:
    """Of 2⁶⁰ entries on they are refused: 8 bytes each are more than memory has addresses."""
    with pytest.raises(hb.SpaceError, match=BEYOND):
        (hb.R ** hb.Fin.of(entries)).zeros()


def test_positions_of_64_bits() -> None:
    """An axis has no more elements than that, and neither has a set of which there are elements."""
    for make in (
        lambda: hb.Fin.of(10**30),
        lambda: hb.Fin.of(2**62) + hb.Fin.of(2**62),
        lambda: hb.Elements(WIDE),
    ):
        with pytest.raises(hb.SpaceError, match="more than positions of 64 bits count"):
            make()


def test_pairs_of_huge_sets() -> None:
    """Pairs of positions whose number among all pairs has more than 64 bits."""
    X = hb.Fin.of(2**41)
    relation = pairs([[2**40, 3], [5, 7], [2**40, 3], [5, 6]], X, X)
    assert [side.tolist() for side in relation.holds()] == [[5, 5, 2**40], [6, 7, 3]]


def test_layout_of_huge_shapes() -> None:
    """Entries are ordered by row and column, also where the two together have more than 64 bits."""
    row, col = np.array([1000, 0, 1000, 999]), np.array([2**58, 7, 3, 2**58])
    layout = laid_out(row, col, (1001, 2**59))
    assert layout.indptr[[0, 1, 999, 1000, 1001]].tolist() == [0, 1, 1, 2, 4]
    assert layout.indices.tolist() == [7, 2**58, 3, 2**58]
    rows = np.arange(20)[::-1]
    many = laid_out(rows, np.full(20, 2**59) + rows, (2**10, 2**59 + 20))
    assert many.indptr[:21].tolist() == list(range(21))
    assert many.indices.tolist() == [2**59 + k for k in range(20)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20), st.randoms(use_true_random=False))
def test_layout_of_places(places: list[tuple[int, int]], random: Random) -> None:
    """Places that ascend are laid out as they are; in any other order the layout is the same and has the order."""
    due = sorted({*places})
    ascending = np.array(due, np.int32).reshape(-1, 2)
    plain = laid_out(ascending[:, 0], ascending[:, 1], (6, 6))
    assert (plain.order, plain.starts) == (None, None)
    assert plain.indices.tolist() == [c for _, c in due]
    assert plain.indptr.tolist() == [sum(r < k for r, _ in due) for k in range(7)]
    random.shuffle(places)
    shuffled = np.array(places, np.int64).reshape(-1, 2)
    found = laid_out(shuffled[:, 0], shuffled[:, 1], (6, 6))
    assert found.indices.tolist() == plain.indices.tolist()
    assert found.indptr.tolist() == plain.indptr.tolist()
    order = range(len(places)) if found.order is None else found.order.tolist()
    starts = range(len(places)) if found.starts is None else found.starts.tolist()
    assert [places[order[k]] for k in starts] == due


def test_widths_beyond_the_set() -> None:
    """A band is as wide as its set, and a step of its size leaves nothing, whatever numbers say so: at no cost."""
    X = hb.Fin.of(3)
    v = (hb.R**X).vec([1.0, 2.0, 4.0])
    wide = band(X, 10**30, 1)
    assert wide == band(X, 3, 1)
    assert hb.red(wide)(v).array.tolist() == [3.0, 7.0, 7.0]
    assert hb.red(band(X, -(10**30), 10**31))(v).array.tolist() == [0.0, 0.0, 0.0]
    assert hb.red(band(X, -2, 10**30))(v).array.tolist() == [4.0, 0.0, 0.0]
    for by in (10**30, -(10**30)):
        assert hb.matrix(hb.red(shift(X, by)), as_="sparse").nnz == 0


def test_the_trace_of_what_is_repeated() -> None:
    """Entries that are not stored are not added one by one."""
    assert hb.trace(hb.identity(hb.R ** hb.Fin.of(2**40))) == 2.0**40


@pytest.mark.parametrize(
    "act",
    [
        lambda: hb.matrix(hb.identity(hb.R ** hb.Fin.of(2**30)), as_="array"),
        lambda: next(iter((hb.R ** hb.Fin.of(2**62)).basis())),
        lambda: hb.red(function([0], hb.Fin.of(1), hb.Fin.of(2**40)))((hb.R ** hb.Fin.of(1)).ones()),
    ],
    ids=["matrix", "basis", "table"],
)
def test_arrays_beyond_memory_are_told(act: Callable[[], Any]) -> None:
    """Also where numpy would say so in its own words."""
    with pytest.raises(hb.SpaceError, match=r"more than memory holds|more entries than memory has addresses"):
        act()


def test_degrees_of_more_than_there_are_addresses() -> None:
    """What no memory holds is the library's error, and not one of numpy."""
    with pytest.raises(hb.SpaceError, match="counting degrees takes more entries than memory has addresses"):
        leq(hb.Fin.of(2**61)).degrees()
