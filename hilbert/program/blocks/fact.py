"""Facts of slots along an index set X: see `hilbert.program.blocks.facts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from attrs import field, frozen

from hilbert.program.line.choice import Choose
from hilbert.program.line.operation import Add, Cast, Contract, Keep, Move, Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.index.index import Index
    from hilbert.program.line.line import Step

Monoid: TypeAlias = Literal["add", "any", "logsumexp", "argmax", "argmin", "picked", "alone"]
"""The monoids by which totals of blocks are put together: `any` is that of truth values. A `picked` total is the entry
at the place that the total in front of it found; a total is `alone` if there is one block."""
Asked: TypeAlias = frozenset[tuple[int, int]]
"""Questions about lanes: the slot of each, and the mask, a slot k of truth values, or −1 − k for its complement."""


@final
@frozen
class Shared:
    """A slot that is the same in all blocks; a constant 0 is a total, too."""

    level: int = 0
    is_zero: bool = False


@final
@frozen
class Lane:
    """A slot with X as axis `at`, whose entry at x depends on inputs at x, and on shared slots.

    It is 0, or false, where one of the masks `zero` is false.
    """

    at: int
    level: int = 0
    zero: frozenset[int] = field(default=frozenset(), eq=False, repr=False)


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
    asked: Asked = field(default=frozenset(), eq=False, repr=False)


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
        case (Steer() as one, (Shared() | Steer()) as other) | (Shared() as one, Steer() as other):
            return Steer(one.level if one == other else 0, asked_of([one, other]))
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


class AskedElsewhere(Exception):  # noqa: N818 - not an error: some questions are to be totals
    """Lanes that some questions are not about read the answers."""

    def __init__(self, questions: set[int]) -> None:
        super().__init__(questions)
        self.questions = questions


def asked_of(ones: Iterable[One]) -> Asked:
    """The questions that some slots are about."""
    return frozenset(pair for one in ones if isinstance(one, Steer) for pair in one.asked)


def masks(step: Step[Any], slot: int) -> frozenset[int]:
    """The masks that a slot of truth values is: itself, and the complement of the one that it negates."""
    is_complement = getattr(step.operation, "name", "") == "logical_not"
    return frozenset({slot, -1 - step.args[0]} if is_complement else {slot})


def zero_in(step: Step[Any], ones: Sequence[One]) -> frozenset[int]:
    """The masks outside of which the lanes of a step's result are 0."""
    zeros = [one.zero for one in ones if isinstance(one, Lane)]
    match step.operation:
        case Contract():
            return frozenset[int]().union(*zeros)
        case Scale() | Move() | Cast() | Keep():
            return zeros[0]
        case Add() if len(zeros) == len(ones):
            return frozenset[int].intersection(*zeros)
        case _:  # nothing is known of 0
            return frozenset()


def chosen(step: Step[Any], ones: Sequence[One]) -> frozenset[int]:
    """The masks outside of which a choice does not read what is asked about lanes."""
    if not isinstance(step.operation, Choose) or len(ones) != 3 or not isinstance(condition := ones[0], Lane):
        return frozenset()
    _, then, otherwise = ones
    if isinstance(then, Steer) == isinstance(otherwise, Steer):
        return frozenset()
    return condition.zero if isinstance(then, Steer) else frozenset({-1 - step.args[0]})


def is_zero(fact: Fact) -> bool:
    """Tell if a slot is 0 in all blocks."""
    return isinstance(fact, Shared) and fact.is_zero


def steered(index: Index) -> str:
    """The reason to refuse a step outside of the blocks that asks if some element takes a branch."""
    return f"it depends on all of {index} if this branch is taken: write where(c, a, b) with values"
