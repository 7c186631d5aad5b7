"""A straight line of array operations, bound once to a namespace and to shapes, then run at small cost per step.

Slots are computed late and dropped at their last use; in numpy an element-wise step overwrites an operand that dies
there. Constants are moved to the arguments' namespace and device once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import array_api_compat
import numpy as np

from hilbert.arrays.kernel import Kernel, constant
from hilbert.arrays.namespace import NUMPY, common_namespace
from hilbert.formal.array import Formal
from hilbert.formal.kernels import FormalKernels, finished

if TYPE_CHECKING:
    from types import ModuleType

    from hilbert.space import Leaf


class Operation(Protocol):
    """What a step does to one or two operands: data that can be bound to a namespace."""

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel for operands of these leaves."""
        ...


class Instruction(NamedTuple):
    """slot `to` = operation(slots `args`)."""

    operation: Operation
    args: tuple[int, ...]
    to: int


class Tape:
    """The executable form of a program or net.

    The first `arity` slots are its inputs; `constants` are slots that hold the same array at every call.
    """

    __slots__ = ("_abroad", "_bound", "_formal", "arity", "code", "constants", "outputs", "slots")

    def __init__(
        self,
        slots: Sequence[Leaf],
        arity: int,
        constants: dict[int, Any],
        code: Sequence[Instruction],
        outputs: Sequence[int],
    ) -> None:
        self.slots, self.arity, self.constants = slots, arity, constants
        self.code, self.outputs = code, tuple(outputs)
        self._bound: dict[Any, _Bound] = {}
        self._formal = Formal in map(type, constants.values())
        self._abroad = [a for a in _parts(constants.values()) if not isinstance(a, (np.ndarray, np.generic))]

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs, in the inputs' namespace."""
        bound = self._bound.get(np)
        if bound is not None and NUMPY.issuperset(map(type, arrays)):
            return bound(arrays)
        if self._formal or Formal in map(type, arrays):
            return self._run_formally(arrays)
        home = arrays or self._abroad
        xp = common_namespace(home)
        key = xp if xp is np else (xp, array_api_compat.device(home[0]))
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = _Bound(self, xp, home)
        return bound(arrays)

    def _run_formally(self, arrays: Sequence[Any]) -> list[Any]:
        """As `run`, where some arrays are formal."""
        plain = _parts(arrays) or self._abroad
        xp = common_namespace(plain)
        key = (Formal, xp if xp is np else (xp, array_api_compat.device(plain[0])))
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = _Bound(self, FormalKernels(xp), plain)
        try:
            return [finished(a) for a in bound(arrays)]
        finally:
            bound.forget()


def _parts(arrays: Iterable[Any]) -> list[Any]:
    """The arrays, those that formal ones are made of included."""
    return [part for a in arrays for part in (a.parts if isinstance(a, Formal) else (a,))]


class _Bound:
    """A tape for one namespace and device."""

    __slots__ = ("outputs", "rest", "scalars", "steps", "xp")

    def __init__(self, tape: Tape, xp: ModuleType, arrays: Sequence[Any]) -> None:
        self.xp, self.outputs = xp, tape.outputs
        self.rest: list[Any] = [None] * (len(tape.slots) - tape.arity)  # the slots behind the inputs
        for slot, array in tape.constants.items():
            here = constant(xp, array, arrays[0] if arrays else None)
            self.rest[slot - tape.arity] = here[()] if xp is np else here
        # numpy's scalars are several times quicker than its arrays without axes
        self.scalars = [k for k in range(tape.arity) if not tape.slots[k].axes] if xp is np else []
        self.steps = _schedule(tape, xp)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        env = [*arrays, *self.rest]
        for slot in self.scalars:
            env[slot] = env[slot][()]
        for call, a, b, to, dead in self.steps:
            env[to] = call(env[a]) if b is None else call(env[a], env[b])
            if dead:
                for k in dead:
                    env[k] = None
        return [env[k] for k in self.outputs]

    def forget(self) -> None:
        """Let go of what the last run kept for its formal arrays."""
        if isinstance(self.xp, FormalKernels):
            self.xp.memo.clear()


Step = tuple[Callable[..., Any], int, int | None, int, tuple[int, ...]]
"""An array operation, the slots of its one or two operands and of its result, and the slots that nobody reads again."""


def _schedule(tape: Tape, xp: ModuleType) -> list[Step]:
    slots = tape.slots
    keep = {*tape.outputs, *tape.constants, *range(tape.arity)}
    code = _late(_without_repetition(_bind(tape, xp), tape), keep)
    last = {slot: k for k, (_, args, _) in enumerate(code) for slot in args}
    owned = set[int]()  # slots whose memory nobody else sees
    steps: list[Step] = []
    for k, (kernel, args, to) in enumerate(code):
        # scalars are not worth the bookkeeping
        dead = [slot for slot in {*args} if last[slot] == k and slot not in keep and slots[slot].axes]
        call = kernel.call
        if slots[to].axes:
            for slot, form in zip(args, kernel.inplace, strict=False):
                if form and slot in dead and slot in owned and slots[slot] == slots[to]:
                    call = form
                    break
        elif kernel.scalar and not any(slots[slot].axes for slot in args):
            call = kernel.scalar
        if kernel.fresh:
            owned.add(to)
        else:
            owned.difference_update(args)
        a, b = args if len(args) == 2 else (args[0], None)
        steps.append((call, a, b, to, tuple(dead)))
    return steps


Bound = tuple[Kernel, tuple[int, ...], int]


def _bind(tape: Tape, xp: ModuleType) -> list[Bound]:
    """The kernels of the instructions that the outputs need; one kernel for equal operations on equal leaves."""
    slots, needed = tape.slots, {*tape.outputs}
    known: dict[Any, Kernel] = {}
    code: list[Bound] = []
    for step in reversed(tape.code):
        if step.to not in needed:
            continue
        needed.update(step.args)
        operands = [slots[slot] for slot in step.args]
        key = (step.operation, *operands)
        kernel = known.get(key)
        if kernel is None:
            kernel = known[key] = step.operation.bind(xp, operands, slots[step.to])
        code.append((kernel, step.args, step.to))
    code.reverse()
    return code


def _without_repetition(code: list[Bound], tape: Tape) -> list[Bound]:
    """Without the steps that only repeat an array along axes in front, where all readers broadcast it by themselves.

    A reader needs another operand that has all the axes of the result.
    """
    slots = tape.slots
    source = {to: args[0] for kernel, args, to in code if kernel.repeats}
    if not source:
        return code
    for to in tape.outputs:
        source.pop(to, None)
    for kernel, args, to in code:
        if not kernel.broadcasts or not any(slot not in source and slots[slot] == slots[to] for slot in args):
            for slot in args:
                source.pop(slot, None)
    return [(f, tuple(source.get(slot, slot) for slot in args), to) for f, args, to in code if to not in source]


def _late(code: list[Bound], keep: set[int]) -> list[Bound]:
    """Each step just before its first reader, where that keeps no operand alive for longer: fewer arrays at once."""
    place = list(range(len(code)))  # a step that moves takes the number of the step that it goes in front of
    first: dict[int, int] = {}  # slot → the places of its first and last readers
    last: dict[int, int] = {}
    for k in range(len(code) - 1, -1, -1):
        _, args, to = code[k]
        late = first.get(to, k)
        for slot in args:
            if slot not in keep and last.get(slot, k) < late:
                late = k
        place[k] = late
        for slot in args:
            first[slot] = min(late, first.get(slot, late))
            last[slot] = max(late, last.get(slot, late))
    return [code[k] for k in sorted(range(len(code)), key=place.__getitem__)]
