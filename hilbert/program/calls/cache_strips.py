"""Stretches of element-wise calls on long arrays, run strip by strip: arrays made in between stay in the cache.

Only their results are arrays as long as the operands. Values are the same to the last bit.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.index.leaf import Bundle
from hilbert.program.calls.schedule import CACHE, calls, most_held
from hilbert.program.line.source_line import computed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.index.leaf import Leaf
    from hilbert.program.calls.schedule import KernelStep
    from hilbert.program.line.line import Line
    from hilbert.program.line.source_line import Place

LONG = 1 << 15
"""Entries from which an array is long."""
STRIP = 1 << 13
"""Entries of a strip."""
LONG_AXIS = 1 << 10
"""Entries of a last axis from which strips run along this axis."""
MANY = 4
"""Calls from which a stretch is worth it: fewer make little that could stay in the cache."""


def in_strips(code: list[KernelStep], line: Line, lib: Library) -> tuple[list[KernelStep], Sequence[Leaf]]:
    """The code with each stretch as one step, and the slots: behind the line's, one for the results of each stretch."""
    if max([slot.size for slot in line.slots], default=0) < LONG:
        return code, line.slots
    slots = list(line.slots)
    found: list[KernelStep] = []
    last = {slot: k for k, (_, args, _) in enumerate(code) for slot in args}
    last |= dict.fromkeys(line.outputs, len(code))
    thin = {to for kernel, _, to in code if kernel.narrow is not None and kernel.call is kernel.narrow}
    start = 0
    while start < len(code):
        first = line.slots[code[start][2]]
        if first.size < LONG:
            found.append(code[start])
            start += 1
            continue
        some: list[KernelStep] = []
        for k in range(start, len(code)):
            kernel = None if thin.intersection(code[k][1]) else _by_entry(line, code[k], first.axes, lib)
            if kernel is None:
                break
            some.append((kernel, *code[k][1:]))
        end = start + max(len(some), 1)
        if len(some) < MANY or _held(some, slots, last, end) <= CACHE:
            found += code[start:end]
        else:
            wanted = [to for _, _, to in some if last.get(to, -1) >= end]
            found += _as_steps(Strips(some, line, wanted), wanted, slots)
        start = end
    return found, slots


def _held(code: list[KernelStep], slots: Sequence[Leaf], last: Mapping[int, int], end: int) -> int:
    """The most bytes of arrays that some calls hold at once; what calls from `end` on read is held to the last."""
    made = {to for _, _, to in code}
    given = {slot for _, args, _ in code for slot in args} - made
    ends = [slot for slot in made if last.get(slot, -1) >= end]
    return most_held(given, [step[1:] for step in code], ends, lambda slot: 8 * slots[slot].size)


def _by_entry(line: Line, step: KernelStep, axes: tuple[Any, ...], lib: Library) -> Kernel | None:
    """The step's kernel on strips, if the step goes through long arrays with these axes and numbers entry by entry."""
    _, args, to = step
    result = line.slots[to]
    if result.axes != axes or result.size < LONG or not all(_is_along(line.slots[slot], axes) for slot in args):
        return None
    kernel: Kernel | None = line.steps[to - line.arity].operation.by_entry(lib, [line.slots[slot] for slot in args])
    return kernel


def _is_along(leaf: Leaf, axes: tuple[Any, ...]) -> bool:
    return not isinstance(leaf, Bundle) and leaf.axes in ((), axes)


def _as_steps(strips: Strips, wanted: list[int], slots: list[Leaf]) -> Iterable[KernelStep]:
    """One step for all calls of a stretch; if it has several results, one more for each takes it out of them."""
    if len(wanted) == 1:
        return [(Kernel(strips, onto=strips.onto), strips.given, wanted[0])]
    slots.append(Bundle(tuple(slots[to] for to in wanted)))
    several = len(slots) - 1
    taken = [(Kernel(itemgetter(k), part=k), (several,), to) for k, to in enumerate(wanted)]
    return [(Kernel(strips, onto=strips.onto), strips.given, several), *taken]


@final
class Strips:
    """A kernel that runs a stretch of calls on arrays of one length and on numbers; `given` are the slots of these."""

    __slots__ = ("_long", "_places", "_shape", "_size", "_steps", "_wanted", "given")

    def __init__(self, code: list[KernelStep], line: Line, wanted: Sequence[int]) -> None:
        made = {to for _, _, to in code}
        self.given = tuple(dict.fromkeys(slot for _, args, _ in code for slot in args if slot not in made))
        number = {slot: k for k, slot in enumerate([*self.given, *(to for _, _, to in code)])}
        own = [(kernel, tuple(number[slot] for slot in args), number[to]) for kernel, args, to in code]
        slots = [line.slots[slot] for slot in number]
        self._wanted = [number[to] for to in wanted]
        self._steps, _ = calls(own, slots, {*range(len(self.given)), *self._wanted})
        self._long = [bool(line.slots[slot].axes) for slot in self.given]
        self._shape, self._size = slots[-1].shape, slots[-1].size
        self._places: list[Place | None] = [None] * len(self.given)
        self._places += [line.steps[to - line.arity].place for _, _, to in code]

    def __call__(self, *arrays: Any) -> Any:
        """The one result that others read, or the list of several."""
        return self._made(arrays, {})

    def onto(self, places: tuple[int, ...]) -> Callable[..., Any]:
        """The function of the operands, and of arrays that the results of these numbers are written into."""
        count = len(self.given)
        return lambda *arrays: self._made(arrays[:count], dict(zip(places, arrays[count:], strict=True)))

    def _made(self, arrays: Sequence[Any], into: Mapping[int, Any]) -> Any:
        """The results; those of some numbers are written into arrays."""
        last = self._shape[-1]
        if last >= LONG_AXIS:  # strips of all rows, which views in other orders have too
            made = self._in_strips(arrays, self._shape, max(STRIP * last // self._size, 1), into)
        else:
            flat = [_flat(a) if long else a for a, long in zip(arrays, self._long, strict=True)]
            ends = {k: a.reshape(-1) for k, a in into.items() if a.flags.c_contiguous}
            made = self._in_strips(flat, (self._size,), STRIP, ends)
            made = [into[k] if k in ends else a.reshape(self._shape) for k, a in enumerate(made)]
        return made if len(made) > 1 else made[0]

    def _in_strips(
        self, given: Sequence[Any], shape: tuple[int, ...], width: int, into: Mapping[int, Any]
    ) -> list[Any]:
        """The results, in strips of a width along the last axis of the operands."""
        behind = [None] * len(self._steps)
        results: list[Any] = []
        for start in range(0, shape[-1], width):
            strip = (..., slice(start, start + width))
            env: list[Any] = [a[strip] if long else a for a, long in zip(given, self._long, strict=True)]
            env += behind
            self._run(env)
            if not start:
                results = [
                    np.empty(shape, env[k].dtype) if (a := into.get(j)) is None else a
                    for j, k in enumerate(self._wanted)
                ]
            for result, k in zip(results, self._wanted, strict=True):
                result[strip] = env[k]
        return results

    def _run(self, env: list[Any]) -> None:
        to = 0
        try:
            for call, args, to, dead in self._steps:
                env[to] = call(*[env[k] for k in args])
                for k in dead:
                    env[k] = None
        except Exception as error:
            computed_by(error, self._places[to])
            raise


def _flat(a: Any) -> Any:
    """The entries in order; a number that is repeated is not copied."""
    return a.reshape(-1) if any(a.strides) else np.broadcast_to(a[(0,) * a.ndim], a.size)
