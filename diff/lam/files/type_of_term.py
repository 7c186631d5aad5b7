"""The type of a checked term, and its free variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from diff.lam.check.check import Checker
from diff.lam.files.module import Module
from diff.lam.term.binding import binder
from diff.lam.term.terms import AnyTerm, Con, Var, below, variables
from diff.lam.term.types import REAL, Ty
from hilbert.base.once import kept, once

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass


@once
def free_variables(term: AnyTerm) -> dict[int, tuple[Var, int]]:
    """The free variables of a term, and how often they occur."""
    bound: set[int] = set()
    free: dict[int, tuple[Var, int]] = {}
    stack: list[Any] = [term]
    while stack:
        node = stack.pop()
        pattern = binder(node)
        if pattern is not None:
            bound.update(x.number for x in variables(pattern))
        if isinstance(node, Var):
            if node.number not in bound:
                free[node.number] = (node, free.get(node.number, (node, 0))[1] + 1)
        else:
            stack.extend(reversed(below(node)))
    return free


_NO_NAMES = Module()


@final
class _Checked(Checker):
    """The typing rules for a checked term: a part whose type was found before is not entered again."""

    def infer(self, term: AnyTerm, hint: Ty | None = None) -> Pass:
        ty = term.type if isinstance(term, Con) else kept(type_of, term)  # a constructor says its type
        return (term, ty) if ty is not None else (yield from super().infer(term, hint))


@once
def type_of(term: AnyTerm) -> Ty:
    """The type of a checked term, which may have free variables."""
    checker = _Checked(_NO_NAMES)
    _, ty = checker.check(term)
    return checker.types.resolve(ty, {}, lambda _: REAL)
