"""Rows beside those of a block: which rows of an array a block reads, where steps shift, slice or pad along X.

`x[1:] − x[:-1]` has one row less than X: its axis is another index set, whose row j is computed from rows j and j + 1
of x. The sets that such steps lead to are the *family* of X. A block of the rows `start` to `end` of X has the same
rows of each set of the family as its own: totals are sums over the own rows, and results have the own rows. The rows of
other arrays follow from these, step by step from the results back. Rows beside its own are the halo of a block: blocks
that overlap compute them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from hilbert.index.leaf import Bundle
from hilbert.program.blocks.open_constants import Family, factors
from hilbert.program.blocks.places_along import is_place
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane
from hilbert.program.line.operation import Contract, Reduce
from hilbert.relation.function_forms import Converse, Inclusion, Sliding, Window

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from hilbert.index.index import Index
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line, Step
    from hilbert.relation.relation import AnyRelation

Span: TypeAlias = tuple[int, int]
"""Rows, from the first to before the last."""
Spans: TypeAlias = "tuple[Span | None, ...]"
"""The rows of each array of a slot; None for an array without the axis."""
FEW = 4096
"""A part of X with at most so many rows is a total, or is given to all blocks; a larger one runs in blocks."""


def family(line: Line, index: Index) -> Family:
    """The sets that shifts, slices and paddings of X lead to, X in front; those of few elements are left out."""
    pairs = [
        pair
        for step in line.steps
        if isinstance(step.operation, Reduce)
        for relation, _ in factors(step.operation.relation, 0)
        if (pair := sides(relation)) is not None
    ]
    found, count, least = {index: None}, 0, min(FEW, index.size // 2)
    while count != len(found):
        count = len(found)
        for pair in pairs:
            for one, other in (pair, pair[::-1]):
                if len(one) == len(other) == 1 and one[0] in found and other[0].size > least:
                    found[other[0]] = None
    return tuple(found)


def sides(relation: AnyRelation) -> tuple[Family, Family] | None:
    """The axes of rows on both sides of a slice, a padding or windows of stride 1; None for other relations."""
    match relation:
        case Inclusion(dom, cod, _, 1) if len(dom.axes) < 2 and len(cod.axes) == 1:
            return dom.axes, cod.axes
        case Window(dom, cod, _, 1) if len(dom.axes) == len(cod.axes) == 1:
            return dom.axes, cod.axes
        case Sliding(dom, cod, 1) if len(dom.axes) == 2 and len(cod.axes) == 1:
            return dom.axes[:1], cod.axes
        case Converse(Inclusion() | Sliding() as of) if (pair := sides(of)) is not None:
            return pair[::-1]
        case _:  # rows further away, or none
            return None


def is_slice(relation: AnyRelation) -> bool:
    """Tell if a relation takes some rows, one after the other; its transpose puts them among others."""
    return sides(relation) is not None and isinstance(relation, Converse) and isinstance(relation.of, Inclusion)


def is_relabelled(relation: AnyRelation, along: Family) -> bool:
    """Tell if a relation adds or removes axes of one element beside X only."""
    match relation:
        case Inclusion(dom, cod, 0, 1) | Converse(Inclusion(dom, cod, 0, 1)) if dom.size == cod.size:
            kept = [[axis for axis in of.axes if axis.size != 1 or axis in along] for of in (dom, cod)]
            return kept[0] == kept[1] and len(kept[0]) == 1 and kept[0][0] in along
        case _:  # another relation
            return False


def read(relation: AnyRelation, span: Span) -> Span:
    """The rows of an array from which rows of its reduction are computed."""
    a, b = span
    first, last = beside(relation)
    size = (sides(relation) or ((),))[0][0].size if relation.dom.axes else 1
    low, high = min(max(a + first, 0), size), min(max(b + last, 0), size)
    return (low, max(low, high)) if a < b else (low, low)


def beside(relation: AnyRelation) -> Span:
    """The first and the last of the rows from which a row is computed, counted from the number of this row."""
    match relation:
        case Converse(Inclusion(_, _, first, _)):
            return first, first
        case Inclusion(_, _, first, _):
            return -first, -first
        case Window(_, _, width, _, first, dilation):
            return first, first + dilation * (width - 1)
        case Converse(Sliding(dom, _, _, first, dilation)):
            return first, first + dilation * (dom.axes[1].size - 1)
        case Sliding(dom, _, _, first, dilation):
            return -first - dilation * (dom.axes[1].size - 1), -first
        case _:  # `sides` is None for these
            msg = f"{relation} is no slice, padding or window"
            raise TypeError(msg)


def has_halo(line: Line, along: Family) -> bool:
    """Tell if a step of a line shifts, slices or pads along X."""
    return any(
        isinstance(step.operation, Reduce) and any(of_rows(step.operation.relation, along)) for step in line.steps
    )


def of_rows(relation: AnyRelation, along: Family) -> tuple[bool, bool]:
    """Tell of both sides of a slice, a padding or windows if they are rows along X; few rows are not."""
    dom, cod = sides(relation) or ((), ())
    return any(axis in along for axis in dom), any(axis in along for axis in cod)


def reached(line: Line, along: Family) -> tuple[int, Sequence[Span]]:
    """The most rows beside its own that a block reads, and the rows of slices of few."""
    reach, found = 0, list[Span]()
    for step in line.steps:
        if isinstance(step.operation, Reduce):
            relation = step.operation.relation
            match of_rows(relation, along):
                case True, True:
                    reach += max(map(abs, beside(relation)))
                case True, False:
                    found.append(read(relation, (0, relation.cod.size)))
                case False, True:
                    found.append(read(relation.T, (0, relation.dom.size)))
                case _:  # along other axes
                    pass
    return reach, found


@final
@frozen
class BlockRows:
    """The rows of each array of a line that a block computes: those from `start` to `end` of X are its own.

    `along` is the family of X; the last block has all further rows of longer sets.
    """

    along: Family
    start: int
    end: int

    def own(self, axis: Index) -> Span:
        """The rows of a set of the family that belong to the block."""
        n = axis.size
        return min(self.start, n), n if self.end >= self.along[0].size else min(self.end, n)

    def is_inside(self, reach: int, few: Sequence[Span]) -> bool:
        """Tell if the block and `reach` rows beside it lie within all arrays and off the slices of few rows.

        Such blocks are alike: one line runs for all of them.
        """
        start, end = self.start - reach, self.end + reach
        is_far = all(end < low or high < start for low, high in few)
        return is_far and start > 0 and end < min(axis.size for axis in self.along)

    def axis(self, leaf: Leaf) -> int | None:
        """The place of the axis along X, if there is one."""
        return next((k for k, axis in enumerate(leaf.axes) if axis in self.along), None)

    def spans(self, line: Line) -> list[Spans]:
        """The rows of all slots, from the results back."""
        found: list[list[Span | None]] = [[None] * len(arrays(leaf)) for leaf in line.slots]
        for k in line.outputs:
            found[k] = [hull(a, b) for a, b in zip(found[k], self.owned(line.slots[k]), strict=True)]
        for slot in range(len(line.slots) - 1, -1, -1):
            own = self.owned(line.slots[slot])
            found[slot] = [a if b is None else b for a, b in zip(own, found[slot], strict=True)]
            if slot < line.arity:
                continue
            step = line.steps[slot - line.arity]
            if isinstance(step.operation, ControlFlow):  # all its arrays have the same rows
                found[slot] = [*self._together(line.slots[slot], line.slots[slot], tuple(found[slot]))]
            for a, asked in zip(step.args, self.asked(line, slot, tuple(found[slot])), strict=True):
                found[a] = [hull(x, y) for x, y in zip(found[a], asked, strict=True)]
        return [tuple(of) for of in found]

    def asked(self, line: Line, slot: int, made: Spans) -> list[Spans]:
        """The rows of its operands that a step reads, for rows of its result."""
        step = line.steps[slot - line.arity]
        leaves = [line.slots[a] for a in step.args]
        match step.operation:
            case Pack():
                ends = iter(made)
                return [tuple([next(ends) for _ in arrays(leaf)]) for leaf in leaves]
            case Unpack(k):
                return [tuple([made[0] if j == k else None for j in range(len(arrays(leaves[0])))])]
            case ControlFlow():
                return [self._together(leaf, line.slots[slot], made) for leaf in leaves]
            case AnyLane() if made[0] is None:  # of those rows that other steps read
                return [(None,)]
            case Contract():
                return [
                    (self.looked_up(leaf, made[0]),) if is_place(leaf, self.along) else self._plain(leaf, made[0])
                    for leaf in leaves
                ]
            case Reduce(relation) if of_rows(relation, self.along)[0]:
                (end,) = made
                return [(self.part(relation) if end is None else read(relation, end),)]
            case _:  # each row is computed from the same row, or a total from all
                return [self._plain(leaf, made[0]) for leaf in leaves]

    def part(self, relation: AnyRelation) -> Span:
        """The block's own rows of a slice of few rows."""
        low, high = read(relation, (0, relation.cod.size))
        start, end = self.own(relation.dom)
        low, high = max(low, start), min(high, end)
        return (low, high) if low < high else (start, start)

    def key(self, line: Line, spans: Sequence[Spans]) -> Hashable:
        """The rows of all arrays, counted from the block's first, and of short slices: equal keys mean one line."""
        own = [self.own(axis) for axis in self.along]
        few = list[Span]()
        for slot, step in enumerate(line.steps, line.arity):
            match step.operation:
                case Reduce(relation) if (rows := of_rows(relation, self.along)) == (True, False):
                    first, _ = read(relation, (0, 1))
                    low, high = self.part(relation)
                    few.append((low - first, high - first) if low < high else (0, 0))
                case Reduce(relation) if rows == (False, True) and (made := spans[slot][0]) is not None:
                    low, high = read(relation, made)
                    few += [(low, high), (made[0] - low, 0)] if low < high else [(0, 0)]
                case _:  # the same for all
                    pass
        every = [end for ends in (*spans, tuple(own)) for end in ends if end is not None]
        return tuple([(a - self.start, b - self.start) for a, b in every]), tuple(few)

    def looked_up(self, place: Leaf, end: Span | None) -> Span:
        """The rows among which places are looked up: the block's own for a total, or those of the result."""
        assert place.entry.index is not None
        return self.own(place.entry.index.axes[0]) if end is None else end

    def owned(self, leaf: Leaf) -> Spans:
        """The block's own rows of an array, or of each of a bundle."""
        return tuple([None if (at := self.axis(of)) is None else self.own(of.axes[at]) for of in arrays(leaf)])

    def _plain(self, leaf: Leaf, end: Span | None) -> Spans:
        return tuple([None if span is None else span if end is None else end for span in self.owned(leaf)])

    def _together(self, leaf: Leaf, made: Leaf, ends: Spans) -> Spans:
        """The rows of arrays of control flow, which has the same rows of each set."""
        rows: dict[Index, Span | None] = {}
        for of, end in zip(arrays(made), ends, strict=True):
            at = self.axis(of)
            if at is not None:
                rows[of.axes[at]] = hull(rows.get(of.axes[at]), end)
        own = self.owned(leaf)
        axes = [None if (at := self.axis(of)) is None else of.axes[at] for of in arrays(leaf)]
        return tuple([None if axis is None else rows.get(axis) or span for axis, span in zip(axes, own, strict=True)])


def arrays(leaf: Leaf) -> tuple[Leaf, ...]:
    """The leaves of the arrays of a slot."""
    return leaf.leaves if isinstance(leaf, Bundle) else (leaf,)


def hull(a: Span | None, b: Span | None) -> Span | None:
    """The rows from the first to the last of both; without rows the other ones."""
    if a is None or b is None:
        return b if a is None else a
    if a[0] >= a[1] or b[0] >= b[1]:
        return b if a[0] >= a[1] else a
    return min(a[0], b[0]), max(a[1], b[1])


def is_by_entry(operation: Any, count: int) -> bool:
    """Tell if an operation is the same under more axes: an entry depends on entries at its own place."""
    return operation.partly(1, (True,) * count) is None and operation.lifted(1) is operation


def name_of(step: Step[Any]) -> str:
    """The name of a step's operation."""
    return str(getattr(step.operation, "name", type(step.operation).__name__))
