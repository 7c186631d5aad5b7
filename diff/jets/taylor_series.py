"""Types that the modules of Taylor series share: records of derivatives and rules, and protocols of the series.

A Taylor series of a program has, for each slot, the slots of its coefficients: of y = x·x along x = x₀ + t·x₁ they are
x₀·x₀, 2·x₀·x₁ and x₁·x₁. The class that finds them is `diff.jets.series.Series`, which imports the modules that find
the coefficients of single operations. These modules need its type, and would import it in a circle; they import the
protocols of this module instead, which list the members that they use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, final

from attrs import frozen

from diff.jets.multiindex import Alpha

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hilbert import SpaceError
    from hilbert.index.index import Index
    from hilbert.program.line.builder import Builder
    from hilbert.program.line.constant import Const
    from hilbert.program.line.line import Line
    from linmap.net.support import Support

Coefficients: TypeAlias = dict[tuple[int, Alpha], int]
"""The coefficients of inputs: the slot of each."""
Results: TypeAlias = dict[tuple[int, Alpha], int]
"""The slots of the coefficients of the arrays in a bundle; those that are not there are 0."""


@final
@frozen
class PartialDerivative:
    """A partial derivative: factor · slot; `square` is c where the slot is c·u + const for the argument u itself."""

    factor: float
    slot: int
    whole: int
    square: float | None


@final
@frozen(eq=False)
class Rule:
    """A step's rule: its results; for each i the slots of the derivative τ, and those that depend on a tangent."""

    results: tuple[int, ...]
    ends: dict[int, tuple[int, ...]]
    linear: dict[int, tuple[int, ...]]
    sides: tuple[int, ...] | None
    """For a linear system the slots of its right side b; for another equation none; None for an operation."""


class StepsOfSeries(Protocol):
    """The steps that coefficients are found for, those of derivatives among them."""

    src: Builder
    ways: list[int]
    linear: set[int]
    own: set[int]

    def no_jet(self, slot: int, operation: Any, where: str = "") -> SpaceError:
        """The error for a step without coefficients."""
        ...


class Masks(Protocol):
    """The masks outside of which coefficients above the value are 0."""

    of_results: dict[tuple[int, int], Const]

    def mask(self, u: int) -> Const | int | None:
        """The mask outside of which the coefficients of a slot are 0; None for no mask."""
        ...

    def slot(self, mask: Const | int) -> int:
        """The slot of a mask."""
        ...


class TaylorSeries(StepsOfSeries, Protocol):
    """The coefficients of slots, as far as they are found, in the line that `out` builds."""

    out: Builder
    levels: list[list[Alpha]]
    family: tuple[Index, ...]
    basis: int | None
    collapsed: bool
    moving: bytearray
    need: dict[int, int]
    partials: dict[int, list[float | PartialDerivative]]
    known: dict[tuple[int, Alpha], int | None]
    bodies: dict[tuple[int, int], Results]
    inverses: dict[int, Any]

    @property
    def supports(self) -> Masks:
        """The masks of the slots."""
        ...

    def varies(self, alpha: Alpha) -> bool:
        """Tell if coefficients of this order have the axes of the family."""
        ...

    def way(self, alpha: Alpha) -> tuple[int, int]:
        """αᵢ and i, for the i by which a coefficient is found."""
        ...

    def rule(self, slot: int) -> Rule:
        """The rule of a step that has one."""
        ...

    def value(self, slot: int) -> int:
        """The slot of the coefficient of order 0."""
        ...

    def coefficient(self, slot: int, alpha: Alpha) -> int | None:
        """The coefficient of a slot; those below and before it are known."""
        ...

    def total(self, terms: Iterable[int | None]) -> int | None:
        """A sum, of which None is 0."""
        ...

    def scaled(self, k: float, term: int | None) -> int | None:
        """k · x, of which None is 0."""
        ...

    def has(self, k: int, alpha: Alpha) -> bool:
        """Tell if a coefficient of leaf k of the result is there, and not 0."""
        ...

    def output(self, k: int, alpha: Alpha) -> int:
        """The slot of a coefficient of leaf k of the result."""
        ...

    def mask_of(self, k: int) -> Const | int | None:
        """The mask outside of which leaf k of the result has no coefficients but its value; None for no mask."""
        ...

    def of_body(
        self, body: Line, out: Builder, alphas: Sequence[Alpha], given: Coefficients, where: Mapping[int, Support]
    ) -> TaylorSeries:
        """The series of the body of a step, for the same directions."""
        ...
