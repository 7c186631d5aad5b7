"""The text of the program between two calls of a traced function: a formula of the library, in the term's own names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from diff.lam.term.terms import Prim, Tuple, Var
from diff.printing.show import formula
from diff.terms.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 8
"""Steps of a program that stands as a formula in a term."""
FIRST = 0x100000
"""The first of the characters that no text has."""


def is_formula(term: Prim) -> bool:
    """Tell if a term is p ⟨x, …⟩ for a short program p and variables."""
    if not term.is_shown or not isinstance(term.op, Program) or len(term.op.steps) > MOST:
        return False
    return all(isinstance(part, Var) for part in _parts(term))


def formula_of(term: Prim, names: Mapping[int, str]) -> str | None:
    """The result of the program in the names of the variables; None for another term, or where that is more lines."""
    if not is_formula(term):
        return None
    op: Any = term.op
    parts = _parts(term)
    marks = tuple(chr(FIRST + k) for k in range(len(parts)))  # as names, digits would be subscripts
    text = formula(evolve(op, names=marks))
    for mark, x in zip(marks, parts, strict=True):
        text = text and text.replace(mark, names.get(x.number, x.name))
    return text


def _parts(term: Prim) -> tuple[Any, ...]:
    return term.arg.parts if isinstance(term.arg, Tuple) else (term.arg,)
