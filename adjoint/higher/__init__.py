"""Reverse mode for functions of functions: the language of pullbacks, reduced.

`reduce(t)` is the normal form of a term, `pairing(c, d)` the number ⟪c, d⟫, `differential(F, f)` the derivative of a
functional; `steps(t)` are the paper's, `run` runs the claims of a text.
"""

from adjoint.higher.machine.differential import Covector, differential
from adjoint.higher.machine.machine import reduce
from adjoint.higher.machine.pairing import pairing
from adjoint.higher.term.claims import run
from adjoint.higher.term.steps import ReductionStep, steps

__all__ = ["Covector", "ReductionStep", "differential", "pairing", "reduce", "run", "steps"]
