"""The cost of the contractions of a line, step by step: multiplications of numbers, and the largest array.

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.builder import line_of
>>> from hilbert.program.line.operation import Contract
>>> from hilbert.index.spec import Spec
>>> X, Y = Fin.of(3), Fin.of(4)
>>> real = Entry("float64")
>>> line = line_of((Leaf(real, (Y, X)), Leaf(real, (X,))), Contract(Spec.of("ij", "j", "i")), 0, 1)
>>> multiplications(line), largest(line)
(12, 12)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, assert_never, cast

from hilbert.program.control.branch import Cond
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.operation import Contract, Reduce, Scale
from hilbert.program.transform.lifted_line import equation
from hilbert.relation import Full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line, Step


def multiplications(line: Line) -> int:
    """The products of numbers that the contractions and scalings of a line form; primitives are not counted."""
    return sum(products(step, line.slots) for step in line.steps)


def largest(line: Line) -> int:
    """The entries of the largest array, inputs among them."""
    return max((leaf.size for leaf in line.slots), default=0)


def products(step: Step[Any], slots: Sequence[Leaf]) -> int:
    """The multiplications of one step; to select by a mask, or at elements, multiplies nothing."""
    match step.operation:
        case Contract(spec):
            left, right = (slots[k] for k in step.args)
            if not (left.is_field and right.is_field):
                return 0
            return math.prod((_sizes(spec.left, left) | _sizes(spec.right, right)).values())
        case Scale():
            return slots[step.args[0]].size
        case ControlFlow() as flow:
            return _products_inside(cast("Flow", flow))
        case _:  # no other operation multiplies all entries by others
            return 0


def _products_inside(flow: Flow) -> int:
    """The multiplications of the lines that control flow holds, each as often as it runs."""
    match flow:
        case Loop(body, index):
            return index.size * multiplications(body)
        case Cond():
            return max(map(multiplications, flow.lines))
        case While(body):  # one round: nobody knows how many there are
            return multiplications(body)
        case Implicit():  # one round; of Newton's, the equation also for each column of its derivative
            n, many = flow.columns, math.prod(axis.size for axis, _ in flow.lanes)
            return (1 + n) * multiplications(equation(flow)) + many * n**3 // 3
        case Solve(line, unknowns):
            n = sum(leaf.size for leaf in line.slots[:unknowns])
            return n * multiplications(line) + n**3 // 3
        case _:
            assert_never(flow)


def sums(step: Step[Any], slots: Sequence[Leaf]) -> int:
    """The additions of a step that sums over whole axes; those of a contraction go with its multiplications."""
    match step.operation:
        case Reduce(Full(dom, _)) if dom.axes:
            return slots[step.args[0]].size
        case _:  # other reductions stay where they are
            return 0


def _sizes(labels: str, leaf: Leaf) -> dict[str, int]:
    return dict(zip(labels, leaf.shape, strict=True))
