"""Reverse mode for functions of functions: the language of pullbacks, reduced.

`reduce(t)` is the normal form of a term, `pairing(c, d)` the number ⟪c, d⟫; `run` the claims of a text.
"""

from adjoint.higher.claims import run
from adjoint.higher.machine import pairing, reduce

__all__ = ["pairing", "reduce", "run"]
