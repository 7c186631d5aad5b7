"""Lines and steps over other index sets in place of some: those of a block. Their facts say that they allow it."""

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
from hilbert.relation.function_forms import Converse, Inclusion
from hilbert.relation.plain_forms import Full

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hilbert.index.index import Index

    Sets = Mapping[Index, Index]


def resized(line: Line, sets: Sets, places: Sequence[int] = ()) -> Line:
    """The line whose arrays have other axes in place of some.

    The inputs `places` are elements of such a set, and become elements of the other, as what is found along it does.
    """
    steps = [
        Step(resized_step(step.operation, made, sets), step.args, step.place)
        for step, made in zip(line.steps, line.slots[line.arity :], strict=True)
    ]
    slots, found = [resized_leaf(leaf, sets) for leaf in line.slots], {*places}
    for k, step in enumerate(line.steps, line.arity):
        if isinstance(step.operation, Along) and step.operation.name in FOUND:
            found.add(k)
    for k in found:
        slots[k] = resized_place(slots[k], sets)
    return Line(tuple(slots), tuple(steps), line.outputs, line.fixed)


def resized_set(of: Index, sets: Sets) -> Any:
    """An index set with other factors."""
    axes: list[Any] = [sets.get(axis, axis) for axis in of.axes]
    return functools.reduce(operator.mul, axes) if any(axis in sets for axis in of.axes) else of


def resized_leaf(of: Leaf, sets: Sets) -> Leaf:
    """A leaf with other axes."""
    if isinstance(of, Bundle):
        return Bundle(tuple([resized_leaf(part, sets) for part in of.leaves]))
    return Leaf(of.entry, tuple([sets.get(axis, axis) for axis in of.axes]))


def resized_place(of: Leaf, sets: Sets) -> Leaf:
    """A leaf whose entries are elements of another set."""
    assert of.entry.index is not None
    return Leaf(evolve(of.entry, index=resized_set(of.entry.index, sets)), of.axes)


def resized_step(of: Any, made: Leaf, sets: Sets) -> Any:
    """An operation on arrays with other axes, that made arrays with the axes of a leaf."""
    match of:
        case Literal(value) if value.number is not None and not isinstance(made, Bundle):
            return Literal(filled(value.number, resized_leaf(made, sets)))
        case Reduce(Full(dom, cod), at):
            return Reduce(Full(resized_set(dom, sets), resized_set(cod, sets)), at)
        case Reduce(Inclusion(dom, cod, 0, 1), at) if dom.size == cod.size:
            return Reduce(Inclusion(resized_set(dom, sets), resized_set(cod, sets), 0), at)
        case Reduce(Converse(Inclusion(dom, cod, 0, 1)), at) if dom.size == cod.size:
            return Reduce(Converse(Inclusion(resized_set(dom, sets), resized_set(cod, sets), 0)), at)
        case Along(name, along, at):
            return Along(name, resized_set(along, sets), at)
        case Loop() | While():
            return evolve(of, body=resized(of.body, sets))
        case Cond(then, otherwise):
            return Cond(resized(then, sets), resized(otherwise, sets))
        case Implicit(lanes=lanes):
            return evolve(of, lanes=tuple([(resized_set(axis, sets), varies) for axis, varies in lanes]))
        case Solve(many=many):
            return evolve(of, line=resized(of.line, sets), many=tuple([resized_set(axis, sets) for axis in many]))
        case _:  # the operation has no index set in it
            return of
