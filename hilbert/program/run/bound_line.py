"""A line bound to an array library and device: the calls, in an order and with the reuse of memory chosen once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.sizes import allocation
from hilbert.program.line.operation import Literal
from hilbert.program.line.source_line import computed_by
from hilbert.program.run.cache_strips import in_strips
from hilbert.program.run.schedule import calls, is_large, late, without_repetition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.library import Library
    from hilbert.program.line.line import Line
    from hilbert.program.run.schedule import Call, KernelStep


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
        self.scalars = [k for k in range(line.arity) if not is_large(line.slots[k])] if lib.has_scalars else []
        try:
            self.steps, owned, more = _schedule(line, lib)
        except MemoryError as error:
            raise allocation(error) from error
        self.rest += [None] * more
        self._bundles = None in [a for _, a, _, _, _ in self.steps]
        self._copied = lib.copied()
        first = {slot: k for k, slot in reversed([*enumerate(self.outputs)])}
        self._shared = [k for k, slot in enumerate(self.outputs) if slot not in owned or first[slot] != k]

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
        """Add to an error or a warning the place of the step in which it arose; of several, the innermost.

        Raises SpaceError for an array that memory does not hold.
        """
        told = allocation(error) if isinstance(error, MemoryError) else error
        if 0 <= slot < len(self._line.slots):  # a slot behind them is that of a stretch, which tells the place
            computed_by(told, self._line.steps[slot - self._line.arity].place)
        if told is not error:
            raise told from error

    def forget(self) -> None:
        """Let go of the memo of the last run."""
        self.lib.forget()


def _here(lib: Library, array: Any, like: Any) -> Any:
    """A constant, moved to where the arguments live."""
    if isinstance(array, Arrays):
        return Arrays(_here(lib, a, like) for a in array)
    here = lib.constant(array, like)
    return freeze(here)[()] if lib.has_scalars else here


def _schedule(line: Line, lib: Library) -> tuple[list[Call], set[int], int]:
    """The calls, the slots whose arrays share memory with no others, and the number of slots behind the line's."""
    constants = [k for k, step in enumerate(line.steps, line.arity) if isinstance(step.operation, Literal)]
    keep = {*line.outputs, *constants, *range(line.arity)}
    code = late(without_repetition(_bind(line, lib), line.slots, line.outputs), keep)
    code, slots = in_strips(code, line, lib) if lib.is_host else (code, line.slots)
    steps, owned = calls(code, slots, keep)
    return steps, owned, len(slots) - len(line.slots)


def _bind(line: Line, lib: Library) -> list[KernelStep]:
    """The kernels of the steps; one kernel for equal operations on equal leaves."""
    slots = [leaf.stored() for leaf in line.slots]
    known: dict[Any, Kernel] = {}
    code: list[KernelStep] = []
    for to, step in enumerate(line.steps, line.arity):
        if isinstance(step.operation, Literal):
            continue
        operands = [slots[slot] for slot in step.args]
        key = (step.operation.key, *operands)
        kernel = known.get(key)
        if kernel is None:
            kernel = known[key] = step.operation.bind(lib, operands, slots[to])
        code.append((kernel, step.args, to))
    return code
