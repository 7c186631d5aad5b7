"""A straight line of array operations, bound once to a namespace and to shapes, then run at small cost per step.

Slots are dropped at their last use; in numpy an element-wise step overwrites an operand that dies there. Constants are
moved to the arguments' namespace and device once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import array_api_compat
import numpy as np
from attrs import frozen

from hilbert.arrays.kernel import Kernel, constant
from hilbert.arrays.namespace import common_namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from hilbert.space import Leaf


class Operation(Protocol):
    """What a step does: data that can be bound to a namespace."""

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel for operands of these leaves."""
        ...


@frozen
class Instruction:
    """slot `to` = operation(slots `args`)."""

    operation: Operation
    args: tuple[int, ...]
    to: int


class Tape:
    """The executable form of a program or net; `constants` are slots that hold the same array at every call."""

    __slots__ = ("_bound", "_last", "code", "constants", "inputs", "outputs", "slots")

    def __init__(
        self,
        slots: Sequence[Leaf],
        inputs: Sequence[int],
        constants: dict[int, Any],
        code: Sequence[Instruction],
        outputs: Sequence[int],
    ) -> None:
        self.slots, self.inputs, self.constants = slots, tuple(inputs), constants
        self.code, self.outputs = code, tuple(outputs)
        self._bound: dict[Any, _Bound] = {}
        self._last: tuple[Any, _Bound] | None = None

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs, in the inputs' namespace."""
        xp = common_namespace(arrays)
        key = xp if xp is np else (xp, array_api_compat.device(arrays[0]))
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = _Bound(self, xp, arrays)
        return bound(arrays)


class _Bound:
    """A tape for one namespace and device."""

    __slots__ = ("inputs", "outputs", "steps", "template")

    def __init__(self, tape: Tape, xp: ModuleType, arrays: Sequence[Any]) -> None:
        self.inputs, self.outputs = tape.inputs, tape.outputs
        self.template: list[Any] = [None] * len(tape.slots)
        for slot, array in tape.constants.items():
            self.template[slot] = constant(xp, array, arrays[0] if arrays else None)
        self.steps = _schedule(tape, xp)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        env = self.template.copy()
        for slot, array in zip(self.inputs, arrays, strict=True):
            env[slot] = array
        for call, args, to, dead in self.steps:
            match args:
                case (a,):
                    env[to] = call(env[a])
                case (a, b):
                    env[to] = call(env[a], env[b])
                case _:
                    env[to] = call(*[env[k] for k in args])
            for k in dead:
                env[k] = None
        return [env[k] for k in self.outputs]


def _schedule(tape: Tape, xp: ModuleType) -> list[tuple[Callable[..., Any], tuple[int, ...], int, tuple[int, ...]]]:
    slots = tape.slots
    keep = set(tape.outputs) | set(tape.constants) | set(tape.inputs)
    last: dict[int, int] = {}
    for k, step in enumerate(tape.code):
        for slot in step.args:
            last[slot] = k
    known: dict[Any, Kernel] = {}
    owned = set[int]()  # slots whose memory nobody else sees
    steps = []
    for k, step in enumerate(tape.code):
        operands = [slots[slot] for slot in step.args]
        key = (step.operation, *operands)
        kernel = known.get(key)
        if kernel is None:
            kernel = known[key] = step.operation.bind(xp, operands, slots[step.to])
        dead = [slot for slot in dict.fromkeys(step.args) if last[slot] == k and slot not in keep]
        call = kernel.call
        for place, form in enumerate(kernel.inplace):
            slot = step.args[place]
            if form and slot in dead and slot in owned and slots[slot] == slots[step.to] and slots[slot].axes:
                call = form
                break
        if kernel.fresh:
            owned.add(step.to)
        else:
            owned.difference_update(step.args)
        if step.to not in last and step.to not in keep:
            dead.append(step.to)
        steps.append((call, step.args, step.to, tuple(dead)))
    return steps
