"""A line bound to an array library and device: the calls, in an order and with the reuse of memory chosen once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, final

from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.sizes import allocation
from hilbert.program.calls.cache_strips import in_strips
from hilbert.program.calls.emitted_line import Text, rounds, straight
from hilbert.program.calls.schedule import calls, is_large, late, onto, without_repetition
from hilbert.program.line.operation import Literal
from hilbert.program.line.source_line import computed_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.library import Library
    from hilbert.program.calls.emitted_line import Emitted, Round
    from hilbert.program.calls.schedule import Call, KernelStep
    from hilbert.program.line.line import Line

FEW = 2
"""Calls that are interpreted: a step is emitted in the time that some 300 of its calls save."""


@final
class BoundLine:
    """A line for one library and device; `arrays` are some that live there.

    The outputs of the numbers `into` are written into arrays that each call is given, where their kernels can.
    """

    __slots__ = (
        *("constants", "lib", "numbers", "outputs", "size", "steps"),
        *("_calls", "_copied", "_emitted", "_into", "_line", "_looped", "_shared"),
    )

    def __init__(self, line: Line, lib: Library, arrays: Sequence[Any], into: Sequence[int] = ()) -> None:
        self.lib, self.outputs, self._line, self._into = lib, line.outputs, line, into
        like = arrays[0] if arrays else None
        self.constants = {
            k: _here(lib, step.operation.value.array, like)
            for k, step in enumerate(line.steps, line.arity)
            if isinstance(step.operation, Literal)
        }
        self.numbers = [k for k in range(line.arity) if not is_large(line.slots[k])] if lib.has_scalars else []
        try:
            self.steps, owned, self.size = _schedule(line, lib, into)
        except MemoryError as error:
            raise allocation(error) from error
        self._calls, self._emitted = 0, cast("Emitted | None", None)
        self._looped: dict[Round, Emitted] = {}
        self._copied = lib.copied()
        first = {slot: k for k, slot in reversed([*enumerate(line.outputs)])}
        self._shared = [k for k, slot in enumerate(line.outputs) if slot not in owned or first[slot] != k]

    def __call__(self, arrays: Sequence[Any], out: Sequence[Any] = ()) -> list[Any]:
        """The outputs for these inputs; the first calls are interpreted, as most lines are called once.

        An output of `into` is the array of `out` that its kernel wrote it into, or another one where the kernel cannot.
        """
        emitted = self._emitted
        if emitted is None:
            self._calls += 1
            if self._calls > FEW:
                emitted = self._emitted = straight(
                    self._text(), self._line.arity, self.size, self.outputs, len(self._into)
                )
        try:
            results: list[Any] = self._interpreted(arrays, out) if emitted is None else emitted.call(*arrays, *out)
        except Exception as error:
            if emitted is not None:
                self._located(error, emitted.slot_of(error))
            raise
        if self._copied:
            for k in self._shared:
                results[k] = self._copied(results[k])
        return results

    def rounds(self, of: Round, order: Iterable[int], given: list[Any], stacks: list[Any], rows: list[Any]) -> Any:
        """The last states after rounds in an order; the other results of each round are written into the rows.

        `given` are the first states and the shared arrays.
        """
        emitted = self._looped.get(of)
        if emitted is None:
            arrays = {k for k in (*range(of.states), *of.rows) if self._line.slots[k].axes}
            host = self.lib.is_host
            emitted = self._looped[of] = rounds(self._text(), of, self.size, arrays, by_item=not host)
        try:
            return emitted.call(order, *given, *stacks, *rows)
        except Exception as error:
            self._located(error, emitted.slot_of(error))
            raise

    def _interpreted(self, arrays: Sequence[Any], out: Sequence[Any]) -> list[Any]:
        """The outputs, one call after the other: the meaning of the function that is emitted."""
        env = [*arrays, *[None] * (self.size - len(arrays) - len(out)), *out]
        for slot, value in self.constants.items():
            env[slot] = value
        for slot in self.numbers:
            env[slot] = env[slot][()]
        to = -1
        try:
            for call, args, to, dead in self.steps:
                env[to] = call(*[env[k] for k in args])
                for k in dead:
                    env[k] = None
        except Exception as error:
            self._located(error, to)
            raise
        return [env[k] for k in self.outputs]

    def _text(self) -> Text:
        return Text(self.steps, self.constants, self.numbers, self._word)

    def _word(self, slot: int) -> str:
        """The name of the operation into a slot; slots behind those of the line are of stretches."""
        line = self._line
        operation = line.steps[slot - line.arity].operation if slot < len(line.slots) else None
        return str(getattr(operation, "name", "") or type(operation).__name__).lower() if operation else "strips"

    def _located(self, error: Exception, slot: int | None) -> None:
        """Add to an error or a warning the place of the step in which it arose; of several, the innermost.

        Raises SpaceError for an array that memory does not hold.
        """
        told = allocation(error) if isinstance(error, MemoryError) else error
        if slot is not None and 0 <= slot < len(self._line.slots):  # a stretch, behind them, tells its place itself
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


def _schedule(line: Line, lib: Library, into: Sequence[int]) -> tuple[list[Call], set[int], int]:
    """The calls, the slots whose arrays share memory with no others, and the number of all slots."""
    constants = [k for k, step in enumerate(line.steps, line.arity) if isinstance(step.operation, Literal)]
    keep = {*line.outputs, *constants, *range(line.arity)}
    code = late(without_repetition(_bind(line, lib), line.slots, line.outputs), keep)
    code, slots = in_strips(code, line, lib) if lib.is_host else (code, line.slots)
    arrays = {line.outputs[k]: to for to, k in enumerate(into, len(slots))}
    keep.update(range(len(slots), len(slots) + len(into)))
    slots = [*slots, *(line.slots[line.outputs[k]] for k in into)]
    steps, owned = calls(onto(code, arrays, slots, keep) if arrays else code, slots, keep)
    return steps, owned, len(slots)


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
