"""The distinct tuples of labels among some, each kept once, in order: by a sort, by a table of marks, by diagonals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.base.once import cached_property
from linmap.matrices.labelled.columns import (
    CELLS,
    LARGEST,
    NARROW,
    Columns,
    Ints,
    ascends,
    codes,
    first_of_equal,
    flat_positions,
    is_ordered,
    length,
    progression,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt


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
    if len(groups) == 1 and labels and ascends(groups[0][labels[0]]):
        return Distinct(tuple(groups[0][c] for c in labels), length(groups[0]))
    if len(groups) > 1 and len(labels) > 1 and sum(map(length, groups)) >= MARKED:
        found = on_diagonals(labels, groups, sizes)
        if found is not None:
            return found
    code = codes(labels, groups, sizes)
    if len(groups) == 1 and ascends(code):
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
    number = {diagonal: k for k, diagonal in enumerate(diagonals)}
    indices = {id(r): _index(r) for r, _ in parts}  # several groups have the same rows
    stretches: list[Stretch] = []
    start = 0
    for (r, _), shift in zip(parts, shifts, strict=True):
        if isinstance(shift, int):
            stretches.append(Stretch(number[shift], indices[id(r)], slice(start, start + len(r))))
        else:
            own = {k: np.flatnonzero(shift == k) for k in _different(shift)}
            stretches += [Stretch(number[k], r[tuples], tuples + start) for k, tuples in own.items()]
        start += len(r)
    down, across, places = _counted_by_row(stretches, np.array(diagonals, np.int32), rows, given)
    return Distinct((*(c for _, c in split(first, down, sizes)), across), given, ranks=places)


@final
@frozen(eq=False)
class Stretch:
    """Some of all `tuples`, which lie on one diagonal, at these `rows`."""

    diagonal: int
    rows: slice | Ints
    tuples: slice | Ints


def _counted_by_row(stretches: Sequence[Stretch], shifts: Ints, rows: int, given: int) -> tuple[Ints, Ints, Ints]:
    """The rows and the columns of the cells that are met on diagonals, row by row, and the place of each tuple there.

    The column is the row and the shift of the diagonal; shifts ascend.
    """
    there = np.zeros((len(shifts), rows), bool)
    for s in stretches:
        there[s.diagonal, s.rows] = True
    counts = np.zeros(rows, np.int32)
    for cells in there:
        counts += cells
    place = np.cumsum(counts, dtype=np.int32) - counts  # of the first cell in each row
    places = np.empty(there.shape, np.int32)
    for cells, numbers in zip(there, places, strict=True):
        numbers[:] = place
        place += cells
    found = np.empty(given, np.int64)
    for s in stretches:
        found[s.tuples] = places[s.diagonal][s.rows]
    down = np.repeat(np.arange(rows, dtype=np.int32), counts)
    across = down + np.broadcast_to(shifts, (rows, len(shifts)))[there.T]
    return down, across, found


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
