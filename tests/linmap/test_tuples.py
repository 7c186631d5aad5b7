"""Tuples of labels as columns of integers: what agrees, and what is distinct, beside Python's sets and loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linmap.matrices.columns import Columns, Matches, distinct

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
    made, here, there = found.joined(needed)
    assert found.total == len(pairs)
    assert set(made) == needed
    places = range(len(left)) if here is None else here.tolist()
    assert sorted(zip(places, there.tolist(), strict=True)) == pairs
    assert list(places) == [a for a, _ in pairs]
    for c in needed:
        due = [(left[a] if c < 3 else right[b])[c] for a, b in zip(places, there.tolist(), strict=True)]
        assert made[c].tolist() == due
