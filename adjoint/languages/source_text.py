"""Texts of programs, by the names that they are reported under."""

from __future__ import annotations

from typing import final

from attrs import frozen

from diff.lam.term.term_error import Place, TermError


@final
@frozen
class Source:
    """The text of a file, by the name that it is reported under."""

    name: str
    text: str

    @classmethod
    def of(cls, name: str, raw: bytes) -> Source:
        """The text of bytes in UTF-8, a byte-order mark at its start left out, with lines that end in one way.

        Raises TermError `syntax` for others.
        """
        try:
            return cls(name, _lines(raw.decode("utf-8-sig")))
        except UnicodeDecodeError as error:
            start = _lines(raw[: error.start].decode(errors="replace"))
            place = Place(name, start.count("\n") + 1, len(start) - start.rfind("\n"))
            raise TermError("syntax", "this is not UTF-8", place) from error


@final
class Places:
    """Lines and columns of positions that are asked for in their order."""

    def __init__(self, source: Source) -> None:
        self.source, self.line, self.begun, self.seen = source, 1, 0, 0

    def at(self, position: int) -> Place:
        """The place of a position."""
        text = self.source.text
        more = text.count("\n", self.seen, position)
        if more:
            self.line, self.begun = self.line + more, text.rfind("\n", self.seen, position) + 1
        self.seen = position
        return Place(self.source.name, self.line, position - self.begun + 1)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
