"""Running a line: bound once to an array library and to shapes, then run at small cost per step.

Constants are moved to the arguments' library and device once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.formal.formal_kernels import FormalKernels, finished
from hilbert.arrays.kernels.library import Compound, library
from hilbert.arrays.libraries.libraries import common_library, together
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.base.once import first
from hilbert.program.line.operation import Literal
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.prepare import prepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.program.line.line import Line

KINDS = NUMPY.kinds


@final
class Runner:
    """The executable form of a line: without dead steps, constants computed, steps fused.

    A computed constant has no more entries than its operands, or at most `most` entries.
    """

    __slots__ = ("_abroad", "_bound", "_formal", "line")

    def __init__(self, line: Line, most: int = 1) -> None:
        self.line = line = prepared(line.pruned(), most)
        constants = [step.operation.value.array for step in line.steps if isinstance(step.operation, Literal)]
        self._bound: dict[Any, BoundLine] = {}
        self._formal = Formal in map(type, constants)
        self._abroad = [a for a in _parts(constants) if library(a) is not NUMPY]

    def run(self, arrays: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """The outputs for these inputs, in the inputs' library.

        Those with an array in `out` may be written there; those that are not are other arrays.
        """
        if out is not None:
            return self._run_into(arrays, out)
        bound = self._bound.get(NUMPY)
        if bound is not None and KINDS.issuperset(map(type, arrays)):
            return bound(arrays)
        if self._formal or Formal in map(type, arrays):
            return self._run_formally(arrays)
        home = arrays or self._abroad
        lib = common_library(home)
        arrays = together(lib, arrays)
        home = arrays or self._abroad
        key = lib.home(home)
        bound = self._bound.get(key)
        if bound is None:
            bound = first(self._bound, key, BoundLine(self.line, lib, home))
        return bound(arrays)

    def _run_into(self, arrays: Sequence[Any], out: Sequence[Any]) -> list[Any]:
        """The outputs, of numpy's arrays."""
        if self._formal or self._abroad:
            return self.run(arrays)
        into = tuple([k for k, a in enumerate(out) if a is not None])
        bound = self._bound.get(into)
        if bound is None:
            bound = first(self._bound, into, BoundLine(self.line, NUMPY, arrays, into))
        return bound(arrays, [out[k] for k in into])

    def _run_formally(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs, where some inputs or constants are formal."""
        plain = _parts(arrays) or self._abroad
        lib = common_library(plain)
        key = (Formal, lib.home(plain))
        bound = self._bound.get(key)
        if bound is None:
            bound = first(self._bound, key, BoundLine(self.line, FormalKernels(lib), plain))
        try:
            return [finished(a) for a in bound(arrays)]
        finally:
            bound.forget()


def _parts(arrays: Iterable[Any]) -> list[Any]:
    """The arrays, with the parts of formal ones."""
    return [part for a in arrays for part in (a.parts if isinstance(a, Compound) else (a,))]
