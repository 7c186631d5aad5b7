"""The memory that a run of a line takes: bytes of the arrays that are made and held at once.

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.index.spec import Spec
>>> from hilbert.program.line.builder import Builder
>>> x = Leaf(Entry("float64"), (Fin.of(100),))
>>> b = Builder([x, x])
>>> peak(b.line([b.contract(Spec("i", "i", ""), b.contract(Spec("i", "i", "i"), 0, 1), b.add(0, 1))]))
1608
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast

import numpy as np

from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Bundle
from hilbert.program.control.branch import Cond
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.operation import Keep, Literal, Move, Reduce
from hilbert.relation import Full

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line, Step


def peak(line: Line) -> int:
    """The bytes of the arrays that a run makes and holds at once, at most; inputs and constants are not among them.

    A view takes no memory, an operation entry by entry writes into an operand that dies, and what is packed for a loop
    stays. Of a loop a round counts, and the stacks of results.
    """
    owners = _owners(line)
    packed = [a for step in line.steps if isinstance(step.operation, Pack) for a in step.args]
    kept = {owners[k] for k in (*line.outputs, *packed)}
    last = {owners[a]: k for k, step in enumerate(line.steps) for a in step.args}
    held, most = 0, 0
    for k, (slot, step) in enumerate(zip(range(line.arity, len(line.slots)), line.steps, strict=True)):
        owns = owners[slot] == slot and not isinstance(step.operation, (Literal, Pack))
        made = size(line.slots[slot]) if owns else 0
        dead = {owners[a] for a in step.args if last[owners[a]] == k and owners[a] not in kept}
        freed = sum(size(line.slots[d]) for d in dead if _is_made(line, d))
        most = max(most, held + made + _inside(step) - (made if _overwrites(line, step, slot, dead) else 0))
        held += made - freed
        if slot not in last and slot not in kept:
            held -= made
    return most


def size(leaf: Leaf) -> int:
    """The bytes of an array, or of the arrays of a bundle."""
    if isinstance(leaf, Bundle):
        return sum(map(size, leaf.leaves))
    return leaf.size * np.dtype(leaf.dtype).itemsize


def _owners(line: Line) -> list[int]:
    """For each slot the slot whose memory the slot shows: another one for views."""
    found = list(range(line.arity))
    for slot, step in enumerate(line.steps, line.arity):
        match step.operation:
            case Move() | Keep() | Unpack():
                found.append(found[step.args[0]])
            case Reduce(Full(dom, _)) if not dom.axes:
                found.append(found[step.args[0]])
            case _:  # a new array
                found.append(slot)
    return found


def _is_made(line: Line, slot: int) -> bool:
    k = slot - line.arity
    return k >= 0 and not isinstance(line.steps[k].operation, (Literal, Pack))


def _overwrites(line: Line, step: Step[Any], slot: int, dead: set[int]) -> bool:
    """Tell if a step writes its result into an operand that dies."""
    leaf = line.slots[slot]
    fits = any(line.slots[d] == leaf and _is_made(line, d) for d in dead)
    return fits and step.operation.by_entry(NUMPY, [line.slots[a] for a in step.args]) is not None


def _inside(step: Step[Any]) -> int:
    """The memory of a round, or of a branch, of a step that holds lines."""
    if not isinstance(step.operation, ControlFlow):
        return 0
    flow = cast("Flow", step.operation)
    match flow:
        case Loop(body) | While(body) | Implicit(body) | Solve(body):
            return peak(body)
        case Cond():
            return max(map(peak, flow.lines))
        case _:
            assert_never(flow)
