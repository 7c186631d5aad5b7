"""Labelled products: what the matrix of a linear map is a sum of.

A *product* is a network of factors, relations and tables over labels, which stand for axes: equal labels are summed, or
shared as in a contraction; the labels of the input's and of the output's axes are open. A label that is open on both
sides is an identity along that axis (a diagonal, if a factor has it too); a *link* is a relation between the labels of
its two sides; a *table* is a list of distinct tuples of labels, with a label of its own for the rows, by which factors
have a value, or a dense block, for each row.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from hilbert.once import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.relation.base import AnyRelation

Labels: TypeAlias = tuple[int, ...]
Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]
Columns: TypeAlias = dict[int, Ints]
NARROW, LARGEST = 2**31, 2**62
"""Columns of numbers below the first have four bytes; flat positions are below the second."""


@final
@frozen
class NetworkFactor:
    """An array of the line with a label for each axis (an element of X has those of X at the end)."""

    slot: int
    labels: Labels


@final
@frozen
class Link:
    """A relation between the labels `x` of its domain and `y` of its codomain."""

    relation: AnyRelation
    x: Labels
    y: Labels

    @property
    def labels(self) -> Labels:
        """Both sides."""
        return self.x + self.y


@final
@frozen(eq=False, slots=False)
class LabelTable:
    """Distinct tuples of labels, one for each value of the label `row`; sorted by its labels in their order."""

    row: int
    labels: Labels
    columns: tuple[Ints, ...] = field(repr=False)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.columns[0])

    @cached_property
    def contents(self) -> Contents:
        """What it lists, without the names of the labels."""
        return Contents(self.columns)


@final
class Contents:
    """The columns of a table, compared by what they hold; looked up by a few of their numbers."""

    __slots__ = ("columns", "sample")

    def __init__(self, columns: tuple[Ints, ...]) -> None:
        self.columns = columns
        self.sample = tuple([(len(c), c[:: len(c) // 16 + 1].tobytes()) for c in columns])

    def __hash__(self) -> int:
        return hash(self.sample)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Contents) or self.sample != other.sample:
            return False
        return all(a is b or np.array_equal(a, b) for a, b in zip(self.columns, other.columns, strict=True))


@final
@frozen(slots=False)
class NetworkProduct:
    """k · Π factors · Π links · Π tables, summed over the labels that are not open; factors in flow order."""

    k: float
    factors: tuple[NetworkFactor, ...]
    links: tuple[Link, ...]
    out: Labels
    inp: Labels
    tables: tuple[LabelTable, ...] = ()

    @cached_property
    def open(self) -> Labels:
        """The open labels, each once: those of the output, then the others of the input."""
        return tuple(dict.fromkeys(self.out + self.inp))

    @property
    def is_related(self) -> bool:
        """Whether a relation or a table restricts its labels."""
        return bool(self.links or self.tables)

    @property
    def length(self) -> int:
        """How many parts it has."""
        return len(self.factors) + len(self.links) + len(self.tables)

    @cached_property
    def pattern(self) -> Pattern:
        """What it is but for its data and its number."""
        return Pattern(self)


def bonds(p: NetworkProduct) -> list[tuple[int, Labels]]:
    """Where a product can be cut in two, as the number of factors before the cut, and the labels across it."""
    found = []
    for k in range(len(p.factors) + 1):
        inner = {c for f in p.factors[:k] for c in f.labels} | set(p.inp)
        outer = {c for f in p.factors[k:] for c in f.labels} | set(p.out)
        found.append((k, tuple(sorted(inner & outer))))
    return found


def uses(*parts: Iterable[NetworkFactor | Link | LabelTable]) -> set[int]:
    """The labels of some factors, links and tables."""
    return {c for group in parts for part in group for c in part.labels}


class LabelNames:
    """Names for labels by where they first stand: equal for products that are one up to the names of their labels."""

    def __init__(self, p: NetworkProduct) -> None:
        self.names: dict[int, int] = {}
        self(p.out + p.inp)

    def __call__(self, labels: Labels) -> Labels:
        """The names of some labels."""
        names = self.names
        return tuple([names.setdefault(c, len(names)) for c in labels])


class Pattern:
    """What a product is but for its data and its number; the named labels of its factors; the names.

    Equal relations are one object in one network.
    """

    __slots__ = ("labels", "names", "shape")

    def __init__(self, p: NetworkProduct) -> None:
        names = LabelNames(p)
        ends = (len(p.out), names(p.out + p.inp))
        links = tuple([(id(link.relation), names(link.labels)) for link in p.links])
        tables = tuple([(t.contents, names(t.labels), names((t.row,))) for t in p.tables])
        self.shape: tuple[Any, ...] = (ends, links, tables)
        self.labels = [names(f.labels) for f in p.factors]
        self.names = names.names


# --- columns: tuples of labels as arrays of integers ---


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


def distinct(
    labels: Sequence[int], groups: Sequence[Columns], sizes: Sequence[int]
) -> tuple[tuple[Ints, ...], Ints | None, Ints | None]:
    """The distinct tuples of all groups in order; what sorts them (None: they are); to which each is added then."""
    code = codes(labels, groups, sizes)
    if len(groups) == 1 and bool(np.all(code[1:] > code[:-1])):
        return tuple(groups[0][c] for c in labels), None, None
    order: Ints | None = None
    if not is_ordered(code):
        order = np.argsort(code, kind="stable")
        code = code[order]
    first = first_of_equal(code)
    places: Ints | None = None
    if not first.all():
        places = np.cumsum(first, dtype=np.int64)
        np.subtract(places, 1, out=places)
        code = code[first]
    if math.prod(sizes[c] for c in labels) < LARGEST:
        return tuple(column for _, column in split(labels, code, sizes)), order, places
    at = np.flatnonzero(first) if order is None else order[first]
    return tuple(np.concatenate([columns[c] for columns in groups])[at] for c in labels), order, places
