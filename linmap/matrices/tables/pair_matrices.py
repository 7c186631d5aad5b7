"""Matrices whose entries are sets of pairs, for maps between several arrays: multiplied, and to a power."""

from __future__ import annotations

from typing import TypeAlias

from linmap.matrices.tables.pair_sets import PairSet, after, same, united

Grid: TypeAlias = "dict[int, dict[int, PairSet]]"
"""For each source and each destination the pairs of their block, where there are some."""


def composed(outer: Grid, inner: Grid) -> Grid:
    """The product of matrices of sets of pairs."""
    made: Grid = {}
    for src, found in inner.items():
        ends = applied(outer, found)
        if ends:
            made[src] = ends
    return made


def applied(outer: Grid, found: dict[int, PairSet]) -> dict[int, PairSet]:
    """The product of a matrix of sets of pairs and a column of such sets."""
    ends: dict[int, PairSet] = {}
    for via, p in found.items():
        for dst, q in outer.get(via, {}).items():
            both = united(ends.get(dst), after(q, p))
            if both is not None:
                ends[dst] = both
    return ends


def alike(one: dict[int, PairSet], other: dict[int, PairSet]) -> bool:
    """Tell if two columns are seen to be equal."""
    return one.keys() == other.keys() and all(same(p, other[k]) for k, p in one.items())


def power(grid: Grid, exponent: int) -> Grid:
    """A matrix of sets times itself, by squaring; from where squaring changes nothing, all powers are one.

    The exponent is at least 1.
    """
    square, made = grid, None
    while True:
        if exponent & 1:
            made = square if made is None else composed(square, made)
        exponent >>= 1
        if not exponent:
            assert made is not None  # its last bit is 1
            return made
        twice = composed(square, square)
        if twice.keys() == square.keys() and all(alike(twice[k], square[k]) for k in twice):
            return square if made is None else composed(square, made)
        square = twice
