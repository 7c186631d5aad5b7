"""What a constructor, a pattern or a term at hand says without a pass: its branch, its variables, its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.higher.inductive import instance
from diff.higher.terms import AnyTerm, Branch, Lit, Pattern, Tuple, Var
from diff.higher.types import DataType, SelfType, TupleType, Ty, mentions
from hilbert.once import once

if TYPE_CHECKING:
    from diff.higher.values import Value


def bind(pattern: Pattern, value: Value, env: dict[int, Value]) -> None:
    """Give the variables of a pattern the parts of a value."""
    if isinstance(pattern, Var):
        env[pattern.number] = value
        return
    stack: list[tuple[Any, Value]] = [(pattern, value)]
    while stack:
        one, part = stack.pop()
        if isinstance(one, Var):
            env[one.number] = part
        else:
            stack.extend(zip(one.parts, part, strict=True))


def at_hand(term: AnyTerm, env: dict[int, Value]) -> Value | None:
    """The value of a literal, of a variable, or of a tuple of such, which needs no pass; None for others."""
    if type(term) is Lit:
        return term.value
    if type(term) is Var:
        return env.get(term.number)
    if type(term) is not Tuple:
        return None
    values = []
    for part in term.parts:
        known = env.get(part.number) if type(part) is Var else part.value if type(part) is Lit else None
        if known is None:
            return None
        values.append(known)
    return tuple(values)


def chosen(branches: tuple[Branch, ...], label: str) -> Branch:
    """The branch of a label."""
    return next(branch for branch in branches if branch.label == label)


@once
def recurring(ty: TupleType) -> tuple[int, ...]:
    """The parts that speak of X."""
    return tuple(k for k, part in enumerate(ty.parts) if mentions(part, SelfType))


@once
def fields(ty: DataType) -> dict[str, Ty]:
    """What each constructor takes, with X where the type recurs."""
    return {label: instance(field, ty.args) for label, field in ty.declaration.cases}


@once
def opened_fields(ty: DataType) -> dict[str, Ty]:
    """What each constructor takes, for a type whose arguments speak of X: its own recursion is the type itself.

    X of an outer type and of this one are kept apart by opening this one.
    """
    return {label: instance(field, ty.args, ty) for label, field in ty.declaration.cases}
