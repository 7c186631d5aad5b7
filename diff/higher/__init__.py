"""Functions of functions: one typed λ-language whose ground types are spaces, and whose primitives are maps.

`Module` reads a text, `run` its claims; `evaluate` gives values, `program(t, at=v)` a program, `Taylor` is the macro
D_(k,R). `diff.higher.terms` has the terms.
"""

from diff.datatypes.term.user_calls import call, evaluate, program
from diff.lam.files.claims import run
from diff.lam.files.module import Module
from diff.lam.run.taylor_macro import Taylor
from diff.lam.term.term_error import Place, TermError

__all__ = ["Module", "Place", "Taylor", "TermError", "call", "evaluate", "program", "run"]
