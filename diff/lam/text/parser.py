"""Text → open terms: the grammar of terms. Names that a binder binds become its variables.

The rules are generators on one trampoline, so that nested brackets do not use Python's stack;
chains of λ, let, if and :: are loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from diff.lam.term.binding import Pass
from diff.lam.term.inductive import LIST
from diff.lam.term.open_terms import Sign
from diff.lam.term.term_error import Place
from diff.lam.term.terms import App, Branch, Case, Con, Fold, If, Lam, Let, Tuple
from diff.lam.term.types import DataType, unknown
from diff.lam.text.atom_parser import AtomParser
from diff.lam.text.tokens import KEYWORDS, Token

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm
    from diff.lam.text.pattern_parser import Before


@final
class Parser(AtomParser):
    """The grammar of terms: λ, let, if, case and fold, sums, products, powers and applications."""

    def term(self) -> Pass:
        """term, with what may stand before it (λ, let, if, fold … from, t ::) collected in a loop."""
        prefix: list[tuple[str, Place, tuple[Any, ...]]] = []
        bound: list[Before] = []
        while True:
            token = self.token
            if self.accept("\\"):
                while True:
                    pattern = self.pattern()
                    bound.append(self.bind(pattern))
                    prefix.append(("λ", token.place, (pattern,)))
                    if self.accept("."):
                        break
            elif self.accept("let"):
                pattern = self.pattern()
                self.expect("=")
                value = yield self.term()
                self.expect("in")
                bound.append(self.bind(pattern))
                prefix.append(("let", token.place, (pattern, value)))
            elif self.accept("if"):
                condition = yield self.term()
                self.expect("then")
                then = yield self.term()
                self.expect("else")
                prefix.append(("if", token.place, (condition, then)))
            elif self.accept("case"):
                value = yield self.term()
                self.expect("of")
                if self.token.text == "{":
                    branches = yield self.branches()
                    body: AnyTerm = Case(value, branches, place=token.place)
                    break
                pattern = self.pattern()
                self.expect("->")
                bound.append(self.bind(pattern))
                prefix.append(("let", token.place, (pattern, value)))
            elif self.token.text == "fold" and self.after.text == "(" and self._is_right_fold():
                self.step()
                self.expect("(")
                first = self.pattern()
                self.expect(",")
                second = self.pattern()
                self.expect(")")
                self.expect(".")
                pair = Tuple((first, second), place=token.place)
                here = self.bind(pair)
                inside = yield self.term()
                self.unbind(here)
                self.expect("over")
                over = yield self.term()
                self.expect("from")
                prefix.append(("fold", token.place, (pair, inside, over)))
            elif self.accept("fold"):
                value = yield self.term()
                self.expect("of")
                branches = yield self.branches()
                body = Fold(unknown(), value, branches, place=token.place)
                break
            else:
                body = yield self.sum()
                if not self.accept("::"):
                    break
                prefix.append(("::", token.place, (body,)))
        for before in reversed(bound):
            self.unbind(before)
        for kind, place, parts in reversed(prefix):
            body = _wrapped(kind, place, parts, body)
        return body

    def _is_right_fold(self) -> bool:
        """Whether `fold (` begins `fold (p, q). t`: patterns, which have no keyword, and a dot after their bracket."""
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
        found: list[Branch] = []
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
            found.append(Branch(token.text, pattern, body, place=token.place))
            if not self.accept("|"):
                break
        self.expect("}")
        return tuple(found)

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
        made = yield self.atom()
        while self.begins_atom():
            place = self.token.place
            arg = yield self.atom()
            made = App(made, arg, place=made.place or place)
        if self.accept("^"):
            minus = "-" if self.accept("-") else ""
            due = "a whole number (of another exponent write pow(x, y))"
            made = Sign(f"^{minus}{self.digits(due)}", (made,), place=made.place)
        for sign in reversed(signs):
            made = Sign("-", (made,), place=sign.place)
        return made


def _wrapped(kind: str, place: Place, parts: tuple[Any, ...], body: AnyTerm) -> AnyTerm:
    match kind:
        case "λ":
            return Lam(parts[0], body, place=place)
        case "let":
            return Let(parts[0], parts[1], body, place=place)
        case "if":
            return If(parts[0], parts[1], body, place=place)
        case "::":
            is_list = isinstance(body, Con) and body.label == "Cons"  # of the same type: one unknown for all of a chain
            ty = body.type if isinstance(body, Con) and is_list else DataType(LIST, (unknown(),))
            return Con("Cons", ty, Tuple((parts[0], body)), place=place)
        case _:  # fold (p, q). t over l from …
            pair, inside, over = parts
            branches = (Branch("Nil", Tuple(()), body, place=place), Branch("Cons", pair, inside, place=place))
            return Fold(DataType(LIST, (unknown(),)), over, branches, place=place)
