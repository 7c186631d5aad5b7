"""The line of a block with its halo: the steps of a pass on the rows that the block computes of each array.

An array has the rows that are asked of it; a step that needs fewer takes a part of them, which is a view. Steps that
need no others are `resized` to another index set.

>>> import numpy as np
>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.line import Line, Step
>>> from hilbert.program.run.run import Runner
>>> from hilbert.relation import band
>>> X = Fin.of(6)
>>> leaf = Leaf(Entry("float64"), (X,))
>>> line = Line((leaf, leaf), (Step(Reduce(band(X, 1, 1), 0), (0,)),), (1,))
>>> rows = BlockRows((X,), 2, 4)
>>> spans = rows.spans(line)
>>> spans[0]
((1, 5),)
>>> Runner(block_line(line, rows, spans)).run([np.arange(1.0, 5.0)])[0].tolist()
[6.0, 9.0]
"""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert.index.index import Fin
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.blocks.halos import BlockRows, arrays, hull, of_rows, read
from hilbert.program.blocks.places_along import EXTREMES, is_extreme, is_place
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Unpack
from hilbert.program.line.choice import AnyLane, Fill
from hilbert.program.line.constant import filled
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import FOUND, Along, Contract, Literal, Reduce
from hilbert.relation.function_forms import Converse, Inclusion, Sliding, Window
from hilbert.relation.plain_forms import Full

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hilbert.index.index import Index
    from hilbert.program.blocks.halos import Span, Spans
    from hilbert.relation.relation import AnyRelation

    Sets = Mapping[Index, Index]


class Block:
    """The elements of X in a block: a name of their own, that no other axis of the block's arrays has."""


def block_line(line: Line, rows: BlockRows, spans: Sequence[Spans]) -> Line:
    """The line on the rows of a block: its inputs have those that `spans` says."""
    return _BlockLine(line, rows, spans).made()


class _BlockLine:
    """The steps of a block, one after the other."""

    def __init__(self, line: Line, rows: BlockRows, spans: Sequence[Spans]) -> None:
        self.line, self.rows, self.spans = line, rows, spans
        self.b = Builder([self.leaf(k) for k in range(line.arity)], fixed=line.fixed)
        self.where = list(range(line.arity))

    def made(self) -> Line:
        for slot, step in enumerate(self.line.steps, self.line.arity):
            self.b.place = step.place
            self.where.append(self.step(slot, step))
        return self.b.line([self.taken(k, self.rows.owned(self.line.slots[k])) for k in self.line.outputs])

    def leaf(self, slot: int) -> Leaf:
        """The leaf of a slot with the rows that it has."""
        leaf = self.line.slots[slot]
        if isinstance(leaf, Bundle):
            ends = zip(leaf.leaves, self.spans[slot], strict=True)
            return Bundle(tuple([resized_leaf(of, self.sets([of], (end,))) for of, end in ends]))
        made = resized_leaf(leaf, self.sets([leaf], self.spans[slot]))
        (end,) = self.spans[slot]
        if end is not None and is_place(leaf, self.rows.along):
            assert leaf.entry.index is not None
            return resized_place(made, {leaf.entry.index.axes[0]: _rows(end)})
        return made

    def sets(self, leaves: Sequence[Leaf], spans: Spans) -> dict[Index, Index]:
        """For each set along X the rows of a block."""
        found: dict[Index, Index] = {}
        for leaf, end in zip(leaves, spans, strict=True):
            at = self.rows.axis(leaf)
            if at is not None and end is not None:
                found[leaf.axes[at]] = _rows(end)
        return found

    def taken(self, slot: int, spans: Spans) -> int:
        """A slot with some of its rows only; a bundle has those that are asked."""
        (have, *more), (want, *_), made = self.spans[slot], spans, self.where[slot]
        at = self.rows.axis(self.line.slots[slot])
        if more or isinstance(self.line.slots[slot], Bundle) or at is None or have is None or want is None:
            return made
        return self.cut(made, at, have, want)

    def cut(self, slot: int, at: int, have: Span, want: Span) -> int:
        """The rows that are wanted of some."""
        if have[1] - have[0] == want[1] - want[0]:
            return slot
        first = want[0] - have[0] if want[0] < want[1] else 0
        return self.b.step(Reduce(Converse(Inclusion(_rows(want), _rows(have), first)), at), (slot,))

    def step(self, slot: int, step: Step[Any]) -> int:
        """A step on the rows of a block."""
        line, b, made = self.line, self.b, self.spans[slot]
        asked = self.rows.asked(line, slot, made)
        args = [self.taken(a, want) for a, want in zip(step.args, asked, strict=True)]
        leaf = line.slots[slot]
        match step.operation:
            case Reduce(relation, at) if any(of_rows(relation, self.rows.along)):
                return self.reduced(relation, at, slot, args[0], asked[0][0])
            case Along(name) if name in EXTREMES and _is_empty(asked[0][0]):
                return b.number(0.0, leaf)  # nothing is found, and all else is greater
            case Contract() if (name := self.extreme(step)) and any(_is_empty(end) for (end,) in asked):
                return b.number(-math.inf if name == "argmax" else math.inf, leaf)
            case Contract() if any(is_place(line.slots[a], self.rows.along) for a in step.args) and any(
                _is_empty(end) for (end,) in asked
            ):
                return b.number(0.0, self.leaf(slot))  # no place is among no rows
            case AnyLane(_, when) if made[0] is None:
                return b.step(step.operation, (self.taken(step.args[0], (self.filled(step.args[0], when),)),))
            case Unpack(k):  # control flow has rows that other arrays of it need
                (want,), have, here = made, self.spans[step.args[0]][k], self.rows.axis(leaf)
                whole = b.step(step.operation, tuple(args))
                return whole if here is None or have is None or want is None else self.cut(whole, here, have, want)
            case _:  # other sizes
                pass
        leaves = [of for a in (*step.args, slot) for of in arrays(line.slots[a])]
        sets = self.sets(leaves, tuple([end for ends in (*asked, made) for end in ends]))
        return b.step(resized_step(step.operation, leaf, sets), tuple(args))

    def filled(self, condition: int, when: bool) -> Span | None:  # noqa: FBT001 - as in `Fill`
        """The rows that may be skipped by a condition: those that are filled where it is not `when`."""
        found: Span | None = None
        for slot, step in enumerate(self.line.steps, self.line.arity):
            if isinstance(step.operation, Fill) and step.args[0] == condition and step.operation.when == when:
                found = hull(found, self.spans[slot][0])
        return found

    def extreme(self, step: Step[Any]) -> str:
        """The function that finds the places of entries that a contraction gives, if it does."""
        for of, place in (step.args, step.args[::-1]):
            if place >= self.line.arity:
                by = self.line.steps[place - self.line.arity].operation
                if isinstance(by, Along) and by.name in EXTREMES:
                    return by.name * is_extreme(self.line, place, of, step.operation.spec)
        return ""

    def reduced(self, relation: AnyRelation, at: int, slot: int, arg: int, asked: Span | None) -> int:
        """The rows of a slice, of an array that is padded, or of windows."""
        leaf, (made,) = self.leaf(slot), self.spans[slot]
        if asked is None:  # few rows, all of them
            assert made is not None
            asked = read(relation, made)
            if not _is_empty(asked) and relation.dom.axes:
                arg = self.by(Converse(Inclusion(_rows(asked), relation.dom, asked[0])), at, arg)
        if made is None:
            first, _ = read(relation, (0, 1))
            return self.padded(arg, at, asked, asked[0] - first, relation.cod, leaf)
        (a, b), (c, d) = made, asked
        match relation:
            case Converse(Inclusion()):
                return arg
            case Inclusion(dom, _, first, _):
                return self.padded(arg, at, asked, c + first - a, _rows(made), leaf, of=dom)
            case Window(_, _, width, _, first, dilation) if c < d:
                return self.by(Window(_rows(asked), _rows(made), width, 1, first + a - c, dilation), at, arg)
            case Converse(Sliding(dom, _, _, _, dilation)):
                return self.by(Converse(Sliding(_rows(made) * dom.axes[1], _rows(asked), 1, 0, dilation)), at, arg)
            case Sliding(dom, _, _, first, dilation) if c < d:
                whole = c + first, d + first + dilation * (dom.axes[1].size - 1)
                arg = self.by(Sliding(_rows(asked) * dom.axes[1], _rows(whole), 1, 0, dilation), at, arg)
                both = max(a, whole[0]), min(b, whole[1])
                return self.padded(self.cut(arg, at, whole, both), at, both, both[0] - a, _rows(made), leaf)
            case _:  # windows of no rows
                return self.b.number(0.0, leaf)

    def padded(self, slot: int, at: int, span: Span, first: int, to: Index, leaf: Leaf, of: Any = None) -> int:
        """Some rows as those from `first` on of more; the rest is 0. Of is 𝟏 where the rows have no axis."""
        if _is_empty(span):
            return self.b.number(0.0, leaf)
        if not to.axes:  # the one row without its axis
            return self.by(Converse(Inclusion(to, _rows(span), 0)), at, slot)
        if of is not None and not of.axes:
            return self.by(Inclusion(of, to, first), at, slot)
        if to.size == span[1] - span[0]:
            return slot if to == _rows(span) else self.by(Inclusion(_rows(span), to, 0), at, slot)
        return self.by(Inclusion(_rows(span), to, first), at, slot)

    def by(self, relation: AnyRelation, at: int, slot: int) -> int:
        return self.b.step(Reduce(relation, at), (slot,))


def _rows(span: Span) -> Fin[Any]:
    return Fin(Block, span[1] - span[0])


def _is_empty(span: Span | None) -> bool:
    return span is not None and span[0] >= span[1]


# --- lines and steps over other index sets: their facts say that they allow it ---


def resized(line: Line, sets: Sets, places: Sequence[int] = ()) -> Line:
    """The line whose arrays have other axes in place of some.

    The inputs `places` are elements of such a set, and become elements of the other, as what is found along it does.
    """
    steps = [
        Step(resized_step(step.operation, made, sets), step.args, step.place)
        for step, made in zip(line.steps, line.slots[line.arity :], strict=True)
    ]
    slots, found = [resized_leaf(leaf, sets) for leaf in line.slots], {*places}
    for k, step in enumerate(line.steps, line.arity):
        if isinstance(step.operation, Along) and step.operation.name in FOUND:
            found.add(k)
    for k in found:
        slots[k] = resized_place(slots[k], sets)
    return Line(tuple(slots), tuple(steps), line.outputs, line.fixed)


def resized_set(of: Index, sets: Sets) -> Any:
    """An index set with other factors."""
    axes: list[Any] = [sets.get(axis, axis) for axis in of.axes]
    return functools.reduce(operator.mul, axes) if any(axis in sets for axis in of.axes) else of


def resized_leaf(of: Leaf, sets: Sets) -> Leaf:
    """A leaf with other axes."""
    if isinstance(of, Bundle):
        return Bundle(tuple([resized_leaf(part, sets) for part in of.leaves]))
    return Leaf(of.entry, tuple([sets.get(axis, axis) for axis in of.axes]))


def resized_place(of: Leaf, sets: Sets) -> Leaf:
    """A leaf whose entries are elements of another set."""
    assert of.entry.index is not None
    return Leaf(evolve(of.entry, index=resized_set(of.entry.index, sets)), of.axes)


def resized_step(of: Any, made: Leaf, sets: Sets) -> Any:
    """An operation on arrays with other axes, that made arrays with the axes of a leaf."""
    match of:
        case Literal(value) if value.number is not None and not isinstance(made, Bundle):
            return Literal(filled(value.number, resized_leaf(made, sets)))
        case Reduce(Full(dom, cod), at):
            return Reduce(Full(resized_set(dom, sets), resized_set(cod, sets)), at)
        case Reduce(Inclusion(dom, cod, 0, 1), at) if dom.size == cod.size:
            return Reduce(Inclusion(resized_set(dom, sets), resized_set(cod, sets), 0), at)
        case Reduce(Converse(Inclusion(dom, cod, 0, 1)), at) if dom.size == cod.size:
            return Reduce(Converse(Inclusion(resized_set(dom, sets), resized_set(cod, sets), 0)), at)
        case Along(name, along, at):
            return Along(name, resized_set(along, sets), at)
        case Loop() | While():
            return evolve(of, body=resized(of.body, sets))
        case Cond(then, otherwise):
            return Cond(resized(then, sets), resized(otherwise, sets))
        case Implicit(lanes=lanes):
            return evolve(of, lanes=tuple([(resized_set(axis, sets), varies) for axis, varies in lanes]))
        case Solve(many=many):
            return evolve(of, line=resized(of.line, sets), many=tuple([resized_set(axis, sets) for axis in many]))
        case _:  # the operation has no index set in it
            return of
