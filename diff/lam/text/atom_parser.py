"""Text → atoms: names, numbers, what stands in brackets, and the formers that are written with a word."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, assert_never, get_args

import numpy as np
from attrs import evolve

from diff.lam.term.binding import Pass
from diff.lam.term.former import Worded
from diff.lam.term.inductive import LIST, list_term
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import (
    AnyTerm,
    Cov,
    Dual,
    Jac,
    Lam,
    Lit,
    Name,
    Number,
    Point,
    Proj,
    Pull,
    Tuple,
    Typed,
    Var,
    Zero,
    fresh,
)
from diff.lam.term.types import DataType, unknown
from diff.lam.text.pattern_parser import PatternParser
from diff.lam.text.tokens import KEYWORDS, Token
from hilbert import Bool, Fin, R
from hilbert.base.term import compared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from diff.lam.term.types import Declaration

DEEPEST = 20_000
"""The most brackets within each other; more are refused."""
_WORDED: dict[str, type[Worded]] = {
    former.word: former for former in get_args(AnyTerm) if issubclass(former, Worded)
} | {"pt": Point}
"""Formers by the words that they are written with: eps and pt are one."""
_BRACKETED = {"pull", "dual", "jac", "cov", *_WORDED}
"""Words that stand for themselves where no bracket follows."""
_OPENERS = ("(", "<", "[", "[|")
_ENDS = frozenset((",", ";", ")", "]", ">"))


class AtomParser(PatternParser, ABC):
    """The grammar of atoms, on the tokens of one item; `defined` are the names that stand for themselves everywhere."""

    def __init__(self, tokens: list[Token], types: Mapping[str, Declaration], defined: frozenset[str]) -> None:
        super().__init__(tokens, types)
        self.defined = defined
        self.depth = 0

    @abstractmethod
    def term(self) -> Pass:
        """term, which brackets hold."""

    def begins_atom(self) -> bool:
        """Tell if an atom is next."""
        token = self.token
        return (
            (token.kind == "name" and (token.text not in KEYWORDS or token.text in {"true", "false"}))
            or token.kind in {"con", "number"}
            or token.text in _OPENERS
        )

    def atom(self) -> Pass:
        """An atom."""
        token = self.token
        if not self.begins_atom():
            self.fail("a term")
        self.step()
        kind = token.kind
        match kind:
            case "number":
                return Number(token.text, place=token.place)
            case "con":
                return Name(token.text, place=token.place)
            case "name":
                return (yield self.word(token))
            case "sign" | "end":  # an opening bracket: no atom begins at another sign, or at the end
                return (yield self.bracket(token))
            case _:
                assert_never(kind)

    def word(self, token: Token) -> Pass:
        """A name, a truth value, a projection or a former that is written with a word."""
        text, place = token.text, token.place
        if text in {"true", "false"}:
            return Lit(Bool.vec(text == "true"), place=place)
        if text in self.scope:
            x = self.scope[text]
            return Var(x.name, x.number, x.type, place=place)
        if text not in self.defined:
            if text == "zero":
                return Zero(unknown(), place=place)
            if text.startswith("pi_") and text[3:].isdigit() and int(text[3:]):
                if not self.begins_atom():
                    x = fresh("t", unknown(), place)
                    return Lam(x, Proj(int(text[3:]) - 1, x, place=place), place=place)
                of = yield self.atom()
                return Proj(int(text[3:]) - 1, of, place=place)
            if text in _BRACKETED and self.token.text == "(":
                return (yield self.bracketed(token))
        return Name(text, place=place)

    def bracketed(self, token: Token) -> Pass:
        """pull(λp. t, ω), dual(λp. t, c), jac(f, t), cov(r, …), and word(t, …; …) of a former that says its word."""
        place = token.place
        self.expect("(")
        if token.text in {"pull", "dual"}:
            self.expect("\\")
            pattern = self.pattern()
            self.expect(".")
            before = self.bind(pattern)
            body = yield self.term()
            self.unbind(before)
            self.expect(",")
            other = yield self.term()
            self.expect(")")
            cls = Pull if token.text == "pull" else Dual
            return cls(pattern, body, other, place=place)
        if token.text == "jac":
            name = self.name("the name of a primitive")
            self.expect(",")
            direction = yield self.term()
            self.expect(")")
            return Jac(Name(name, place=place), direction, name, place=place)  # type: ignore[arg-type]  # until checked
        former: Any = _WORDED.get(token.text)
        parts = yield self.several(")", former.semicolon if former else None)
        arity = len(compared(former)) if former else max(len(parts), 1)
        if len(parts) != arity:
            raise TermError("syntax", f"{token.text} takes {arity} terms, not {len(parts)}", place)
        if former is None:  # cov
            return Cov(parts[0] if len(parts) == 1 else Tuple(parts, place=place), place=place)
        return former(*parts, place=place)

    def several(self, closing: str, semicolon: int | None = None) -> Pass:
        """[term {, term}] and the closing bracket; a semicolon stands after so many terms."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TermError("limit", f"more than {DEEPEST} brackets in each other", self.token.place)
        parts: list[AnyTerm] = []
        if not self.accept(closing):
            while True:
                part = self.number() or (yield self.term())
                parts.append(part)
                if not self.accept(";" if len(parts) == semicolon else ","):
                    break
            self.expect(closing)
        self.depth -= 1
        return parts

    def number(self) -> Number | None:
        """A number that is a whole term, if one is next: what long lists are made of needs no pass."""
        token = self.token
        if token.kind != "number" or self.after.text not in _ENDS:
            return None
        self.at += 1
        return Number(token.text, place=token.place)

    def bracket(self, token: Token) -> Pass:
        """(), (t), (t : σ), tuples, lists, and the numbers of a vector."""
        place = token.place
        match token.text:
            case "[|":
                return self.ground(place)
            case "[":
                parts = yield self.several("]")
                ty = DataType(LIST, (unknown(),))
                return evolve(list_term(parts, ty, place), place=place)
            case "<":
                parts = yield self.several(">")
                if not parts:
                    raise TermError("syntax", "< > holds at least one term; the empty tuple is ()", place)
                return parts[0] if len(parts) == 1 else Tuple(parts, place=place)
            case _:  # an opening parenthesis
                if self.accept(")"):
                    return Tuple((), place=place)
                self.depth += 1
                if self.depth > DEEPEST:
                    raise TermError("limit", f"more than {DEEPEST} brackets in each other", place)
                first = yield self.term()
                self.depth -= 1
                if self.accept(":"):
                    ty_ = self.type()
                    self.expect(")")
                    return Typed(first, ty_, place=place)
                if self.accept(")"):
                    return first
                if not self.accept(","):
                    self.fail("')', ',' or ':'")
                rest = yield self.several(")")
                return Tuple((first, *rest), place=place)

    def ground(self, place: Place) -> Lit:
        """[| g, … |], numbers nested by axis."""
        stack: list[list[Any]] = [[]]
        while True:
            if self.accept("["):
                stack.append([])
                continue
            minus = self.accept("-")
            if self.token.kind != "number":
                self.fail("a number")
            stack[-1].append(float(self.step().text) * (-1.0 if minus else 1.0))
            while len(stack) > 1 and self.accept("]"):
                done = stack.pop()
                stack[-1].append(done)
            if len(stack) == 1 and self.accept("|]"):
                break
            self.expect(",")
        try:
            array = np.array(stack[0], dtype=float)
        except ValueError:
            raise TermError("shape", "the rows of a vector have unequal lengths", place) from None
        index = Fin.of(array.shape[0])
        for n in array.shape[1:]:
            index = index * Fin.of(n)  # type: ignore[assignment]
        return Lit((R**index).vec(array), place=place)
