"""Text → forms: atoms and brackets, with their places. Nothing here uses Python's stack."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, TypeAlias, final

from attrs import Factory, frozen

from adjoint.languages.source_text import Places
from diff.lam.term import term_error
from diff.lam.term.term_error import TermError, require_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjoint.languages.source_text import Source
    from diff.lam.term.term_error import Place

Kind: TypeAlias = Literal["name", "integer", "float", "string"]
LONGEST = 1000
"""The characters of a name or a number."""
DEEPEST = 20_000
"""More brackets in each other are refused."""
_SPACE = re.compile(r"(?:[\s]+|;[^\n]*)+")
_COMMENT = re.compile(r"#\||\|#")
_ATOM = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=[\s()\[\];\"]|$)"
    r"|(?P<name>[A-Za-z_':!$%&*+.,/<=>?@\\^|~-][\w':!$%&*+.,/<=>?@\\^|~-]*)"
    r"|(?P<string>\"[^\"\\]*(?:\\.[^\"\\]*)*\")",
    re.DOTALL | re.ASCII,
)
_CLOSING = {"(": ")", "[": "]"}
_WORD = re.compile(r";[^\n]*|[()\[\]]|\"(?:[^\"\\]|\\.)*\"|[^\s()\[\];\"]+", re.DOTALL)


@final
@frozen(eq=False)
class Atom:
    """A name or a literal; of a string, `text` is what it says."""

    kind: Kind
    text: str
    place: Place


@final
@frozen(eq=False)
class Form:
    """The forms between brackets, ( ) or [ ]."""

    bracket: str
    place: Place
    items: list[AnyForm] = Factory(list)

    def head(self) -> str:
        """The name that it begins with."""
        return self.items[0].text if self.items and isinstance(self.items[0], Atom) else ""


AnyForm: TypeAlias = Atom | Form


def forms(source: Source) -> Iterator[AnyForm]:
    """The forms of a text, one after the other; raises TermError `syntax` for what is none."""
    text, at, places = source.text, 0, Places(source)
    around: list[Form] = []
    words = 0
    while (at := _skipped(text, at, places)) < len(text):
        c = text[at]
        words += 1
        place = places.at(at)
        require_few(words, place)
        made: AnyForm
        if c in _CLOSING:
            if len(around) == DEEPEST:
                raise TermError("limit", f"brackets in each other, more than {DEEPEST} deep", place)
            around.append(Form(c, place))
            at += 1
            continue
        if c in ")]":
            if not around:
                raise TermError("syntax", f"this {c} closes nothing", place)
            made = around.pop()
            if _CLOSING[made.bracket] != c:
                due = f"expected {_CLOSING[made.bracket]}, for the bracket at {made.place}, not {c}"
                raise TermError("syntax", due, place)
            at += 1
        else:
            made, at = _atom(text, at, place)
        if around:
            around[-1].items.append(made)
        else:
            words = 0
            yield made
    if around:
        raise TermError("syntax", "this bracket does not end", around[-1].place)


def too_large(text: str) -> str | None:
    """The reason that a printed text is not read back, or None: words in one definition, or brackets in each other."""
    words = most = depth = deepest = 0
    for found in _WORD.finditer(text):
        word = found[0]
        if word[0] == ";":
            continue
        words = words + 1 if depth else 1
        depth += (word in _CLOSING) - (word in ")]")
        most, deepest = max(most, words), max(deepest, depth)
    if most > term_error.LARGEST:
        return f"a definition of {most} words, and {term_error.LARGEST} are read"
    return f"brackets {deepest} deep, and {DEEPEST} are read" if deepest > DEEPEST else None


def _skipped(text: str, at: int, places: Places) -> int:
    """Past spaces and comments; #| … |# may be nested."""
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if not text.startswith("#|", at):
            return at
        place, depth, at = places.at(at), 1, at + 2
        while depth:
            found = _COMMENT.search(text, at)
            if found is None:
                raise TermError("syntax", "this comment does not end: |# is missing", place)
            depth += 1 if found[0] == "#|" else -1
            at = found.end()


def _atom(text: str, at: int, place: Place) -> tuple[Atom, int]:
    found = _ATOM.match(text, at)
    if found is None:
        what = "this text does not end" if text[at] == '"' else f"no word begins with {text[at]!r}"
        raise TermError("syntax", what, place)
    word = found[0]
    if found.lastgroup == "string":
        try:
            return Atom("string", json.loads(word, strict=False), place), found.end()
        except ValueError:
            raise TermError("syntax", "an escape in this text is none", place) from None
    if len(word) > LONGEST:
        raise TermError("limit", f"a {found.lastgroup} of {len(word)} characters, more than {LONGEST}", place)
    if found.lastgroup == "name":
        return Atom("name", word, place), found.end()
    is_whole = word.lstrip("+-").isdigit()
    if is_whole and not -(2**63) <= int(word) < 2**63:
        raise TermError("limit", f"{word[:20]}… does not fit into 64 bits", place)
    return Atom("integer" if is_whole else "float", word, place), found.end()
