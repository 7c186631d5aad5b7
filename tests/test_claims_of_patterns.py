"""Claims of the page on structure, each at its limit: which patterns are counted, and which are bounded."""

from __future__ import annotations

from typing import Any

import pytest

from hilbert import Fin
from hilbert.relation import band, leq, rotation, shift, window
from linmap import compose, cumsum, flip, red, scale, structure
from linmap.matrices.labelled.labelled_products import Link
from linmap.matrices.structure import entry_counts
from linmap.matrices.tables import tables


def twice(n: int, width: int) -> str:
    """What is proved of two stencils with gaps, one after the other, backwards between: they are one by no law."""
    X = Fin.of(n)
    stencil = red(window(X, 2 * width + 1, offset=-2 * width, dilation=2, to=X))
    return str(structure(flip(X) @ stencil @ flip(X) @ stencil))


@pytest.mark.parametrize(("n", "is_counted"), [(790_000, True), (810_000, False)])
def test_patterns_of_at_most_four_million_entries_are_counted(n: int, *, is_counted: bool) -> None:
    """They are counted where there are at most 4·10⁶; beyond that the text is `at most N`."""
    assert (twice(n, 1) == f"sparse, {5 * n - 12} of {n}·{n} entries") == is_counted
    assert ("at most" in twice(n, 1)) != is_counted


@pytest.mark.parametrize(("width", "is_counted"), [(12, True), (20, False)])
def test_sixteen_ways_for_each_entry_are_counted(
    width: int, *, is_counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """… and 6·10⁷ ways between two labels, sixteen times as many as entries."""
    assert entry_counts.PATTERN == 4 * 10**6
    n, both = 1000, 2 * width
    entries = n * (2 * both + 1) - 2 * both * (both + 1)
    monkeypatch.setattr(entry_counts, "PATTERN", entries)
    monkeypatch.setattr(tables, "LISTED", 100)  # otherwise small patterns are listed before they are counted
    monkeypatch.setattr(tables, "LONGEST", 100)
    assert (twice(n, width) == f"sparse, {entries} of {n}·{n} entries") == is_counted


def formula(n: int, *offsets: range) -> int:
    """How many pairs (x, x + d) there are, for d in some range."""
    return sum(n - abs(d) for some in offsets for d in some)


HUGE = 10**15
Z = Fin.of(HUGE)
B, UP = red(band(Z, 1, 1)), red(band(Z, 0, 2))
BY_FORMULA: dict[str, tuple[Any, int]] = {
    "two bands": (B @ B, formula(HUGE, range(-2, 3))),
    "ten bands": (compose([B] * 10), formula(HUGE, range(-10, 11))),
    "scaled": (B @ scale(2.0, B.dom) @ B, formula(HUGE, range(-2, 3))),
    "another band": (UP @ B, formula(HUGE, range(-3, 2))),
    "one side": (UP @ red(shift(Z, -4)), formula(HUGE, range(-6, -3))),
    "a band after a shift to the other side": (B @ red(shift(Z, 1)), formula(HUGE, range(-2, 1)) - 1),
    "a band after a rotation": (B @ red(rotation(Z, 1)), 3 * HUGE - 2),
    "sums": (cumsum(Z) @ cumsum(Z), HUGE * (HUGE + 1) // 2),
}


@pytest.mark.parametrize("name", BY_FORMULA)
def test_relations_that_are_one_by_a_law_are_counted_at_any_size(name: str) -> None:
    """Bands after bands, and ≤ after ≤: nobody lists a pair."""
    f, entries = BY_FORMULA[name]
    assert str(structure(f)) == f"sparse, {entries} of {HUGE}·{HUGE} entries"


def test_other_relations_of_any_size_are_bounded() -> None:
    """By the degrees of bands and functions, which are formulas, too: a band backwards."""
    assert str(structure(flip(Z) @ B)) == f"sparse, at most {3 * HUGE - 2} of {HUGE}·{HUGE} entries"
    assert str(structure(B @ flip(Z))) == f"sparse, at most {3 * HUGE} of {HUGE}·{HUGE} entries"


@pytest.mark.parametrize("n", range(1, 6))
def test_the_degree_of_a_band(n: int) -> None:
    """Of windows that lie apart from the set in part, or altogether."""
    for m in range(5):
        for width in range(1, 7):
            for offset in range(-7, 7):
                relation = window(Fin.of(n), width, offset=offset, to=Fin.of(m))
                assert entry_counts._degree(relation) == relation.degrees().max(initial=0)


def test_what_is_read_between_two_relations_is_not_skipped() -> None:
    """Labels that are open, or that a third relation has, stay."""
    first, then, third = (Link(band(Z, 1, 1), (k,), (k + 1,)) for k in range(3))
    (whole,) = entry_counts._composed([then, third, first], {0, 3})
    assert (whole.relation, whole.x, whole.y) == (band(Z, 3, 3), (0,), (3,))
    assert entry_counts._composed([first, then], {0, 1, 2}) == [first, then]
    beside = Link(leq(Z), (1,), (4,))
    assert entry_counts._composed([first, then, beside], {0, 2, 4}) == [first, then, beside]
    assert entry_counts._composed([first, beside, then], {0, 2, 4}) == [first, beside, then]
