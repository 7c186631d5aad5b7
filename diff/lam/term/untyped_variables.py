"""The variables of a term whose types its text must say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.lam.term.terms import Lam, Plus, Sign, Var, below, variables
from diff.lam.term.types import REAL, Ground, Param, Ty, Unknown, mentions

if TYPE_CHECKING:
    from diff.lam.term.former import Former


def undetermined(term: Former | None) -> set[int]:
    """The variables of which inference would find another type, by number; linear in the term.

    They are those below a t + s of tuples or functions, where inference supposes vectors, and those that are only given
    back, or not used, where it supposes numbers.
    """
    added: set[int] = set()
    bound: set[int] = set()
    used: set[int] = set()
    stack: list[tuple[Any, bool]] = [(term, False)] if term else []
    while stack:
        node, adds = stack.pop()
        if isinstance(node, Var):
            used.add(node.number)
            if adds and not isinstance(node.type, (Ground, Unknown)):
                added.add(node.number)
            continue
        parts = below(node)
        pattern: Any = getattr(node, "pattern", None)
        if isinstance(node, Lam) or isinstance(pattern, Var):  # the long tuples of let series are applied to tuples
            bound.update(x.number for x in variables(pattern) if x.type is not REAL and not _is_open(x.type))
        if pattern is not None:
            parts = parts[1:]
        if isinstance(node, Lam) and isinstance(node.body, Var) and not adds:
            continue
        adds = adds or isinstance(node, Plus) or (isinstance(node, Sign) and node.sign == "+")
        stack += [(part, adds) for part in parts]
    return added | (bound - used)


def _is_open(ty: Ty) -> bool:
    return mentions(ty, Unknown) or mentions(ty, Param)
