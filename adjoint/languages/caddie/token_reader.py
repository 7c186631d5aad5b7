"""The tokens of a text one at a time: a grammar looks at a token, steps over it, or refuses it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

from adjoint.languages.caddie.tokens import Token, tokens
from diff.lam.term.term_error import TermError, require_few

if TYPE_CHECKING:
    from adjoint.languages.source_text import Source

MOST = 10**7
"""The elements that `iota`, `repl` and a range may have, and the largest index."""
SIGNS = {"+", "-"}


class Reader:
    """The tokens of a text."""

    def __init__(self, source: Source) -> None:
        self._tokens = tokens(source)
        self.token = next(self._tokens)
        self.words = 0  # of the definition so far

    def step(self) -> Token:
        """The token that is read."""
        read = self.token
        if read.kind != "end":
            self.token = next(self._tokens)
            self.words += 1
            require_few(self.words, self.token.place)
        return read

    def fail(self, due: str) -> NoReturn:
        """Something else is due."""
        raise TermError("syntax", f"expected {due}, not {self.token}", self.token.place)

    def accept(self, text: str) -> bool:
        """Step over a word or sign if it stands here."""
        is_here = self.token.text == text and self.token.kind in {"word", "sign"}
        if is_here:
            self.step()
        return is_here

    def expect(self, text: str, after: str = "") -> None:
        """Step over a word or sign."""
        if not self.accept(text):
            self.fail(f"'{text}'{after}")

    def name(self, what: str) -> Token:
        """A name."""
        if self.token.kind != "name":
            self.fail(what if self.token.kind != "word" else f"{what}, which is no word of the language")
        return self.step()

    def number(self, due: str) -> Token:
        """A number, whose sign stands directly before it."""
        sign = self.token
        if sign.text in SIGNS and sign.kind == "sign":
            self.step()
            if self.token.kind != "number" or self.token.start != sign.end:
                raise TermError("syntax", f"there is no unary {sign.text}: write 0 {sign.text} x", sign.place)
        if self.token.kind != "number":
            self.fail(due)
        digits = self.step()
        minus = "-" if sign.text == "-" else ""
        text = minus + digits.text
        if not math.isfinite(float(text)):
            raise TermError("limit", f"the number {text[:20]}… is too large", sign.place)
        return Token("number", text, sign.start, digits.end, sign.place)

    def count(self, what: str, most: int = MOST) -> int:
        """A number of elements, or an index: a constant."""
        token = self.number(what)
        if "." in token.text or not 0 <= int(token.text) <= most:
            raise TermError("syntax", f"expected {what}, from 0 to {most}, not {token}", token.place)
        return int(token.text)
