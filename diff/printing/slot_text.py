"""The text of a slot, and what a larger text must know of it to set brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import Factory, field, frozen

from linmap.printing.notation import subscript

if TYPE_CHECKING:
    from collections.abc import Iterable

SUM, PRODUCT, APPLICATION, ATOM = range(4)
"""How tightly a text binds."""


@final
@frozen
class Text:
    """The text of a slot: how tightly it binds, and what a product must know to set brackets.

    `wide` is a sum with spaces, for a line of its own; `sign` is the operation of a product; an `open` text ends in an
    application without brackets, like sin x, which a product must not follow. A multiple −2·x has the `coefficient` −2
    and the `rest` x, so that a product of multiples begins with its numbers.
    """

    tight: str
    binding: int
    sign: str = ""
    open: bool = False
    coefficient: str = ""
    rest: str = ""
    wide: str = field(default=Factory(lambda text: text.tight, takes_self=True))


class Texts(dict[int, "Text"]):
    """The texts of slots, and which of them were looked at."""

    def __init__(self, texts: Iterable[tuple[int, Text]], seen: set[int] | None = None) -> None:
        super().__init__(texts)
        self.seen: set[int] = set() if seen is None else seen

    def __getitem__(self, k: int) -> Text:
        self.seen.add(k)
        return super().__getitem__(k)


def subscripted(name: str) -> str:
    """A name with its digits at the end as subscripts."""
    stem = name.rstrip("0123456789")
    return stem + subscript(int(name[len(stem) :])) if stem and stem != name else name
