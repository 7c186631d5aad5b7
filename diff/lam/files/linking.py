"""Linking: closed terms, in which the definitions that names stand for are `let`s.

A definition is used at the types of each use; every instance is bound once, around the term that uses it, so that the
core has no polymorphism and no names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, frozen

from diff.lam.term.binding import mapped, renamed
from diff.lam.term.former import Former
from diff.lam.term.inductive import instance
from diff.lam.term.terms import AnyTerm, Let, Name, Var, below, fresh
from diff.lam.term.types import Ty

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@final
@frozen(eq=False)
class Checked:
    """A definition: its term, with parameters in its types, and its type."""

    term: AnyTerm
    type: Ty
    arity: int


def linked(term: AnyTerm, definitions: Mapping[str, Checked]) -> AnyTerm:
    """let f = … in … t, one `let` for each definition and types at which t uses it, those that it uses first."""
    bound: dict[tuple[str, tuple[Ty, ...]], Var] = {}
    lets: list[tuple[Var, AnyTerm]] = []
    stack: list[tuple[tuple[str, tuple[Ty, ...]], AnyTerm | None]] = [(use, None) for use in reversed(_uses(term))]
    while stack:
        use, body = stack.pop()
        if use in bound:
            continue
        name, args = use
        definition = definitions[name]
        if body is None:
            body = definition.term
            if args:  # there are parameters in its types
                body = mapped(body, lambda _: None, lambda ty, args=args: instance(ty, args))  # type: ignore[misc]
            body = renamed(body)
            stack.append((use, body))
            stack.extend((inner, None) for inner in reversed(_uses(body)) if inner not in bound)
        else:
            bound[use] = fresh(name.split()[0], instance(definition.type, args))
            lets.append((bound[use], _named(body, bound)))
    whole = _named(term, bound)
    for x, value in reversed(lets):
        whole = Let(x, value, whole, place=term.place)
    return whole


def _uses(term: AnyTerm) -> list[tuple[str, tuple[Ty, ...]]]:
    """The definitions that a term uses, with their types."""
    return list(dict.fromkeys((node.name, node.at) for node in nodes(term) if isinstance(node, Name)))


def nodes(term: Former) -> Iterator[Former]:
    """All nodes of a term, from the left to the right."""
    stack: list[Any] = [term]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(below(node)))


def _named(term: AnyTerm, bound: dict[tuple[str, tuple[Ty, ...]], Var]) -> AnyTerm:
    def step(node: AnyTerm) -> AnyTerm | None:
        return evolve(bound[node.name, node.at], place=node.place) if isinstance(node, Name) else None

    return mapped(term, step) if bound else term
