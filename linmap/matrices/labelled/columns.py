"""Tuples of labels as columns of integers, and as numbers in the order of the tuples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def is_ordered(code: Ints) -> bool:
    """Tell if numbers stand in ascending order."""
    return not (code[1:] < code[:-1]).any()


def ascends(code: Ints) -> bool:
    """Tell if each number is larger than the one before."""
    return bool((code[1:] > code[:-1]).all())


def first_of_equal(code: Ints) -> npt.NDArray[np.bool_]:
    """Of numbers in order, those that are not equal to the one before."""
    first = np.ones(len(code), bool)
    np.not_equal(code[1:], code[:-1], out=first[1:])
    return first


def progression(positions: Ints) -> tuple[int, int]:
    """The first position and the step, if positions are evenly spaced; the step is 0 if they are not."""
    n = len(positions)
    if not n:
        return 0, 0
    start, step = int(positions[0]), int(positions[1] - positions[0]) if n > 1 else 1
    even = bool(step) and int(positions[-1]) == start + step * (n - 1)  # hardly anything else ends there
    return start, step if even and bool(np.all(np.diff(positions) == step)) else 0
