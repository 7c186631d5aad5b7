"""Text as tokens: Unicode and ASCII are one notation, an item begins in column 1, `--` begins a comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias, final

from attrs import frozen

from diff.lam.term.term_error import Place, TermError, require_few

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind: TypeAlias = Literal["name", "con", "number", "sign", "end"]
KEYWORDS = frozenset(
    ("let", "in", "if", "then", "else", "case", "of", "fold", "over", "from", "true", "false", "at", "with")
)
"""Names that are none."""
LONGEST = 1000
"""The characters of a name or a number."""
_SAME = str.maketrans({"λ": "\\", "⟨": "<", "⟩": ">", "ℝ": "real", "×": "*", "→": "->", "⊸": "-o", "−": "-"})
_SPELLED = {"ς": "sigmoid", "ln": "log"}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<one>[λℝ])"
    r"|(?P<word>[^\W\d]['\w]*)"
    r"|(?P<sign>->|-o(?![\w'])|::|\[\||\|\]|[\\<>()\[\]{},;.|=*+\-/^:@→⊸⟨⟩×−]))"
)
_GREEK = re.compile(r"[Ͱ-Ͽἀ-῿]")


@final
@frozen
class Token:
    """A word of the text."""

    kind: Kind
    text: str
    place: Place

    def __str__(self) -> str:
        return "the end of the item" if self.kind == "end" else f"'{self.text[:40]}'"


def items(text: str, file: str) -> Iterator[tuple[str, int]]:
    """The items of a text, each with the number of its first line; raises TermError for text before the first."""
    lines = text.split("\n")
    start: int | None = None
    for k, line in enumerate([*lines, "end"]):
        bare = line.split("--", 1)[0]
        if not bare.strip() or bare[0].isspace():
            if start is None and bare.strip():
                column = len(bare) - len(bare.lstrip()) + 1
                raise TermError("syntax", "an item begins in column 1", Place(file, k + 1, column))
            continue
        if start is not None:
            yield "\n".join(lines[start:k]), start + 1
        start = k


def tokens(item: str, file: str, line: int = 1) -> list[Token]:
    """The tokens of an item, the last one its end; raises TermError for a character that begins none."""
    words: list[Token] = []
    last = Place(file, line, 1)
    for k, full in enumerate(item.split("\n")):
        row = full.split("--", 1)[0].rstrip()
        column = 0
        while column < len(row):
            match = _TOKEN.match(row, column)
            if match is None:
                column = len(row) - len(row[column:].lstrip())
                place = Place(file, line + k, column + 1)
                raise TermError("syntax", f"no word of the language begins with {row[column]!r}", place)
            form = match.lastgroup or ""
            place = Place(file, line + k, match.start(form) + 1)
            require_few(len(words), place)
            words.append(_token(form, match[form], place))
            column = match.end()
        if row.strip():
            last = Place(file, line + k, len(row) + 1)
    return [*words, Token("end", "", last)]


def _token(form: str, text: str, place: Place) -> Token:
    if len(text) > LONGEST:
        raise TermError("limit", f"a word of {len(text)} characters, more than {LONGEST}", place)
    if form == "number":
        return Token("number", text, place)
    if form == "sign" or text == "λ":
        return Token("sign", text.translate(_SAME), place)
    if text == "ℝ":
        return Token("name", text.translate(_SAME), place)
    if text[0].isupper() and not _GREEK.match(text):
        return Token("con", text, place)
    if text[0] == "_" or text[0].islower() or _GREEK.match(text):
        return Token("name", _SPELLED.get(text, text), place)
    raise TermError("syntax", f"a name begins with a lower-case or Greek letter, not with {text[0]!r}", place)
