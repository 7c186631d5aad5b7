"""The derivative of what an equation defines (implicit function theorem): the inverse of a partial derivative.

    x = f(x, a):   dx = (id − ∂ₓf)⁻¹ ∂ₐf da
    0 = f(x, a):   dx = −(∂ₓf)⁻¹ ∂ₐf da
    A(a) x = b:    dx = A⁻¹(db − A'(da) x)

Nothing of how the solution was found is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import evolve, frozen

from diff.derive.loop_derivative import NOTHING
from diff.terms.elementwise import Comparison
from hilbert import DirectSum
from hilbert.index.leaf import Bundle
from hilbert.index.spec import Spec
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import TRUTH
from hilbert.program.line.source_line import told
from hilbert.program.transform.emit_loop import emitted
from hilbert.program.transform.lifted_line import equation
from hilbert.program.transform.run_linear_system import under
from hilbert.space.space import type_of
from linmap.net.fold import live_arcs
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc, Net, refs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.derive.tangents import Tangents
    from diff.terms.linearization import AnyLinearization
    from diff.terms.program import AnyProgram
    from hilbert import Type
    from hilbert.arrays.systems.methods import By
    from hilbert.index.index import Index
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line

    Derive = Callable[[Line], AnyLinearization]
    """A line's derivative."""


@final
@frozen
class _Partial:
    """The derivative of a line at some slots of a builder: its net, and the slots of the net's data.

    The references of the net are to slots of a program, where there is one.
    """

    b: Builder
    net: Net
    place: dict[int, int]
    program: AnyProgram | None = None

    @staticmethod
    def at(b: Builder, d: AnyLinearization, args: Sequence[int]) -> _Partial:
        """The derivative d at some slots, its data computed by steps of b."""
        data = [ref.slot for ref in refs(d.body)]
        value = d.program.line.ending(data)
        where = b.inline(value, args)
        return _Partial(b, d.body, {slot: where[k] for slot, k in zip(data, value.outputs, strict=True)}, d.program)

    def inverse(
        self,
        unknowns: int,
        *,
        of: str,
        is_root: bool,
        lanes: int,
        lead: int,
        by: By | None = None,
        positive: bool | None = None,
        signs: Sequence[int] = (),
    ) -> wire.Inverse:
        """The inverse in the first inputs: of ∂ₓf, or of id − ∂ₓf for a fixed point; `of` names what defines it.

        A proof that the matrix is positive is looked for, unless it is said, with the signs of the other inputs.
        """
        b, inputs = self.b, self.net.inputs[:unknowns]
        arcs, outputs, wires = self._of_root(inputs) if is_root else self._of_fixed_point(inputs)
        read = _slots_read(arcs)
        line, arrays = self._data_line(read)
        place = dict(zip(read, line.outputs, strict=True))
        net = _compact(
            _space([wires[w] for w in inputs]), _space([wires[w] for w in outputs]), inputs, arcs, outputs, wires
        )
        if positive is None and self.program is not None:
            positive = self.program.proves_positive(net, (*[0] * unknowns, *signs))
        net = evolve(net, arcs=tuple(Arc(wire.at_slots(a.map, place), a.src, a.dst) for a in net.arcs))
        datum = _reference(b, b.pack(arrays)) if arrays else NOTHING
        return wire.Inverse(net, line, lanes, lead, datum, by, bool(positive), of, told(b.place) if b.place else "")

    def _of_root(self, inputs: Sequence[int]) -> tuple[list[Arc], Sequence[int], Sequence[Leaf]]:
        """∂ₓf: its arcs, outputs and wires."""
        return live_arcs(self.net.arcs, inputs, self.net.outputs), self.net.outputs, self.net.wires

    def _of_fixed_point(self, inputs: Sequence[int]) -> tuple[list[Arc], Sequence[int], Sequence[Leaf]]:
        """id − ∂ₓf: its arcs, outputs and wires."""
        arcs, outputs, wires = self._of_root(inputs)
        first = len(wires)
        kept = [Arc(wire.Same(), w, first + k) for k, w in enumerate(inputs)]
        less = [Arc(wire.Scale(-1.0), w, first + k) for k, w in enumerate(outputs)]
        wires = [*wires, *(wires[w] for w in inputs)]
        return [*arcs, *kept, *less], range(first, len(wires)), wires

    def _data_line(self, read: Sequence[int]) -> tuple[Line, list[int]]:
        """The line that gives the data of arcs, packed as in the builder, and the slots of the arrays that it takes."""
        b = self.b
        parts = [b.unpack(slot) if _is_bundle(b, slot) else (slot,) for slot in (self.place[k] for k in read)]
        arrays = list(dict.fromkeys(k for some in parts for k in some))
        inner = Builder([b.slots[k] for k in arrays])
        at = {k: i for i, k in enumerate(arrays)}
        outputs = [
            inner.pack([at[k] for k in some]) if _is_bundle(b, self.place[slot]) else at[some[0]]
            for slot, some in zip(read, parts, strict=True)
        ]
        return inner.line(outputs), arrays

    def arcs(
        self, captures: Sequence[int], unknowns: int, fresh: Callable[[Leaf], int]
    ) -> tuple[list[Arc], list[int | None]]:
        """The arcs of ∂ₐf from the slots of the captures, and the wires where it ends; None where it is 0."""
        net, b = self.net, self.b
        own = net.inputs[unknowns:]
        wires = dict(zip(own, (k for k in captures if b.slots[k].is_field), strict=True))
        arcs: list[Arc] = []
        for arc in live_arcs(net.arcs, own, net.outputs):
            for w in (arc.src, arc.dst):
                if w not in wires:
                    wires[w] = fresh(net.wires[w])
            arcs.append(Arc(wire.at_slots(arc.map, self.place), wires[arc.src], wires[arc.dst]))
        return arcs, [wires.get(w) for w in net.outputs]


def _space(leaves: list[Leaf]) -> Type:
    return type_of(leaves[0]) if len(leaves) == 1 else DirectSum(tuple(map(type_of, leaves)))


def _reference(b: Builder, slot: int) -> Ref:
    return Ref(slot, b.slots[slot])


def _slots_read(arcs: Sequence[Arc]) -> list[int]:
    """The slots of the data of arcs, each once."""
    data = (wire.datum_of(arc.map) for arc in arcs)
    return list(dict.fromkeys(datum.slot for datum in data if isinstance(datum, Ref)))


def _is_bundle(b: Builder, slot: int) -> bool:
    return isinstance(b.slots[slot], Bundle)


def _compact(
    dom: Type, cod: Type, inputs: Sequence[int], arcs: Sequence[Arc], outputs: Sequence[int], wires: Sequence[Leaf]
) -> Net:
    """A net with the wires that are used only."""
    used = sorted({*inputs, *outputs, *(w for a in arcs for w in (a.src, a.dst))})
    number = {w: k for k, w in enumerate(used)}
    moved = tuple(Arc(a.map, number[a.src], number[a.dst]) for a in arcs)
    ends = (tuple(number[w] for w in some) for some in (inputs, outputs))
    first, last = ends
    return Net(dom, cod, first, moved, last, tuple(wires[w] for w in used))


def inverse(
    b: Builder,
    d: AnyLinearization,
    args: Sequence[int],
    unknowns: int,
    *,
    of: str,
    is_root: bool = True,
    lanes: int = 0,
    lead: int = 0,
    by: By | None = None,
    positive: bool | None = None,
    signs: Sequence[int] = (),
) -> wire.Inverse:
    """(∂ₓf)⁻¹ at some slots, for a step of Newton's; (id − ∂ₓf)⁻¹ for a fixed point."""
    found = _Partial.at(b, d, args)
    return found.inverse(
        unknowns, of=of, is_root=is_root, lanes=lanes, lead=lead, by=by, positive=positive, signs=signs
    )


def undone(
    b: Builder, net: Net, place: dict[int, int], by: By | None = None, *, positive: bool = False
) -> wire.Inverse:
    """The inverse of a net, the data of which are slots of a builder."""
    found = _Partial(b, net, place)
    return found.inverse(len(net.inputs), of="", is_root=True, lanes=0, lead=0, by=by, positive=positive)


def guarded(f: wire.Inverse, datum: Ref) -> wire.Inverse:
    """(f + [¬c] id)⁻¹, with a truth value c behind the data, which are 0 where it is false: there, something is undone.

    Where unknowns and equations are arrays of different shapes it is f⁻¹ as it was.
    """
    line = f.line
    b = Builder([*line.slots[: line.arity], TRUTH], fixed=line.fixed)
    where, c = b.inline(line, range(line.arity)), line.arity
    inputs, outputs, wires = f.body.inputs, f.body.outputs, f.body.wires
    arcs: list[Arc] = []
    for arc in f.body.arcs:
        a, at = arc.map, wire.datum_of(arc.map)
        if isinstance(at, Ref) and isinstance(a, wire.Inverse):
            a = guarded(a, _reference(b, b.pack([*b.unpack(where[at.slot]), c])))
        elif isinstance(at, Ref):
            a = wire.at_slots(a, {at.slot: where[at.slot]})
        arcs.append(evolve(arc, map=a))
    if [wires[k] for k in inputs] == [wires[k] for k in outputs]:
        arcs += [Arc(mask(b, c, wires[k], when=False), k, y) for k, y in zip(inputs, outputs, strict=True)]
    read = _slots_read(arcs)
    made = b.line(read)
    place = dict(zip(read, made.outputs, strict=True))
    arcs = [evolve(arc, map=wire.at_slots(arc.map, place)) for arc in arcs]
    return evolve(f, body=evolve(f.body, arcs=tuple(arcs)), line=made, datum=datum, positive=False)


def mask(
    b: Builder, c: int, leaf: Leaf, *, when: bool = True, free: tuple[bool, bool] = (False, False)
) -> wire.ContractWith:
    """The entries where a condition is `when`, 0 elsewhere; `free` as for the arc."""
    slot = c if when else b.step(Comparison("logical_not"), (c,))
    labels = Spec.pointwise(len(leaf.axes)).left
    return wire.ContractWith(Spec.of(labels[: len(b.slots[c].axes)], labels, labels), 0, _reference(b, slot), free)


def derived(t: Tangents, f: Implicit | Solve, given: Sequence[int], derive: Derive) -> tuple[list[int], list[Arc]]:
    """The slots of the unknowns, and the arcs of their derivative: those of the right side, then the inverse."""
    b, n = t.b, f.unknowns
    made = emitted(b, f, given)
    sides: Sequence[int] = ()
    many: tuple[Index, ...] = ()
    if isinstance(f, Implicit):
        partial = _Partial.at(b, derive(equation(f)), [*made, *given[n:]])
        inverse = partial.inverse(n, of=f.of, is_root=f.is_root, lanes=len(f.lanes), lead=0, signs=f.signs)
        arcs, ends = partial.arcs(given[n:], n, t.wire)
    else:
        sides, data, many = given[: len(f.line.outputs)], given[len(f.line.outputs) :], f.many
        zeros = [b.number(0.0, leaf) for leaf in f.line.slots[:n]]
        matrix = _Partial.at(b, derive(f.line), [*zeros, *data])
        inverse = matrix.inverse(n, of=f.of, is_root=True, lanes=f.lanes, lead=len(many), by=f.by, positive=f.positive)
        line = under(f.line, f.many, n) if f.many else f.line
        arcs, ends = _Partial.at(b, derive(line), [*made, *data]).arcs(data, n, t.wire)
    right, unknowns = inverse.given.under(many), inverse.made.under(many)
    terms = [(k, w) for k, w in enumerate(ends) if w is not None]  # which array of the right side has which wire
    if isinstance(f, Solve) or f.is_root:
        negative = [(k, t.wire(right.leaves[k])) for k, _ in terms]
        arcs += [Arc(wire.Scale(-1.0), w, minus) for (_, w), (_, minus) in zip(terms, negative, strict=True)]
        terms = negative
    before, after = t.wire(right), t.wire(unknowns)
    arcs += [Arc(wire.Into(k, inverse.given), w, before) for k, w in (*enumerate(sides), *terms)]
    arcs.append(Arc(inverse, before, after))
    return made, [*arcs, *(Arc(wire.OutOf(k), after, slot) for k, slot in enumerate(made))]
