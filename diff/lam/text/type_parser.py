"""Text → types, and what all rules of the grammar share: the tokens, and the error at one of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from diff.lam.term.binding import Pass
from diff.lam.term.inductive import list_of
from diff.lam.term.term_error import TermError
from diff.lam.term.types import INT, REAL, UNIT, Arrow, DataType, Ground, Lin, TupleType, Ty, dual, unknown
from diff.lam.text.tokens import KEYWORDS, Kind, Token
from hilbert import Bool, Fin, R
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Mapping

    from diff.lam.term.types import Declaration

_WORDS: dict[str, Ty] = {"real": REAL, "bool": Ground(Bool), "int": INT, "unit": UNIT}
_TAGS: dict[str, type] = {}
_AXES = re.compile(r"x(?=[^\W_])|\d+|.+")


def tag(name: str) -> type:
    """The class that names an axis in texts: one for each name."""
    return _TAGS.setdefault(name, type(name, (), {}))


class TypeParser:
    """Tokens with a position, and the grammar of types."""

    def __init__(self, tokens: list[Token], types: Mapping[str, Declaration]) -> None:
        self.tokens, self.at = tokens, 0
        self.types = types
        self.recursive: tuple[str, tuple[str, ...], Ty] | None = None
        self.parameters: dict[str, Ty] = {}
        self.open = True  # whether a type variable that is not declared stands for an unknown type

    # --- tokens ---

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def after(self) -> Token:
        """The token after the next one."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def step(self) -> Token:
        """Return the next token and advance by one; the end token stays the next one."""
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, text: str) -> bool:
        """Tell if the next token is this one, which is then passed."""
        is_next = self.token.text == text and self.token.kind != "end"
        self.at += is_next
        return is_next

    def expect(self, text: str) -> None:
        """Pass a token that is due."""
        if not self.accept(text):
            self.fail(f"'{text}'")

    def name(self, due: str) -> str:
        """Pass a name that is no keyword."""
        if self.token.kind != "name" or self.token.text in KEYWORDS:
            self.fail(f"{due} with a small letter" if self.token.kind == "con" else due)
        return self.step().text

    def constructor(self, due: str) -> str:
        """Pass a word with a capital."""
        if self.token.kind != "con":
            self.fail(due)
        return self.step().text

    def digits(self, due: str) -> str:
        """Pass a number without point and exponent."""
        if self.token.kind != "number" or not self.token.text.isdigit():
            self.fail(due)
        return self.step().text

    def fail(self, due: str) -> NoReturn:
        """Raise TermError `syntax`."""
        raise TermError("syntax", f"{due} is due, not {self.token}", self.token.place)

    # --- types ---

    def type(self) -> Ty:
        """ty."""
        ty: Ty = driven(self._type())
        return ty

    def atomic(self) -> Ty:
        """aty."""
        ty: Ty = driven(self._starred())
        return ty

    def _type(self) -> Pass:
        """pty {-> pty | -o pty}, to the right."""
        parts: list[Any] = []
        while True:
            ty = yield self._product()
            parts.append(ty)
            if self.token.text not in {"->", "-o"}:
                break
            parts.append(self.step().text)
        ty = parts.pop()
        while parts:
            arrow, dom = parts.pop(), parts.pop()
            ty = Arrow(dom, ty) if arrow == "->" else Lin(dom, ty)
        return ty

    def _product(self) -> Pass:
        first = yield self._starred()
        parts = [first]
        while self.accept("*"):
            part = yield self._starred()
            parts.append(part)
        return parts[0] if len(parts) == 1 else TupleType(tuple(parts))

    def _starred(self) -> Pass:
        ty = yield self._basic()
        while self.token.text == "^" and self.after.text == "*":
            self.at += 2
            ty = dual(ty)
        return ty

    def _begins_basic(self) -> bool:
        token = self.token
        return token.text == "(" or token.kind == "con" or (token.kind == "name" and token.text not in KEYWORDS)

    def _basic(self) -> Pass:
        token = self.token
        if not self._begins_basic():
            self.fail("a type")
        self.step()
        if token.text == "(":
            ty = yield self._type()
            self.expect(")")
            return ty
        if token.text in {"R", "real"} and self.token.text == "^" and self.after.text != "*":
            self.step()
            return Ground(R ** self._index())
        if token.kind == "con":
            args: list[Ty] = []
            while self._begins_basic():
                arg = yield self._basic()
                args.append(arg)
            return self._named(token, args)
        if token.text == "list":
            of = yield self._basic()
            return list_of(of)
        return _WORDS.get(token.text) or self._variable(token)

    def _variable(self, token: Token) -> Ty:
        if token.text not in self.parameters:
            if not self.open:
                raise TermError("unbound", f"{token.text} is no parameter of this type", token.place)
            self.parameters[token.text] = unknown()
        return self.parameters[token.text]

    def _named(self, token: Token, args: list[Ty]) -> Ty:
        """The type that a word with a capital is at arguments; RECUR in its own declaration, at its own parameters."""
        if self.recursive and self.recursive[0] == token.text:
            _, due, recur = self.recursive
            if args != [self.parameters[a] for a in due]:
                what = f"{token.text} recurs at its own parameters only, {' '.join((token.text, *due))}"
                raise TermError("recursion", what, token.place)
            return recur
        if token.text not in self.types:
            raise TermError("unbound", f"no type is named {token.text}", token.place)
        declaration = self.types[token.text]
        if len(args) != declaration.arity:
            what = f"{token.text} takes {declaration.arity} types, not {len(args)}"
            raise TermError("type", what, token.place)
        return DataType(declaration, tuple(args))

    def _index(self) -> Any:
        """n, or (axis x axis …), an axis being n or Tag : n."""
        if not self.accept("("):
            return Fin.of(int(self.digits("a size")))
        index: Any = None
        while True:
            if self.token.kind == "con":
                name = self.step().text
                self.expect(":")
                axis: Any = Fin(tag(name), int(self.digits("a size")))
            else:
                axis = Fin.of(int(self.digits("a size")))
            index = axis if index is None else index * axis
            self._split()
            if self.token.text not in {"x", "*"}:
                break
            self.step()
        self.expect(")")
        return index

    def _split(self) -> None:
        """A word x3x4 or xCol after a size, as the tokens x 3 x 4 or x Col."""
        token = self.token
        if token.kind == "name" and token.text.startswith("x"):
            parts = _AXES.findall(token.text)
            self.tokens[self.at : self.at + 1] = [Token(_kind(one), one, token.place) for one in parts]


def _kind(word: str) -> Kind:
    return "number" if word.isdigit() else "con" if word[0].isupper() else "name"
