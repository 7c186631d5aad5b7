"""log Σ exp x beside softmax x or its logarithm, as in a derivative: one step makes all, of the same exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import COMPUTED, Along
from hilbert.program.run.fused_steps import Exponentials

if TYPE_CHECKING:
    from hilbert.program.line.line import Line, Step


def shared_exponentials(line: Line) -> Line:
    """The same results; steps that use the exponentials of one array become one, at the place of the first of them."""
    found: dict[Any, set[str]] = {}
    for step in line.steps:
        if _is_of_them(step):
            found.setdefault(_all(step), set()).add(step.operation.name)
    if all(len(names) == 1 for names in found.values()):
        return line
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = list(range(line.arity))
    for step, leaf in zip(line.steps, line.slots[line.arity :], strict=True):
        b.place = step.place
        args = tuple([where[a] for a in step.args])
        names = [name for name in COMPUTED if name in found[_all(step)]] if _is_of_them(step) else []
        if len(names) > 1:
            made = b.unpack(b.step(Exponentials(tuple(evolve(step.operation, name=name) for name in names)), args))
            where.append(made[names.index(step.operation.name)])
        else:
            where.append(b.emit(step.operation, args, leaf))
    return b.line(where[k] for k in line.outputs)


def _is_of_them(step: Step[Any]) -> bool:
    return isinstance(step.operation, Along) and step.operation.name in COMPUTED


def _all(step: Step[Along]) -> tuple[Any, ...]:
    """The key that steps of the same exponentials have in common."""
    return step.operation.index, step.operation.at, step.args
