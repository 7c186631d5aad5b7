"""Terms as text in the papers' notation, which the parser reads.

A pass writes pieces one after the other, so that deep terms cost no copies.
"""

from __future__ import annotations

from typing import Any, assert_never, cast, final

from diff.lam.show.show_levels import APPLIED, ATOM, SUM, TERM, level_of
from diff.lam.show.show_parts import PartShower, is_right_fold
from diff.lam.show.show_programs import formula_of
from diff.lam.show.show_types import show_type, vector_text
from diff.lam.term.binding import Pass
from diff.lam.term.former import Former, Worded
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
from hilbert.base.term import driven


def show_term(term: Former) -> str:
    """The text of a term."""
    shower = Shower(term)
    driven(shower.term(term, TERM))  # type: ignore[arg-type]  # the union of all its classes
    return "".join(shower.out)


@final
class Shower(PartShower):
    """One text of terms."""

    def term(self, term: AnyTerm | Branch, level: int) -> Pass:
        """A term where one of this level is due, in parentheses if it binds less."""
        mine = level_of(term)
        if mine < level:
            self.write("(")
        yield self._term(term)
        if mine < level:
            self.write(")")

    def _term(self, term: AnyTerm | Branch) -> Pass:
        bound: list[list[str]] = []
        while True:  # what is written last is a loop, so that long chains are flat
            match term:
                case Lam(pattern, body):
                    bound.append(self.bind(pattern))
                    self.write("λ")
                    self.pattern(pattern, typed=True)
                    self.write(". ")
                    term = body
                    continue
                case Let(Var() as x, value, body):
                    bound.append(self.bind(x))
                    self.write("let ", self.names[x.number], " = ")
                    yield self.term(value, TERM)
                    self.write(" in ")
                    term = body
                    continue
                case Let(pattern, value, body):
                    bound.append(self.bind(pattern))
                    self.write("case ")
                    yield self.term(value, SUM)
                    self.write(" of ")
                    self.pattern(pattern)
                    self.write(" → ")
                    term = body
                    continue
                case If(condition, then, otherwise):
                    self.write("if ")
                    yield self.term(condition, TERM)
                    self.write(" then ")
                    yield self.term(then, TERM)
                    self.write(" else ")
                    term = otherwise
                    continue
                case Fix(var, body):
                    bound.append(self.bind(var))
                    self.write("fix ", self.names[var.number], ". ")
                    term = body
                    continue
                case Fold(_, of, branches) if is_right_fold(branches):
                    nil, cons = sorted(branches, key=lambda branch: branch.label == "Cons")
                    names = self.bind(cons.pattern)
                    first, second = cast("Any", cons.pattern).parts
                    self.write("fold (")
                    self.pattern(first)
                    self.write(", ")
                    self.pattern(second)
                    self.write("). ")
                    yield self.term(cons.body, TERM)
                    self.unbind(names)
                    self.write(" over ")
                    yield self.term(of, TERM)
                    self.write(" from ")
                    term = nil.body
                    continue
                case _:  # one that does not end in a term: `_closed` has them all
                    yield self._closed(term)
            break
        for names in reversed(bound):
            self.unbind(names)

    def _closed(self, term: AnyTerm | Branch) -> Pass:
        """The forms that end in a bracket, a name or an operand."""
        match term:
            case Var(name, number, _):
                self.write(self.names.get(number, name))
            case Lit(value):
                self.write(vector_text(value) if isinstance(value, Vec) else str(value))
            case Number(text):
                self.write(text)
            case Name(name, _):
                self.write(name)
            case Prim() if written := formula_of(term, self.names):
                self.write(written)
            case Prim(_, arg, name):
                yield self.operator(name or "prim", arg.parts if isinstance(arg, Tuple) else (arg,), arg)
            case Sign(sign, args):
                (operand,) = args if len(args) == 1 else (Tuple(args),)
                yield self.operator(sign, args, operand)
            case Plus(left, right):
                yield self.operator("+", (left, right), term)
            case App(function, arg):
                spine = [arg]
                while isinstance(function, App):
                    spine.append(function.arg)
                    function = function.function
                yield self.term(function, APPLIED)
                for one in reversed(spine):
                    self.write(" ")
                    yield self.term(one, ATOM)
            case Tuple(parts):
                yield self.several("⟨" if parts else "(", parts, "⟩" if parts else ")")
            case Proj(index, of):
                self.write(f"pi_{index + 1} ")
                yield self.term(of, ATOM)
            case Con():
                yield self.constructor(term)
            case Case(of, branches):
                self.write("case ")
                yield self.term(of, SUM)
                yield self.branches(branches)
            case Fold(_, of, branches):
                self.write("fold ")
                yield self.term(of, SUM)
                yield self.branches(branches)
            case Typed(of, ty):
                self.write("(")
                yield self.term(of, TERM)
                self.write(f" : {show_type(ty)})")
            case Pull(pattern, body, other) | Dual(pattern, body, other):
                names = self.bind(pattern)
                self.write("pull(λ" if isinstance(term, Pull) else "dual(λ")
                self.pattern(pattern, typed=True)
                self.write(". ")
                yield self.term(body, TERM)
                self.unbind(names)
                self.write(", ")
                yield self.term(other, TERM)
                self.write(")")
            case Jac(_, direction, name):
                self.write(f"jac({name or 'prim'}, ")
                yield self.term(direction, TERM)
                self.write(")")
            case Cov(of):
                yield self.several("cov(", of.parts if isinstance(of, Tuple) else (of,), ")")
            case Worded():
                yield self.worded(term)
            case Zero():
                self.write("zero")
            case Branch():
                yield self.branches((term,))
            case Lam() | Let() | If() | Fix():
                raise AssertionError("`_term` writes what ends in a term")
            case _:
                assert_never(term)
