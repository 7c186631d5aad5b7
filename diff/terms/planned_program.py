"""Programs whose contractions run in a cheaper order than they are written in, and derivatives that start from those.

The adjoints of a contraction run over its own labels, so the gradient in all operands costs three times the value: the
value is planned before anything is derived, and what is derived is planned again (see
`hilbert.program.planning.contraction_plan`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.terms.program import AnyProgram, Program
from hilbert.base.once import known, once
from hilbert.program.planning import contraction_plan
from hilbert.program.planning.multiplications import multiplications

if TYPE_CHECKING:
    from collections.abc import Callable


@once
def reordered(p: AnyProgram) -> AnyProgram:
    """The program with its contractions in the order in which they are run; p itself if that is as they are written."""
    line = contraction_plan.planned(p.line)
    return p if line is p.line else _planned(Program(p.dom, p.cod, line, p.names, p.written or p))


def derived(p: AnyProgram, derive: Callable[[AnyProgram], AnyProgram]) -> AnyProgram:
    """The program derived from one as it is written, or as it is planned: the cheaper, planned itself.

    The gradient in some of the operands can cost more after the value was planned.
    """
    written = derive(p.written or p)
    found = reordered(written)
    value = reordered(p)
    if value.written is None:
        return found
    other = reordered(derive(value))
    if multiplications(found.line) < multiplications(other.line):
        return found
    return _planned(Program(other.dom, other.cod, other.line, other.names, written))


def _planned(p: AnyProgram) -> AnyProgram:
    """A program that is planned."""
    known(reordered, p, p)
    return p
