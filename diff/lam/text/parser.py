"""Text → open terms: the grammar of terms. Names that a binder binds become its variables.

The rules are generators on one trampoline, so that nested brackets do not use Python's stack;
chains of λ, let, if and :: are loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, final

from attrs import frozen

from diff.lam.term.binding import Pass
from diff.lam.term.inductive import LIST
from diff.lam.term.term_error import Place
from diff.lam.term.terms import App, Branch, Case, Con, Fold, If, Lam, Let, Sign, Tuple
from diff.lam.term.types import DataType, unknown
from diff.lam.text.atom_parser import AtomParser
from diff.lam.text.tokens import KEYWORDS, Token

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm, Pattern
    from diff.lam.text.pattern_parser import Before


@final
@frozen(eq=False)
class Prefix:
    """The words before a term that make a longer term of it, and the names that they bind in it."""

    around: Callable[[AnyTerm], AnyTerm]
    bound: Before


@final
class Parser(AtomParser):
    """The grammar of terms: λ, let, if, case and fold, sums, products, powers and applications."""

    def term(self) -> Pass:
        """term: the prefixes of a chain (λ, let, if, case … of p →, fold … from, t ::) in a loop, then its end."""
        prefixes: list[Prefix] = []
        while True:
            token = self.token
            rule = _RULES.get(token.text)
            part = yield (rule(self, token.place) if rule else self.sum())
            if rule is None and self.accept("::"):
                part = Prefix(partial(_cell, token.place, part), [])
            if not isinstance(part, Prefix):
                break
            prefixes.append(part)
        for prefix in reversed(prefixes):
            self.unbind(prefix.bound)
            part = prefix.around(part)
        return part

    def _lambda(self, place: Place) -> Pass:
        """λp … p."""
        self.step()
        patterns: list[Pattern] = []
        bound: Before = []
        while not patterns or not self.accept("."):
            patterns.append(self.pattern())
            bound += self.bind(patterns[-1])

        def around(body: AnyTerm) -> AnyTerm:
            for pattern in reversed(patterns):
                body = Lam(pattern, body, place=place)
            return body

        return Prefix(around, bound)
        yield

    def _let(self, place: Place) -> Pass:
        """let p = t in."""
        self.step()
        pattern = self.pattern()
        self.expect("=")
        value = yield self.term()
        self.expect("in")
        return Prefix(lambda body: Let(pattern, value, body, place=place), self.bind(pattern))

    def _if(self, place: Place) -> Pass:
        """if t then t else."""
        self.step()
        condition = yield self.term()
        self.expect("then")
        then = yield self.term()
        self.expect("else")
        return Prefix(lambda otherwise: If(condition, then, otherwise, place=place), [])

    def _case(self, place: Place) -> Pass:
        """case t of p →, or case t of {…}, which ends a chain."""
        self.step()
        value = yield self.term()
        self.expect("of")
        if self.token.text == "{":
            branches = yield self.branches()
            return Case(value, branches, place=place)
        pattern = self.pattern()
        self.expect("->")
        return Prefix(lambda body: Let(pattern, value, body, place=place), self.bind(pattern))

    def _fold(self, place: Place) -> Pass:
        """fold (p, q). t over l from, or fold t of {…}, which ends a chain."""
        is_right = self.after.text == "(" and self._is_right_fold()
        self.step()
        if not is_right:
            value = yield self.term()
            self.expect("of")
            branches = yield self.branches()
            return Fold(unknown(), value, branches, place=place)
        self.expect("(")
        first = self.pattern()
        self.expect(",")
        second = self.pattern()
        self.expect(")")
        self.expect(".")
        pair = Tuple((first, second), place=place)
        before = self.bind(pair)
        inside = yield self.term()
        self.unbind(before)
        self.expect("over")
        over = yield self.term()
        self.expect("from")
        cons = Branch("Cons", pair, inside, place=place)

        def around(start: AnyTerm) -> AnyTerm:
            nil = Branch("Nil", Tuple(()), start, place=place)
            return Fold(DataType(LIST, (unknown(),)), over, (nil, cons), place=place)

        return Prefix(around, [])

    def _is_right_fold(self) -> bool:
        """Tell if `fold (` begins `fold (p, q). t`: patterns, which have no keyword, and a dot after their bracket."""
        depth, k = 0, self.at + 1
        while self.tokens[k].kind != "end" and self.tokens[k].text not in KEYWORDS:
            text = self.tokens[k].text
            depth += (text in {"(", "<", "["}) - (text in {")", ">", "]"})
            k += 1
            if not depth:
                return self.tokens[k].text == "."
        return False

    def branches(self) -> Pass:
        """{Con [pat] -> term | …}."""
        self.expect("{")
        branches: list[Branch] = []
        while True:
            token = self.token
            if token.kind != "con":
                self.fail("a constructor")
            self.step()
            pattern = Tuple((), place=token.place) if self.token.text == "->" else self.pattern()
            self.expect("->")
            before = self.bind(pattern)
            body = yield self.term()
            self.unbind(before)
            branches.append(Branch(token.text, pattern, body, place=token.place))
            if not self.accept("|"):
                break
        self.expect("}")
        return tuple(branches)

    def sum(self) -> Pass:
        """prod {± prod}."""
        left = yield self.product()
        while self.token.text in {"+", "-", "-o"}:
            sign = self.step()
            if sign.text == "-o":  # a minus, then the name o
                self.at -= 1
                self.tokens[self.at] = Token("name", "o", sign.place)
            right = yield self.product()
            left = Sign(sign.text[0], (left, right), place=sign.place)
        return left

    def product(self) -> Pass:
        """unary {(* / @) unary}."""
        left = yield self.unary()
        while self.token.text in {"*", "/", "@"}:
            sign = self.step()
            right = yield self.unary()
            left = Sign(sign.text, (left, right), place=sign.place)
        return left

    def unary(self) -> Pass:
        """{-} app [^ n]: -x^2 is -(x^2), f x^2 is (f x)^2."""
        signs = []
        while self.token.text == "-":
            signs.append(self.step())
        operand = yield self.atom()
        while self.begins_atom():
            place = self.token.place
            arg = yield self.atom()
            operand = App(operand, arg, place=operand.place or place)
        if self.accept("^"):
            minus = "-" if self.accept("-") else ""
            due = "a whole number (of another exponent write pow(x, y))"
            operand = Sign(f"^{minus}{self.digits(due)}", (operand,), place=operand.place)
        for sign in reversed(signs):
            operand = Sign("-", (operand,), place=sign.place)
        return operand


def _cell(place: Place, first: AnyTerm, rest: AnyTerm) -> Con:
    """t :: s; of the type of s where this is a cell: one unknown type for all of a chain."""
    ty = rest.type if isinstance(rest, Con) and rest.label == "Cons" else DataType(LIST, (unknown(),))
    return Con("Cons", ty, Tuple((first, rest)), place=place)


_RULES: dict[str, Callable[[Parser, Place], Pass]] = {
    "\\": Parser._lambda,
    "let": Parser._let,
    "if": Parser._if,
    "case": Parser._case,
    "fold": Parser._fold,
}
"""The rules of what begins with a word or λ."""
