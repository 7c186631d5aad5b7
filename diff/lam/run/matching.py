"""Branches of constructors, variables of patterns, spines of applications, steps of straight terms, without a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.lam.term.inductive import instance
from diff.lam.term.terms import AnyTerm, App, Branch, Lit, Pattern, Prim, Proj, Tuple, Var, below
from diff.lam.term.types import DataType, SelfType, TupleType, Ty, mentions
from hilbert.base.once import known, once

if TYPE_CHECKING:
    from diff.lam.term.lam_values import Value

SHORT = 16
"""The most nodes of a term whose steps are listed."""


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


@once
def straight(term: AnyTerm) -> tuple[AnyTerm, ...]:
    """The steps of a term of few primitives, tuples and projections alone, the parts first; none for another term.

    What holds a term of another former is none, either; that is noted on the way, so that each is visited a few times.
    """
    steps: list[AnyTerm] = []
    stack: list[tuple[Any, bool]] = [(term, False)]
    for _ in range(2 * SHORT):
        node, ready = stack.pop()
        kind = type(node)
        if ready or kind is Var or kind is Lit:
            steps.append(node)
            if not stack:
                return tuple(steps)
        elif kind is Prim or kind is Tuple or kind is Proj:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(below(node)))
        else:
            break
    for node, ready in stack:
        if ready:
            known(straight, node, ())
    return ()


def chosen(branches: tuple[Branch, ...], label: str) -> Branch:
    """The branch of a label."""
    return next(branch for branch in branches if branch.label == label)


@once
def recurring(ty: TupleType) -> tuple[int, ...]:
    """The parts that speak of X."""
    return tuple(k for k, part in enumerate(ty.parts) if mentions(part, SelfType))


@once
def rests(ty: DataType) -> dict[str, int]:
    """For each constructor the place of the part of its field that is of the type itself, if no other mentions that."""
    places = {}
    for label, field in fields(ty).items():
        if isinstance(field, TupleType) and len(recurring(field)) == 1:
            (k,) = recurring(field)
            if isinstance(field.parts[k], SelfType):
                places[label] = k
    return places


@once
def fields(ty: DataType) -> dict[str, Ty]:
    """The types that the constructors take, with X where the type recurs."""
    return {label: instance(field, ty.args) for label, field in ty.declaration.cases}


@once
def opened_fields(ty: DataType) -> dict[str, Ty]:
    """The types that the constructors take, for a type whose arguments speak of X: it recurs as the type itself.

    X of an outer type and of this one are kept apart by opening this one.
    """
    return {label: instance(field, ty.args, ty) for label, field in ty.declaration.cases}


def spine(term: AnyTerm) -> tuple[list[App], AnyTerm]:
    """The applications in f s₁ … sₙ, the last one first, and f."""
    calls: list[App] = []
    while isinstance(term, App):
        calls.append(term)
        term = term.function
    return calls, term
