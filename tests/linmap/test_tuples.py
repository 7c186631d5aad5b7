"""Tuples of labels as columns of integers: what agrees, and what is distinct, beside Python's sets and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff import Expr, derivative, fun
from hilbert import Fin, R
from hilbert.relation import less
from linmap import diagonal, gram, matrix, red
from linmap.matrices.labelled.columns import Columns, TooManyRowsError, distinct, union_count
from linmap.matrices.labelled.matches import Matches
from linmap.matrices.made import diagonal_entries as diagonals
from linmap.matrices.made.matrix_plans import data_of, plan_at
from linmap.matrices.structure.structure import body_of
from linmap.matrices.tables.constant_tables import summed_product

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
