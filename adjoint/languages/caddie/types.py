"""The types of caddie, as those of the core: an array is a list, and the branches of a condition take nothing.

>>> print(text(Arrow(TupleType((REAL, list_of(REAL))), list_of(INT))))
(real * []real) -> []int
"""

from __future__ import annotations

from typing import Any, assert_never

from diff.lam.term.inductive import declared, list_of
from diff.lam.term.term_error import TermError
from diff.lam.term.type_parts import parts_of
from diff.lam.term.types import (
    INT,
    REAL,
    UNIT,
    Arrow,
    DataType,
    Declaration,
    Ground,
    Int,
    LeafType,
    Lin,
    Param,
    TupleType,
    Ty,
)
from diff.lam.term.unify import require_short
from hilbert.base.once import once
from hilbert.base.term import bottom_up

A, B = Param(0), Param(1)
REALS, TRIPLE = list_of(REAL), TupleType((REAL, REAL, REAL))
INDICES = list_of(INT)
RELATION = DataType(declared("relation", 0, (("Relation", UNIT),)), ())
DEEPEST = 1_000
"""The depth of a type that is printed: the texts of all its parts are made."""


def function(*types: Ty) -> Ty:
    """a → b → … → c."""
    *args, made = types
    for arg in reversed(args):
        made = Arrow(arg, made)
    return made


def _both(a: Ty, b: Ty | None = None) -> Ty:
    return TupleType((a, a if b is None else b))


TYPES: dict[str, Ty] = {
    **dict.fromkeys(("+", "-", "*"), function(A, A, A)),
    "*>": function(REAL, A, A),
    **dict.fromkeys(("abs", "sin", "cos", "tan", "exp", "ln"), function(REAL, REAL)),
    "pi": REAL,
    "dprod": function(_both(REALS), REAL),
    "sprod": function(_both(REAL, REALS), REALS),
    "dprod3": function(_both(TRIPLE), REAL),
    "cprod3": function(_both(TRIPLE), TRIPLE),
    "cross": function(_both(REALS), REALS),
    "norm2sq": function(_both(REAL), REAL),
    "map": function(Arrow(A, B), list_of(A), list_of(B)),
    "red": function(RELATION, list_of(A), list_of(A)),
    "if": function(REAL, Arrow(UNIT, A), Arrow(UNIT, A), A),
    "::": function(A, list_of(A), list_of(A)),
    "[]": list_of(A),
    "to": function(INT, INDICES, INDICES, RELATION),
    "id": function(INDICES, INDICES, RELATION),
    "pairs": function(list_of(TupleType((INT, INT))), RELATION),
    "^": function(RELATION, RELATION),
    "o": function(RELATION, RELATION, RELATION),
}
"""The types of what is built in, signs among them; A and B stand for any type."""
FAMILIES: dict[str, Ty] = {
    "pow": function(REAL, REAL),
    "iota": REALS,
    "repl": function(A, list_of(A)),
    "range": list_of(A),
    "array": function(list_of(A), list_of(A)),
}
"""The same of those that take constants, such as `pow 2.0`."""
FUNCTIONS = frozenset(
    ["abs", "sin", "cos", "tan", "exp", "ln", "dprod", "sprod", "dprod3", "cprod3", "cross", "norm2sq"]
)
"""Those that a text may apply by name."""


def is_number(name: str) -> bool:
    """Tell if a name is a number."""
    return name.removeprefix("-").replace(".", "", 1).isdigit()


def definition(name: str) -> tuple[Ty, int]:
    """The type of what is built in, and the number of its parameters; a number is of any type, to be checked later."""
    found = TYPES.get(name) or FAMILIES.get(name.partition(" ")[0]) or A
    return found, 2 if name == "map" else 1


@once
def text(ty: Ty) -> str:
    """A type as it is written, without brackets around a function; raises TermError `limit` for a long one."""
    require_short(ty)
    if depth(ty) > DEEPEST:
        raise TermError("limit", f"a type that is nested more than {DEEPEST} deep")
    names: dict[Any, str] = {}

    def step(node: Ty, rec: Any) -> str:
        match node:
            case Arrow(dom, cod) if dom is UNIT:  # a branch
                return str(rec(cod))
            case Arrow(dom, cod):
                return f"({rec(dom)} -> {rec(cod)})"
            case TupleType(parts):
                return f"({' * '.join(map(rec, parts))})"
            case DataType(Declaration("list"), (of,)):
                return f"[]{rec(of)}"
            case DataType(Declaration(name)):
                return name
            case Ground():
                return "real"
            case Int():
                return "int"
            case LeafType() | Lin():  # not known, or any
                return names.setdefault(node, f"'{chr(ord('a') + len(names) % 26)}")
            case _:
                assert_never(node)

    made: str = bottom_up(ty, step)
    return made[1:-1] if isinstance(ty, Arrow) and ty.dom is not UNIT else made


@once
def depth(ty: Ty) -> int:
    """The depth of tuples and arrays in a type: 0 for a real."""

    def step(node: Any, rec: Any) -> int:
        return 1 + max(map(rec, parts_of(node)), default=-1)

    found: int = bottom_up(ty, step)
    return found


def mentions_index(ty: Ty) -> bool:
    """Tell if integers are in a type."""
    stack, seen = [ty], set[int]()
    while stack:
        node = stack.pop()
        if isinstance(node, Int):
            return True
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend(parts_of(node))
    return False
