"""Running a line: bound once to a namespace and to shapes, then run at small cost per step.

Constants are moved to the arguments' namespace and device once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import array_api_compat
import numpy as np

from hilbert.arrays.namespace import NUMPY, common_namespace
from hilbert.formal.array import Formal
from hilbert.formal.kernels import FormalKernels, finished
from hilbert.program.bind import Bound
from hilbert.program.fuse import fused
from hilbert.program.operation import Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.program.line import Line


@final
class Runner:
    """The executable form of a line, without dead steps and with those fused that are better done together."""

    __slots__ = ("_abroad", "_bound", "_formal", "line")

    def __init__(self, line: Line) -> None:
        self.line = line = fused(line.pruned())
        constants = [step.operation.value.array for step in line.steps if isinstance(step.operation, Literal)]
        self._bound: dict[Any, Bound] = {}
        self._formal = Formal in map(type, constants)
        self._abroad = [a for a in _parts(constants) if not isinstance(a, (np.ndarray, np.generic))]

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs, in the inputs' namespace."""
        bound = self._bound.get(np)
        if bound is not None and NUMPY.issuperset(map(type, arrays)):
            return bound(arrays)
        if self._formal or Formal in map(type, arrays):
            return self._run_formally(arrays)
        home = arrays or self._abroad
        xp = common_namespace(home)
        key = xp if xp is np else (xp, array_api_compat.device(home[0]))
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = Bound(self.line, xp, home)
        return bound(arrays)

    def _run_formally(self, arrays: Sequence[Any]) -> list[Any]:
        """As `run`, where some arrays are formal."""
        plain = _parts(arrays) or self._abroad
        xp = common_namespace(plain)
        key = (Formal, xp if xp is np else (xp, array_api_compat.device(plain[0])))
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = Bound(self.line, FormalKernels(xp), plain)
        try:
            return [finished(a) for a in bound(arrays)]
        finally:
            bound.forget()


def _parts(arrays: Iterable[Any]) -> list[Any]:
    """The arrays, those that formal ones are made of included."""
    return [part for a in arrays for part in (a.parts if isinstance(a, Formal) else (a,))]
