"""The derivative of a loop: the body is derived once, and what its derivative reads of a round is kept for all rounds.

What is the same in all rounds is computed outside; a slice of a stack that the loop is given is there already; the rest
is one more stack each. What follows by arithmetic from what is kept is computed again, not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.terms.elementwise import Elementwise
from hilbert.arrays.kernels.library import Arrays
from hilbert.index.leaf import Bundle
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack
from hilbert.program.line.constant import Const
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import Add, Contract, Literal, Scale
from hilbert.program.transform.emit_loop import emitted
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc, Net, refs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from diff.derive.tangents import Tangents
    from diff.terms.linearization import AnyLinearization


NOTHING = Const(Arrays(), Bundle(()), ("nothing", 0, 0))
"""The data of a linear loop that needs none."""


class LoopDerivative:
    """A loop that keeps what its derivative needs, and the linear loop that reads it."""

    def __init__(self, loop: Loop, d: AnyLinearization) -> None:
        self.loop, self.line, self.net = loop, d.program.line, d.body
        self.whole = loop.states + loop.shared
        self.data = [ref.slot for ref in refs(d.body)]
        self.fixed = self._fixed()
        self.kept: dict[int, None] = {}  # the slots whose values in each round are kept
        self.again = set[int]()  # those that follow from what is kept
        wanted = list(self.data)
        for slot in wanted:  # grows while it is read
            if self._is_bundle(slot):  # of a loop inside: kept array by array
                self.again.add(slot)
                wanted += self.line.steps[slot - self.line.arity].args
            elif not self._is_there(slot) and not self._follows(slot):
                self.kept[slot] = None

    def _fixed(self) -> bytearray:
        """The slots that are the same in all rounds."""
        line, c = self.line, self.loop.states
        found = bytearray(len(line.slots))
        for k in range(c, self.whole):
            found[k] = 1
        for slot, step in enumerate(line.steps, line.arity):
            found[slot] = all(found[a] for a in step.args)
        return found

    def _is_bundle(self, slot: int) -> bool:
        return slot >= self.line.arity and isinstance(self.line.steps[slot - self.line.arity].operation, Pack)

    def _is_there(self, slot: int) -> bool:
        """Tell if a slot need not be kept: its value is the same in all rounds, or a slice of a given stack."""
        if self.loop.again and slot >= self.line.arity:
            return _is_literal(self.line, slot)
        return bool(self.fixed[slot]) or self.whole <= slot < self.line.arity

    def _follows(self, slot: int) -> bool:
        """Tell if a slot follows by arithmetic from slots that are there or kept."""
        line, found, todo = self.line, set[int](), [slot]
        while todo:
            k = todo.pop()
            if k in found or k in self.kept or k in self.again or self._is_there(k):
                continue
            if k < line.arity and self.loop.again:
                self.kept[k] = None
                continue
            if k < line.arity or not (self.loop.again or _is_arithmetic(line.steps[k - line.arity])):
                return False
            found.add(k)
            todo += line.steps[k - line.arity].args
        self.again |= found
        return True

    def emitted(self, b: Builder, given: Sequence[int]) -> tuple[list[int], wire.Recur]:
        """The slots of what the loop gives, and the linear loop, whose datum is a bundle of slots."""
        loop, line = self.loop, self.line
        body = line.ending([*line.outputs, *self.kept])
        count = len(line.outputs)
        made = emitted(b, Loop(body, loop.index, loop.states, loop.shared, loop.reverse, loop.again, loop.names), given)
        outside = {k: given[k] for k in range(loop.states, self.whole)}
        needed = self._needed()
        for slot, step in enumerate(line.steps, line.arity):
            if needed[slot] and self.fixed[slot] and slot not in self.again:
                outside[slot] = b.step(step.operation, tuple(outside[a] for a in step.args))
        stacks = dict(zip(self.kept, made[count:], strict=True)) | {k: given[k] for k in range(self.whole, line.arity)}
        reads = self._reads()
        same = [k for k in outside if k in reads and not _is_literal(line, k)]
        rows = [k for k in stacks if k in reads]
        round_, place = self._round(same, rows, reads)
        arcs = tuple(Arc(wire.at_slots(a.map, place), a.src, a.dst) for a in self.net.arcs)
        net = Net(self.net.dom, self.net.cod, self.net.inputs, arcs, self.net.outputs, self.net.wires)
        data = [*(outside[k] for k in same), *(stacks[k] for k in rows)]
        states = sum(leaf.is_field for leaf in line.slots[: loop.states])
        fed = sum(leaf.is_field for leaf in line.slots[loop.states : self.whole])
        datum = Ref(packed := b.pack(data), b.slots[packed]) if data else NOTHING
        linear = wire.Recur(
            net, round_, loop.index, states, fed, 0, len(same), loop.reverse, 0, datum, again=loop.again
        )
        return made[:count], linear

    def _needed(self) -> bytearray:
        """The slots that the data are, or are computed from outside, or again."""
        line = self.line
        needed = bytearray(len(line.slots))
        for k in self.data:
            needed[k] = 1
        for k in range(len(line.slots) - 1, line.arity - 1, -1):
            if needed[k] and (self.fixed[k] or k in self.again):
                for a in line.steps[k - line.arity].args:
                    needed[a] = 1
        return needed

    def _reads(self) -> set[int]:
        """The slots that a round of the linear loop reads: as a datum, or to compute a slot again."""
        line = self.line
        return {*self.data, *(a for k in self.again for a in line.steps[k - line.arity].args)} - self.again

    def _round(self, same: list[int], rows: list[int], reads: set[int]) -> tuple[Line, dict[int, int]]:
        """The line of a round, on the values that are kept, and the slots of the data in it."""
        line = self.line
        b = Builder([line.slots[k] for k in (*same, *rows)])
        where = {k: at for at, k in enumerate((*same, *rows))}
        for slot, step in enumerate(line.steps, line.arity):
            if slot in where:
                continue
            if slot in self.again or (_is_literal(line, slot) and slot in reads):
                where[slot] = b.step(step.operation, tuple(where[a] for a in step.args))
        made = b.line([where[k] for k in self.data])
        return made, dict(zip(self.data, made.outputs, strict=True))


def _is_literal(line: Line, slot: int) -> bool:
    return slot >= line.arity and isinstance(line.steps[slot - line.arity].operation, Literal)


def _is_arithmetic(step: Step[Any]) -> bool:
    """Tell if a step costs no more than reading its result."""
    match step.operation:
        case Scale() | Add() | Literal():
            return True
        case Contract(spec):
            return not spec.contracted and spec.left == spec.right == spec.out
        case Elementwise(name):
            return name == "square"
        case _:  # one question: the result of any other step is kept
            return False


def derived(t: Tangents, loop: Loop, given: Sequence[int], d: AnyLinearization) -> tuple[list[int], list[Arc]]:
    """The slots of the results of a loop, and the arcs of its derivative; `d` is the derivative of its body."""
    b = t.b
    made, linear = LoopDerivative(loop, d).emitted(b, given)
    before, after = t.wire(linear.given), t.wire(linear.made)
    t.loops[after] = loop, tuple(given)
    flowing = [k for k in given if b.slots[k].is_field]
    results = [k for k in made if b.slots[k].is_field]
    arcs = [Arc(wire.Into(j, linear.given), k, before) for j, k in enumerate(flowing)]
    arcs.append(Arc(linear, before, after))
    return made, [*arcs, *(Arc(wire.OutOf(j), after, k) for j, k in enumerate(results))]


def derived_without_bound(t: Tangents, step: Step[Any], given: Sequence[int]) -> tuple[list[int], list[Arc]]:
    """The slots of the results of a loop without a bound, marked as missing a derivative, and arcs to these results."""
    b = t.b
    made = emitted(b, step.operation, given)
    starts, ends = ([k for k in some if b.slots[k].is_field] for some in (given, made))
    t.missing |= dict.fromkeys(ends, step)
    return made, [Arc(wire.Same(), k, y) for y in ends for k in starts]
