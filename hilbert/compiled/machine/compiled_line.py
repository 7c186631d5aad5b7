"""A line as machine code: arrays in, fresh arrays out."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.compiled.lower.expanded import expanded
from hilbert.compiled.lower.line_loops import whole
from hilbert.compiled.machine.ir_text import Module
from hilbert.compiled.machine.machine import Code, blas, host
from hilbert.compiled.merge.accesses import accesses
from hilbert.compiled.merge.contraction import contract
from hilbert.compiled.merge.fusion import fused
from hilbert.compiled.merge.marks import mark_parallel
from hilbert.compiled.tree.arrays import Loops
from hilbert.compiled.tree.statements import Called, For, inside
from hilbert.arrays.kernels.library import Arrays
from hilbert.program.run.constant_folding import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement
    from hilbert.program.line.line import Line

FOLDED = 4096
"""Constants of up to so many entries are computed when a line is compiled."""
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
class CompiledLine:
    """The machine code of a line. Calls may run side by side: each has its own workspace."""

    def __init__(self, line: Line, *, level: int = 3, target: tuple[str, str] | None = None, merge: bool = True) -> None:
        start = time.perf_counter()
        line = folded(line, FOLDED)
        to = Loops()
        inputs, outputs = whole(to, line)
        statements = expanded(to)
        if merge:
            statements = _fused_between(statements)
        contract(to, statements)
        if merge:
            mark_parallel(statements)
        self.statements, self.outputs = statements, outputs
        used = {buffer for s in statements for buffer in accesses(s)}
        work = [b for b in to.buffers if b in used and not b.is_local]
        constants = [*to.constants.values()]
        self._table = [*inputs, *outputs, *constants, *work]
        self._numbers = {buffer: k for k, buffer in enumerate(self._table)}
        module = Module(has_fma="+fma" in (target or host())[1])
        self._steps: list[Callable[[list[Any], Any], None]] = []
        names: list[str] = []
        plan: list[Any] = []
        for part in _stretches(statements):
            if isinstance(part, Called):
                plan.append(part)
            else:
                names.append(f"run{len(names)}")
                plan.append(names[-1])
                module.add(names[-1], part, self._table)
        self.text = module.text
        lowered = time.perf_counter()
        self._code = Code(self.text, names, level, target) if names else None
        self._plan = [self._code.functions[p] if isinstance(p, str) and self._code else p for p in plan]
        self._constants = [_aligned(c.values) for c in constants]
        self._work, self._size = _layout(work)
        self._inputs, self._made = inputs, [(b.shape, np.dtype(b.dtype)) for b in outputs]
        self._workspaces: list[Any] = []
        self._blas = blas()
        self.report = Report(
            sum(isinstance(s, For) for s in inside(statements)),
            self._size,
            sum(1 for _ in inside(statements)),
            tuple(s.why for s in statements if isinstance(s, Called)),
            lowered - start,
            time.perf_counter() - lowered,
        )

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs, fresh arrays."""
        given = [
            np.require(a, np.dtype(b.dtype), ("C", "A")) for a, b in zip(arrays, self._inputs, strict=True)
        ]
        made = [np.empty(shape, dtype) for shape, dtype in self._made]
        workspace = self._workspaces.pop() if self._workspaces else self._workspace()
        table, work = workspace
        for k, array in enumerate(given + made):
            table[k] = array.ctypes.data
        address = ctypes.addressof(table)
        try:
            for step in self._plan:
                if isinstance(step, Called):
                    self._call(step, [*given, *made, *self._constants, *work])
                else:
                    step(address, self._blas)
        finally:
            self._workspaces.append(workspace)
        return made

    def _call(self, step: Called, memory: list[Any]) -> None:
        """Call a kernel on arrays in memory, and copy what it makes to its place."""

        def array(part: Any) -> Any:
            if isinstance(part, tuple):
                return Arrays(array(p) for p in part)
            return memory[self._numbers[part]]

        found = step.kernel(*(array(part) for part in step.given))
        for buffer, result in zip(step.made, found if isinstance(found, Arrays) else (found,), strict=True):
            memory[self._numbers[buffer]][...] = result

    def _workspace(self) -> tuple[Any, list[Any]]:
        """A table of addresses and the memory of the program's own buffers."""
        memory = np.zeros(self._size + ALIGNED, np.uint8)
        memory = memory[-memory.ctypes.data % ALIGNED :]
        work = [memory[at : at + size].view(dtype).reshape(shape) for at, size, dtype, shape in self._work]
        table = (ctypes.c_void_p * max(len(self._table), 1))()
        first = len(self._inputs) + len(self._made)
        for k, array in enumerate([*self._constants, *work], first):
            table[k] = array.ctypes.data
        return table, work


def _fused_between(statements: list[Statement]) -> list[Statement]:
    """The statements merged between two calls."""
    made: list[Statement] = []
    for part in _stretches(statements):
        made += [part] if isinstance(part, Called) else fused(part)
    return made


def _stretches(statements: list[Statement]) -> list[Any]:
    """The statements between calls, and the calls."""
    made: list[Any] = []
    for statement in statements:
        if isinstance(statement, Called):
            made.append(statement)
        elif made and isinstance(made[-1], list):
            made[-1].append(statement)
        else:
            made.append([statement])
    return made


def _layout(buffers: list[Buffer]) -> tuple[list[tuple[int, int, Any, tuple[int, ...]]], int]:
    """The place, the size, the dtype and the shape of each buffer in the workspace, and the size of that in bytes."""
    made, at = [], 0
    for buffer in buffers:
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
