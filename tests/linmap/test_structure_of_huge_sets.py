"""Structure looks at no datum and lists no pair where relations lie on diagonals: by formula, at any size."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hilbert.all as hb
from hilbert import Fin, R
from hilbert.relation import band, equality, leq, rotation, run, shift, window
from linmap.matrices.network import network
from linmap.matrices.structure.matrix_shapes import DenseForm, SparseForm
from linmap.matrices.tables.banded_relations import composed, diagonals, met, volume

if TYPE_CHECKING:
    from hilbert.relation.relation import AnyRelation


def maps(n: int) -> dict[str, Any]:
    """Maps and derivatives whose patterns are few diagonals of n elements."""
    X = Fin.of(n)
    V = R**X
    d, b, s = hb.differences(X), hb.red(band(X, 1, 2)), hb.red(shift(X, 1))
    minus = hb.adjoint(s)
    laplacian = s + minus - 2 * hb.identity(V)
    padded = hb.pad(X, 2, 3)
    return {
        "differences": d,
        "gram of differences": hb.gram(d),
        "shift back": s @ minus,
        "band after shift": b @ s,
        "sum": hb.identity(V) + s,
        "biharmonic": laplacian @ laplacian,
        "crop of a pad": hb.crop(padded.cod.index, 1, n) @ padded,
        "two pads": padded + hb.pad(X, 3, 2),
        "band with gaps": hb.red(window(X, 3, offset=-2, dilation=2, to=X)) @ b,
        "around": hb.roll(X, 3) @ b,
        "function": hb.derivative(hb.fun(V)(lambda x: minus(hb.tanh(s(x))) * x + hb.adjoint(d)(hb.exp(d(x))))),
        "Hessian": hb.derivative(hb.grad(hb.fun(V)(lambda x: hb.sin(d(x)).sum() + hb.exp(s(x) * x).sum()))),
    }


HUGE = 10**12


@pytest.mark.parametrize("name", maps(9))
def test_no_memory_of_the_size_of_the_set(name: str) -> None:
    """At 10¹² elements a megabyte; as many entries as the counts of two small sets, which differ by the same, say."""
    hb.structure(maps(9)[name])
    counts = [np.count_nonzero(pattern(maps(n)[name])) for n in (40, 41)]
    f = maps(HUGE)[name]
    tracemalloc.start()
    found = str(hb.structure(f))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    due = counts[0] + (HUGE - 40) * (counts[1] - counts[0])
    assert f" {due} of " in found
    assert "at most" not in found
    assert peak < 10**6


def pattern(f: Any) -> Any:
    """Where the matrix of a map, or of a derivative at a point, is not 0; data are drawn so that nothing cancels."""
    at = f if isinstance(f, hb.LinMap) else f.at(f.dom.vec(np.random.default_rng(0).uniform(1, 2, f.dom.dim)))
    return hb.matrix(at, "array") != 0


def relations(n: int) -> list[AnyRelation]:
    """Relations of n elements that lie on diagonals."""
    X = Fin.of(n)
    return [
        equality(X),
        shift(X, 1),
        shift(X, -2),
        band(X, 1, 1),
        rotation(X, 2),
        window(X, 3, offset=-1, dilation=2, to=X),
        run(X, Fin.of(n + 2), 1).T @ run(X, Fin.of(n + 2), 2),
        shift(X, 1) @ shift(X, -1),
    ]


def boolean(f: Any) -> Any:
    """The matrix of a map in truth values."""
    return hb.matrix(f, "array") != 0


@st.composite
def programs(draw: st.DrawFn) -> tuple[Any, Any]:
    """A map of sums and products of such relations, some of them beside another axis, with its Boolean matrix."""
    n = draw(st.integers(1, 7))
    Y = Fin.of(draw(st.sampled_from([1, 3])))
    flat = draw(st.booleans())
    some = [hb.red(r if flat else r * equality(Y)) for r in relations(n)]
    some += [] if flat else [hb.red(equality(Fin.of(n)) * r) for r in (shift(Y, 1), band(Y, 1, 1))]
    f = draw(st.sampled_from(some))
    found = boolean(f)
    for _ in range(draw(st.integers(1, 8))):
        g = draw(st.sampled_from(some))
        if draw(st.booleans()):
            f, found = g @ f, boolean(g).astype(int) @ found > 0
        else:
            f, found = f + g, found | boolean(g)
    return f, found


@settings(max_examples=150)
@given(programs())
def test_counts_are_those_of_boolean_matrices(program: tuple[Any, Any]) -> None:
    """Also where the diagonals are united on the way: what is counted is the pattern, and never fewer."""
    f, due = program
    before = network.LARGE
    network.LARGE = 0
    try:
        form = hb.structure(hb.compose(f, hb.identity(f.dom)))
    finally:
        network.LARGE = before
    entries = np.count_nonzero(due)
    text = str(form)
    if isinstance(form, SparseForm):
        assert form.entries == entries if form.exact else form.entries >= entries
    elif isinstance(form, DenseForm):
        assert entries == due.size
    elif text in {"zero", "identity", "scaled", "permutation", "diagonal"}:
        assert entries == (0 if text == "zero" else len(due))


def held(relation: AnyRelation) -> set[tuple[int, int]]:
    """The pairs, as a set."""
    x, y = relation.holds()
    return set(zip(x.tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_runs_are_the_pairs(n: int) -> None:
    """The runs of a form, of its transpose, of sums, compositions and intersections have the pairs of these."""
    some = relations(n) if n else [equality(Fin.of(0))]
    for one in some:
        a = diagonals(one)
        assert a is not None
        assert (held(a), a.size) == (held(one), one.size)
        assert held(a.T) == held(one.T)
        assert (a.is_function, a.is_partial_function) == (one.is_function, one.is_partial_function)
        for other in some:
            b = diagonals(other)
            assert b is not None
            assert held(composed(b, a)) == {(x, z) for x, y in held(a) for w, z in held(b) if w == y}
            assert held(met(a, b)) == held(a) & held(b)
            both: Any = diagonals(one + other)
            assert held(both) == held(one + other)
    assert diagonals(leq(Fin.of(3))) is None


@given(st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=2), max_size=6))
def test_volume_counts_each_point_once(boxes: list[list[tuple[int, int]]]) -> None:
    """The union of boxes by a grid."""
    grid = np.zeros((6, 6), bool)
    for (a, b), (c, d) in boxes:
        grid[a:b, c:d] = True
    assert volume([tuple(box) for box in boxes if all(a < b for a, b in box)]) == np.count_nonzero(grid)


@pytest.mark.parametrize("n", range(5))
def test_the_size_of_a_band(n: int) -> None:
    """By formula, of windows that lie apart from the set in part, or altogether; of any width."""
    for m in range(5):
        for width in range(7):
            for offset in range(-7, 7):
                relation = window(Fin.of(n), width, offset=offset, to=Fin.of(m)) if width else shift(Fin.of(n), n)
                assert relation.size == len(relation.holds()[0])
    wide = band(Fin.of(HUGE), HUGE // 10, HUGE // 10)
    tail = HUGE - HUGE // 10
    assert wide.size == HUGE * HUGE - tail * (tail - 1)
