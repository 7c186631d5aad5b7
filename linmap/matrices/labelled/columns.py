"""Tuples of labels as columns of integers: put in order, joined, and each kept once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from hilbert.base.once import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Labels: TypeAlias = tuple[int, ...]
Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]
Columns: TypeAlias = dict[int, Ints]
NARROW, LARGEST = 2**31, 2**62
"""Columns of numbers below the first have four bytes; flat positions are below the second."""
CELLS = 8
"""Tuples are marked in a table of all that there could be, not sorted, if these are at most so many times more."""


class TooManyRowsError(Exception):
    """A table would have more rows than are allowed."""


def sample(column: Ints) -> tuple[int, bytes]:
    """A few numbers of a column, which are the same for equal columns."""
    return len(column), column[:: len(column) // 16 + 1].tobytes()


def length(columns: Columns) -> int:
    """The number of tuples; without labels 1, the empty tuple."""
    return next((len(c) for c in columns.values()), 1)


def split(labels: Sequence[int], flat: Ints, sizes: Sequence[int]) -> list[tuple[int, Ints]]:
    """A column for each of some labels from their flat position together."""
    columns: list[tuple[int, Ints]] = []
    flat = narrow(flat, math.prod([sizes[c] for c in labels]))
    for c in reversed(labels[1:]):
        flat, column = divided(flat, sizes[c])
        columns.append((c, narrow(column, sizes[c])))
    columns += [(c, narrow(flat, sizes[c])) for c in labels[:1]]
    return columns[::-1]


def divided(flat: Ints, size: int) -> tuple[Ints, Ints]:
    """Quotient and rest: numpy's own `divmod` takes four times as long."""
    quotient = flat // max(size, 1)
    rest = quotient * -size
    rest += flat
    return quotient, rest


def narrow(column: Ints, size: int) -> Ints:
    """A column in four bytes where its numbers are below `size`, and this is small enough."""
    return column.astype(np.int32, copy=False) if size < NARROW else column


def flat_positions(labels: Iterable[int], columns: Columns, sizes: Sequence[int], kind: type = np.int64) -> Ints:
    """The flat position that some labels' values make together."""
    labels = tuple(labels)
    if not labels:
        return np.zeros(length(columns), kind)
    flat: Ints = columns[labels[0]].astype(kind, copy=len(labels) > 1)
    for c in labels[1:]:
        flat *= sizes[c]
        flat += columns[c]
    return flat


def codes(labels: Sequence[int], groups: Sequence[Columns], sizes: Sequence[int]) -> Ints:
    """Numbers in the order of the tuples of all groups, equal for equal tuples: flat positions, or ranks of them."""
    size = math.prod(sizes[c] for c in labels)
    if size < LARGEST:
        kind = np.int32 if size < NARROW else np.int64
        flats = [flat_positions(labels, columns, sizes, kind) for columns in groups]
        return flats[0] if len(flats) == 1 else np.concatenate(flats)
    columns = {c: np.concatenate([columns[c] for columns in groups]) for c in labels}
    flat = np.zeros(length(columns), np.int64)
    bound = 1
    for c in labels:
        column, size = columns[c], sizes[c]
        if bound * size >= LARGEST:
            flat, bound = _ranks(flat), len(flat)
        if bound * size >= LARGEST:
            column, size = _ranks(column), len(column)
        flat, bound = flat * size + column, bound * size
    return flat


def _ranks(column: Ints) -> Ints:
    """For each number its place among the distinct numbers, in order."""
    return np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64)


SLICE = 2**16
"""The number of pairs that are worked out at once, so few that they stay in the processor's cache."""


class Matches:
    """The pairs of a tuple on the left and one on the right that agree on the labels that both have.

    They stand in the order of the left. `on_left` and `on_right` give each pair the entry of its tuple on a side.
    """

    def __init__(self, left: Columns, right: Columns, sizes: Sequence[int]) -> None:
        self.left, self.right, self.sizes = left, right, sizes
        shared = [c for c in right if c in left]
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
        return int(self._ends[-1]) if len(self.counts) else 0

    @cached_property
    def _kept(self) -> Ints | None:
        """The tuples on the left with a partner, where each has one at most; None for all."""
        return None if self.counts.all() else np.flatnonzero(self.counts)

    def on_left(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each pair the entry of its tuple on the left."""
        if self.several:
            return column.repeat(self.counts)
        return column if self._kept is None else column[self._kept]

    def on_right(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each pair the entry of its tuple on the right."""
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
            found, ranks = _counted(lambda: self._positions(labels), size, self.total)
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


def is_ordered(code: Ints) -> bool:
    """Tell if numbers stand in ascending order."""
    return not (code[1:] < code[:-1]).any()


def first_of_equal(code: Ints) -> npt.NDArray[np.bool_]:
    """Of numbers in order, those that are not equal to the one before."""
    first = np.ones(len(code), bool)
    np.not_equal(code[1:], code[:-1], out=first[1:])
    return first


@final
@frozen(eq=False, slots=False)
class Distinct:
    """The distinct tuples among some, in order, and to which of them each is added.

    `order` sorts what was given, None where that is in order; then the equal ones are runs, each from one of `starts`
    (None: all differ). Where they were counted and not sorted, `ranks` has the place of each instead.
    """

    columns: tuple[Ints, ...]
    given: int
    order: Ints | None = None
    starts: Ints | None = None
    ranks: Ints | None = None

    @property
    def count(self) -> int:
        """The number of distinct tuples."""
        return len(self.columns[0])

    @property
    def repeats(self) -> bool:
        """True if some tuple is given twice."""
        return self.count < self.given

    @cached_property
    def places(self) -> Ints:
        """The place among the distinct tuples of each tuple, as given, or as sorted by `order` if there is one."""
        if self.ranks is not None:
            return self.ranks
        if self.starts is None:
            return np.arange(self.given)
        return np.arange(self.count).repeat(np.diff(self.starts, append=self.given))

    def summed(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each tuple the sum of the values of those that are equal to it."""
        if self.ranks is not None:
            return np.bincount(self.ranks, values, self.count)
        values = values if self.order is None else values[self.order]
        return values if self.starts is None else np.add.reduceat(values, self.starts)


RUNS = 16
"""Numbers in so many ordered runs are merged by a sort in little time; others are marked, see `CELLS`."""


def distinct(labels: Sequence[int], groups: Sequence[Columns], sizes: Sequence[int]) -> Distinct:
    """The distinct tuples of all groups."""
    code = codes(labels, groups, sizes)
    if len(groups) == 1 and bool(np.all(code[1:] > code[:-1])):
        return Distinct(tuple(groups[0][c] for c in labels), len(code))
    if math.prod(sizes[c] for c in labels) < LARGEST:
        return distinct_positions(labels, code, sizes)
    order, starts = _runs(code)
    at = slice(None) if starts is None else starts
    at = at if order is None else order[at]
    columns = tuple(np.concatenate([columns[c] for columns in groups])[at] for c in labels)
    return Distinct(columns, len(code), order, starts)


def union_count(labels: Sequence[int], groups: Sequence[Columns], sizes: Sequence[int]) -> int:
    """The number of distinct tuples in all groups, by a mask of all possible tuples, of which they are a good part."""
    there = np.zeros(math.prod(sizes[c] for c in labels), bool)
    for columns in groups:
        there[flat_positions(labels, columns, sizes)] = True
    return int(np.count_nonzero(there))


def distinct_positions(labels: Sequence[int], flat: Ints, sizes: Sequence[int]) -> Distinct:
    """The distinct tuples of labels among those that are given by their flat position."""
    size = math.prod(sizes[c] for c in labels)
    order: Ints | None = None
    starts: Ints | None = None
    ranks: Ints | None = None
    given = len(flat)
    if size <= CELLS * given and np.count_nonzero(flat[1:] < flat[:-1]) >= RUNS:
        flat, ranks = _counted(lambda: iter([flat]), size, given)
    else:
        order, starts = _runs(flat)
        at = starts if order is None or starts is None else order[starts]
        at = order if at is None else at
        flat = flat if at is None else flat[at]
    return Distinct(tuple(column for _, column in split(labels, flat, sizes)), given, order, starts, ranks)


def _runs(code: Ints) -> tuple[Ints | None, Ints | None]:
    """The permutation that sorts numbers, None if sorted; the starts of runs of equal ones, None if all differ."""
    order = None if is_ordered(code) else np.argsort(code, kind="stable")
    first = first_of_equal(code if order is None else code[order])
    return order, None if first.all() else np.flatnonzero(first)


def _counted(slices: Callable[[], Iterator[Ints]], size: int, total: int) -> tuple[Ints, Ints]:
    """The distinct numbers below `size` among some, in order, and the place of each number among them: no sort."""
    there = np.zeros(size, bool)
    for numbers in slices():
        there[numbers] = True
    found = np.flatnonzero(there)
    ranks = np.empty(size, np.int32 if len(found) < NARROW else np.int64)
    ranks[found] = np.arange(len(found), dtype=ranks.dtype)
    places = np.empty(total, np.int64)
    start = 0
    for numbers in slices():
        places[start : start + len(numbers)] = ranks[numbers]
        start += len(numbers)
    return found, places


def progression(positions: Ints) -> tuple[int, int]:
    """The first position and the step, if positions are evenly spaced; the step is 0 if they are not."""
    n = len(positions)
    if not n:
        return 0, 0
    start, step = int(positions[0]), int(positions[1] - positions[0]) if n > 1 else 1
    even = bool(step) and int(positions[-1]) == start + step * (n - 1)  # hardly anything else ends there
    return start, step if even and bool(np.all(np.diff(positions) == step)) else 0
