"""The linear systems that a line solves: which they are, and how each is planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.program.control.control_flow import on_lines
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.while_loop import While

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hilbert.program.line.line import Line


def newtons(f: Implicit) -> Solve | None:
    """The system of a round of Newton's iteration; a fixed point has none."""
    if not f.is_root:
        return None
    (body,) = (step.operation.body for step in f.search().steps if isinstance(step.operation, While))
    return [step.operation for step in body.steps if isinstance(step.operation, Solve)][-1]


def systems(lines: Iterable[Line]) -> tuple[str, ...]:
    """Texts that say how the linear systems of some lines, and of the lines in their steps, are solved; each once."""
    found: dict[str, None] = {}
    seen: set[Line] = set()
    todo = [*lines][::-1]

    def later(line: Line) -> Line:
        todo.append(line)
        return line

    while todo:
        line = todo.pop()
        if line in seen:
            continue
        seen.add(line)
        for step in line.steps:
            if isinstance(step.operation, Implicit):
                todo.append(step.operation.search())
            else:
                on_lines(step.operation, later)
            if isinstance(step.operation, Solve):
                found[_text(step.operation)] = None
    return tuple(found)


def _text(of: Solve) -> str:
    """The text of a system: its unknowns, the proven structure of its matrix, and the method."""
    plan, (n, lanes) = of.plan(), of.sizes
    count = f"{n} unknown{'s' * (n != 1)}" + (f" in each of {lanes} lanes" if of.lanes else "")
    return f"{of.of + ' of' if of.of else 'of'} {count}{', ' * bool(plan.proved)}{plan.proved}: {plan.way}"
