"""Facts of slots along an index set X: see `hilbert.program.blocks.facts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, final

from attrs import frozen

if TYPE_CHECKING:
    from hilbert.index.index import Index

Monoid: TypeAlias = Literal["add", "logsumexp", "argmax", "argmin", "picked", "alone"]
"""The monoids by which totals of blocks are put together. A `picked` total is the entry at the place that the total in
front of it found; a total is `alone` if there is one block."""


@final
@frozen
class Shared:
    """A slot that is the same in all blocks; a constant 0 is a total, too."""

    level: int = 0
    is_zero: bool = False


@final
@frozen
class Lane:
    """A slot with X as axis `at`, whose entry at x depends on inputs at x, and on shared slots."""

    at: int
    level: int = 0


@final
@frozen
class Total:
    """A slot whose value is put together from those of the blocks."""

    monoid: Monoid
    level: int = 0


@final
@frozen
class Steer:
    """A truth value that tells if some lane is to be computed, or a value that is read in such lanes only."""

    level: int = 0


One: TypeAlias = "Shared | Lane | Total | Steer"
Fact: TypeAlias = "One | tuple[One, ...]"
"""The fact of a slot; for a bundle the fact of each of its arrays."""


def every(fact: Fact) -> tuple[One, ...]:
    """The facts of the arrays of a slot."""
    return fact if isinstance(fact, tuple) else (fact,)


def either(a: Fact, b: Fact) -> One | None:
    """The fact of a slot that is made in one of two ways; None where nothing is known of both."""
    match a, b:
        case Shared(), Shared():
            return a if a == b else Shared()
        case (Steer(), Shared() | Steer()) | (Shared(), Steer()):
            return a if a == b and isinstance(a, Steer) else Steer()
        case (Shared(is_zero=True), Total("add")) | (Total("add"), Shared(is_zero=True)):
            return Total("add")
        case _:  # lanes and totals, or lanes along different axes
            return a if a == b and not isinstance(a, tuple) else None


def level_of(one: One) -> int:
    """The number of passes that have to be over before the slot can be read."""
    return one.level + isinstance(one, Total)


def word(fact: Fact) -> str:
    """The fact in words."""
    match fact:
        case Shared():
            return "the same for all elements"
        case Lane():
            return "one value for each element"
        case Total():
            return "a total"
        case Steer():
            return "a question about lanes"
        case _:  # of several arrays, which are never asked about together
            return "a bundle"


def is_zero(fact: Fact) -> bool:
    """Tell if a slot is 0 in all blocks."""
    return isinstance(fact, Shared) and fact.is_zero


def steered(index: Index) -> str:
    """The reason to refuse a step outside of the blocks that asks if some element takes a branch."""
    return f"it depends on all of {index} if this branch is taken: write where(c, a, b) with values"
