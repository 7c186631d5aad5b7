"""What is wrong with a term or a text: one error, with a code of the grammar and the place that it is about."""

from __future__ import annotations

from typing import Literal, TypeAlias, final, get_args

from attrs import frozen

from hilbert import SpaceError

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


@final
@frozen
class Place:
    """Where a term stands in a text: its file, line and column, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@final
class TermError(SpaceError):
    """A term, type or text that is refused: `code` says in which way, `place` where."""

    code: Code
    message: str
    place: Place | None

    def __init__(self, code: Code, message: str, place: Place | None = None) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.code, self.message, self.place = code, message, place

    def at(self, place: Place | None) -> TermError:
        """The same error, at this place if it has none of its own."""
        return self if self.place or place is None else TermError(self.code, self.message, place)

    def __reduce__(self) -> tuple[type[TermError], tuple[Code, str, Place | None]]:
        return TermError, (self.code, self.message, self.place)
