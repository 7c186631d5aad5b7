"""Lines that are made ready when they are first run; their steps on constants alone are run then, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.base.once import cached_property
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
    def _runner(self) -> Runner:
        line = self.written
        made = enumerate(line.steps, line.arity)
        given = sum(line.slots[slot].size for slot, step in made if isinstance(step.operation, Literal))
        with np.errstate(all="ignore"):
            return Runner(line, max(given, FOLDED))

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs."""
        return self._runner.run(arrays)
