"""The one error of terms and texts, with a code of the grammar and the place that it is about."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, TypeAlias, final, get_args

from attrs import frozen

from hilbert import SpaceError
from hilbert.errors import cut, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

Code: TypeAlias = Literal[
    "syntax",
    "unbound",
    "type",
    "branches",
    "infinite",
    "positive",
    "recursion",
    "linear",
    "tag",
    "shape",
    "order",
    "limit",
]
"""The kinds of mistakes that a claim `error CODE : …` can name."""
CODES: frozenset[str] = frozenset(get_args(Code))
LARGEST = 400_000
"""The words that one definition may have, in a text of any language."""


def near(name: str, known: Iterable[str], most: int = 3) -> str:
    """The names that are like this one, as the end of a message."""
    names = get_close_matches(name, known, most)
    return f"; near: {', '.join(names)}" if names else ""


@final
@frozen
class Place:
    """The place of a term in a text: its file, line and column, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def require_few(words: int, place: Place) -> None:
    """Raise TermError `limit` for a definition of too many words, at the first that is too many."""
    if words > LARGEST:
        raise TermError("limit", f"a definition of more than {LARGEST} words", place)


def require_text(value: object, what: str) -> None:
    """Raise TermError `type` unless a value is a text; `what` is the call that takes it."""
    if not isinstance(value, str):
        raise TermError("type", f"{what} takes a text, not {shown(value)}")


@final
class TermError(SpaceError):
    """A term, type or text that is refused: `code` says in which way, `place` where."""

    __module__ = "diff.higher"  # its public name, which tracebacks show

    code: Code
    message: str
    place: Place | None

    def __init__(self, code: Code, message: str, place: Place | None = None) -> None:
        message = cut(message)
        super().__init__(f"{place}: {message}" if place else message)
        self.code, self.message, self.place = code, message, place

    def at(self, place: Place | None) -> TermError:
        """The same error, at this place if it has none of its own."""
        return self if self.place or place is None else TermError(self.code, self.message, place)

    def __reduce__(self) -> tuple[type[TermError], tuple[Code, str, Place | None]]:
        return TermError, (self.code, self.message, self.place)
