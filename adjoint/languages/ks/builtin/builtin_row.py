"""The row of a built-in function: its type, its value, and its partial derivatives in the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from adjoint.languages.ks.builtin.type_rules import Rule, Types
from diff.lam.term.types import REAL, Ty

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.builtin.evaluation import Evaluation, Use
    from adjoint.languages.ks.value.value_classes import Value
    from diff.lam.term.terms import AnyTerm

Overloads: TypeAlias = tuple[tuple[Types, Ty], ...]
Partials: TypeAlias = "Callable[..., list[AnyTerm | None]]"


@final
@frozen(eq=False)
class BuiltIn:
    """A function that is built in; it has the types of its overloads, or those of a rule."""

    value: Callable[[Use, Value], Any]
    """Its value at an argument; where it calls functions, a pass."""
    overloads: Overloads = ()
    """Of the prelude: the types of the arguments, each with that of the result."""
    rule: Rule | None = None
    """The type of the result for those of the arguments, None where they do not fit."""
    takes: str | None = None
    """The types that the rule takes, as messages say them."""
    partials: Partials | None = None
    """`partials(call, x, …)`: the partial derivatives of a function of reals, None for 1, written by `call(name, …)`.

    Without them a stage of the notes calls its derivative.
    """
    calls: bool = False
    """True if its value is a pass, which calls functions that it is given."""

    def takes_reals(self, n: int) -> bool:
        """Tell if it is a function of n reals."""
        return self.rule is not None or any(types == (REAL,) * n for types, _ in self.overloads)


def of_value(f: Callable[[Value], Value]) -> Callable[[Use, Value], Value]:
    """The value of a function that does not depend on where it is used."""
    return lambda _, v: f(v)


def of_values(f: Callable[..., Value]) -> Callable[[Use, Value], Value]:
    """The same of several arguments."""
    return lambda _, v: f(*v)


def in_place(f: Callable[[Evaluation, Value], Any]) -> Callable[[Use, Value], Any]:
    """The value of a function that depends on where it is evaluated, and not on its type."""
    return lambda use, v: f(use.ev, v)
