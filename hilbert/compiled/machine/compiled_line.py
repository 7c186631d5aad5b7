"""A line as machine code: arrays in, fresh arrays out."""

from __future__ import annotations

import ctypes
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.arrays.kernels.library import Arrays
from hilbert.base.sizes import allocation
from hilbert.compiled.machine.ir_text import Module
from hilbert.compiled.machine.llvm_code import Code, Target, blas, host
from hilbert.compiled.machine.lowered_line import lowered
from hilbert.compiled.tree.statements import Called, For, Product, Routine
from hilbert.errors import SpaceError
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.compiled.machine.lowered_line import Lowered
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.program.line.line import Line

MANY, MOST = 1000, 10_000
"""The statements of a program in which elementary functions are called, not written out, where no loop needs them; of
one that is optimised less."""
FOLDED = 4096
"""Constants of up to so many entries are computed when a line is compiled."""
SMALL = 1 << 12
"""Inputs and outputs of up to so many bytes are copied: their addresses are not asked for in each call."""
ALIGNED = 64
"""Buffers of the workspace begin at multiples of so many bytes."""


@final
@frozen
class Report:
    """The make of a compiled program: loops, bytes of the workspace, statements, calls of kernels and why, seconds."""

    loops: int
    bytes: int
    statements: int
    calls: tuple[str, ...]
    lowering: float
    compiling: float


@final
@frozen
class Function:
    """A function of the code, called once for each turn of a long loop."""

    call: Callable[..., None]
    rounds: int
    turn: int


@final
class CompiledLine:
    """The machine code of a line. Calls may run side by side: each has its own workspace."""

    def __init__(self, line: Line, *, level: int = 3, target: Target | None = None, merge: bool = True) -> None:
        start, target = time.perf_counter(), target or host()
        self.line = line
        made = lowered(folded(line, FOLDED), merge=merge)
        statements = made.statements
        module = Module(target, calls_functions=len(statements) > MANY)
        names = [f"run{k}" for k, part in enumerate(made.parts) if part.call is None]
        for name, part in zip(names, (part for part in made.parts if part.call is None), strict=True):
            module.add(name, part, made.table)
        self.text = module.text
        middle = time.perf_counter()
        self._code = Code(self.text, names, target, min(level, 1) if len(statements) > MOST else level)
        functions = iter(self._code.functions.values())
        self.plan = [part.call or Function(next(functions), part.rounds, part.turn) for part in made.parts]
        self._lay_out(made)
        calls = tuple(step.why for step in self.plan if isinstance(step, Called))
        loops = sum(isinstance(s, For) for s in statements)
        seconds = middle - start, time.perf_counter() - middle
        self.report = Report(loops, _layout(made.work)[1], len(statements), calls, *seconds)

    def _lay_out(self, made: Lowered) -> None:
        """The memory of a call: where each buffer lies."""
        self.inputs, self.outputs = made.inputs, made.outputs
        self.constants = [_aligned(c.values) for c in made.constants]
        ends = [*made.inputs, *made.outputs]
        self.is_small = [b.size * np.dtype(b.dtype).itemsize <= SMALL for b in ends]
        held = [b if small else None for b, small in zip(ends, self.is_small, strict=True)]
        self.places, self.size = _layout([*held, *made.work])
        self.made = [(b.shape, np.dtype(b.dtype)) for b in made.outputs]
        self.numbers = {buffer: k for k, buffer in enumerate(made.table)}
        self.doubted = None if made.doubted is None else self.numbers[made.doubted]
        self._free: list[Workspace] = []
        self.reruns = 0
        self.blas = blas() if any(isinstance(s, Product | Routine) for s in made.statements) else None
        only = self.plan[0] if len(self.plan) == 1 else None
        is_quick = isinstance(only, Function) and only.rounds == 1 and all(self.is_small) and self.doubted is None
        self.entry = only.call if is_quick and isinstance(only, Function) else None

    def fit(self, k: int, array: Any) -> Any:
        """The input as the code reads it: by rows, aligned, of its dtype; a copy if it is not so.

        Raises SpaceError for another shape: the code would read beside the array.
        """
        buffer = self.inputs[k]
        found = np.require(array, np.dtype(buffer.dtype), ("C", "A"))
        if found.shape != buffer.shape:
            msg = f"input {k} of a compiled line has the shape {buffer.shape}, not {found.shape}"
            raise SpaceError(msg)
        return found

    @cached_property
    def interpreted(self) -> Runner:
        """The line as the interpreter runs it, which says errors at their places."""
        return Runner(self.line)

    def __call__(self, arrays: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """The outputs for these inputs: fresh arrays, or those of `out`, which are not checked."""
        if len(arrays) != len(self.inputs):
            msg = f"a compiled line of {len(self.inputs)} inputs does not apply to {len(arrays)} arrays"
            raise SpaceError(msg)
        free = self._free
        try:
            workspace = free.pop()
        except IndexError:
            workspace = self._workspace()
        if self.entry is None:
            made = workspace.run(arrays, out)
        else:
            for place, array in zip(workspace.given, arrays, strict=True):
                place[...] = array
            self.entry(workspace.address, self.blas, 0, 1)
            made = _given_out(workspace.made, out)
        free.append(workspace)
        return made

    def _workspace(self) -> Workspace:
        try:
            return Workspace(self)
        except MemoryError as error:
            raise allocation(error) from error


@final
class Workspace:
    """The memory of one call: the program's own buffers, copies of small inputs and outputs, the table of addresses."""

    __slots__ = ("address", "given", "line", "made", "memory", "table")

    def __init__(self, line: CompiledLine) -> None:
        memory = np.zeros(line.size + ALIGNED, np.uint8)
        memory = memory[-memory.ctypes.data % ALIGNED :]
        arrays = [memory[at : at + size].view(dtype).reshape(shape) for at, size, dtype, shape in line.places]
        first = len(line.inputs) + len(line.outputs)
        self.line, self.memory = line, [*arrays[:first], *line.constants, *arrays[first:]]
        self.table = (ctypes.c_void_p * max(len(self.memory), 1))()
        for k, array in enumerate(self.memory):
            self.table[k] = array.ctypes.data
        self.address = ctypes.addressof(self.table)
        count = len(line.inputs)
        self.given, self.made = self.memory[:count], self.memory[count : count + len(line.outputs)]

    def run(self, arrays: Sequence[Any], out: Sequence[Any] | None) -> list[Any]:
        """The outputs of a call."""
        line, table, memory = self.line, self.table, self.memory
        held = []
        for k, array in enumerate(arrays):
            if line.is_small[k]:
                memory[k][...] = array
            else:
                given = line.fit(k, array)
                held.append(given)
                table[k] = given.ctypes.data
        made: list[Any] = []
        for k, (shape, dtype) in enumerate(line.made, len(arrays)):
            if line.is_small[k]:
                made.append(None)
            else:
                target = np.empty(shape, dtype) if out is None else out[k - len(arrays)]
                made.append(target)
                table[k] = target.ctypes.data
        for step in line.plan:
            if isinstance(step, Called):
                self._call(step, held, made)
                continue
            for first in range(0, step.rounds, step.turn):
                step.call(self.address, line.blas, first, min(first + step.turn, step.rounds))
        if line.doubted is not None and memory[line.doubted]:
            line.reruns += 1
            return _into(line.interpreted.run(arrays), out)
        for k, done in enumerate(made):
            if done is None:
                (made[k],) = _given_out([memory[len(arrays) + k]], None if out is None else [out[k]])
        return made

    def _call(self, step: Called, held: list[Any], made: list[Any]) -> None:
        """Call a kernel on arrays in memory, and copy what it makes to its place."""
        numbers, memory = self.line.numbers, list(self.memory)
        large = iter(held)
        for k in range(len(self.line.inputs)):
            if not self.line.is_small[k]:
                memory[k] = next(large)
        for k, array in enumerate(made, len(self.line.inputs)):
            if array is not None:
                memory[k] = array

        def held_in(part: Any) -> Any:
            return Arrays(map(held_in, part)) if isinstance(part, tuple) else memory[numbers[part]]

        found = step.kernel(*map(held_in, step.given))
        for buffer, result in zip(step.made, found if isinstance(found, Arrays) else (found,), strict=True):
            memory[numbers[buffer]][...] = result


def _given_out(places: Sequence[Any], out: Sequence[Any] | None) -> list[Any]:
    """Small results, copied from the workspace."""
    if out is None:
        return [place.copy() if place.ndim else place[()] for place in places]
    for target, place in zip(out, places, strict=True):
        target[...] = place
    return [*out]


def _into(made: list[Any], out: Sequence[Any] | None) -> list[Any]:
    """The arrays, in those of `out` if they are given."""
    if out is None:
        return made
    for target, array in zip(out, made, strict=True):
        target[...] = array
    return [*out]


def _layout(buffers: Sequence[Buffer | None]) -> tuple[list[tuple[int, int, Any, tuple[int, ...]]], int]:
    """The place, the size, the dtype and the shape of each buffer in the workspace, and the size of that in bytes.

    In place of a buffer that lies elsewhere stands nothing.
    """
    made: list[tuple[int, int, Any, tuple[int, ...]]] = []
    at = 0
    for buffer in buffers:
        if buffer is None:
            made.append((0, 0, np.dtype(np.uint8), (0,)))
            continue
        dtype = np.dtype(buffer.dtype)
        size = buffer.size * dtype.itemsize
        made.append((at, size, dtype, tuple(buffer.shape[k] for k in buffer.order)))
        at += -(-size // ALIGNED) * ALIGNED
    return made, at


def _aligned(array: Any) -> Any:
    """The numbers of a constant, at a multiple of the alignment."""
    memory = np.empty(array.nbytes + ALIGNED, np.uint8)
    memory = memory[-memory.ctypes.data % ALIGNED :][: array.nbytes].view(array.dtype).reshape(array.shape)
    memory[...] = array
    return memory
