"""Claims of the page on structure, each at its limit: which patterns are counted, and which are bounded."""

from __future__ import annotations

import pytest

from hilbert import Fin
from hilbert.relation import band
from linmap import red, structure
from linmap.matrices import counting, tables


def twice(n: int, width: int) -> str:
    """What is proved of two bands, one after the other."""
    X = Fin.of(n)
    return str(structure(red(band(X, width, width)) @ red(band(X, width, width))))


@pytest.mark.parametrize(("n", "is_counted"), [(790_000, True), (810_000, False)])
def test_patterns_of_at_most_four_million_entries_are_counted(n: int, *, is_counted: bool) -> None:
    """They are counted where there are at most 4·10⁶; beyond that the text is `at most N`."""
    assert (twice(n, 1) == f"sparse, {5 * n - 6} of {n}·{n} entries") == is_counted
    assert ("at most" in twice(n, 1)) != is_counted


@pytest.mark.parametrize(("width", "is_counted"), [(12, True), (20, False)])
def test_sixteen_ways_for_each_entry_are_counted(
    width: int, *, is_counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """… and 6·10⁷ ways between two labels, sixteen times as many as entries."""
    assert counting.PATTERN == 4 * 10**6
    n, both = 1000, 2 * width
    entries = n * (2 * both + 1) - both * (both + 1)
    monkeypatch.setattr(counting, "PATTERN", entries)
    monkeypatch.setattr(tables, "LISTED", 100)  # otherwise small patterns are listed before they are counted
    monkeypatch.setattr(tables, "LONGEST", 100)
    assert (twice(n, width) == f"sparse, {entries} of {n}·{n} entries") == is_counted
