"""A line bound to an array library and device: the calls, in an order and with the reuse of memory chosen once.

Slots are computed late and dropped at their last use; in numpy an element-wise step overwrites an operand that dies
there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.kernel import Kernel
from hilbert.arrays.namespace import freeze
from hilbert.program.operation import Literal

if TYPE_CHECKING:
    from hilbert.arrays.library import Library
    from hilbert.program.line import Line


@final
class Bound:
    """A line for one library and device; `arrays` are some that live there."""

    __slots__ = ("_copied", "_shared", "lib", "outputs", "rest", "scalars", "steps")

    def __init__(self, line: Line, lib: Library, arrays: Sequence[Any]) -> None:
        self.lib, self.outputs = lib, line.outputs
        self.rest: list[Any] = [None] * len(line.steps)  # the slots behind the inputs
        for k, step in enumerate(line.steps):
            if isinstance(step.operation, Literal):
                here = lib.constant(step.operation.value.array, arrays[0] if arrays else None)
                self.rest[k] = freeze(here)[()] if lib.has_scalars else here
        self.scalars = [k for k in range(line.arity) if not line.slots[k].axes] if lib.has_scalars else []
        self.steps, owned = _schedule(line, lib)
        self._copied = lib.copied()
        self._shared = [k for k, slot in enumerate(self.outputs) if slot not in owned or slot in self.outputs[:k]]

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs."""
        env = [*arrays, *self.rest]
        for slot in self.scalars:
            env[slot] = env[slot][()]
        for call, a, b, to, dead in self.steps:
            env[to] = call(env[a]) if b is None else call(env[a], env[b])
            if dead:
                for k in dead:
                    env[k] = None
        results = [env[k] for k in self.outputs]
        if self._copied:
            for k in self._shared:
                results[k] = self._copied(results[k])
        return results

    def forget(self) -> None:
        """Let go of what the last run kept."""
        self.lib.forget()


Call = tuple[Callable[..., Any], int, int | None, int, tuple[int, ...]]
"""An array operation, the slots of its one or two operands and of its result, and the slots that nobody reads again."""


def _schedule(line: Line, lib: Library) -> tuple[list[Call], set[int]]:
    """The calls, and the slots whose arrays share memory with no others."""
    slots = line.slots
    constants = (k for k, step in enumerate(line.steps, line.arity) if isinstance(step.operation, Literal))
    keep = {*line.outputs, *constants, *range(line.arity)}
    code = _late(_without_repetition(_bind(line, lib), line), keep)
    last = {slot: k for k, (_, args, _) in enumerate(code) for slot in args}
    owned = set[int]()  # slots whose memory nobody else sees
    steps: list[Call] = []
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
    return steps, owned


KernelStep = tuple[Kernel, tuple[int, ...], int]
"""A kernel, the slots of its operands and of its result."""


def _bind(line: Line, lib: Library) -> list[KernelStep]:
    """The kernels of the steps; one kernel for equal operations on equal leaves."""
    slots = [leaf.stored() for leaf in line.slots]
    known: dict[Any, Kernel] = {}
    code: list[KernelStep] = []
    for to, step in enumerate(line.steps, line.arity):
        if isinstance(step.operation, Literal):
            continue
        operands = [slots[slot] for slot in step.args]
        key = (step.operation, *operands)
        kernel = known.get(key)
        if kernel is None:
            kernel = known[key] = step.operation.bind(lib, operands, slots[to])
        code.append((kernel, step.args, to))
    return code


def _without_repetition(code: list[KernelStep], line: Line) -> list[KernelStep]:
    """Without the steps that only repeat an array along axes in front, where all readers broadcast it by themselves.

    A reader needs another operand that has all the axes of the result.
    """
    slots = line.slots
    source = {to: args[0] for kernel, args, to in code if kernel.repeats}
    if not source:
        return code
    for to in line.outputs:
        source.pop(to, None)
    for kernel, args, to in code:
        if not kernel.broadcasts or not any(slot not in source and slots[slot] == slots[to] for slot in args):
            for slot in args:
                source.pop(slot, None)
    return [(f, tuple(source.get(slot, slot) for slot in args), to) for f, args, to in code if to not in source]


def _late(code: list[KernelStep], keep: set[int]) -> list[KernelStep]:
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
