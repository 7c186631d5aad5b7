"""The text of a slot, with the properties by which a larger text sets brackets around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, final

from attrs import Factory, field, frozen

from linmap.printing.notation import subscript

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from diff.terms.program import AnyProgram
    from linmap.printing.text_names import Names

SUM, PRODUCT, APPLICATION, ATOM = range(4)
"""The ways that a text binds, from the loosest to the tightest."""


@final
@frozen
class Text:
    """The text of a slot, its binding, and the properties by which a product sets brackets.

    `wide` is a sum with spaces, for a line of its own; `sign` is the operation of a product; an `open` text ends in an
    application without brackets, like sin x, which a product must not follow. A multiple −2·x has the `coefficient` −2
    and the `rest` x, so that a product of multiples begins with one number.
    """

    tight: str
    binding: int
    sign: str = ""
    open: bool = False
    coefficient: float = 1.0
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


class SlotTexts(Protocol):
    """The texts of a program's slots, as the files for single kinds of steps know them.

    Their class, `diff.printing.show_steps.Slots`, stands above those: it is made of them.
    """

    p: AnyProgram
    names: Names
    arity: int
    texts: Texts
    lines: list[str]
    final: bool

    def operation(self, k: int) -> Any:
        """The operation of the step into a slot; None for an argument."""
        ...

    def read(self, k: int) -> tuple[int, ...]:
        """The slots that the text of a step mentions."""
        ...

    def step(self, k: int) -> Text:
        """The text of the step into a slot."""
        ...

    def bound(self, k: int, binding: int) -> str:
        """The text of a slot, in brackets unless it binds as tightly."""
        ...

    def product(self, left: int, right: int) -> Text:
        """The text of a product of two slots."""
        ...

    def result(self, k: int) -> Text:
        """The text of a result."""
        ...

    def base(self, k: int) -> str:
        """The text of a slot below an exponent."""
        ...

    def of_body(self, body: AnyProgram, given: Sequence[Text]) -> SlotTexts:
        """The texts of the body of a step; `given` are those of its arguments."""
        ...


def bracketed(text: str) -> str:
    """A text in brackets, unless one pair is around all of it."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if not depth:
            return text if k == len(text) - 1 and k and text[0] == "(" else f"({text})"
    return f"({text})"


def subscripted(name: str) -> str:
    """A name with its digits at the end as subscripts."""
    stem = name.rstrip("0123456789")
    return stem + subscript(int(name[len(stem) :])) if stem and stem != name else name
