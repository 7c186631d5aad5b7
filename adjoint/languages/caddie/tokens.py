"""Text → tokens, one at a time, so that a long text with an early mistake is not read to its end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias, final

from attrs import frozen

from adjoint.languages.source_text import Places
from diff.lam.term.term_error import Place, TermError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjoint.languages.source_text import Source

Kind: TypeAlias = Literal["name", "word", "number", "sign", "end"]
WORDS = frozenset(["let", "in", "end", "fun", "map", "iota", "fn", "pow", "red", "if", "then", "else", "repl"])
"""Names that are none."""
_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.(?!\.)[0-9]*)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>=>|\*>|\.\.|[()\[\],#=+\-*^])"
)
_AFTER_A_NUMBER = re.compile(r"[A-Za-z0-9_.]")
LONGEST = 200
"""The characters of a name, and the digits of a number."""


@final
@frozen
class Token:
    """A word of the text; `start` and `end` are its positions in it."""

    kind: Kind
    text: str
    start: int
    end: int
    place: Place

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else f"'{self.text[:40]}'"


def tokens(source: Source) -> Iterator[Token]:
    """The tokens of a text, the last one its end; raises TermError `syntax` for a character that begins none."""
    text, at = source.text, 0
    places = Places(source)
    while True:
        found = _SPACE.match(text, at)
        at = found.end() if found else at
        place = places.at(at)
        if text.startswith("(*", at):
            end = text.find("*)", at + 2)
            if end < 0:
                raise TermError("syntax", "this comment does not end: *) is missing", place)
            at = end + 2
            continue
        if at >= len(text):
            yield Token("end", "", at, at, place)
            return
        found = _TOKEN.match(text, at)
        if found is None:
            _refused(text[at], place)
        kind, word, at = found.lastgroup, found[0], found.end()
        if len(word) > LONGEST:
            raise TermError("limit", f"a {kind} of {len(word)} characters, more than {LONGEST}", place)
        if kind == "number" and _AFTER_A_NUMBER.match(text, at) and not text.startswith("..", at):
            raise TermError("syntax", f"{word}{text[at]} is no number: numbers have digits and one point only", place)
        named: Kind = "word" if word in WORDS else kind  # type: ignore[assignment]  # the groups of the pattern
        yield Token(named, word, found.start(), at, place)


def _refused(character: str, place: Place) -> NoReturn:
    """Raise TermError `syntax` for a character that begins no token, with a hint for the usual slips."""
    hint = {
        "/": ": there is no division, write pow -1.0 y",
        ".": ": a number begins with a digit",
        "'": ": names have letters, digits and _",
        '"': ": there are no texts",
    }
    raise TermError("syntax", f"no word of caddie begins with {character!r}{hint.get(character, '')}", place)
