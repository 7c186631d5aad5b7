"""Tuples of labels as columns of integers: put in order, and each kept once."""

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


@final
@frozen(eq=False)
class PairList:
    """The pairs of a relation: columns for the axes of both sides, and for each side if its tuples ascend strictly."""

    columns: tuple[Ints, ...]
    once: tuple[bool, bool]


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


MARKED, DIAGONALS = 2**12, 64
"""From so many tuples on, those on at most so many diagonals are marked on these."""
RUNS = 16
"""Numbers in so many ordered runs are merged by a sort in little time; others are marked, see `CELLS`."""


def distinct(labels: Sequence[int], groups: Sequence[Columns], sizes: Sequence[int]) -> Distinct:
    """The distinct tuples of all groups."""
    if len(groups) == 1 and labels and bool(np.all(np.diff(groups[0][labels[0]]) > 0)):  # in order by the first label
        return Distinct(tuple(groups[0][c] for c in labels), length(groups[0]))
    if len(groups) > 1 and len(labels) > 1 and sum(map(length, groups)) >= MARKED:
        found = on_diagonals(labels, groups, sizes)
        if found is not None:
            return found
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


def on_diagonals(labels: Sequence[int], groups: Sequence[Columns], sizes: Sequence[int]) -> Distinct | None:
    """The distinct tuples of groups that lie on few diagonals: marked diagonal by diagonal, and counted row by row.

    The rows are the tuples of all labels but the last one, whose values are the columns; a diagonal is a difference of
    the two. None where these are many, or have many times more cells than there are tuples.
    """
    *first, last = labels
    rows, given = math.prod(sizes[c] for c in first), sum(map(length, groups))
    if max(rows, sizes[last]) + CELLS * given >= NARROW:
        return None
    parts = [(flat_positions(first, g, sizes, np.int32), g[last].astype(np.int32, copy=False)) for g in groups]
    if len({k for r, c in parts for k in _some(c, r)}) > DIAGONALS:
        return None
    shifts = [_shift(c, r) for r, c in parts]
    diagonals = sorted({k for shift in shifts for k in _different(shift)})
    if len(diagonals) > DIAGONALS or rows * len(diagonals) > CELLS * given:
        return None
    at = {id(r): _index(r) for r, _ in parts}
    pieces: list[tuple[Any, int, Any]] = []  # rows, their diagonal, and which of all tuples they are
    start = 0
    for (r, _), shift in zip(parts, shifts, strict=True):
        if isinstance(shift, int):
            pieces.append((at[id(r)], diagonals.index(shift), slice(start, start + len(r))))
        else:
            for k in _different(shift):
                own = np.flatnonzero(shift == k)
                pieces.append((r[own], diagonals.index(k), own + start))
        start += len(r)
    there = np.zeros((len(diagonals), rows), bool)
    for which, k, _ in pieces:
        there[k, which] = True
    counts = np.zeros(rows, np.int32)
    for marks in there:
        counts += marks
    rank = np.cumsum(counts, dtype=np.int32) - counts  # of the first cell in each row
    ranks = np.empty(there.shape, np.int32)
    for marks, numbers in zip(there, ranks, strict=True):
        numbers[:] = rank
        rank += marks
    places = np.empty(given, np.int64)
    for which, k, tuples in pieces:
        places[tuples] = ranks[k][which]
    down = np.repeat(np.arange(rows, dtype=np.int32), counts)
    shift = np.broadcast_to(np.array(diagonals, np.int32), (rows, len(diagonals)))
    across = down + shift[there.T]
    return Distinct((*(c for _, c in split(first, down, sizes)), across), given, ranks=places)


def _some(column: Ints, row: Ints) -> list[int]:
    """The diagonals of about 64 tuples."""
    step = len(row) // DIAGONALS + 1
    found: list[int] = (column[::step] - row[::step]).tolist()
    return found


def _shift(column: Ints, row: Ints) -> int | Ints:
    """The diagonal of each tuple: one number if all lie on one."""
    if not len(row):
        return np.zeros(0, np.int32)
    shift = column - row
    least = int(shift.min())
    return least if least == shift.max() else shift


def _different(shift: int | Ints) -> list[int]:
    """The diagonals of tuples (`np.unique` imports numpy's masked arrays, which takes 10 ms)."""
    if isinstance(shift, int):
        return [shift]
    shift = np.sort(shift)
    found: list[int] = shift[first_of_equal(shift)].tolist()
    return found


def _index(rows: Ints) -> slice | Ints:
    """Rows as an index: a slice of evenly spaced ones, which is quicker than their list."""
    start, step = progression(rows)
    return slice(start, start + step * len(rows), step) if step > 0 else rows.astype(np.intp)


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
        flat, ranks = counted(lambda: iter([flat]), size, given)
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


def counted(slices: Callable[[], Iterator[Ints]], size: int, total: int) -> tuple[Ints, Ints]:
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
