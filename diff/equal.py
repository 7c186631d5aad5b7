"""Functions and derivatives compared by contents: value numbering of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.lower import program
from hilbert.program.constant import Const
from hilbert.program.operation import Add, Literal
from linmap.net.equal import const_label, net_label

if TYPE_CHECKING:
    from collections.abc import Hashable

    from diff.affine import AnyLinearization
    from diff.term import AnyProgram
    from hilbert.map import AnyMap
    from linmap.net.equal import Numbering
    from linmap.term.datum import Datum


def numbers(p: AnyProgram, numbering: Numbering) -> list[int]:
    """The number of every slot's value; a sum does not depend on the order of its operands."""
    values = [numbering.of(("argument", k)) for k in range(p.arity)]
    for step in p.steps:
        args = [values[k] for k in step.args]
        match step.operation:
            case Literal(value):
                values.append(numbering.of(("constant", const_label(value))))
            case Add():
                values.append(numbering.of(("+", tuple(sorted(args)))))
            case operation:  # without constants: its own label
                values.append(numbering.of((operation, tuple(args))))
    return values


def program_label(f: AnyMap, numbering: Numbering) -> Hashable:
    """The contents of a function."""
    p = program(f)
    values = numbers(p, numbering)
    return "function", p.dom, p.cod, tuple(values[k] for k in p.outputs)


def linearization_label(f: AnyLinearization, numbering: Numbering) -> Hashable:
    """The contents of a linear map in the point."""
    values = numbers(f.program, numbering)

    def datum(d: Datum) -> Hashable:
        return const_label(d) if isinstance(d, Const) else values[d.slot]

    return "linearization", f.point, net_label(f.body, numbering, datum)
