"""Partial derivatives ∂_β p of scalar primitives as maps: the library's own, of any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.derive.affine import jvp
from diff.lam.term.lam_values import flattened, summands
from diff.terms.lower import program
from diff.trace.expr import const
from diff.trace.trace import fun
from hilbert import R
from hilbert.base.once import once
from hilbert.program.line.operation import Literal

if TYPE_CHECKING:
    from diff.jets.multiindex import Alpha
    from hilbert.map.map import AnyMap


def is_scalar(op: AnyMap) -> bool:
    """Tell if a map is p : ℝ^n → ℝ on n numbers."""
    return op.cod == R and all(part == R for part in summands(op.dom))


@once
def partial(op: AnyMap, beta: Alpha) -> AnyMap:
    """∂_β p : ℝ ⊕ … ⊕ ℝ → ℝ."""
    place = max((j for j, b in enumerate(beta) if b), default=None)
    if place is None:
        return op
    before = partial(op, (*beta[:place], beta[place] - 1, *beta[place + 1 :]))
    step = flattened(jvp(before))
    along = [const(R.vec(float(j == place))) for j in range(len(beta))]
    return fun(*(R,) * len(beta))(lambda *x: step(*x, *along))


@once
def vanishes(op: AnyMap) -> bool:
    """Tell if a scalar map is 0 everywhere, where its program shows that."""
    match program(op).steps:
        case (only,) if isinstance(only.operation, Literal):
            return only.operation.value.number == 0.0
        case _:  # it is computed from the argument
            return False
