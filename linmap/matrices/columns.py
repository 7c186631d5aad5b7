"""Tuples of labels as columns of integers: put in order, joined, and each kept once."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from hilbert.once import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Labels: TypeAlias = tuple[int, ...]
Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]
Columns: TypeAlias = dict[int, Ints]
NARROW, LARGEST = 2**31, 2**62
"""Columns of numbers below the first have four bytes; flat positions are below the second."""
CELLS = 8
"""Tuples are marked in a table of all that there could be, not sorted, if these are at most so many times more."""


@lru_cache(maxsize=8)
def _multipliers(size: int) -> Ints:
    return np.random.default_rng(0).integers(-(2**62), 2**62, size)


def fingerprint(column: Ints) -> int:
    """A number that is the same for equal columns, and hardly ever for others: universal hashing."""
    size = max(1 << (len(column) - 1).bit_length(), 16) if len(column) else 16
    return int(np.dot(column, _multipliers(size)[: len(column)]))


def length(columns: Columns) -> int:
    """How many tuples there are; one where there is no label to hold it."""
    return next((len(c) for c in columns.values()), 1)


def split(labels: Sequence[int], flat: Ints, sizes: Sequence[int]) -> list[tuple[int, Ints]]:
    """A column for each of some labels from their flat position together."""
    columns: list[tuple[int, Ints]] = []
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
    """For each number how many smaller ones there are."""
    return np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64)


class Matches:
    """For each tuple on the left, the tuples on the right that agree with it on the labels that both have."""

    def __init__(self, left: Columns, right: Columns, sizes: Sequence[int]) -> None:
        shared = [c for c in right if c in left]
        self.left, self.right = left, right
        keys = math.prod(sizes[c] for c in shared)
        if keys <= 4 * (length(left) + length(right)):
            self.key, b = flat_positions(shared, left, sizes), flat_positions(shared, right, sizes)
            self.number = np.bincount(b, minlength=keys)
            self.order = None if is_ordered(b) else np.argsort(b, kind="stable")
        else:
            code = codes(shared, (left, right), sizes)
            a, b = code[: length(left)], code[length(left) :]
            self.order = None if is_ordered(b) else np.argsort(b, kind="stable")
            b = b if self.order is None else b[self.order]
            starts = np.flatnonzero(first_of_equal(b))
            found = b[starts]
            self.number = np.append(np.diff(starts, append=len(b)), 0)  # the last key is no tuple's on the right
            self.key = np.searchsorted(found, a)
            self.key[np.append(found, -1)[self.key] != a] = len(found)
        self.counts = self.number[self.key]

    @property
    def total(self) -> int:
        """How many pairs agree."""
        return int(self.counts.sum())

    def joined(self, needed: set[int]) -> tuple[Columns, Ints | None, Ints]:
        """The pairs that agree, on the labels that are needed; where each comes from on the left and on the right.

        They are in the order of the left; None where they are its tuples, each once.
        """
        counts, here = self.counts, None
        several = bool(self.number.max(initial=0) > 1)
        if several:
            here = np.arange(len(counts)).repeat(counts)
        elif not counts.all():
            here = np.flatnonzero(counts)
        there = (np.cumsum(self.number) - self.number)[self.key if here is None else self.key[here]]
        if several:
            there += np.arange(len(there)) - (np.cumsum(counts) - counts).repeat(counts)
        there = there if self.order is None else self.order[there]
        made = {c: column if here is None else column[here] for c, column in self.left.items() if c in needed}
        made |= {c: column[there] for c, column in self.right.items() if c in needed and c not in self.left}
        return made, here, there


def is_ordered(code: Ints) -> bool:
    """Whether numbers never step back."""
    return not np.any(code[1:] < code[:-1])


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
        """How many there are."""
        return len(self.columns[0])

    @property
    def repeats(self) -> bool:
        """Whether some tuple is given twice."""
        return self.count < self.given

    @cached_property
    def places(self) -> Ints:
        """To which each tuple is added: of those given, or of the sorted ones where there is an order."""
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
"""Numbers in so many ordered runs are merged by a sort in little time; …"""
CELLS = 8
"""… others are marked in a table of all that there could be, if that is at most so many times longer."""


def distinct(labels: Sequence[int], groups: Sequence[Columns], sizes: Sequence[int]) -> Distinct:
    """The distinct tuples of all groups."""
    code = codes(labels, groups, sizes)
    given = len(code)
    if len(groups) == 1 and bool(np.all(code[1:] > code[:-1])):
        return Distinct(tuple(groups[0][c] for c in labels), given)
    size = math.prod(sizes[c] for c in labels)
    order: Ints | None = None
    back = np.count_nonzero(code[1:] < code[:-1])
    if back >= RUNS and size <= CELLS * given:
        found, ranks = _counted(code, size)
        columns = tuple(column for _, column in split(labels, found, sizes))
        return (
            Distinct(columns, given, ranks=ranks) if len(found) < given else Distinct(columns, given, _inverse(ranks))
        )
    if back:
        order = np.argsort(code, kind="stable")
        code = code[order]
    first = first_of_equal(code)
    starts = None if first.all() else np.flatnonzero(first)
    if size < LARGEST:
        code = code if starts is None else code[starts]
        return Distinct(tuple(column for _, column in split(labels, code, sizes)), given, order, starts)
    at = slice(None) if starts is None else starts
    at = at if order is None else order[at]
    return Distinct(tuple(np.concatenate([columns[c] for columns in groups])[at] for c in labels), given, order, starts)


def _counted(code: Ints, size: int) -> tuple[Ints, Ints]:
    """The distinct numbers below `size` among some, in order, and the place of each number among them: no sort."""
    there = np.zeros(size, bool)
    there[code] = True
    found = np.flatnonzero(there)
    ranks: Ints = np.empty(size, np.int32 if len(found) < NARROW else np.int64)
    ranks[found] = np.arange(len(found), dtype=ranks.dtype)
    return found, ranks[code]


def _inverse(order: Ints) -> Ints:
    made = np.empty_like(order)
    made[order] = np.arange(len(order), dtype=order.dtype)
    return made
