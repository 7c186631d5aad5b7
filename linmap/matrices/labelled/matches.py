"""Pairs of tuples, from two tables, that agree on the labels that both have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.base.once import cached_property
from linmap.matrices.labelled.columns import (
    CELLS,
    LARGEST,
    Columns,
    Ints,
    codes,
    first_of_equal,
    flat_positions,
    is_ordered,
    length,
    split,
)
from linmap.matrices.labelled.distinct_tuples import Distinct, counted, distinct, distinct_positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

SLICE = 2**16
"""The number of pairs that are worked out at once, so few that they stay in the processor's cache."""


class Matches:
    """The pairs of a tuple on the left and one on the right that agree on the labels that both have.

    The pairs stand in the order of the tuples on the left. `on_left` and `on_right` give each pair the entry of its
    tuple on a side. The sides are `aligned` if each tuple agrees with that in the same place and no other: so it is
    where `once` says that no two tuples of a side agree on these labels, whose columns are the same arrays on both
    sides.
    """

    def __init__(self, left: Columns, right: Columns, sizes: Sequence[int], *, once: bool = False) -> None:
        self.left, self.right, self.sizes = left, right, sizes
        shared = [c for c in right if c in left]
        self.order: Ints | None = None
        self.aligned = once and bool(shared) and all(left[c] is right[c] for c in shared)
        if self.aligned:
            self.counts, self._starts = np.ones(length(left), np.intp), np.arange(length(left))
            self.several = False
            return
        keys = math.prod(sizes[c] for c in shared)
        if keys <= 4 * (length(left) + length(right)):
            key, b = flat_positions(shared, left, sizes), flat_positions(shared, right, sizes)
            number = np.bincount(b, minlength=keys)
            self.order = None if is_ordered(b) else np.argsort(b, kind="stable")
        else:
            code = codes(shared, (left, right), sizes)
            a, b = code[: length(left)], code[length(left) :]
            self.order = None if is_ordered(b) else np.argsort(b, kind="stable")
            b = b if self.order is None else b[self.order]
            starts = np.flatnonzero(first_of_equal(b))
            found = b[starts]
            number = np.append(np.diff(starts, append=len(b)), 0)  # the last key is no tuple's on the right
            key = np.searchsorted(found, a)
            key[np.append(found, -1)[key] != a] = len(found)
        self.counts, self._starts = number[key], (np.cumsum(number) - number)[key]
        self.several = bool(number.max(initial=0) > 1)

    @cached_property
    def _ends(self) -> Ints:
        """The number of pairs up to each tuple on the left, its own included."""
        return np.cumsum(self.counts)

    @property
    def total(self) -> int:
        """The number of pairs that agree."""
        if self.aligned:
            return len(self.counts)
        return int(self._ends[-1]) if len(self.counts) else 0

    @cached_property
    def _kept(self) -> Ints | None:
        """The tuples on the left with a partner, where each has one at most; None for all."""
        return None if self.counts.all() else np.flatnonzero(self.counts)

    def on_left(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each pair the entry of its tuple on the left."""
        if self.aligned:
            return column
        if self.several:
            return column.repeat(self.counts)
        return column if self._kept is None else column[self._kept]

    def on_right(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each pair the entry of its tuple on the right."""
        if self.aligned:
            return column
        column = column if self.order is None else column[self.order]
        if not self.several:
            places = self._starts if self._kept is None else self._starts[self._kept]
            return np.take(column, places)
        made = np.empty(self.total, column.dtype)
        for rows, pairs in self._slices():
            made[pairs] = column[self._places(rows, pairs)]
        return made

    def _slices(self) -> Iterator[tuple[slice, slice]]:
        """Runs of tuples on the left, and those of their pairs."""
        row = pair = 0
        while row < len(self._ends):
            last = max(int(np.searchsorted(self._ends, pair + SLICE, "right")), row + 1)
            end = int(self._ends[last - 1])
            yield slice(row, last), slice(pair, end)
            row, pair = last, end

    def _places(self, rows: slice, pairs: slice) -> Ints:
        """The place of the tuples on the right, once these are in order, of some pairs."""
        counts = self.counts[rows]
        places = np.arange(pairs.start, pairs.stop)
        places += (self._starts[rows] - self._ends[rows] + counts).repeat(counts)
        return places

    def columns(self, labels: Iterable[int]) -> Columns:
        """The tuples of some labels, one for each pair."""
        left, right = self.left, self.right
        return {c: self.on_left(left[c]) if c in left else self.on_right(right[c]) for c in labels}

    def distinct(self, labels: Sequence[int]) -> Distinct:
        """The distinct tuples of some labels among the pairs."""
        size = math.prod(self.sizes[c] for c in labels)
        if size >= LARGEST:
            return distinct(labels, [self.columns(labels)], self.sizes)
        if SLICE < self.total >= size / CELLS:
            found, ranks = counted(lambda: self._positions(labels), size, self.total)
            columns = tuple(column for _, column in split(labels, found, self.sizes))
            return Distinct(columns, self.total, ranks=ranks)
        slices = list(self._positions(labels)) or [np.zeros(0, np.int64)]
        flat = np.concatenate(slices) if len(slices) > 1 else slices[0]
        return distinct_positions(labels, flat, self.sizes)

    def _positions(self, labels: Sequence[int]) -> Iterator[Ints]:
        """The flat positions of some labels, slice by slice: sums of what both sides give, where tuples are fewer."""
        left, right = np.zeros(length(self.left), np.int64), np.zeros(length(self.right), np.int64)
        step = 1
        for c in reversed(labels):
            if c in self.left:
                left += self.left[c] * np.int64(step)
            else:
                right += self.right[c] * np.int64(step)
            step *= self.sizes[c]
        right = right if self.order is None else right[self.order]
        alone = self.left.keys() >= {*labels}
        for rows, pairs in self._slices():
            flat = left[rows].repeat(self.counts[rows])
            if not alone:
                flat += right[self._places(rows, pairs)]
            yield flat
