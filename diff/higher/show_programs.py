"""The text of what a traced function does between two calls: a formula of the library, in the term's own names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from diff.higher.terms import Prim, Tuple, Var
from diff.programs import Program
from diff.show import formula

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 8
"""Steps of a program that stands as a formula in a term."""


def is_formula(term: Prim) -> bool:
    """Whether it is p ⟨x, …⟩ for a short program p and variables."""
    op = term.op
    return isinstance(op, Program) and len(op.steps) <= MOST and len(op.names) == len(_variables(term)) > 0


def formula_of(term: Prim, names: Mapping[int, str]) -> str | None:
    """The result of the program in the names of the variables; None for another term, or where that is more lines."""
    if not is_formula(term):
        return None
    op: Any = term.op
    return formula(evolve(op, names=tuple(names.get(x.number, x.name) for x in _variables(term))))


def _variables(term: Prim) -> list[Var]:
    parts = term.arg.parts if isinstance(term.arg, Tuple) else (term.arg,)
    return [part for part in parts if isinstance(part, Var)] if all(isinstance(x, Var) for x in parts) else []
