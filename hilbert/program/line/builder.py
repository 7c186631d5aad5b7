"""Lines under construction: steps are appended, checked, and shared where they are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.errors import SpaceError
from hilbert.index.index import Unit
from hilbert.index.leaf import Bundle
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.constant import Const, filled
from hilbert.program.line.line import Line, Step, pruned
from hilbert.program.line.operation import Add, Captured, Contract, Literal, Reduce, Scale
from hilbert.program.line.step_operation import Operation
from hilbert.relation import Full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert.index.index import Index
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec
    from hilbert.program.line.operation import Unary
    from hilbert.program.line.source_line import Place


class Builder:
    """Appends steps; the same step on the same slots is one slot.

    `fold` propagates numbers while derivatives are applied: 1·x is x, a filled array times x is k·x; x·y is y·x then.
    A line with a `fixed` one in it is fixed.
    """

    def __init__(self, inputs: Sequence[Leaf], *, fold: bool = False, fixed: bool = False) -> None:
        self.slots: list[Leaf] = list(inputs)
        self.steps: list[Step[Any]] = []
        self.arity = len(self.slots)
        self.fold, self.fixed = fold, fixed
        self.traced = False  # the body of a traced function is complete
        self.came: Sequence[Place | None] = ()  # the places of the operands of a step, for the inputs of its body
        self.inner: Builder | None = None  # the body of a step that is being traced, while it is
        self.watch: Callable[[], Place | None] | None = None  # tells the user's line, while a function is traced
        self.place: Place | None = None  # the place of the steps that are made now
        self.entered: dict[int, tuple[Any, tuple[Const, ...]]] = {}  # vectors and their constants, by the vectors' ids
        self._known: dict[tuple[Operation, tuple[int, ...]], int] = {}

    def emit(self, operation: Operation, args: tuple[int, ...], leaf: Leaf) -> int:
        """The slot of a step, a new one unless the same step is there."""
        if self.traced:
            msg = f"an expression is used after its function was traced (a step into {leaf}): pass a vector instead"
            raise SpaceError(msg)
        new = len(self.slots)
        found = self._known.setdefault((operation, args), new)
        if found == new:
            self.steps.append(Step(operation, args, self.place if self.watch is None else self.watch()))
            self.slots.append(leaf)
        return found

    def made(self, slot: int) -> Place | None:
        """The place of the step that made a slot's value, if known; for a body's input that of its operand outside."""
        return self.steps[slot - self.arity].place if slot >= self.arity else dict(enumerate(self.came)).get(slot)

    @property
    def innermost(self) -> Builder:
        """The line of the body that is being traced inside, if there is one."""
        b = self
        while b.inner is not None:
            b = b.inner
        return b

    def seen(self, slots: tuple[int, ...]) -> tuple[int, ...]:
        """The slots that stand for these in the innermost body that is being traced: each body on the way captures."""
        b = self
        while b.inner is not None:
            b, leaves = b.inner, [b.slots[k] for k in slots]
            slots = tuple([b.emit(Captured(k), (), leaf) for k, leaf in zip(slots, leaves, strict=True)])
        return slots

    def body(self, outputs: Sequence[int]) -> tuple[Line, list[int]]:
        """A complete body as a line, and the slots outside that it has captured: inputs behind its own."""
        operations = [step.operation for step in self.steps]
        found = {k: f.slot for k, f in enumerate(operations, self.arity) if type(f) is Captured}
        inputs = [*range(self.arity), *found]
        where = {k: at for at, k in enumerate(inputs)}
        b = Builder([self.slots[k] for k in inputs], fixed=self.fixed)
        for slot, step in enumerate(self.steps, self.arity):
            if slot not in found:
                b.place = step.place
                where[slot] = b.emit(step.operation, tuple([where[a] for a in step.args]), self.slots[slot])
        return b.line(where[k] for k in outputs), list(found.values())

    def forget(self, slot: int) -> None:
        """Replace the constant in a slot that nothing reads by the number 0, so that its memory is freed."""
        step = self.steps[slot - self.arity]
        self._known.pop((step.operation, step.args), None)
        self.steps[slot - self.arity] = Step(Literal(filled(0.0, self.slots[slot])), ())

    def operation(self, slot: int) -> Operation | None:
        """The operation of the step into a slot; None for an input."""
        return None if slot < self.arity else self.steps[slot - self.arity].operation

    def literal(self, value: Const) -> int:
        """A constant; that of a bundle is packed of constants."""
        if isinstance(value.leaf, Bundle):
            parts = enumerate(zip(value.array, value.leaf.leaves, strict=True))
            return self.pack([self.literal(Const(a, leaf, ("part", k, *value.key))) for k, (a, leaf) in parts])
        return self.emit(Literal(value), (), value.leaf)

    def number(self, k: float, leaf: Leaf) -> int:
        """The constant with k in every entry."""
        return self.literal(filled(k, leaf))

    def filling(self, slot: int) -> float | None:
        """The number that fills a slot, if it is a literal made of one."""
        operation = self.operation(slot)
        return operation.value.number if isinstance(operation, Literal) else None

    def contract(self, spec: Spec, left: int, right: int) -> int:
        """A labelled contraction."""
        leaf = Contract(spec).image(self.slots[left], self.slots[right])
        if self.fold and not spec.contracted:
            for k, other in ((left, right), (right, left)):
                number = self.filling(k)
                if number is not None and self.slots[other] == leaf and _in_order(spec, filled_left=k == left):
                    return self.scale(number, other)
        if self.fold:  # v ⋄ w is w ⋄ v with the labels exchanged
            found = self._known.get((Contract(spec.mirrored), (right, left)))
            if found is not None:
                return found
        return self.emit(Contract(spec), (left, right), leaf)

    def scale(self, k: float, slot: int) -> int:
        """k · slot."""
        if self.fold:
            if k == 1.0:
                return slot
            number = self.filling(slot)
            if number is not None:
                return self.number(k * number, self.slots[slot])
            inner = self.operation(slot)
            if isinstance(inner, Scale):
                return self.scale(k * inner.k, self.steps[slot - self.arity].args[0])
        return self.emit(Scale(k), (slot,), self.slots[slot])

    def negated(self, slot: int) -> int:
        """−1 · slot; −(k·x) is (−k)·x, one step."""
        inner = self.operation(slot)
        if not isinstance(inner, Scale):
            return self.scale(-1.0, slot)
        (of,) = self.steps[slot - self.arity].args
        return of if inner.k == -1.0 else self.scale(-inner.k, of)

    def apply(self, f: Unary, slot: int) -> int:
        """A linear step."""
        if isinstance(f, Scale):
            return self.scale(f.k, slot)
        leaf = f.image(self.slots[slot])
        if self.fold:
            number = self.filling(slot)
            if number is not None and isinstance(f, Reduce) and isinstance(f.relation, Full):
                return self.number(number * f.relation.dom.size, leaf)
        return self.emit(f, (slot,), leaf)

    def add(self, a: int, b: int) -> int:
        """a + b."""
        leaf = Add().image(self.slots[a], self.slots[b])
        if self.fold and a == b:
            return self.scale(2.0, a)
        return self.emit(Add(), (a, b), leaf)

    def rep(self, slot: int, axes: tuple[Index, ...]) -> int:
        """The slot replicated over more axes in front: a view."""
        for axis in reversed(axes):
            slot = self.apply(Reduce(Full(Unit(), axis), 0), slot)
        return slot

    def pack(self, slots: Sequence[int]) -> int:
        """The bundle of some slots."""
        return self.emit(Pack(), tuple(slots), Bundle(tuple([self.slots[k] for k in slots])))

    def unpack(self, slot: int) -> tuple[int, ...]:
        """The arrays of a bundle; the slots that were packed, if the bundle was made here."""
        if isinstance(self.operation(slot), Pack):
            return self.steps[slot - self.arity].args
        bundle = self.slots[slot]
        assert isinstance(bundle, Bundle)
        return tuple(self.emit(Unpack(k), (slot,), leaf) for k, leaf in enumerate(bundle.leaves))

    def step(self, operation: Operation, args: tuple[int, ...]) -> int:
        """Any operation on slots of this builder; raises SpaceError where they do not fit."""
        match operation:
            case Contract(spec):
                return self.contract(spec, *args)
            case Add():
                return self.add(*args)
            case Scale(k):
                return self.scale(k, *args)
            case Reduce():
                return self.apply(operation, *args)
            case Unpack(k):
                return self.unpack(args[0])[k]
            case _:  # nothing to fold
                return self._joined(operation, args, operation.image(*(self.slots[a] for a in args)))

    def _joined(self, operation: Operation, args: tuple[int, ...], leaf: Leaf) -> int:
        """The slot of a step, or of one step that replaces it and the step before: ln σ is right where σ is 0."""
        if len(args) == 1 and args[0] >= self.arity:
            joined = operation.after(self.operation(args[0]))
            if joined is not None:
                return self.emit(joined, self.steps[args[0] - self.arity].args, leaf)
        return self.emit(operation, args, leaf)

    def inline(self, line: Line, args: Iterable[int]) -> list[int]:
        """Copy a line's steps on these argument slots; the result tells where each of its slots went."""
        self.fixed |= line.fixed
        where = list(args)
        leaves = iter(line.slots[line.arity :])
        before, watch, self.watch = self.place, self.watch, None
        outside = before if watch is None else watch()
        for step in line.steps:
            self.place = step.place or outside
            args = tuple([where[k] for k in step.args])
            put = self._joined if len(args) == 1 and step.args[0] < line.arity else self.emit
            where.append(put(step.operation, args, next(leaves)))
        self.place, self.watch = before, watch
        return where

    def line(self, outputs: Iterable[int]) -> Line:
        """The line of the steps so far, without those that these outputs do not need."""
        return pruned(self.slots, self.steps, tuple(outputs), fixed=self.fixed)


def _in_order(spec: Spec, *, filled_left: bool) -> bool:
    return (spec.right if filled_left else spec.left) == spec.out


def line_of(inputs: Sequence[Leaf], operation: Any, *args: int) -> Line:
    """The line of one step."""
    b = Builder(inputs)
    return b.line([b.step(operation, args)])
