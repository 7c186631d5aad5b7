"""A line as machine code: arrays in, fresh arrays out."""

from __future__ import annotations

import ctypes
import itertools
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

import numpy as np

from hilbert.arrays.kernels.library import Arrays
from hilbert.base.lazy import uncollected
from hilbert.base.sizes import allocation
from hilbert.compiled.machine.emitted_calls import Ends, Function, Plan, emitted
from hilbert.compiled.machine.ir_text import Module
from hilbert.compiled.machine.llvm_code import LINES, UNROLLED, VECTORS, Code, Target, blas, host
from hilbert.compiled.machine.lowered_line import lowered
from hilbert.compiled.tree.statements import Called, For, Product, Routine
from hilbert.errors import SpaceError
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hilbert.compiled.machine.lowered_line import Lowered
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.program.line.line import Line

MANY, MOST = 1000, 10_000
"""The statements of a program in which elementary functions are called, not written out, where no loop needs them; of
one that is optimised less."""
CALLS = 128
"""The calls of functions of a program whose loops are not written out: that took half a minute."""
SHORT = 1 << 14
"""The characters of a program without loops that is not optimised: passes would take longer than many of its calls."""
STRAIGHT = 1_000_000
"""The stores of a program that has vectors of statements side by side; what makes more stores spends its time in loops
over many rounds."""
FOLDED = 4096
"""Constants of up to so many entries are computed when a line is compiled."""
TAKEN, GIVEN = 1 << 14, 1 << 12
"""Inputs, and outputs, of up to so many bytes are copied: that is quicker than to ask for their addresses."""
ALIGNED = 64
"""Buffers of the workspace begin at multiples of so many bytes."""


@final
class Report(NamedTuple):
    """The make of a compiled program: loops, bytes of the workspace, statements, calls of kernels and why, seconds."""

    loops: int
    bytes: int
    statements: int
    calls: tuple[str, ...]
    lowering: float
    compiling: float


@final
class CompiledLine:
    """The machine code of a line. Calls may run side by side: each has its own workspace."""

    def __init__(
        self,
        line: Line,
        *,
        level: int | None = None,
        target: Target | None = None,
        merge: bool = True,
        often: bool = False,
    ) -> None:
        start, target = time.perf_counter(), target or host()
        self.line = line
        with uncollected():
            made = lowered(folded(line, FOLDED), merge=merge, often=often)
            statements = made.statements
            module = Module(target, calls_functions=len(statements) > MANY)
            functions = {f"run{k}": part for k, part in enumerate(made.parts) if part.call is None}
            for name, part in functions.items():
                module.add(name, part, made.table)
            self.text = module.text
        middle = time.perf_counter()
        highest = LINES if made.stores <= STRAIGHT else UNROLLED
        if module.calls > CALLS:
            highest = VECTORS
        loops = sum(isinstance(s, For) for s in statements)
        if len(statements) > MOST:
            highest = 1
        elif not loops and len(self.text) < SHORT:
            highest = 0
        self._code = Code(self.text, [*functions], target, highest if level is None else min(level, highest))
        places = iter(self._code.addresses)
        steps = [part.call or Function.at(next(places), part.rounds, part.turn) for part in made.parts]
        self._lay_out(made, steps)
        calls = tuple(step.why for step in steps if isinstance(step, Called))
        seconds = middle - start, time.perf_counter() - middle
        self.report = Report(loops, _layout(made.work)[1], len(statements), calls, *seconds)

    def _lay_out(self, made: Lowered, steps: Sequence[Function | Called]) -> None:
        """The memory of a call: where each buffer lies."""
        self.inputs, self.outputs = made.inputs, made.outputs
        self.constants = {c: _aligned(c.values) for c in made.constants}
        ends = [*made.inputs, *made.outputs]
        most = [TAKEN] * len(made.inputs) + [GIVEN] * len(made.outputs)
        self.is_small = [b.bytes <= n for b, n in zip(ends, most, strict=True)]
        self.places, self.size = _layout([*itertools.compress(ends, self.is_small), *made.work])
        self.numbers = {buffer: k for k, buffer in enumerate(made.table)}
        self.doubted = None if made.doubted is None else self.numbers[made.doubted]
        self.reruns = 0
        free: list[Workspace] = []
        names: dict[str, Callable[..., Any]] = {
            "again": self._again,
            "pop": free.pop,
            "push": free.append,
            "workspace": self._workspace,
            "fit": self.fit,
        }
        self.plan = Plan(made.inputs, made.outputs, self.is_small, steps, made.doubted is not None, names)
        functions = blas() if any(isinstance(s, Product | Routine) for s in made.statements) else None
        self.blas = None if functions is None else ctypes.addressof(functions)

    def fit(self, k: int, array: Any) -> Any:
        """The input as the code reads it: by rows, aligned, of its dtype; a copy if it is not so.

        Raises SpaceError for another shape: the code would read beside the array.
        """
        buffer = self.inputs[k]
        found = array
        if type(array) is not np.ndarray or array.dtype != buffer.dtype or not _lies_by_rows(array.flags):
            found = np.require(array, np.dtype(buffer.dtype), ("C", "A"))
        if found.shape != buffer.shape:
            msg = f"input {k} of a compiled line has the shape {buffer.shape}, not {found.shape}"
            raise SpaceError(msg)
        return found

    @cached_property
    def interpreted(self) -> Runner:
        """The line as the interpreter runs it, which says errors at their places."""
        return Runner(self.line)

    def _again(self, arrays: Sequence[Any], out: Sequence[Any] | None) -> list[Any]:
        """The outputs by the interpreter, where those of the code are in doubt: fresh arrays, or those of `out`."""
        self.reruns += 1
        with np.errstate(all="ignore"):
            made = [np.asarray(a) for a in self.interpreted.run(arrays)]
        if out is None:
            return [a.copy() if a.ndim else a[()] for a in made]
        results = [np.empty_like(a) if target is None else target for target, a in zip(out, made, strict=True)]
        for target, array in zip(results, made, strict=True):
            target[...] = array
        return results

    @cached_property
    def _call(self) -> Callable[..., Any]:
        return self.emitted(Ends(self._unfit))

    def emitted(self, ends: Ends) -> Callable[..., Any]:
        """The function of the inputs' arrays with these ends."""
        return emitted(self.plan, ends)

    def _unfit(self, arrays: Sequence[Any]) -> NoReturn:
        msg = f"a compiled line of {len(self.inputs)} inputs does not apply to {len(arrays)} arrays"
        raise SpaceError(msg)

    def __call__(self, arrays: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """The outputs for these inputs: fresh arrays where `out` is None, or those of `out`, which are not checked."""
        made: list[Any] = self._call(arrays, out)
        return made

    def _workspace(self) -> Workspace:
        """The memory of one more call at a time."""
        try:
            return Workspace(self)
        except MemoryError as error:
            raise allocation(error) from error


@final
class Workspace:
    """The memory of one call: the program's own buffers, copies of small inputs and outputs, the table of addresses.

    `parts` are the table's address, the table, the place that tells of doubts, the places of small inputs, and those of
    small outputs: of a number the place, of an array the function that copies the place.
    """

    __slots__ = ("_line", "_memory", "parts")

    def __init__(self, line: CompiledLine) -> None:
        memory = _memory(line.size)

        def array(buffer: Buffer) -> Any:
            if buffer in line.constants:
                return line.constants[buffer]
            if buffer not in line.places:  # a large one, which lies elsewhere
                return memory[:0]
            at, shape = line.places[buffer], tuple(buffer.shape[k] for k in buffer.order)
            return memory[at : at + buffer.bytes].view(buffer.dtype).reshape(shape)

        self._line, self._memory = line, [array(buffer) for buffer in line.numbers]
        table = (ctypes.c_void_p * (len(self._memory) + 1))(*(array.ctypes.data for array in self._memory), line.blas)
        doubt = None if line.doubted is None else self._memory[line.doubted]
        first, count = len(line.inputs), len(line.is_small)
        copies = [array.copy if array.ndim else array for array in self._memory[first:count]]
        ends = itertools.compress([*self._memory[:first], *copies], line.is_small)
        self.parts = ctypes.addressof(table), table, doubt, *ends

    def call(self, step: Called, large: Mapping[int, Any]) -> None:
        """Call a kernel on arrays, and copy what it makes to its place; `large` arrays lie elsewhere.

        The kernel may keep what it is given: of memory that is written again it is given copies.
        """
        numbers, memory = self._line.numbers, self._memory

        def place(buffer: Buffer) -> Any:
            number = numbers[buffer]
            return large[number] if number in large else memory[number]

        def given(part: Any) -> Any:
            if isinstance(part, tuple):
                return Arrays(map(given, part))
            is_kept = part.kind == "constant" or (part.kind == "in" and numbers[part] in large)
            return place(part) if is_kept else place(part).copy()

        found = step.kernel(*map(given, step.given))
        for buffer, result in zip(step.made, found if isinstance(found, Arrays) else (found,), strict=True):
            place(buffer)[...] = result


def _lies_by_rows(flags: Any) -> bool:
    return bool(flags.c_contiguous and flags.aligned)


def _layout(buffers: Iterable[Buffer]) -> tuple[dict[Buffer, int], int]:
    """The place of each buffer in the workspace, and the size of that in bytes."""
    places: dict[Buffer, int] = {}
    at = 0
    for buffer in buffers:
        places[buffer] = at
        at += -(-buffer.bytes // ALIGNED) * ALIGNED
    return places, at


def _memory(size: int) -> Any:
    """So many bytes from a multiple of the alignment on."""
    memory = np.zeros(size + ALIGNED, np.uint8)
    return memory[-memory.ctypes.data % ALIGNED :][:size]


def _aligned(array: Any) -> Any:
    """The numbers of a constant in memory of their own."""
    made = _memory(array.nbytes).view(array.dtype).reshape(array.shape)
    made[...] = array
    return made
