"""Lines that are made ready when they are first run, with what they compute of constants alone computed then, once."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.once import cached_property
from hilbert.program.builder import Builder
from hilbert.program.constant import Const
from hilbert.program.fuse import fused
from hilbert.program.line import Line, Step
from hilbert.program.operation import Literal
from hilbert.program.run import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDED = 4 * 10**6
"""Constants with at most so many entries are computed once, and kept."""


@final
class Deferred:
    """A line that is made ready when it is first run: what it computes of constants alone is computed then, once."""

    def __init__(self, line: Line) -> None:
        self._line = line

    @cached_property
    def line(self) -> Line:
        """The steps that are run at every point, and those that make constants."""
        return fused(self._line)

    @cached_property
    def _runner(self) -> Runner:
        return Runner(with_constants(self._line))

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs."""
        return self._runner.run(arrays)


def with_constants(line: Line) -> Line:
    """The line with what it computes from constants of numpy alone as constants, where that takes no more memory."""
    fixed = [False] * line.arity
    for step in line.steps:
        if isinstance(step.operation, Literal):
            fixed.append(isinstance(step.operation.value.array, np.ndarray))
        else:
            fixed.append(all(fixed[a] for a in step.args))
    made = [not isinstance(s.operation, Literal) for s in line.steps]
    given = sum(line.slots[k].size for k, m in enumerate(made, line.arity) if not m and fixed[k])
    ends = dict.fromkeys(a for k, s in enumerate(line.steps, line.arity) if not fixed[k] for a in s.args)
    ends |= dict.fromkeys(line.outputs)
    ends = {k: None for k in ends if k >= line.arity and fixed[k] and made[k - line.arity]}
    ends = {k: None for k in ends if line.slots[k].size <= max(given, FOLDED)}
    if not ends:
        return line
    b = Builder([])
    where: dict[int, int] = {}
    for k, (step, leaf) in enumerate(zip(line.steps, line.slots[line.arity :], strict=True), line.arity):
        if fixed[k]:
            where[k] = b.emit(step.operation, tuple(where[a] for a in step.args), leaf)
    with np.errstate(all="ignore"):
        arrays = Runner(b.line([where[k] for k in ends])).run([])
    steps, token = list(line.steps), uuid.uuid4().int
    for k, array in zip(ends, arrays, strict=True):
        kept = np.array(array)
        kept.flags.writeable = False
        steps[k - line.arity] = Step(Literal(Const(kept, line.slots[k], (token, k))), ())
    return Line(line.slots, tuple(steps), line.outputs).pruned()
