"""A line bound to an array library and device: the calls, in an order and with the reuse of memory chosen once.

Slots are computed late and dropped at their last use; in numpy an element-wise step overwrites an operand that dies
there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.kernel import Kernel
from hilbert.arrays.library import Arrays
from hilbert.arrays.namespace import freeze
from hilbert.leaf import Bundle
from hilbert.program.operation import Literal
from hilbert.program.written import computed_by
from hilbert.sizes import allocation

if TYPE_CHECKING:
    from hilbert.arrays.library import Library
    from hilbert.leaf import Leaf
    from hilbert.program.line import Line


@final
class BoundLine:
    """A line for one library and device; `arrays` are some that live there."""

    __slots__ = ("_bundles", "_copied", "_line", "_shared", "lib", "outputs", "rest", "scalars", "steps")

    def __init__(self, line: Line, lib: Library, arrays: Sequence[Any]) -> None:
        self.lib, self.outputs, self._line = lib, line.outputs, line
        self.rest: list[Any] = [None] * len(line.steps)  # the slots behind the inputs
        for k, step in enumerate(line.steps):
            if isinstance(step.operation, Literal):
                self.rest[k] = _here(lib, step.operation.value.array, arrays[0] if arrays else None)
        self.scalars = [k for k in range(line.arity) if not _is_large(line.slots[k])] if lib.has_scalars else []
        self.steps, owned = _schedule(line, lib)
        self._bundles = None in [a for _, a, _, _, _ in self.steps]
        self._copied = lib.copied()
        self._shared = [k for k, slot in enumerate(self.outputs) if slot not in owned or slot in self.outputs[:k]]

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs."""
        env = [*arrays, *self.rest]
        for slot in self.scalars:
            env[slot] = env[slot][()]
        if self._bundles:
            self.run(env)
        else:
            to = -1
            try:
                for call, a, b, to, dead in self.steps:
                    env[to] = call(env[a]) if b is None else call(env[a], env[b])
                    if dead:
                        for k in dead:
                            env[k] = None
            except Exception as error:
                self._located(error, to)
                raise
        results = [env[k] for k in self.outputs]
        if self._copied:
            for k in self._shared:
                results[k] = self._copied(results[k])
        return results

    def run(self, env: list[Any]) -> None:
        """The steps on the slots of an environment; a step of more than two operands makes a bundle."""
        to = -1
        try:
            for call, a, b, to, dead in self.steps:
                if b is None:
                    env[to] = call(env[a])
                elif a is not None:
                    env[to] = call(env[a], env[b])
                else:
                    env[to] = call(*[env[k] for k in b])
                if dead:
                    for k in dead:
                        env[k] = None
        except Exception as error:
            self._located(error, to)
            raise

    def _located(self, error: Exception, slot: int) -> None:
        """Say where the step was written that an error or a warning arose in; the innermost line of several.

        Raises SpaceError for an array that memory does not hold.
        """
        told = allocation(error) if isinstance(error, MemoryError) else error
        if slot >= 0:
            computed_by(told, self._line.steps[slot - self._line.arity].place)
        if told is not error:
            raise told from error

    def forget(self) -> None:
        """Let go of what the last run kept."""
        self.lib.forget()


def _here(lib: Library, array: Any, like: Any) -> Any:
    """A constant where the arguments live."""
    if isinstance(array, Arrays):
        return Arrays(_here(lib, a, like) for a in array)
    here = lib.constant(array, like)
    return freeze(here)[()] if lib.has_scalars else here


SMALL = 1 << 12
"""Numbers of all steps up to which each may stay until the end of the run."""

Call = tuple[Callable[..., Any], Any, Any, int, tuple[int, ...]]
"""An array operation, the slots of its operands and of its result, and the slots that nobody reads again.

The second of one operand is None; of other numbers than one and two the first is None and the second has them all.
"""


def _schedule(line: Line, lib: Library) -> tuple[list[Call], set[int]]:
    """The calls, and the slots whose arrays share memory with no others."""
    slots = line.slots
    constants = [k for k, step in enumerate(line.steps, line.arity) if isinstance(step.operation, Literal)]
    keep = {*line.outputs, *constants, *range(line.arity)}
    code = _late(_without_repetition(_bind(line, lib), line), keep)
    last = {slot: k for k, (_, args, _) in enumerate(code) for slot in args}
    if sum([slots[to].size for _, _, to in code]) <= SMALL:
        keep.update(range(len(slots)))
    owned = set[int]()  # slots whose memory nobody else sees
    steps: list[Call] = []
    for k, (kernel, args, to) in enumerate(code):
        # scalars are not worth the bookkeeping, nor are small arrays
        dead = [slot for slot in {*args} if last[slot] == k and slot not in keep and _is_large(slots[slot])]
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
        first, second = _operands(args)
        steps.append((call, first, second, to, tuple(dead)))
    return steps, owned


def _operands(args: tuple[int, ...]) -> tuple[Any, Any]:
    """The slots of a step's operands as a call has them."""
    match args:
        case (x,):
            return x, None
        case (x, y):
            return x, y
        case _:  # none, or many
            return None, args


def _is_large(leaf: Leaf) -> bool:
    return bool(leaf.axes) or isinstance(leaf, Bundle)


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
