"""Derivatives under construction: slots of values, arcs between differentials, and facts about both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve

from diff.derive.finite_slopes import marked
from diff.terms.linearization import AnyLinearization, Linearization
from diff.terms.program import AnyProgram, Program
from hilbert.errors import SpaceError
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Literal
from hilbert.program.line.source_line import computed_by
from linmap.net.fold import live_arcs
from linmap.term import wire
from linmap.term.datum import Datum, Ref
from linmap.term.net import Arc, Net

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.control.loop import Loop
    from hilbert.program.line.line import Step


@final
class Tangents:
    """The derivative of a program under construction.

    Every value is bound to a slot of the line that `b` builds, and the wire of its number is its differential. Wires
    inside of a step's derivative are no slots: they are numbered from −1 down.
    """

    def __init__(self, p: AnyProgram) -> None:
        self.p = p
        self.b = Builder(p.slots[: p.arity], fixed=p.line.fixed)
        self.slots = list(range(p.arity))  # slot of p → slot of the line
        self.arcs: list[Arc] = []
        self.claimed = set[int]()  # slots with their arcs: a step may stand already, as the datum of an earlier one
        self.inner: list[Leaf] = []  # of the wires −1, −2, …
        self.finite: dict[int, tuple[int, ...]] = {}  # a slot, and those where it is finite if they are
        self.loops: dict[int, tuple[Loop, tuple[int, ...]]] = {}  # a linear loop's wire: the loop, and what it is given
        self.missing: dict[int, Step[Any]] = {}  # the slots of results without a derivative, and their steps

    def wire(self, leaf: Leaf) -> int:
        """Add a wire inside of a step's derivative; such wires have negative numbers."""
        self.inner.append(leaf)
        return -len(self.inner)

    def datum(self, slot: int) -> Datum:
        """A slot as a datum; constant elements of an index set are known: entries of the derivative depend on them."""
        operation = self.b.operation(slot)
        if isinstance(operation, Literal) and operation.value.leaf.entry.index is not None:
            return operation.value
        return Ref(slot, self.b.slots[slot])

    def claim(self, slot: int) -> bool:
        """Claim a slot for its arcs: False where it has them already, and where its value is discrete."""
        if slot in self.claimed or not self.b.slots[slot].is_field:
            return False
        self.claimed.add(slot)
        return True

    def add(self, results: Sequence[int], arcs: Iterable[Arc]) -> None:
        """Lead the arcs of a step's derivative to its results, unless the same step stood there already."""
        if self.claimed.isdisjoint(results):
            self.arcs += arcs
        self.claimed.update(results)

    def linearization(self) -> AnyLinearization:
        """The program that ends in values and data, and the net of the arcs that are not 0."""
        b, p = self.b, self.p
        outputs = [self.slots[k] for k in p.outputs]
        inputs, ends = ([k for k in some if b.slots[k].is_field] for some in (range(b.arity), outputs))
        arcs = marked(b, self._live(inputs, ends), self.finite, self.loops)
        data = sorted({datum.slot for arc in arcs if isinstance(datum := wire.datum_of(arc.map), Ref)})
        wires = sorted({*inputs, *ends, *[arc.src for arc in arcs], *[arc.dst for arc in arcs]})
        line = b.line([*outputs, *data])
        slot = dict(zip(data, line.outputs[len(outputs) :], strict=True))
        number = {k: i for i, k in enumerate(wires)}
        if any(k != i for moves in (slot, number) for k, i in moves.items()):  # some slots or wires are gone
            arcs = [Arc(wire.at_slots(a.map, slot), number[a.src], number[a.dst]) for a in arcs]
        body = Net(
            p.dom.tangent,
            p.cod.tangent,
            tuple([number[k] for k in inputs]),
            tuple(arcs),
            tuple([number[k] for k in ends]),
            tuple([self.inner[-1 - k] if k < 0 else b.slots[k] for k in wires]),
        )
        value: AnyProgram = Program(p.dom, p.cod, evolve(line, outputs=line.outputs[: len(outputs)]), p.names)
        return Linearization(value, body)

    def _live(self, inputs: Sequence[int], ends: Sequence[int]) -> list[Arc]:
        """The arcs that some input reaches and some output needs; SpaceError for a missing derivative among them."""
        arcs = live_arcs(self.arcs, inputs, ends)
        for arc in arcs if self.missing else ():
            if arc.dst in self.missing:
                raise without_bound(self.missing[arc.dst])
        return arcs


def without_bound(step: Step[Any]) -> SpaceError:
    """The error of the derivative of a loop that may take any number of rounds."""
    error = SpaceError(
        "while_ without at_most has a value and no derivative, for it may take any number of rounds: give it "
        "at_most=X, or take what it computes for a constant by stop_gradient, or write fixed_point or root"
    )
    computed_by(error, step.place)
    return error
