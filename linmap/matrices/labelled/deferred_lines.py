"""Lines that are made ready when they are first run; their steps on constants alone are run then, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.formal.formal_array import Formal
from hilbert.base.once import cached_property
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Literal
from hilbert.program.run.fuse import fused
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.program.line.line import Line

FOLDED = 4 * 10**6
"""Constants with at most so many entries are computed once, and kept."""


@final
class Deferred:
    """A line that is made ready when it is first run: its steps on constants alone are run then, once."""

    def __init__(self, line: Line) -> None:
        """The line as it is `written`, its steps not fused."""
        self.written = line

    @cached_property
    def line(self) -> Line:
        """The steps that are run at every point, and those that make constants."""
        return fused(self.written)

    @cached_property
    def is_formal(self) -> bool:
        """True if some constant is a formal tensor."""
        return holds_formal(self.written)

    @cached_property
    def _runner(self) -> Runner:
        line = self.written
        made = enumerate(line.steps, line.arity)
        given = sum(line.slots[slot].size for slot, step in made if isinstance(step.operation, Literal))
        with np.errstate(all="ignore"):
            return Runner(line, max(given, FOLDED))

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs."""
        return self._runner.run(arrays)


def holds_formal(line: Line) -> bool:
    """Tell if some constant of a line is a formal tensor."""
    operations = (step.operation for step in line.steps)
    return any(type(f.value.array) is Formal for f in operations if isinstance(f, Literal))


def behind(b: Builder, given: Sequence[int], outputs: Sequence[int]) -> Line:
    """The steps from some slots of a line to its outputs, which depend on these slots and on constants alone."""
    needed = set(outputs)
    for k in range(len(b.slots) - 1, b.arity - 1, -1):
        if k in needed and k not in given:
            needed.update(b.steps[k - b.arity].args)
    made = Builder([b.slots[k] for k in given], fixed=True)
    where = {slot: k for k, slot in enumerate(given)}
    for k, step in enumerate(b.steps, b.arity):
        if k in needed and k not in where:
            where[k] = made.emit(step.operation, tuple([where[a] for a in step.args]), b.slots[k])
    return made.line(where[k] for k in outputs)
