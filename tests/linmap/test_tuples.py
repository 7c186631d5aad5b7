"""Tuples of labels as columns of integers: what agrees, and what is distinct, beside Python's sets and loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linmap.matrices.products import Columns, Matches, distinct

LABELS = (0, 1, 2, 3)
SIZES = {"small": [4, 3, 2, 5], "huge": [2**31, 3, 2**31, 5]}


def columns(rows: list[tuple[int, ...]], labels: tuple[int, ...]) -> Columns:
    """Tuples of all labels as columns of some of them."""
    made = np.array(rows, np.int64).reshape(-1, len(LABELS))
    return {c: made[:, c] % 5 for c in labels}


ROWS = st.lists(st.tuples(*[st.integers(0, size - 1) for size in (4, 3, 2, 5)]), max_size=30)


@pytest.mark.parametrize("sizes", SIZES)
@given(first=ROWS, second=ROWS)
def test_distinct_tuples(sizes: str, first: list[tuple[int, ...]], second: list[tuple[int, ...]]) -> None:
    """distinct gives the sorted set of all tuples; `order` sorts them, and `targets` are their places in the set."""
    labels = (2, 0, 3)
    every = [(r[2], r[0], r[3]) for r in first + second]
    groups = [columns(first, labels), columns(second, labels)]
    made, order, targets = distinct(labels, groups, SIZES[sizes])
    assert list(zip(*(c.tolist() for c in made), strict=True)) == sorted(set(every))
    ordered = every if order is None else [every[k] for k in order]
    places = range(len(every)) if targets is None else targets.tolist()
    assert [sorted(set(every))[k] for k in places] == ordered


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
