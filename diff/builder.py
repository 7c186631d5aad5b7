"""Programs under construction: steps are appended, checked, and shared where they are the same."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from diff.term import Elementwise, Literal, Program, Step
from hilbert import Bool, SpaceError, Type, Unit
from hilbert.relation import Full
from hilbert.space import Leaf
from linmap.net import wire
from linmap.term.datum import Const, Datum, Ref, filled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from diff.term import Operation
    from hilbert.index import Index
    from hilbert.spec import Spec
    from linmap.term.nodes import Net


class Builder:
    """Appends steps; the same step on the same slots is one slot.

    `fold` propagates numbers while derivatives are applied: 1·x is x, a filled array times x is k·x; x·y is y·x then.
    """

    def __init__(self, inputs: Sequence[Leaf], *, fold: bool = False) -> None:
        self.slots: list[Leaf] = list(inputs)
        self.steps: list[Step] = []
        self.arity = len(self.slots)
        self.fold = fold
        self.traced = False  # what the body of a traced function computed is complete
        self._known: dict[Step, int] = {}

    def emit(self, operation: Operation, args: tuple[int, ...], leaf: Leaf) -> int:
        """The slot of a step."""
        if self.traced:
            msg = f"an expression is used after its function was traced (a step into {leaf}): pass a vector instead"
            raise SpaceError(msg)
        step = Step(operation, args)
        found = self._known.get(step)
        if found is None:
            found = self._known[step] = len(self.slots)
            self.steps.append(step)
            self.slots.append(leaf)
        return found

    def literal(self, value: Const) -> int:
        """A constant."""
        return self.emit(Literal(value), (), value.leaf)

    def number(self, k: float, leaf: Leaf) -> int:
        """The constant with k in every entry."""
        return self.literal(filled(k, leaf))

    def filling(self, slot: int) -> float | None:
        """The number that fills a slot, if it is a literal made of one."""
        if slot < self.arity:
            return None
        operation = self.steps[slot - self.arity].operation
        return operation.value.number if isinstance(operation, Literal) else None

    def elementwise(self, p: Elementwise[Any, Any], *args: int) -> int:
        """p, element by element."""
        leaf = self.slots[args[0]]
        for k in args[1:]:
            if self.slots[k] != leaf:
                msg = f"{p.name} needs arguments of one space, not of {leaf} and {self.slots[k]}"
                raise SpaceError(msg)
        return self.emit(p, args, _image(p, leaf))

    def contract(self, spec: Spec, left: int, right: int) -> int:
        """A labelled contraction."""
        leaf = wire.product(spec, self.slots[left], self.slots[right])
        if self.fold and not spec.contracted:
            for k, other in ((left, right), (right, left)):
                number = self.filling(k)
                if number is not None and self.slots[other] == leaf and _in_order(spec, filled_left=k == left):
                    return self.scale(number, other)
        if self.fold:  # v ⋄ w is w ⋄ v with the labels exchanged
            found = self._known.get(Step(wire.Contract(spec.mirrored), (right, left)))
            if found is not None:
                return found
        return self.emit(wire.Contract(spec), (left, right), leaf)

    def scale(self, k: float, slot: int) -> int:
        """k · slot."""
        if self.fold:
            if k == 1.0:
                return slot
            number = self.filling(slot)
            if number is not None:
                return self.number(k * number, self.slots[slot])
            if slot >= self.arity and isinstance(inner := self.steps[slot - self.arity].operation, wire.Scale):
                return self.scale(k * inner.k, self.steps[slot - self.arity].args[0])
        return self.emit(wire.Scale(k), (slot,), self.slots[slot])

    def apply(self, f: wire.Unary, slot: int) -> int:
        """A linear step."""
        if isinstance(f, wire.Scale):
            return self.scale(f.k, slot)
        leaf = wire.image(f, self.slots[slot])
        if self.fold:
            number = self.filling(slot)
            if number is not None and isinstance(f, wire.Reduce) and isinstance(f.relation, Full):
                return self.number(number * f.relation.dom.size, leaf)
        return self.emit(f, (slot,), leaf)

    def add(self, a: int, b: int) -> int:
        """a + b."""
        if self.slots[a] != self.slots[b]:
            msg = f"cannot add {self.slots[a]} and {self.slots[b]}: both must be in one space"
            raise SpaceError(msg)
        if self.fold and a == b:
            return self.scale(2.0, a)
        return self.emit(wire.Add(), (a, b), self.slots[a])

    def rep(self, slot: int, axes: tuple[Index, ...]) -> int:
        """The slot replicated over more axes in front: a view."""
        for axis in reversed(axes):
            slot = self.apply(wire.Reduce(Full(Unit(), axis), 0), slot)
        return slot

    def step(self, operation: Operation, args: tuple[int, ...]) -> int:
        """Any operation on slots of this builder."""
        match operation:
            case Literal(value):
                return self.literal(value)
            case Elementwise():
                return self.elementwise(operation, *args)
            case wire.Contract(spec):
                return self.contract(spec, *args)
            case wire.Add():
                return self.add(*args)
            case _:
                return self.apply(operation, *args)

    def inline(self, p: Program[Any, Any], args: Iterable[int]) -> list[int]:
        """Copy a program's steps on these argument slots; the result tells where each of its slots went."""
        where = list(args)
        leaves = iter(p.slots[p.arity :])
        for step in p.steps:
            where.append(self.emit(step.operation, tuple([where[k] for k in step.args]), next(leaves)))
        return where

    def apply_net(self, body: Net, args: Sequence[int], where: Sequence[int]) -> list[int]:
        """Apply an open linear map to slots: a section on a reference is the bilinear step itself.

        Slot `where[k]` holds what the body's reference k points to.
        """
        value: dict[int, int] = {}

        def put(w: int, slot: int) -> None:
            value[w] = self.add(value[w], slot) if w in value else slot

        def at(datum: Datum) -> int:
            if not isinstance(datum, Ref):
                return self.literal(datum)
            if datum.slot >= len(where):
                msg = f"an open map {body.dom} ⊸ {body.cod} is no function: close it with .at(point)"
                raise SpaceError(msg)
            return where[datum.slot]

        for w, slot in zip(body.inputs, args, strict=True):
            put(w, slot)
        for arc in body.arcs:
            x = value.get(arc.src)
            if x is None:
                continue  # 0
            match arc.map:
                case wire.Same():
                    put(arc.dst, x)
                case wire.Section(spec, 0, datum):
                    put(arc.dst, self.contract(spec, at(datum), x))
                case wire.Section(spec, _, datum):
                    put(arc.dst, self.contract(spec, x, at(datum)))
                case linear:
                    put(arc.dst, self.apply(linear, x))
        return [value[w] if w in value else self.number(0.0, body.wires[w]) for w in body.outputs]

    def build(self, dom: Type, outputs: Iterable[int], cod: Type, names: tuple[str, ...] = ()) -> Program[Any, Any]:
        """The program, without steps that nothing needs."""
        outputs = tuple(outputs)
        live = bytearray(len(self.slots))
        for k in outputs:
            live[k] = 1
        for k in range(len(self.steps) - 1, -1, -1):
            if live[self.arity + k]:
                for a in self.steps[k].args:
                    live[a] = 1
        where = list(range(self.arity)) + [0] * len(self.steps)
        steps: list[Step] = []
        slots = self.slots[: self.arity]
        for k, step in enumerate(self.steps):
            if live[self.arity + k]:
                where[self.arity + k] = len(slots)
                steps.append(Step(step.operation, tuple(where[a] for a in step.args)))
                slots.append(self.slots[self.arity + k])
        return Program(dom, cod, tuple(steps), tuple(where[k] for k in outputs), tuple(slots), names)


@cache
def _image(p: Elementwise[Any, Any], leaf: Leaf) -> Leaf:
    """The leaf of p's result; raises SpaceError for entries that p does not apply to."""
    due = p.dom.leaves[0]
    if leaf.is_field != due.is_field or leaf.kind != due.kind:
        msg = f"{p.name} applies to entries of {due}, not of {leaf.base}"
        raise SpaceError(msg)
    return Leaf(Bool, leaf.axes) if p.cod == Bool else leaf


def _in_order(spec: Spec, *, filled_left: bool) -> bool:
    return (spec.right if filled_left else spec.left) == spec.out


def _list(leaves: Iterable[Leaf]) -> str:
    return " and ".join(sorted(map(str, leaves)))
