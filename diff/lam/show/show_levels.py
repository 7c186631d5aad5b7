"""The levels of the grammar: by its level, that is, how tightly it binds, a term stands in parentheses or bare."""

from __future__ import annotations

from typing import Final, assert_never

from diff.lam.show.show_programs import is_formula
from diff.lam.show.show_types import number_text
from diff.lam.term.former import Worded
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Branch,
    Case,
    Con,
    Cov,
    Dual,
    Fix,
    Fold,
    If,
    Jac,
    Lam,
    Let,
    Lit,
    Name,
    Number,
    Plus,
    Prim,
    Proj,
    Pull,
    Sign,
    Tuple,
    Typed,
    Var,
    Zero,
)
from hilbert import Vec

TERM, SUM, PRODUCT, UNARY, POWER, APPLIED, ATOM = range(7)
"""Looser ones first."""
SIGNS: Final = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "@": PRODUCT}


def level_of(term: AnyTerm | Branch) -> int:
    """The level of a term's text."""
    match term:
        case Lam() | Let() | If() | Fix() | Case() | Fold() | Branch():
            return TERM
        case Con():
            items, end = elements(term)
            if is_nil(end):
                return ATOM
            return TERM if items else ATOM if is_constant(term) else APPLIED
        case Prim(_, arg, name):
            return TERM if is_formula(term) else _sign_level(name, len(arg.parts) if isinstance(arg, Tuple) else 1)
        case Sign(name, args):
            return _sign_level(name, len(args))
        case Plus():
            return SUM
        case App() | Proj():
            return APPLIED
        case Lit(value):
            is_negative = isinstance(value, Vec) and not value.space.leaves[0].axes and number_text(value)[0] == "-"
            return UNARY if is_negative else ATOM
        case Var() | Name() | Number() | Zero() | Typed() | Tuple() | Pull() | Dual() | Jac() | Cov() | Worded():
            return ATOM  # a word, or in brackets
        case _:
            assert_never(term)


def _sign_level(name: str, count: int) -> int:
    if name.startswith("^"):
        return POWER
    if name == "-" and count != 2:
        return UNARY
    return SIGNS[name] if name in SIGNS and count == 2 else APPLIED


def elements(term: Con) -> tuple[list[AnyTerm], AnyTerm]:
    """The elements t₁ :: … :: tₙ :: end, and the end."""
    items: list[AnyTerm] = []
    one: AnyTerm = term
    while isinstance(one, Con) and one.label == "Cons" and isinstance(one.arg, Tuple) and len(one.arg.parts) == 2:
        items.append(one.arg.parts[0])
        one = one.arg.parts[1]
    return items, one


def is_nil(term: AnyTerm) -> bool:
    """[], whose text is a pair of brackets."""
    return isinstance(term, Con) and term.label == "Nil" and is_constant(term)


def is_constant(term: Con) -> bool:
    """A constructor that holds nothing."""
    return isinstance(term.arg, Tuple) and not term.arg.parts
