"""The work of a line: operations, bytes moved, the largest array, and a prediction of the time that it takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, assert_never, cast, final

from attrs import evolve, frozen

from hilbert.displayed import Displayed
from hilbert.program.control.branch import Cond
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.operation import Add, Contract, Literal, Move, Reduce, Scale
from hilbert.program.run.fused_steps import AddInto, Quotient, Subtract, Weighted
from hilbert.program.transform.lifted_line import equation
from hilbert.relation import Full
from linmap.matrices.made.peak_memory import peak, size
from linmap.matrices.made.systems import newtons

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line
    from hilbert.program.line.step_operation import Operation

STEP = 1.2e-6
"""Seconds to start a step (measured on numpy)."""
FLOP = 2.5e-10
"""Seconds for an operation on entries that are at hand."""
BYTE = 1.2e-10
"""Seconds to move a byte."""


@final
@frozen
class Work(Displayed):
    """Floating-point operations, bytes read and written, entries of the largest array that is made, bytes at once."""

    flops: int
    bytes: int
    largest: int
    memory: int = 0

    def __str__(self) -> str:
        work = f"{self.flops:>12.3g} flops {self.bytes:>9} bytes   largest array {self.largest:>9}"
        return f"{work}   memory {self.memory:>9} bytes"


def seconds(line: Line) -> float:
    """The predicted time of one run: each step is started, computes, and moves its arrays."""
    w = work(line)
    return STEP * _started(line) + FLOP * w.flops + BYTE * w.bytes


def _started(line: Line) -> int:
    """The number of steps that a run starts."""
    count = 0
    for step in line.steps:
        match step.operation:
            case Literal() | Pack() | Unpack():
                pass
            case ControlFlow() as flow:
                count += _started_inside(cast("Flow", flow))
            case _:  # what holds no lines is one call: operations are an open class here
                count += 1
    return count


def _started_inside(flow: Flow) -> int:
    """The steps that a step with lines starts, of a `while` and of an equation those of one round."""
    match flow:
        case Loop(body, index):
            return index.size * (1 + _started(body))
        case Cond():
            return 1 + max(map(_started, flow.lines))
        case While(body) | Implicit(body) | Solve(body):
            return 1 + _started(body)
        case _:
            assert_never(flow)


def whole_work(line: Line) -> Work:
    """The work of one run of a line, and the memory of the run."""
    return evolve(work(line), memory=peak(line))


def work(line: Line) -> Work:
    """The work of one run of a line, without the memory."""
    flops = moved = largest = 0
    for step, result in zip(line.steps, line.slots[line.arity :], strict=True):
        if isinstance(step.operation, (Literal, Pack, Unpack)):
            continue
        if isinstance(step.operation, (Loop, While, Cond, Implicit, Solve)):
            n, inside = _inside(step.operation)
            flops += n * max(w.flops for w in inside)
            moved += n * max(w.bytes for w in inside)
            largest = max(largest, *(w.largest for w in inside), *(leaf.size for leaf in step.operation.made.leaves))
            continue
        operands = [line.slots[k] for k in step.args]
        flops += _flops(step.operation, operands, result)
        if not isinstance(step.operation, Move) and not _is_rep(step.operation):
            moved += sum(size(leaf) for leaf in (*operands, result))
        largest = max(largest, result.size)
    return Work(flops, moved, largest)


def _inside(operation: Loop | While | Cond | Implicit | Solve) -> tuple[int, list[Work]]:
    """The number of rounds of a step that holds lines (1 where unknown), and the work of each line that may run."""
    match operation:
        case Loop(body, index):
            return index.size, [work(body)]
        case Cond() as cond:
            return 1, [work(line) for line in cond.lines]
        case While(body):
            return 1, [work(body)]
        case Implicit() as f:  # a round, of Newton's with a system; in full, the equation is run for each column
            one, of = work(equation(f)), newtons(f)
            plan = None if of is None else of.plan()
            if plan is not None and (plan.division or plan.entries):
                both = one.flops + plan.flops, one.bytes + plan.bytes, max(one.largest, plan.largest)
                return 1, [Work(*both)]
            n, many = f.columns, math.prod(axis.size for axis, _ in f.lanes)
            flops = (1 + n) * one.flops + many * n**3 // 3
            return 1, [Work(flops, (1 + n) * one.bytes, max((n or 1) * one.largest, many * n * n))]
        case Solve() as system:
            plan = system.plan()
            return 1, [Work(plan.flops, plan.bytes, plan.largest)]
        case never:
            assert_never(never)


def _flops(operation: Operation, operands: list[Leaf], result: Leaf) -> int:
    match operation:
        case Contract(spec) if all(leaf.is_field for leaf in operands):
            labels = dict(zip(spec.left, operands[0].shape, strict=True))
            labels |= dict(zip(spec.right, operands[1].shape, strict=True))
            return (2 if spec.contracted else 1) * math.prod(labels.values())
        case AddInto():
            return operands[1].size
        case Weighted(gather, _, _, _):
            return 2 * operands[0].size * operands[1].size // int(gather.relation.dom.size)
        case Reduce():
            return 0 if _is_rep(operation) else operands[0].size
        case Add() | Subtract() | Quotient() | Scale() | Contract():
            return result.size
        case _:  # moves and casts; the open table of primitives is not counted
            return 0


def _is_rep(operation: Operation) -> bool:
    """Tell if a step replicates: its result is a view, and moves nothing."""
    return isinstance(operation, Reduce) and isinstance(operation.relation, Full) and not operation.relation.dom.axes
