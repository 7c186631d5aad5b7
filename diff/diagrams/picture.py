"""The parts of a string diagram: each reads numbered values and adds into one; folded, named values are the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import evolve, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST = 40
"""A picture of more parts is folded."""


@final
@frozen
class Part:
    """A box with a text, and a longer one that is shown where one points at it; without a text it is a wire."""

    text: str
    reads: tuple[int, ...]
    makes: int
    title: str = ""


@final
@frozen
class Picture:
    """Values, by number: given ones with their names, those that the parts make, in order, and the results.

    `spaces` are the texts of their spaces; `names` are values that the printed text gives a line, `lines` these lines.
    """

    given: Mapping[int, str]
    parts: tuple[Part, ...]
    results: tuple[int, ...]
    ends: tuple[str, ...]
    spaces: Mapping[int, str]
    names: Mapping[int, str]
    lines: tuple[str, ...]

    def live(self) -> Picture:
        """The parts that lead to a result."""
        due, kept = set(self.results), list[Part]()
        for part in reversed(self.parts):
            if part.makes in due:
                due.update(part.reads)
                kept.append(part)
        return evolve(self, parts=tuple(reversed(kept)))

    def folded(self) -> Picture:
        """Of a large picture one part for each value with a name, and for each result; others as they are."""
        if len(self.parts) <= MOST:
            return self
        makers: dict[int, list[Part]] = {}
        for part in self.parts:
            makers.setdefault(part.makes, []).append(part)
        ends = {v: self.names.get(v, "…") for v in (*self.names, *self.results) if v in makers}
        titles = {line.removeprefix("where ").partition(" ")[0]: line for line in self.lines}
        order = {part.makes: k for k, part in enumerate(self.parts)}
        parts = [
            Part(ends[v], tuple(sorted(_below(v, makers, {*ends, *self.given}))), v, titles.get(ends[v], ""))
            for v in sorted(ends, key=order.__getitem__)
        ]
        return evolve(self, parts=tuple(parts)).live()


def _below(value: int, makers: Mapping[int, list[Part]], known: Iterable[int]) -> set[int]:
    """The known values that a value is made of."""
    known, found, seen = set(known), set[int](), {value}
    ahead = [value]
    while ahead:
        for part in makers.get(ahead.pop(), ()):
            for v in part.reads:
                if v in known:
                    found.add(v)
                elif v not in seen:
                    seen.add(v)
                    ahead.append(v)
    return found
