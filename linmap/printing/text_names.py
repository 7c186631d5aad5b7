"""Names in the text of a term: for constant vectors, for shared wires and steps, and lines that say what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert import Vec
from linmap.printing.notation import PAGE, Doc, Page, Word, subscript
from linmap.term.datum import filling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert.base.term import Chain
    from hilbert.program.line.constant import Const

LETTERS = "abcfghklmnpqrst"
SHORT = 24
"""Texts of wires that are longer get a name; of longer chains a page shows so many parts at each end."""


class Names:
    """Names for constant vectors, a, b, …, and for wires and steps with a line, u₁, d₁, …; none is an argument's."""

    def __init__(self, taken: Iterable[str] = (), page: Page = PAGE) -> None:
        self.page = page
        self.number = page.number
        self.hidden = 0  # parts that are left out
        self.taken = set(taken)
        self.reserved: set[str] = set()  # what indices are called
        self.names: dict[Any, str] = {}
        self.counts: dict[str, int] = {}
        self.lines: list[str] = []

    def of(self, key: Any, what: Any, sign: str = "∈") -> str:
        """The name of a constant, with a line `where` that says `what` it is."""
        if key not in self.names:
            letter = next((c for c in LETTERS if c not in self.taken and c not in self.reserved), None)
            self.names[key] = self.fresh("a") if letter is None else letter
            self.taken.add(self.names[key])
            self.lines.append(f"where {self.names[key]} {sign} {what}")
        return self.names[key]

    def fresh(self, stem: str) -> str:
        """The next of stem₁, stem₂, …"""
        k = self.counts[stem] = self.counts.get(stem, 0) + 1
        name = f"{stem}{subscript(k)}"
        return self.fresh(stem) if name in self.taken else name

    def vector(self, v: Vec[Any]) -> str:
        """A scalar's value, the number that fills an array, or a name."""
        if len(v.leaves) == 1 and v.space.is_space:
            found = filling(v.leaves[0])
            if found is not None:
                return self.number(found)
        return self.of(v.token, v.space)

    def const(self, c: Const) -> str:
        """A number's value, or a name."""
        found = c.number if c.number is not None or not c.leaf.is_field else filling(c.array)
        return self.of(c.key, c.leaf) if found is None else self.number(found)

    def shortened(self, parts: Chain[Any], doc: Callable[[Any], Doc], *, backwards: bool = False) -> list[Doc]:
        """The docs of the parts, without those in the middle of a long chain where a page has few lines."""
        if self.page.lines is None or len(parts) <= 2 * SHORT:
            return [doc(part) for part in (reversed(list(parts)) if backwards else parts)]
        ends = [*parts[:SHORT], *parts[-SHORT:]]
        docs = [doc(part) for part in (reversed(ends) if backwards else ends)]
        self.hidden += len(parts) - len(ends)
        return [*docs[:SHORT], Word(f"… {len(parts) - len(ends)} more …"), *docs[SHORT:]]

    def lay(self, doc: str, lets: Sequence[str] = ()) -> str:
        """The page with a line for each definition and each name."""
        return self.page.lay(doc, [*lets, *self.lines], self.hidden)
