"""Functions of functions: one typed λ-language whose ground types are spaces, and whose primitives are maps.

`Module` reads a text, `run` its claims; `evaluate` gives values, `program(t, at=v)` a program, `Taylor` is the macro
D_(k,R).
"""

from diff.higher import equality, saved  # noqa: F401 - of terms up to names; values in files
from diff.higher.claims import run
from diff.higher.entrances import call, evaluate, program
from diff.higher.errors import Place, TermError
from diff.higher.modules import Module
from diff.higher.taylor import Taylor

__all__ = ["Module", "Place", "Taylor", "TermError", "call", "evaluate", "program", "run"]
