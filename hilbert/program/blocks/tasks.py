"""A block as a task: a function of its rows that travels to another thread, process or machine.

Rows of a memory-mapped file travel as the place in the file where they lie, not as numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.base.once import LOCK
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.index.index import Index
    from hilbert.program.blocks.passes import Pass
    from hilbert.program.line.line import Line

    Run: TypeAlias = Callable[[Sequence[Any]], list[Any]]

KEPT = 32
"""The lines of blocks whose runners a process keeps."""
_runners: OrderedDict[Any, Run] = OrderedDict()


@final
@frozen
class Rows:
    """Some rows of an array in a file: its name, and the place, the dtype and the shape of the array there."""

    filename: str
    offset: int
    dtype: str
    shape: tuple[int, ...]
    at: tuple[slice, ...]

    def read(self) -> Any:
        """The rows, as they lie in the file."""
        return np.memmap(self.filename, self.dtype, "r", self.offset, self.shape)[self.at]


@final
@frozen(eq=False)
class Task:
    """A pass on the rows from `start` to `end`, given the arrays that have rows, or the places where these lie."""

    part: Pass
    index: Index
    shared: Sequence[Any]
    make: Callable[[Line], Run]

    def __call__(self, rows: tuple[int, int, Sequence[Any]]) -> list[Any]:
        """The totals and the results of these rows; an error names them."""
        start, end, lanes = rows
        given = [lane.read() if isinstance(lane, Rows) else lane for lane in lanes]
        try:
            return list(self._run(end - start)([*self.shared, *given]))
        except Exception as error:
            error.add_note(f"  in the block of the elements {start} to {end - 1} of {self.index}")
            raise

    def _run(self, n: int) -> Run:
        key = self.make, self.part.line, self.index, n
        with LOCK:
            found = _runners.get(key)
        if found is not None:
            return found
        made = self.make(self.part.block(self.index, n))
        with LOCK:
            found = _runners.setdefault(key, made)
            while len(_runners) > KEPT:
                _runners.popitem(last=False)
        return found


def interpreted(line: Line) -> Run:
    """The function that runs a line step by step."""
    return Runner(line).run


def rows_of(array: Any, at: tuple[slice, ...]) -> Any:
    """Some rows of an array; of one in a file, the place where they lie."""
    base = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    while base is not None and isinstance(base.base, np.memmap):
        base = base.base
    if base is None or base.filename is None or not array.flags.c_contiguous:
        return array[at]
    offset = base.offset + array.ctypes.data - base.ctypes.data
    return Rows(str(base.filename), int(offset), str(array.dtype), array.shape, at)
