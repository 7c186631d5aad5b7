"""Bindings that nobody reads are removed, but for assertions and prints: one walk finds all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from adjoint.languages.ks.text.term_union import ks_term
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, below, variables
from hilbert.base.term import driven

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass

EFFECTS = ("assert", "$trace", "print")
"""Functions that are called even if nobody reads their values."""


def needed(e: AnyTerm) -> AnyTerm:
    """A term without lets of variables that are not read, or only by values of such lets."""
    made: AnyTerm = driven(_only(e, _live(e)))
    return made


def _live(e: AnyTerm) -> set[int]:
    """The lets that are needed, by identity: what a term reads outside of the values of lets, and so on from those."""
    reads: list[list[int]] = [[]]  # the term's own, and those of each value
    around = [0]  # the value that each stands in
    has_effect = {0}
    bound: dict[int, list[int]] = {}  # the values that a variable may have
    lets = [0]  # the term is none of them
    stack: list[tuple[Any, int]] = [(e, 0)]
    while stack:
        node, at = stack.pop()
        node = ks_term(node)
        match node:
            case Var(_, number):
                reads[at].append(number)
            case Name(name) if name in EFFECTS:
                has_effect.add(at)
            case Let(pattern, value, body):
                own = len(reads)
                reads.append([])
                around.append(at)
                lets.append(id(node))
                for x in variables(pattern):
                    bound.setdefault(x.number, []).append(own)
                stack += (value, own), (body, at)
            case Lit() | Name() | Tuple() | If() | Lam() | App():  # the variables of a λ are bound by no let
                stack += [(part, at) for part in below(node)]
            case _:
                assert_never(node)
    for own in reversed(range(len(reads))):  # what stands in a value has a higher number
        if own in has_effect:
            has_effect.add(around[own])
    found, todo = set[int](), list(has_effect)
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += [own for number in reads[at] for own in bound.get(number, ())]
    return {lets[at] for at in found}


def _only(e: AnyTerm, live: set[int]) -> Pass:
    """The term with these lets alone."""
    e = ks_term(e)
    match e:
        case Let():
            kept = []
            while isinstance(e, Let):
                if id(e) in live:
                    value = yield _only(e.value, live)
                    kept.append((e, value))
                e = e.body
            made = yield _only(e, live)
            for let, value in reversed(kept):
                made = Let(let.pattern, value, made, place=let.place)
            return made
        case Tuple(parts):
            found = []
            for part in parts:
                made = yield _only(part, live)
                found.append(made)
            return Tuple(tuple(found), place=e.place)
        case If(c, then, otherwise):
            condition = yield _only(c, live)
            a = yield _only(then, live)
            b = yield _only(otherwise, live)
            return If(condition, a, b, place=e.place)
        case Lam(pattern, body):
            made = yield _only(body, live)
            return Lam(pattern, made, place=e.place)
        case App(f, arg):
            head = yield _only(f, live)
            given = yield _only(arg, live)
            return App(head, given, place=e.place)
        case Var() | Lit() | Name():
            return e
        case _:
            assert_never(e)
