"""An expression, as its messages and axes know it: its class stands above them, for it is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hilbert import Type
    from hilbert.program.line.builder import Builder


class Traced(Protocol):
    """An expression: its space, and the slots of the line that is being traced which hold its leaves."""

    @property
    def space(self) -> Type:
        """The space."""
        ...

    @property
    def builder(self) -> Builder:
        """The line that is being traced: the body of a loop in it, while that is traced."""
        ...

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots there."""
        ...

    @property
    def home(self) -> tuple[Builder, tuple[int, ...]]:
        """The line in which the expression was made, and its slots there."""
        ...
