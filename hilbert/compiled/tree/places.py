"""Places along an axis: integers, affine in loop variables and in integers that are computed.

>>> i, j = Variable("i", 3), Variable("j", 4)
>>> print(4 * Place.of(i) + j + 1, Place.of(i) * 0 + 5)
4·i + j + 1 5
>>> (4 * Place.of(i) + j + 1).divided(4), (4 * Place.of(i) + j).modulo(4), (5 * Place.of(i)).divided(4)
(⌊(4·i + j + 1) / 4⌋, j, i)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@final
@frozen(cache_hash=True)
class Variable:
    """The counter of a loop of `size` rounds; two loops whose variables are equal may be merged.

    A loop that `is_rolled` does little work, so that its code is kept short.
    """

    name: str
    size: int
    is_rolled: bool = False

    def __str__(self) -> str:
        return self.name


@final
@frozen(cache_hash=True)
class Division:
    """⌊place / n⌋, or the remainder."""

    of: Place
    n: int
    remainder: bool

    def __str__(self) -> str:
        return f"({self.of}) mod {self.n}" if self.remainder else f"⌊({self.of}) / {self.n}⌋"


class Computed:
    """An integer that is computed or read from a table: a value of the program (`hilbert.compiled.tree.values`)."""

    __slots__ = ()


Atom: TypeAlias = "Variable | Division | Computed"
"""The parts of a place: a loop variable, a quotient, an integer that is computed or read from a table."""


@final
@frozen(cache_hash=True, repr=False)
class Place:
    """offset + Σ k·atom; each atom stands once, and no k is 0."""

    offset: int
    terms: tuple[tuple[Atom, int], ...] = field(default=())

    @staticmethod
    def of(atom: Atom | int | Place) -> Place:
        """The place that is an atom, or a number."""
        if isinstance(atom, Place):
            return atom
        return Place(atom) if isinstance(atom, int) else Place(0, ((atom, 1),))

    def __add__(self, other: Atom | int | Place) -> Place:
        return combined(((self, 1), (other, 1)))

    def __mul__(self, k: int) -> Place:
        if k == 1:
            return self
        return Place(self.offset * k, tuple((atom, k * n) for atom, n in self.terms) if k else ())

    __radd__, __rmul__ = __add__, __mul__

    @property
    def number(self) -> int | None:
        """The place, if it is known."""
        return None if self.terms else self.offset

    @property
    def variable(self) -> Variable | None:
        """The variable that the place is, if it is one."""
        if self.offset or len(self.terms) != 1:
            return None
        ((atom, k),) = self.terms
        return atom if k == 1 and isinstance(atom, Variable) else None

    def strip(self, variable: Variable) -> tuple[int, int] | None:
        """(n, k) of the place n·variable + k with 0 ≤ k < n: rounds of a loop stand in different strips."""
        if len(self.terms) != 1 or self.terms[0][0] != variable or not 0 <= self.offset < self.terms[0][1]:
            return None
        return self.terms[0][1], self.offset

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables among the atoms."""
        return tuple(atom for atom, _ in self.terms if isinstance(atom, Variable))

    def is_without(self, variable: Variable) -> bool:
        """Tell if the place is one for all rounds of a loop: affine in other variables."""
        return all(isinstance(atom, Variable) and atom != variable for atom, _ in self.terms)

    def bounds(self) -> tuple[int, int] | None:
        """The least and the largest value, where all atoms are variables."""
        low = high = self.offset
        for atom, k in self.terms:
            if not isinstance(atom, Variable):
                return None
            low, high = low + min(0, k * (atom.size - 1)), high + max(0, k * (atom.size - 1))
        return low, high

    def divided(self, n: int) -> Place:
        """⌊self / n⌋ of a place that is not negative; n is 0 where there is no such place."""
        if n <= 1:
            return self
        whole, rest = self._split(n)
        return Place.of(Division(self, n, remainder=False)) if rest is None else whole

    def modulo(self, n: int) -> Place:
        """The remainder of a place that is not negative by n; n is 0 where there is no such place."""
        if n <= 1:
            return Place(0)
        _, rest = self._split(n)
        return Place.of(Division(self, n, remainder=True)) if rest is None else rest

    def _split(self, n: int) -> tuple[Place, Place | None]:
        """Places with n·whole + rest = self; no rest where it may be outside 0, …, n − 1."""
        whole = Place(self.offset // n, tuple((a, int(k / n)) for a, k in self.terms if abs(k) >= n))
        rest = self + whole * -n
        bounds = rest.bounds()
        return whole, rest if bounds is not None and bounds[0] >= 0 and bounds[1] < n else None

    @property
    def atoms(self) -> Iterator[Variable | Computed]:
        """The variables and the integers that the place is computed from, those in quotients too."""
        for atom, _ in self.terms:
            if isinstance(atom, Division):
                yield from atom.of.atoms
            else:
                yield atom

    def over(self, change: Callable[[Atom], Atom | int | Place]) -> Place:
        """The place with each atom changed."""
        return combined([(change(atom), k) for atom, k in self.terms], self.offset)

    def __str__(self) -> str:
        parts = [str(atom) if k == 1 else f"{k}·{atom}" for atom, k in self.terms]
        return " + ".join([*parts, *([str(self.offset)] if self.offset or not parts else [])])

    __repr__ = __str__


def combined(parts: Iterable[tuple[Atom | int | Place, int]], offset: int = 0) -> Place:
    """offset + Σ k·part."""
    total: dict[Atom, int] = {}
    for part, k in parts:
        if isinstance(part, Place):
            offset += part.offset * k
            for atom, n in part.terms:
                total[atom] = total.get(atom, 0) + n * k
        elif isinstance(part, int):
            offset += part * k
        else:
            total[part] = total.get(part, 0) + k
    return Place(offset, tuple([(atom, k) for atom, k in total.items() if k]))


def flat(places: tuple[Place, ...], shape: tuple[int, ...]) -> Place:
    """The place in the flat order of an array's entries."""
    made = Place(0)
    for place, n in zip(places, shape, strict=True):
        made = made * n + place
    return made


def along(place: Place, shape: tuple[int, ...]) -> tuple[Place, ...]:
    """The places along each axis of an entry, of which the place in the flat order is given."""
    made: list[Place] = []
    for k, n in reversed([*enumerate(shape)]):
        made.append(place.modulo(n) if k else place)
        place = place.divided(n)
    return tuple(reversed(made))
