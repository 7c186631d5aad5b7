"""The linear systems that a line solves: which they are, and how each is planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.program.control.control_flow import on_lines
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.while_loop import While
from hilbert.program.run.fuse import fused
from linmap.matrices.structure.structure import body_of
from linmap.net.apply import ordered
from linmap.term.protocols import Runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hilbert.program.line.line import Line
    from linmap.laws.explain import Explanation


def newtons(f: Implicit) -> Solve | None:
    """The system of a round of Newton's iteration; a fixed point has none."""
    if not f.is_root:
        return None
    (body,) = (step.operation.body for step in f.search().steps if isinstance(step.operation, While))
    return [step.operation for step in body.steps if isinstance(step.operation, Solve)][-1]


def systems(lines: Iterable[Line]) -> tuple[str, ...]:
    """Texts that say how the linear systems of some lines, and of the lines in their steps, are solved; each once."""
    return tuple(_found(lines))


def compared(of: Explanation) -> tuple[str, ...]:
    """Texts of the linear systems of a term, each with a table of the methods: predicted seconds, and why not."""
    f = of.before
    lines = f.lines() if isinstance(f, Runs) else (fused(ordered(body_of(f, "explain"))),)
    return tuple("\n".join([f"system {text}", *_table(some)]) for text, some in _found(lines).items())


def _table(of: Solve) -> Iterator[str]:
    for method, seconds, text in of.compared():
        time = "" if seconds is None else f"{seconds:.2g} s"
        yield f"    {method:<13}{time:<11}{text}"


def _found(lines: Iterable[Line]) -> dict[str, Solve]:
    """The systems of lines by their texts."""
    found: dict[str, Solve] = {}
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
                found.setdefault(_text(step.operation), step.operation)
    return found


def _text(of: Solve) -> str:
    """The text of a system: its unknowns, the proven structure of its matrix, and the method."""
    plan, (n, lanes) = of.plan(), of.sizes
    count = f"{n} unknown{'s' * (n != 1)}" + (f" in each of {lanes} lanes" if of.lanes else "")
    return f"{of.of + ' of' if of.of else 'of'} {count}{', ' * bool(plan.proved)}{plan.proved}: {plan.way}"
