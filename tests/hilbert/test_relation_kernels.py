"""The kernels that only larger arrays reach: by the definition, with and without scipy, in both precisions."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff import bilinear
from hilbert import R32, Elements, Field, Fin, R, Relation, Unit
from hilbert.arrays.kernels import segments
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Leaf
from hilbert.relation import Graph, band, columns, function, leq, partial, run, sliding, window
from hilbert.relation.relation import table
from linmap import contraction, red

ROOMS = [((), ()), ((3,), ()), ((), (2,)), ((), (5,)), ((2,), (4,))]
"""The shapes before and after the axis of the relation."""


@pytest.fixture(params=["scipy", "scipy for many", "numpy alone"])
def extra(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With scipy, also for few numbers, with scipy for many, and as if it were not installed."""
    if request.param == "scipy":
        pytest.importorskip("scipy.sparse")
        monkeypatch.setattr(segments, "COUNTED", 0)
    elif request.param == "numpy alone":
        monkeypatch.setattr(segments, "sparse", lambda: None)


def check(relation: Relation[Any, Any], field: Field = R, rooms: Any = ROOMS) -> None:
    """red_R and red_{Rᵀ} against the sum over the pairs, for axes before and after."""
    rng = np.random.default_rng(0)
    for r, (before, after) in product((relation, relation.T), rooms):
        x, y = r.holds()
        a = rng.integers(-9, 10, (*before, r.dom.size, *after)).astype(field.dtype)
        due = np.zeros((*before, r.cod.size, *after), field.dtype)
        front, back = np.moveaxis(due, len(before), 0), np.moveaxis(a, len(before), 0)
        np.add.at(front, y, back[x])
        leaf = Leaf(field.entry, tuple(map(Fin.of, before)) + r.dom.axes + tuple(map(Fin.of, after)))
        given = a.reshape(leaf.shape)
        given.flags.writeable = False
        kernel = NUMPY.reduce(r, len(before), leaf)
        found = kernel.call(given)
        assert found.dtype == due.dtype
        assert np.array_equal(np.reshape(found, due.shape), due), (r, before, after)
        if kernel.into:
            out = np.full(due.shape, 7, field.dtype)
            kernel.into(given, out)
            assert np.array_equal(out, due), (r, before, after)


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize("field", [R, R32], ids=str)
@pytest.mark.parametrize(("n", "m"), [(5000, 40), (5000, 3000), (6000, 6000), (4100, 4)])
@pytest.mark.parametrize("order", ["none", "in order", "gaps"])
def test_functions(n: int, m: int, order: str, field: Field) -> None:
    """Segment sums of any length of segment, in order or not, with segments that are empty; gathers."""
    t = np.random.default_rng(1).integers(0, m, n)
    t = np.sort(t) if order == "in order" else np.sort(t // 2) if order == "gaps" else t
    check(function(t, Fin.of(n), Fin.of(m)), field)


@pytest.mark.parametrize("shape", [(5000,), (2, 5000), (5000, 3)])
def test_sums_of_few_numbers_are_those_of_scipy(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers to the last bit, whichever adds them: both go through a segment from its start."""
    pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    r = function(rng.integers(0, 40, 5000), Fin.of(5000), Fin.of(40))
    a, at = rng.standard_normal(shape), shape.index(5000)
    leaf = Leaf(R.entry, tuple(map(Fin.of, shape)))
    few = NUMPY.reduce(r, at, leaf).call(a)
    monkeypatch.setattr(segments, "_by_code", None)
    with pytest.raises(TypeError):
        NUMPY.reduce(r, at, leaf)
    monkeypatch.setattr(segments, "COUNTED", 0)
    assert np.array_equal(NUMPY.reduce(r, at, leaf).call(a), few)


@given(st.lists(st.integers(0, 9), max_size=12), st.booleans())
def test_profiles(positions: list[int], order: bool) -> None:  # noqa: FBT001 - drawn
    """A table in order, whose neighbours are compared, has the profile that counting gives."""
    found = segments.profile(table(sorted(positions) if order else positions), 10)
    assert found.occupied == len({*positions})
    assert found.injective == (len({*positions}) == len(positions))
    assert found.ordered == (order or positions == sorted(positions))


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize("order", ["none", "in order"])
def test_targets_of_one_table(order: str) -> None:
    """What is prepared of a table for one set of targets is not used for another; ordered segments are long, or not."""
    t = np.random.default_rng(1).integers(0, 40, 5000)
    first = function(np.sort(t) if order == "in order" else t, Fin.of(5000), Fin.of(40))
    for m in (40, 60, 40, 10_000):
        check(Graph(first.dom, Fin.of(m), first.positions), R, [*ROOMS, ((3,), (5,))])


@pytest.mark.usefixtures("extra")
def test_targets_of_one_table_without_repetitions() -> None:
    first = function(np.random.default_rng(1).permutation(90)[:60], Fin.of(60), Fin.of(90))
    for m in (90, 120, 500, 90):
        check(Graph(first.dom, Fin.of(m), first.positions), R, [((), ()), ((3,), (4,)), ((), (16,)), ((2,), (17,))])


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize("field", [R, R32], ids=str)
@pytest.mark.parametrize(("n", "m"), [(60, 90), (60, 241), (60, 240), (60, 60), (1, 3)])
def test_tables_without_repetitions(n: int, m: int, field: Field) -> None:
    """Long rows are taken, or written among zeros where there are few; −0 is 0 among them."""
    relation = function(np.random.default_rng(1).permutation(m)[:n], Fin.of(n), Fin.of(m))
    rooms: list[Any] = [((), (16,)), ((3,), (4, 5)), ((2, 2), (17,)), ((), (15,))]
    check(relation, field, rooms)
    leaf = Leaf(field.entry, (Fin.of(n), Fin.of(16)))
    found = NUMPY.reduce(relation, 0, leaf).call(-np.zeros((n, 16), field.dtype))
    assert n == m or not np.signbit(found).any()


@pytest.mark.usefixtures("extra")
def test_permutations() -> None:
    """A permutation is turned round once."""
    check(function(np.random.default_rng(2).permutation(5000), Fin.of(5000), Fin.of(5000)))


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize("field", [R, R32], ids=str)
def test_pairs(field: Field) -> None:
    """Pairs, in both directions."""
    rng = np.random.default_rng(3)
    check(columns(rng.integers(0, 300, 5000), rng.integers(0, 200, 5000), Fin.of(300), Fin.of(200)), field)


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize("n", [2_500, 6_000, 20_000])
def test_pairs_of_few_in_a_row(n: int) -> None:
    """Some rows of none, no entry of another; what is added is added in the order of the sources, bit for bit."""
    rng = np.random.default_rng(n)
    relation = columns(rng.integers(0, n, 6_000), rng.integers(0, n, 6_000), Fin.of(n), Fin.of(n))
    check(relation)
    x, y = relation.holds()
    order = np.lexsort((x, y))
    v = (R ** Fin.of(n)).vec(rng.standard_normal(n))
    due = np.zeros(n)
    np.add.at(due, y[order], v.array[x[order]])
    assert np.array_equal(red(relation)(v).array, due)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 11, 12, 17, 50, 600])
@pytest.mark.parametrize("stride", [1, 2, 3, 17, 600])
@pytest.mark.parametrize("dilation", [1, 2])
def test_windows(width: int, stride: int, dilation: int) -> None:
    """Windows inside X, those that its ends cut off, and those that do not cover it; side by side, too."""
    X, few = Fin.of(1500), [((), ()), ((2,), ()), ((), (2,))]
    check(window(X, width, stride=stride, dilation=dilation), R, few)
    check(window(X, width, stride=stride, dilation=dilation, offset=-7, to=Fin.of(30)), R, few)
    check(window(X, width, stride=stride, dilation=dilation, offset=3), R32, few)
    check(sliding(X, width, stride=stride, dilation=dilation, offset=2), R, few)


@pytest.mark.parametrize("width", [1, 5, 6, 25, 100])
def test_bands(width: int) -> None:
    """Bands, whose ends are cut off; in every part of a sum and of a product."""
    X = Fin.of(1500)
    check(band(X, width, width))
    check(band(X, 0, width) + leq(Fin.of(10)))
    check(band(Fin.of(40), width, 1) * partial(np.arange(7) % 2 == 0, Fin.of(7)), R, [((), ()), ((2,), (3,))])


def test_large_arrays() -> None:
    """From FRESH on: what is not touched is not written."""
    n = 5_000_000
    X = Fin.of(n)
    v = np.arange(n, dtype=np.float64)
    found = NUMPY.reduce(run(Fin.of(1000), X, 17), 0, Leaf(R.entry, (Fin.of(1000),))).call(v[:1000])
    assert found.sum() == v[:1000].sum()
    assert np.array_equal(found[17:1017], v[:1000])
    pooled = NUMPY.reduce(window(X, 3, stride=2), 0, Leaf(R.entry, (X,))).call(v)
    assert np.array_equal(pooled, v[:-2:2] + v[1:-1:2] + v[2::2])


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("field", [R, R32], ids=str)
def test_found_at_the_point(width: int, field: Field) -> None:
    """Gather and segment sum by 6000 elements, which nothing is known of before."""
    rng = np.random.default_rng(4)
    X, Y = Fin.of(70), Fin.of(6000)
    V: Any = field if width == 1 else field ** Fin.of(width)
    t = rng.integers(0, 70, 6000)
    at = (Elements(X) ** Y).vec(t)
    v, w = ((V**Z).vec(rng.integers(-9, 10, (V**Z).leaves[0].shape).astype(field.dtype)) for Z in (X, Y))
    assert np.array_equal(bilinear(contraction.gather(X, Y, V))(v, at).array, v.array[t])
    due = np.zeros_like(v.array)
    np.add.at(due, t, w.array)
    found = bilinear(contraction.segment_sum(X, Y, V))(w, at).array
    assert found.dtype == field.dtype
    assert np.array_equal(found, due)


def test_a_nan_stays_where_it_belongs() -> None:
    """No sum is a difference of others: a NaN reaches the results that it is summed into, and no others."""
    n = 5000
    X = Fin.of(n)
    table = np.sort(np.random.default_rng(5).integers(0, 700, n))
    relations: list[Relation[Any, Any]] = [
        window(X, 4, stride=4),
        window(X, 3, stride=2),
        band(X, 20, 20),
        function(table, X, Fin.of(700)),
        function(table[::-1], X, Fin.of(700)),
        partial(np.arange(n) % 2 == 0, X),
        function(np.arange(n), X, X + Unit()).T @ function(np.arange(n), X, X + Unit()),
    ]
    for r in relations:
        v = np.ones(n)
        v[[11, 2500]] = np.nan
        found = np.isnan(NUMPY.reduce(r, 0, Leaf(R.entry, (X,))).call(v))
        x, y = r.holds()
        due = np.zeros(r.cod.size, bool)
        due[y[np.isin(x, [11, 2500])]] = True
        assert np.array_equal(found, due), r
