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
Ints: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = dict[int, Ints]


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
    def digest(self) -> tuple[int, ...]:
        """Numbers that tell tables apart, without the names of the labels: equal tables have equal ones."""
        return (self.count, *map(fingerprint, self.columns))


@final
@frozen
class NetworkProduct:
    """k · Π factors · Π links · Π tables, summed over the labels that are not open; factors in flow order."""

    k: float
    factors: tuple[NetworkFactor, ...]
    links: tuple[Link, ...]
    out: Labels
    inp: Labels
    tables: tuple[LabelTable, ...] = ()

    @property
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
        return tuple([self.names.setdefault(c, len(self.names)) for c in labels])


def pattern(p: NetworkProduct) -> tuple[tuple[Any, ...], list[Labels], dict[int, int]]:
    """What a product is but for its data and its number; the named labels of its factors; the names.

    Equal relations are one object in one network.
    """
    names = LabelNames(p)
    ends = (len(p.out), names(p.out + p.inp))
    links = tuple((id(link.relation), names(link.labels)) for link in p.links)
    tables = tuple((t.digest, names(t.labels), names((t.row,))) for t in p.tables)
    return (ends, links, tables), [names(f.labels) for f in p.factors], names.names


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


def split(labels: Labels, flat: Ints, sizes: Sequence[int]) -> Columns:
    """A column for each of some labels from their flat position together."""
    columns: Columns = {}
    for c in reversed(labels):
        flat, columns[c] = np.divmod(flat, sizes[c]) if sizes[c] else (flat, flat)
    return {c: columns[c] for c in labels}


def flat_positions(labels: Iterable[int], columns: Columns, sizes: Sequence[int]) -> Ints:
    """The flat position that some labels' values make together."""
    labels = tuple(labels)
    if not labels:
        return np.zeros(length(columns), np.int64)
    flat = columns[labels[0]]
    for c in labels[1:]:
        flat = flat * sizes[c] + columns[c]
    return flat


def codes(labels: Sequence[int], columns: Columns, sizes: Sequence[int]) -> Ints:
    """Numbers in the order of the tuples, equal for equal tuples: flat positions, or ranks if these are too large."""
    flat = np.zeros(length(columns), np.int64)
    bound = 1
    for c in labels:
        if bound * sizes[c] >= 2**62:
            flat = np.unique(flat, return_inverse=True)[1].reshape(-1).astype(np.int64)
            bound = len(flat)
        flat, bound = flat * sizes[c] + columns[c], bound * sizes[c]
    return flat


class Matches:
    """For each tuple on the left, the tuples on the right that agree with it on the labels that both have."""

    def __init__(self, left: Columns, right: Columns, sizes: Sequence[int]) -> None:
        shared = [c for c in right if c in left]
        self.left, self.right = left, right
        keys = math.prod(sizes[c] for c in shared)
        if keys <= 4 * (length(left) + length(right)):
            a, b = flat_positions(shared, left, sizes), flat_positions(shared, right, sizes)
            number = np.bincount(b, minlength=keys)
            self.order = None if is_ordered(b) else np.argsort(b, kind="stable")
            self.counts = number[a]
            self.low = (np.cumsum(number) - number)[a]
        else:
            code = codes(shared, {c: np.concatenate([left[c], right[c]]) for c in shared}, sizes)
            a, b = code[: length(left)], code[length(left) :]
            self.order = None if is_ordered(b) else np.argsort(b, kind="stable")
            ordered = b if self.order is None else b[self.order]
            self.low = np.searchsorted(ordered, a, "left")
            self.counts = np.searchsorted(ordered, a, "right") - self.low

    @property
    def total(self) -> int:
        """How many pairs agree."""
        return int(self.counts.sum())

    def joined(self) -> tuple[Columns, Ints | None]:
        """The tuples of both sides that agree, and where each comes from on the left (None: one for each)."""
        if np.all(self.counts == 1):
            here, there = None, self.low
            made = dict(self.left)
        else:
            here = np.arange(len(self.counts)).repeat(self.counts)
            total = len(here)
            start = np.cumsum(self.counts) - self.counts - self.low
            there = np.arange(total) - start.repeat(self.counts)
            made = {c: column[here] for c, column in self.left.items()}
        there = there if self.order is None else self.order[there]
        return made | {c: column[there] for c, column in self.right.items() if c not in made}, here


def is_ordered(code: Ints) -> bool:
    """Whether numbers never step back."""
    return not np.any(code[1:] < code[:-1])


def distinct(
    labels: Sequence[int], columns: Columns, sizes: Sequence[int]
) -> tuple[tuple[Ints, ...], Ints | None, Ints | None]:
    """The distinct tuples of some labels in order; what sorts all of them (None: sorted); to which each is added."""
    code = codes(labels, columns, sizes)
    order: Ints | None = None
    if not is_ordered(code):
        order = np.argsort(code, kind="stable")
        code = code[order]
    first = np.ones(len(code), bool)
    first[1:] = code[1:] != code[:-1]
    if first.all():
        return tuple(columns[c] if order is None else columns[c][order] for c in labels), order, None
    places = np.flatnonzero(first)
    there = places if order is None else order[places]
    return tuple(columns[c][there] for c in labels), order, np.cumsum(first) - 1
