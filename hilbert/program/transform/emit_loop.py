"""Loops put into a line: loop invariants are computed once outside, and operands that no round reads are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Literal
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line


def emitted(b: Builder, operation: Operation, given: Sequence[int]) -> list[int]:
    """The slots of the results of an operation from bundle to bundle."""
    return list(b.unpack(b.step(operation, (b.pack(given),))))


def looped(b: Builder, loop: Loop, given: Sequence[int]) -> list[int]:
    """The slots of a loop's results: its last states, and its stacks.

    A state that no round changes is shared. Steps that depend on shared arrays only are put outside, and their stacks
    are repetitions; the stack of a slice is the stack that is sliced. Equal shared arrays and stacks are given once.
    """
    body, c, whole = loop.body, loop.states, loop.states + loop.shared
    if loop.again and not loop.index.axes:  # one round, to be computed again: it stays together
        return emitted(b, loop, given)
    idle = {k for k in range(c) if body.outputs[k] == k}
    outside: dict[int, int] = {k: given[k] for k in range(whole) if k >= c or k in idle}
    _computed(b, body, outside)
    results: dict[int, int] = {k: given[k] for k in idle}
    for k, slot in enumerate(body.outputs[c:], c):
        if _is_fixed(body, slot, outside):
            results[k] = b.rep(_outside(b, body, slot, outside), loop.index.axes)
        elif whole <= slot < body.arity:
            results[k] = given[slot]
    left = [k for k in range(len(body.outputs)) if k not in results]
    if left:
        smaller, slots = _inner(loop, given, outside, left)
        results |= zip(left, emitted(b, smaller, slots), strict=True)
    return [results[k] for k in range(len(body.outputs))]


def apart(b: Builder, body: Line, own: int, captured: Sequence[int]) -> tuple[Line, list[int]]:
    """A body without the steps that its own inputs, the first ones, do not change; those are outside, and captured."""
    outside = dict(enumerate(captured, own))
    _computed(b, body, outside)
    line, shared, _ = _inside(body, range(own), {}, outside, body.outputs)
    return line, shared


def _computed(b: Builder, body: Line, outside: dict[int, int]) -> None:
    """Hoist loop invariants: emit in `b` each step of the body whose operands are all available outside."""
    before, watch, b.watch = b.place, b.watch, None
    around = before if watch is None else watch()
    for slot, step in enumerate(body.steps, body.arity):
        if not isinstance(step.operation, Literal) and all(_is_fixed(body, a, outside) for a in step.args):
            b.place = step.place or around
            outside[slot] = b.step(step.operation, tuple(_outside(b, body, a, outside) for a in step.args))
    b.place, b.watch = before, watch


def _is_fixed(body: Line, slot: int, outside: dict[int, int]) -> bool:
    return slot in outside or (slot >= body.arity and isinstance(body.steps[slot - body.arity].operation, Literal))


def _outside(b: Builder, body: Line, slot: int, outside: dict[int, int]) -> int:
    """The slot outside of a value that does not vary."""
    if slot not in outside:
        constant = body.steps[slot - body.arity].operation
        assert isinstance(constant, Literal)
        outside[slot] = b.literal(constant.value)
    return outside[slot]


def _inner(loop: Loop, given: Sequence[int], outside: dict[int, int], left: list[int]) -> tuple[Loop, list[int]]:
    """The loop that gives the results `left`, and the slots of its operands."""
    body, c, whole = loop.body, loop.states, loop.states + loop.shared
    states = [k for k in left if k < c]
    slices = {k: given[k] for k in range(whole, body.arity)}
    line, shared, sliced = _inside(body, states, slices, outside, [body.outputs[k] for k in left])
    named = [*states, *(next(k for k, slot in slices.items() if slot == one) for one in sliced)]
    names = tuple(loop.names[k if k < c else k - loop.shared] for k in named) if loop.names else ()
    made = Loop(line, loop.index, len(states), len(shared), loop.reverse, loop.again, names)
    return made, [*(given[k] for k in states), *shared, *sliced]


def _inside(
    body: Line, states: Sequence[int], slices: Mapping[int, int], outside: dict[int, int], ends: Sequence[int]
) -> tuple[Line, list[int], list[int]]:
    """The remaining steps as a line on states, shared arrays and slices; the slots outside of the latter two."""
    literals = {k for k in outside if k >= body.arity and isinstance(body.steps[k - body.arity].operation, Literal)}
    live = bytearray(len(body.slots))
    for k in ends:
        live[k] = 1
    for slot in range(len(body.slots) - 1, body.arity - 1, -1):
        if live[slot] and (slot not in outside or slot in literals):
            for a in body.steps[slot - body.arity].args:
                live[a] = 1
    shared: dict[int, Leaf] = {}
    sliced: dict[int, Leaf] = {}
    for k, leaf in enumerate(body.slots):
        if live[k] and k in outside and k not in literals:
            shared[outside[k]] = leaf
        elif live[k] and k in slices:
            sliced[slices[k]] = leaf
    inner = Builder([*(body.slots[k] for k in states), *shared.values(), *sliced.values()], fixed=body.fixed)
    as_shared = {slot: k for k, slot in enumerate(shared, len(states))}
    as_slice = {slot: k for k, slot in enumerate(sliced, len(states) + len(shared))}
    where = {k: at for at, k in enumerate(states)}
    for slot, leaf in enumerate(body.slots):
        if not live[slot] or slot in where:
            continue
        if slot in outside and slot not in literals:
            where[slot] = as_shared[outside[slot]]
        elif slot < body.arity:
            where[slot] = as_slice[slices[slot]]
        else:
            step = body.steps[slot - body.arity]
            inner.place = step.place
            where[slot] = inner.emit(step.operation, tuple(where[a] for a in step.args), leaf)
    return inner.line([where[k] for k in ends]), list(shared), list(sliced)
