"""The types of what is built in, as the table has them: overloads of the prelude, and rules of what is polymorphic.

>>> from adjoint.languages.ks.value.types import text, vec
>>> from diff.lam.term.types import INT, REAL
>>> print(text(built_in("index", TupleType((INT, vec(REAL))))), built_in("add", TupleType((REAL, INT))))
Float None
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.languages.ks.builtin.builtins import BUILT_IN
from adjoint.languages.ks.value.types import arguments
from diff.lam.term.types import TupleType

if TYPE_CHECKING:
    from adjoint.languages.ks.builtin.type_rules import Rule, Types
    from diff.lam.term.types import Ty

PRELUDE: dict[tuple[str, Types], Ty] = {
    (name, types): result for name, row in BUILT_IN.items() for types, result in row.overloads
}
"""The result of each function of the prelude, by its name and the types of its arguments."""
RULES: dict[str, Rule] = {name: row.rule for name, row in BUILT_IN.items() if row.rule is not None}
"""The type of the result for those of the arguments, None where they do not fit."""
TAKES = {name: row.takes for name, row in BUILT_IN.items() if row.takes is not None}
"""The types that some of them take, as messages say it."""
WORDS = frozenset(
    ["let", "if", "lam", "tuple", "assert", "$dummy", "def", "edef", "gdef", "rule", "true", "false", ":"]
)
"""Names that are none."""
NAMES = frozenset([*RULES, *(name for name, _ in PRELUDE)])
_VARIADIC = {"Vec_init", "print"}
_PRELUDE: dict[tuple[str, Ty], Ty] = {(name, arguments(types)): made for (name, types), made in PRELUDE.items()}


def is_of_prelude(name: str, arg: Ty) -> bool:
    """Tell if the prelude has a function of this name on this type."""
    return (name, arg) in _PRELUDE


def built_in(name: str, arg: Ty) -> Ty | None:
    """The type of the result of what is built in; None where there is nothing of this name on this type."""
    found = _PRELUDE.get((name, arg))
    if found is not None or name not in RULES:
        return found
    several = arg.parts if isinstance(arg, TupleType) else (arg,)
    forms: list[Types] = [several] if name in _VARIADIC else [(arg,), several]
    return next((made for made in map(RULES[name], forms) if made is not None), None)


def known(name: str) -> list[Types]:
    """The argument types that the prelude has for a name."""
    return [types for one, types in PRELUDE if one == name]
