"""Tuples of labels as columns of integers: what agrees, and what is distinct, beside Python's sets and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff import Expr, derivative, fun
from hilbert import Fin, R
from hilbert.index.leaf import Entry
from hilbert.relation import equality, less
from linmap import diagonal, gram, matrix, red
from linmap.matrices.labelled.columns import Columns, TooManyRowsError
from linmap.matrices.labelled.distinct_tuples import distinct, on_diagonals, union_count
from linmap.matrices.labelled.labelled_arrays import LabelledArrays
from linmap.matrices.labelled.matches import Matches
from linmap.matrices.made import diagonal_entries as diagonals
from linmap.matrices.made.matrix_plans import data_of, plan_at
from linmap.matrices.structure.structure import body_of
from linmap.matrices.tables.constant_tables import summed_product
from tests.relation_forms import ALL
from tests.strategies import Source, sources

LABELS = (0, 1, 2, 3)
SIZES = {"small": [4, 3, 2, 5], "huge": [2**31, 3, 2**31, 5]}


def columns(rows: list[tuple[int, ...]], labels: tuple[int, ...]) -> Columns:
    """Tuples of all labels as columns of some of them."""
    made = np.array(rows, np.int64).reshape(-1, len(LABELS))
    return {c: made[:, c] % 5 for c in labels}


ROWS = st.lists(st.tuples(*[st.integers(0, size - 1) for size in (4, 3, 2, 5)]), max_size=30)
MIXED = np.random.default_rng(0).integers(0, [4, 3, 2, 5], (100, 4))
"""Too many to be few ordered runs: they are counted."""


@pytest.mark.parametrize("many", [0, 19, 100])
@pytest.mark.parametrize("sizes", SIZES)
@given(first=ROWS, second=ROWS)
def test_distinct_tuples(many: int, sizes: str, first: list[tuple[int, ...]], second: list[tuple[int, ...]]) -> None:
    """distinct gives the sorted set of all tuples, the place of each in it, and the sum of values of equal ones."""
    labels = (2, 0, 3)
    first = first + list(map(tuple, MIXED[:many].tolist()))
    every = [(r[2], r[0], r[3]) for r in first + second]
    due = sorted(set(every))
    found = distinct(labels, [columns(first, labels), columns(second, labels)], SIZES[sizes])
    assert list(zip(*(c.tolist() for c in found.columns), strict=True)) == due
    assert (found.given, found.count, found.repeats) == (len(every), len(due), len(due) < len(every))
    ordered = every if found.order is None else [every[k] for k in found.order]
    assert [due[k] for k in found.places] == ordered
    values = np.arange(len(every)) + 1.0
    sums = dict.fromkeys(due, 0.0)
    for t, value in zip(every, values.tolist(), strict=True):
        sums[t] += value
    assert found.summed(values).tolist() == list(sums.values())


def test_distinct_tuples_of_many_are_counted() -> None:
    """No sort of numbers of which there are more than could differ, unless they are few ordered runs."""
    labels, sizes = (0, 1, 2, 3), [4, 3, 2, 5]
    mixed = {c: MIXED[:, c] for c in labels}
    assert distinct(labels, [mixed], sizes).ranks is not None
    whole = distinct(labels, [mixed], sizes)
    assert union_count(labels, [mixed], sizes) == whole.count
    one, other = ({c: column[k::2][: len(column) // 3] for c, column in mixed.items()} for k in (0, 1))
    assert union_count(labels, [one, other], sizes) == distinct(labels, [one, other], sizes).count
    once = dict(zip(labels, whole.columns, strict=True))
    assert distinct(labels, [once, once], sizes).ranks is None
    shuffled = {c: column[np.random.default_rng(1).permutation(whole.count)] for c, column in once.items()}
    assert not distinct(labels, [shuffled], sizes).repeats


@given(
    groups=st.lists(
        st.one_of(
            st.tuples(st.integers(0, 9), st.integers(1, 3), st.integers(0, 8), st.integers(0, 9)),
            st.lists(st.tuples(st.integers(0, 19), st.integers(0, 3)), max_size=8),
        ),
        max_size=6,
    )
)
def test_tuples_on_diagonals(groups: list[Any]) -> None:
    """Evenly spaced rows, and any others with repetitions, give what sets give; rows may have two labels."""
    given_ = [
        [(start + step * k, start + step * k + shift) for k in range(many) if start + step * k < 20]
        for start, step, many, shift in (g for g in groups if isinstance(g, tuple))
    ]
    given_ += [[(row, abs(row - shift)) for row, shift in g] for g in groups if isinstance(g, list)]
    every = [t for g in given_ for t in g]
    tables = [np.array(g, np.int64).reshape(-1, 2) for g in given_]
    found = on_diagonals((0, 1), [{0: t[:, 0], 1: t[:, 1]} for t in tables], [20, 30])
    due = sorted(set(every))
    diagonals = {column - row for row, column in every}
    if 20 * len(diagonals) > 8 * len(every):  # cells
        assert found is None
        return
    assert found is not None or not every
    if found is None:
        return
    assert list(zip(*(c.tolist() for c in found.columns), strict=True)) == due
    assert [due[k] for k in found.places] == every
    assert (found.given, found.order) == (len(every), None)
    wide = on_diagonals((2, 0, 1), [{2: t[:, 0] // 5, 0: t[:, 0] % 5, 1: t[:, 1]} for t in tables], [5, 30, 4])
    assert wide is not None
    assert list(zip(*(c.tolist() for c in wide.columns), strict=True)) == [(r // 5, r % 5, c) for r, c in due]
    assert wide.places.tolist() == found.places.tolist()


def test_tuples_on_many_diagonals_are_sorted() -> None:
    """Few diagonals are marked from some thousand tuples on; many are no array, nor where a look at some misses one."""
    n = 3000
    row = np.arange(n)
    near, far = {0: row, 1: np.minimum(row + 1, n - 1)}, {0: row, 1: (row * 7) % n}
    assert distinct((0, 1), [near, near], [n, n]).ranks is not None
    assert distinct((0, 1), [{c: x[:9] for c, x in near.items()}] * 2, [n, n]).ranks is None
    assert on_diagonals((0, 1), [near, far], [n, n]) is None
    hidden = {0: row, 1: row.copy()}
    hidden[1][1:40] = n - row[1:40]  # 39 diagonals between those that are looked at
    assert on_diagonals((0, 1), [hidden], [n, n]) is None
    both = on_diagonals((0, 1), [near, hidden | {1: np.where(row == 1, n - 1, row)}], [n, n])
    assert both is not None
    assert both.count == len({*zip(row.tolist(), near[1].tolist(), strict=True)} | {(1, n - 1)}) + n - 2


@given(ROWS, st.sets(st.sampled_from((1, 2)), min_size=1))
def test_aligned_tuples(rows: list[tuple[int, ...]], shared: set[int]) -> None:
    """Sides with the same columns, each tuple once, are paired in place: as they are where nobody says so."""
    left = columns(sorted({tuple(x if c in shared else 0 for c, x in enumerate(r)) for r in rows}), (0, *shared))
    right = {**{c: left[c] for c in shared}, 3: np.arange(len(left[0]))}
    aligned, plain = (Matches(left, right, SIZES["small"], once=once) for once in (True, False))
    assert aligned.aligned
    assert not plain.aligned
    assert not Matches(left, {c: x.copy() for c, x in right.items()}, SIZES["small"], once=True).aligned
    assert aligned.total == plain.total == len(left[0])
    labels = (0, *shared, 3)
    for c in labels:
        assert aligned.columns(labels)[c].tolist() == plain.columns(labels)[c].tolist()
    assert [c.tolist() for c in aligned.distinct(labels).columns] == [
        c.tolist() for c in plain.distinct(labels).columns
    ]


@pytest.mark.parametrize("form", ALL)
@given(sources())
def test_pairs_of_a_relation_are_listed_once(form: str, s: Source) -> None:
    """The columns are the pairs, axis by axis, and a side ascends if its positions do; lists of one set are one."""
    n, r = LabelledArrays([], Entry("float64")), ALL[form](s)
    sides = [list(X.shape) for X in (r.dom, r.cod)]
    found = n.pairs_of(r, *sides)
    assert n.pairs_of(r, *sides) is found
    held = [np.asarray(side) for side in r.holds()]
    due = [x for flat, shape in zip(held, sides, strict=True) for x in (np.unravel_index(flat, shape) if shape else ())]
    assert [c.tolist() for c in found.columns] == [c.tolist() for c in due]
    assert found.once == tuple(bool((np.diff(flat) > 0).all()) for flat in held)
    again = n.pairs_of(equality(r.dom), sides[0], sides[0])
    k = len(sides[0])
    assert all(a is b for a, b in zip(again.columns[:k], again.columns[k:], strict=True))
    if found.once[0] and len(held[0]) == r.dom.size:
        assert all(a is b for a, b in zip(again.columns[:k], found.columns[:k], strict=True))
    n.fix()
    assert n.pairs_of(r, *sides) is not found


@pytest.mark.parametrize("sizes", SIZES)
@given(left=ROWS, right=ROWS, needed=st.sets(st.sampled_from(LABELS), min_size=1))
def test_joined_tuples(sizes: str, left: list[tuple[int, ...]], right: list[tuple[int, ...]], needed: set[int]) -> None:
    """Each pair of tuples that agree on the labels that both have, in the order of the left ones."""
    found = Matches(columns(left, (0, 1, 2)), columns(right, (1, 2, 3)), SIZES[sizes])
    pairs = [(a, b) for a, r in enumerate(left) for b, q in enumerate(right) if (r[1], r[2]) == (q[1], q[2])]
    here, there = found.on_left(np.arange(len(left))).tolist(), found.on_right(np.arange(len(right))).tolist()
    assert found.total == len(pairs)
    assert sorted(zip(here, there, strict=True)) == pairs
    assert here == [a for a, _ in pairs]
    made = found.columns(needed)
    assert set(made) == needed
    for c in needed:
        assert made[c].tolist() == [(left[a] if c < 3 else right[b])[c] for a, b in zip(here, there, strict=True)]
    labels = sorted(needed)
    every = [tuple((left[a] if c < 3 else right[b])[c] for c in labels) for a, b in zip(here, there, strict=True)]
    distinct_ = found.distinct(labels)
    due = sorted(set(every))
    assert list(zip(*(c.tolist() for c in distinct_.columns), strict=True)) == due
    ordered = every if distinct_.order is None else [every[k] for k in distinct_.order]
    assert [due[k] for k in distinct_.places] == ordered


def test_many_joined_tuples_are_counted_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of a few pairs give the distinct tuples that one slice gives."""
    left, right = columns(list(map(tuple, MIXED[:50])), (0, 1)), columns(list(map(tuple, MIXED[50:])), (1, 2))
    whole = Matches(left, right, SIZES["small"]).distinct((0, 2))
    monkeypatch.setattr("linmap.matrices.labelled.matches.SLICE", 7)
    found = Matches(left, right, SIZES["small"])
    assert len(list(found._slices())) == 50  # each tuple on the left has many partners
    sliced = found.distinct((0, 2))
    assert sliced.ranks is not None
    assert [c.tolist() for c in sliced.columns] == [c.tolist() for c in whole.columns]
    values = np.arange(found.total) + 1.0
    assert sliced.summed(values).tolist() == whole.summed(values).tolist()
    assert found.on_right(MIXED[50:, 2]).tolist() == Matches(left, right, SIZES["small"]).columns((2,))[2].tolist()


@given(left=ROWS, right=ROWS, kept=st.permutations((0, 2, 3)), signs=st.lists(st.sampled_from((-1.0, 0.0, 1.0))))
def test_products_of_tables(
    left: list[tuple[int, ...]], right: list[tuple[int, ...]], kept: tuple[int, ...], signs: list[float]
) -> None:
    """Σ over label 1 of the products of numbers, 2 being kept on both sides; where they cancel, the tuple stays."""
    first, second = (
        sorted({tuple(r[c] for c in labels) for r in rows}) for rows, labels in ((left, (0, 1, 2)), (right, (1, 2, 3)))
    )
    a, b = (np.resize(np.array([*signs, 1.0]), len(rows)) for rows in (first, second))
    due: dict[tuple[int, ...], float] = {}
    for r, x in zip(first, a.tolist(), strict=True):
        for q, y in zip(second, b.tolist(), strict=True):
            if r[1:] == q[:2]:
                named = {0: r[0], 2: r[2], 3: q[2]}
                key = tuple(named[c] for c in kept)
                due[key] = due.get(key, 0.0) + x * y
    sides = [
        ({c: np.array([r[k] for r in rows], np.int64) for k, c in enumerate(labels)}, values)
        for rows, labels, values in ((first, (0, 1, 2), a), (second, (1, 2, 3), b))
    ]
    found = summed_product(sides[0], sides[1], kept, SIZES["small"], None)
    if found is None:  # few tuples, where matrices would be larger
        assert 8 * (len(first) + len(second)) < 30
        return
    made = dict(zip(zip(*(found[0][c].tolist() for c in kept), strict=True), found[1].tolist(), strict=True))
    assert len(made) == len(found[1])
    assert made == due
    pairs = sum(r[1:] == q[:2] for r in first for q in second)
    if pairs:
        with pytest.raises(TooManyRowsError):
            summed_product(sides[0], sides[1], kept, SIZES["small"], pairs - 1)


@pytest.mark.parametrize("n", [8, 24])
def test_full_tables_are_contracted(n: int) -> None:
    """A table that fills a third of an array does not repeat a wide factor for each of its tuples."""
    X, Z = Fin.of(n), Fin.of(4 * n)

    def f(x: Expr[Any]) -> Expr[Any]:
        b = x.concatenate(x)
        c = b.concatenate(b).reshape(Z)
        return red(less(Z))(red(less(Z))(c) + c)

    J = derivative(fun(R**X)(f)).at((R**X).ones())
    plan = plan_at(body_of(gram(J), "diagonal"), diagonals._plan, data_of(gram(J), "diagonal"))
    assert max(leaf.size for leaf in plan.runner.line.slots) <= (4 * n) ** 2
    due = matrix(J, as_="array")
    assert np.allclose(diagonal(gram(J)).array, (due * due).sum(0), rtol=1e-12)


@pytest.mark.parametrize("numbers", [(1e-200, 1e-200), (1.0, -1.0), (2.0, 3.0)])
def test_a_tuple_stays_whose_number_underflows(numbers: tuple[float, float]) -> None:
    """What is left out of a product of sparse matrices is put back, but where no number can be 0."""
    at = np.zeros(1, np.int64)
    x, y = (np.array([number]) for number in numbers)
    found = summed_product(({0: at, 1: at}, x), ({1: at, 2: at}, y), (0, 2), SIZES["small"], None)
    assert found is not None
    assert found[0][0].tolist() == found[0][2].tolist() == [0]
    assert found[1].tolist() == [numbers[0] * numbers[1]]
