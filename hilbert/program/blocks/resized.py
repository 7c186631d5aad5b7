"""A line over another index set in place of X: that of a block. Its facts say that every step allows it."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.constant import filled
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import FOUND, Along, Literal, Reduce
from hilbert.relation.plain_forms import Full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.index import Index


def resized(line: Line, index: Index, to: Index, places: Sequence[int] = ()) -> Line:
    """The line whose arrays have the axis `to` where those of the given one have X.

    The inputs `places` are elements of X, and become elements of the other set, as what is found along X does.
    """

    def set_(of: Index) -> Any:
        axes: list[Any] = [to if axis == index else axis for axis in of.axes]
        return functools.reduce(operator.mul, axes) if index in of.axes else of

    def leaf(of: Leaf) -> Leaf:
        if isinstance(of, Bundle):
            return Bundle(tuple(map(leaf, of.leaves)))
        return Leaf(of.entry, tuple([to if axis == index else axis for axis in of.axes])) if index in of.axes else of

    def operation(of: Any, made: Leaf) -> Any:
        match of:
            case Literal(value) if value.number is not None and not isinstance(made, Bundle):
                return Literal(filled(value.number, leaf(made)))
            case Reduce(Full(dom, cod), at):
                return Reduce(Full(set_(dom), set_(cod)), at)
            case Along(name, along, at):
                return Along(name, set_(along), at)
            case Loop() | While():
                return evolve(of, body=resized(of.body, index, to))
            case Cond(then, otherwise):
                return Cond(resized(then, index, to), resized(otherwise, index, to))
            case Implicit(lanes=lanes):
                return evolve(of, lanes=tuple([(set_(axis), varies) for axis, varies in lanes]))
            case Solve(many=many):
                return evolve(of, line=resized(of.line, index, to), many=tuple(map(set_, many)))
            case _:  # the operation has no index set in it
                return of

    steps = [
        Step(operation(step.operation, made), step.args, step.place)
        for step, made in zip(line.steps, line.slots[line.arity :], strict=True)
    ]
    slots, found = list(map(leaf, line.slots)), {*places}
    for k, step in enumerate(line.steps, line.arity):
        if isinstance(step.operation, Along) and step.operation.name in FOUND and index in step.operation.index.axes:
            found.add(k)
    for k in found:
        entry = line.slots[k].entry
        assert entry.index is not None
        slots[k] = Leaf(evolve(entry, index=set_(entry.index)), slots[k].axes)
    return Line(tuple(slots), tuple(steps), line.outputs, line.fixed)
