"""Terms as text in the papers' notation, which the parser reads.

A pass writes pieces one after the other, so that deep terms cost no copies.
"""

from __future__ import annotations

from typing import Any, assert_never, cast, final

from diff.lam.show.show_levels import APPLIED, ATOM, POWER, SIGNS, SUM, TERM, elements, is_constant, is_nil, level_of
from diff.lam.show.show_patterns import PatternShower
from diff.lam.show.show_programs import formula_of
from diff.lam.show.show_types import show_type, vector_text
from diff.lam.term.binding import Pass
from diff.lam.term.former import Former
from diff.lam.term.open_terms import Name, Number, Sign, Typed
from diff.lam.term.pullback_terms import Cov, Diff, Dual, Dv, Ev, Jac, Plus, Point, Pull, Sharp, Zero
from diff.lam.term.terms import AnyTerm, App, Branch, Case, Con, Fix, Fold, If, Lam, Let, Lit, Prim, Proj, Tuple, Var
from hilbert import Vec
from hilbert.base.term import driven


def show_term(term: Former) -> str:
    """The text of a term."""
    shower = Shower(term)
    driven(shower.term(term, TERM))
    return "".join(shower.out)


@final
class Shower(PatternShower):
    """One text of terms."""

    def term(self, term: Any, level: int) -> Pass:
        """A term where one of this level is due, in parentheses if it binds less."""
        mine = level_of(term)
        if mine < level:
            self.write("(")
        yield self._term(term)
        if mine < level:
            self.write(")")

    def _term(self, term: Any) -> Pass:
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
                case Fold(_, of, branches) if _right_fold(branches):
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
                case _:  # nothing is written last
                    yield self._closed(term)
            break
        for names in reversed(bound):
            self.unbind(names)

    def _closed(self, term: Any) -> Pass:
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
                yield self._operator(name or "prim", arg.parts if isinstance(arg, Tuple) else (arg,), arg)
            case Sign(sign, args):
                (operand,) = args if len(args) == 1 else (Tuple(args),)
                yield self._operator(sign, args, operand)
            case Plus(left, right):
                yield self._operator("+", (left, right), term)
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
                yield self._several("⟨" if parts else "(", parts, "⟩" if parts else ")")
            case Proj(index, of):
                self.write(f"pi_{index + 1} ")
                yield self.term(of, ATOM)
            case Con():
                yield self._constructor(term)
            case Case(of, branches):
                self.write("case ")
                yield self.term(of, SUM)
                yield self._branches(branches)
            case Fold(_, of, branches):
                self.write("fold ")
                yield self.term(of, SUM)
                yield self._branches(branches)
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
                yield self._several("cov(", of.parts if isinstance(of, Tuple) else (of,), ")")
            case Diff(function, point, direction):
                yield self._several("diff(", (function, point, direction), ")")
            case Sharp(of):
                yield self._several("sharp(", (of,), ")")
            case Point(of):
                yield self._several("eps(", (of,), ")")
            case Ev(at, covector):
                yield self._several("ev(", (at,), "; ")
                yield self._several("", (covector,), ")")
            case Dv(at, along, covector):
                yield self._several("dv(", (at, along), "; ")
                yield self._several("", (covector,), ")")
            case Zero():
                self.write("zero")
            case Branch():
                yield self._branches((term,))
            case _:
                assert_never(term)

    def _operator(self, name: str, parts: tuple[Any, ...], arg: AnyTerm) -> Pass:
        """t + s, −t, t^n, or p(t)."""
        if name.startswith("^"):
            yield self.term(arg, APPLIED)
            self.write(name)
        elif name in SIGNS and len(parts) == 2:
            level = SIGNS[name]
            yield self.term(parts[0], level)
            self.write("*" if name == "*" else f" {name} ")
            yield self.term(parts[1], level + 1)
        elif name == "-":
            self.write("-")
            yield self.term(arg, POWER)  # two signs in a row begin a comment
        elif name in SIGNS:  # of a pair that is no tuple as it is written
            self.write(f"(λ⟨x, y⟩. x {name} y) ")
            yield self.term(arg, ATOM)
        else:
            self.write(f"{name} ")
            yield self.term(arg, ATOM)

    def _several(self, opening: str, parts: tuple[Any, ...], closing: str) -> Pass:
        self.write(opening)
        for k, part in enumerate(parts):
            self.write(", " if k else "")
            yield self.term(part, TERM)
        self.write(closing)

    def _branches(self, branches: tuple[Branch, ...]) -> Pass:
        self.write(" of {")
        for k, branch in enumerate(branches):
            self.write(" | " if k else "", branch.label)
            names = self.bind(branch.pattern)
            if branch.pattern != Tuple(()):
                self.write(" ")
                self.pattern(branch.pattern)
            self.write(" → ")
            yield self.term(branch.body, TERM)
            self.unbind(names)
        self.write("}")

    def _constructor(self, term: Con) -> Pass:
        items, end = elements(term)
        if not items:
            self.write("[]" if is_nil(end) else term.label)
            if not is_constant(term):
                self.write(" ")
                yield self.term(term.arg, ATOM)
        elif is_nil(end):
            yield self._several("[", tuple(items), "]")
        else:
            for item in items:
                yield self.term(item, SUM)
                self.write(" :: ")
            yield self.term(end, TERM)


def _right_fold(branches: tuple[Branch, ...]) -> bool:
    found = {branch.label: branch.pattern for branch in branches}
    if set(found) != {"Nil", "Cons"}:
        return False
    nil, cons = found["Nil"], found["Cons"]
    return isinstance(nil, Tuple) and not nil.parts and isinstance(cons, Tuple) and len(cons.parts) == 2
