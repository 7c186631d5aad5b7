"""Relations whose pairs lie on few diagonals: bands, shifts, runs, rotations, and their composites.

Each is a few runs (offset, first, end): x is related to x + offset for first ≤ x < end. So they are composed, met and
united in time and memory of the number of runs, whatever the sizes of the sets are.

>>> from hilbert import Fin
>>> from hilbert.relation import band, shift
>>> X = Fin.of(10**12)
>>> one = diagonals(shift(X, 1))
>>> composed(one.T, one).runs
((0, 0, 999999999999),)
>>> diagonals(band(X, 1, 1)).size
2999999999998
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast, final

import numpy as np
from attrs import frozen

from hilbert.base.sizes import room
from hilbert.base.two_sided import folded
from hilbert.relation import (
    FORMS,
    Agreement,
    Composite,
    Converse,
    Equality,
    Full,
    Graph,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
    table,
)
from hilbert.relation.relation import AnyRelation, Ints, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert import Index
    from hilbert.relation import Form
    from hilbert.relation.compound_forms import CompoundForm

Run: TypeAlias = tuple[int, int, int]
Box: TypeAlias = tuple[tuple[int, int], ...]
MOST = 2048
"""The most runs of a relation; one with more is not taken for banded."""


@final
@frozen
class Diagonals(Relation[Any, Any]):
    """{(x, x + offset) : first ≤ x < end} for each of some runs, no two of which have a pair in common."""

    dom: Index  # pyright: ignore[reportIncompatibleMethodOverride]
    cod: Index  # pyright: ignore[reportIncompatibleMethodOverride]
    runs: tuple[Run, ...]

    @property
    def T(self) -> Diagonals:
        """The pairs turned round."""
        return Diagonals(self.cod, self.dom, tuple([(-d, a + d, b + d) for d, a, b in self.runs]))

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs, run after run."""
        room(2 * self.size, "a list of pairs")
        x = [np.arange(a, b) for _, a, b in self.runs]
        y = [np.arange(a + d, b + d) for d, a, b in self.runs]
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *x]), np.concatenate([none, *y])

    @property
    def size(self) -> int:
        """The lengths of the runs together."""
        return sum(b - a for _, a, b in self.runs)

    @property
    def is_function(self) -> bool:
        """True if the runs cover the domain, each x once."""
        return self.is_partial_function and self.size == self.dom.size

    @property
    def is_partial_function(self) -> bool:
        """True if no two runs have an x in common."""
        return all(b <= c for (_, b), (c, _) in pairwise(sorted((a, b) for _, a, b in self.runs)))

    @property
    def is_on_diagonal(self) -> bool:
        """True if each x is related to x alone, or to nothing."""
        return all(d == 0 for d, _, _ in self.runs)


def as_form(relation: AnyRelation) -> AnyRelation:
    """Runs as a form that kernels and laws know: a band, or pairs, which are listed."""
    if not isinstance(relation, Diagonals):
        return relation
    offsets = [d for d, _, _ in relation.runs] or [0]
    band: AnyRelation = Window(relation.dom, relation.cod, len(offsets), 1, -max(offsets))
    if diagonals(band) == relation:
        return band
    x, y = relation.holds()
    return Pairs(relation.dom, relation.cod, table(x), table(y))


def diagonals(relation: AnyRelation) -> Diagonals | None:
    """A relation by its runs, as far as its form shows them; no table is looked at."""
    found = folded(relation, _of_form, _of_parts)
    return None if found is None or len(found) > MOST else _made(relation, found)


def _made(relation: AnyRelation, runs: Iterable[Run]) -> Diagonals:
    return Diagonals(relation.dom, relation.cod, together(runs))


def _of_form(relation: AnyRelation) -> list[Run] | None:
    if not isinstance(relation, (*FORMS, Diagonals)):
        return None  # pairs that are listed
    n, m = relation.dom.size, relation.cod.size
    form = cast("Form | Diagonals", relation)
    match form:
        case Diagonals():
            return list(form.runs)
        case Equality():
            return [(0, 0, n)]
        case Inclusion(_, _, offset, stride) if stride == 1:
            return [(offset, 0, n)]
        case Rotation(_, by):
            return [(by % n, 0, n - by % n), (by % n - n, n - by % n, n)] if n else []
        case Window(_, _, width, 1, offset, dilation) if width <= MOST:
            starts = [offset + dilation * k for k in range(width)]  # x = y + start
            return [(-start, max(0, start), min(n, m + start)) for start in starts]
        case Converse(of):
            found = _of_form(of)
            return None if found is None else [(-d, a + d, b + d) for d, a, b in found]
        case Full() | Order() | Agreement() | Partial() | Pairs() | Graph() | Inclusion() | Window() | Sliding():
            return None  # what these relate does not lie on diagonals, or is not looked at
        case ProductRelation() | SumRelation() | Composite():
            return None
        case _:
            assert_never(form)


def _of_parts(relation: CompoundForm, found: Sequence[list[Run] | None]) -> list[Run] | None:
    runs = [some for some in found if some is not None and len(some) <= MOST]
    if len(runs) < len(found):
        return None
    match relation:
        case SumRelation():
            made: list[Run] = []
            x = y = 0
            for part, some in zip(relation.run, runs, strict=True):
                made += [(d + y - x, a + x, b + x) for d, a, b in some]
                x, y = x + part.dom.size, y + part.cod.size
            return made
        case Composite():
            *others, first = runs
            for outer in reversed(others):
                first = _after(outer, first)
                if len(first) > MOST:
                    return None
            return first
        case ProductRelation():  # has no flat order of its own
            return None
        case _:
            assert_never(relation)


def _after(outer: Iterable[Run], inner: Iterable[Run]) -> list[Run]:
    then = list(outer)
    return [*together((d + e, max(a, s - d), min(b, t - d)) for d, a, b in inner for e, s, t in then)]


def together(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Merge runs of one offset that touch or overlap, so that each pair stands once."""
    by_offset: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for d, a, b in runs:
        if a < b:
            by_offset[d].append((a, b))
    made: list[Run] = []
    for d in sorted(by_offset):
        for a, b in sorted(by_offset[d]):
            if made and made[-1][0] == d and a <= made[-1][2]:
                made[-1] = (d, made[-1][1], max(b, made[-1][2]))
            else:
                made.append((d, a, b))
    return tuple(made)


def composed(outer: Diagonals, inner: Diagonals) -> Diagonals:
    """S ∘ R."""
    return Diagonals(inner.dom, outer.cod, tuple(_after(outer.runs, inner.runs)))


def met(one: Diagonals, other: Diagonals) -> Diagonals:
    """R ∩ S."""
    runs = [(d, max(a, s), min(b, t)) for d, a, b in one.runs for e, s, t in other.runs if d == e]
    return Diagonals(one.dom, one.cod, together(runs))


def volume(boxes: Sequence[Box]) -> int:
    """The number of points in the union of some boxes; a box is an interval (first, end) for each axis."""
    if not boxes or not boxes[0]:
        return len(boxes[:1])
    ends = sorted({end for box in boxes for end in box[0]})
    slabs = ((b - a, [box[1:] for box in boxes if box[0][0] <= a and b <= box[0][1]]) for a, b in pairwise(ends))
    return sum(width * volume([*dict.fromkeys(inside)]) for width, inside in slabs)
