"""The protocol of what 0 + · ⊙ are defined on, by which type checkers refuse arithmetic of discrete values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from hilbert.space.space import OfSpaces, Type

S_co = TypeVar("S_co", bound="Type", covariant=True)


class Linear(Protocol[S_co]):
    """A vector or an expression that 0 + · ⊙ are defined on, for the type checker: of a space, of no discrete type.

    The protocol takes two members. In `self: Vec[S]` mypy does not look at the bound of S; with `space -> S` alone mypy
    accepts everything, too, and pyright refuses correct code.
    """

    @property
    def space(self) -> OfSpaces:
        """The space S."""
        ...

    def _require(self, operation: str) -> S_co:
        """S; raises SpaceError for a type that is no space."""
        ...
