"""Few common unknowns, each of which meets many others, and a matrix of all others that is quick to undo.

The common unknowns of each lane stand last: in A = [[B, C], [R, D]] the others are eliminated, and S = D − R B⁻¹ C is
left. Then, with U = B⁻¹ C and W = R B⁻¹,

    det A = det B · det S,    A⁻¹ = [[B⁻¹ + U S⁻¹ W, −U S⁻¹], [−S⁻¹ W, S⁻¹]].

>>> n = 1000  # an arrow: a diagonal, and one unknown that meets all
>>> rows = np.concatenate([np.arange(n), np.full(n - 1, n - 1), np.arange(n - 1)])
>>> cols = np.concatenate([np.arange(n), np.arange(n - 1), np.full(n - 1, n - 1)])
>>> [last.tolist() for last in common_unknowns(rows, cols, n, n)]
[[999]]
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, final

import numpy as np
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from hilbert.arrays.elimination.kept_factors import Factors

    Ints = npt.NDArray[np.signedinteger[Any]]
    Solve: TypeAlias = Callable[[Any, bool], Any]

MORE = 4
"""A common unknown meets more than so many times as many unknowns as the median of all unknowns does."""
MOST, SIDES = 1024, 2**25
"""The most common unknowns of a lane, and the most entries of U."""
SIDE, PRODUCT = 1e-8, 2e-10
"""Seconds for an entry of U, and for each product of two in S."""


class Others(Protocol):
    """The systems of the others."""

    seconds: float
    flops: int
    fill: int

    @property
    def way(self) -> str:
        """The way to solve, as text."""

    @property
    def is_diagonal(self) -> bool:
        """True if the matrix is a diagonal with all of its entries."""

    @property
    def has_room(self) -> bool:
        """True if the factors are small enough to be made."""

    @property
    def order(self) -> Ints | None:
        """The unknowns in the order of elimination, where that is known."""

    def undone(self, values: Any) -> Factors:
        """The elimination of a matrix; raises LinAlgError for most singular ones."""

    def near_inverse(self, values: Any) -> Any:
        """(B⁻¹)_ji for the place (i, j) of each entry."""


def common_unknowns(rows: Ints, cols: Ints, size: int, block: int) -> Iterator[Ints]:
    """Sets of unknowns of a lane that meet many others, each set smaller than the one before; none if all meet few."""
    counts = np.maximum(np.bincount(rows, minlength=size), np.bincount(cols, minlength=size))
    counts = counts.reshape(-1, block).max(axis=0, initial=0)
    bound, before = MORE * np.median(counts) if block else 0.0, block
    while True:
        found = np.flatnonzero(counts > bound)
        if not len(found):
            return
        if len(found) < before and len(found) <= MOST and 2 * len(found) <= block and len(found) * size <= SIDES:
            yield found
            before = len(found)
        bound *= MORE


@final
class Border:
    """The entries of a pattern by their parts, where some unknowns `last` of each lane stand last.

    B has the entries `own`; `others(rows, cols, size, block)` makes the systems of B from the places of these entries,
    the number of unknowns in all, and that of a lane.
    """

    def __init__(
        self,
        places: tuple[Ints, Ints],
        size: int,
        block: int,
        last: Ints,
        others: Callable[[Ints, Ints, int, int], Others],
    ) -> None:
        (rows, cols), self.last, self.count, self.lanes = places, last, len(last), size // block
        self.size = size - self.lanes * self.count
        is_last = np.zeros(block, bool)
        is_last[last] = True
        number = np.where(is_last, np.cumsum(is_last), np.cumsum(~is_last)) - 1
        place = np.where(is_last, number, number + np.arange(self.lanes)[:, None] * (block - self.count)).reshape(-1)
        self.others, self.common = (np.flatnonzero(np.tile(some, self.lanes)) for some in (~is_last, is_last))
        below, right = is_last[rows % block], is_last[cols % block]
        r, c = place[rows], place[cols]
        self.own = np.flatnonzero(~below & ~right)
        self.places = r[self.own], c[self.own]
        self._beside = (~below & right, c, r), (below & ~right, r, c)
        self.corner = np.flatnonzero(below & right)
        self._corner = rows[self.corner] // block, r[self.corner], c[self.corner]
        self.base = others(*self.places, self.size, block - self.count)
        sides = self.size * self.count
        self.seconds = self.base.seconds * (1 + self.count / 4) + _seconds_of_sides(self.size, self.count)
        self.flops = self.base.flops * (1 + self.count) + 2 * sides * self.count + 2 * self.lanes * self.count**3 // 3
        self.fill = self.base.fill + 4 * sides + self.lanes * self.count**2

    def __str__(self) -> str:
        way = f"in {self.size} blocks of 1" if self.base.is_diagonal else self.base.way
        others = way[3:] if way.startswith("in ") else f"all others {way}"
        count = self.lanes * self.count
        return f"by eliminating {others}, then {count} unknown{'s' * (count != 1)} in full"

    @property
    def order(self) -> Ints | None:
        """The unknowns as they stand for elimination in one matrix; None where the others stand in no known order."""
        order = self.base.order
        return None if order is None else np.concatenate([self.others[order], self.common])

    @property
    def is_thin(self) -> bool:
        """True if at most a quarter of the places of C have entries."""
        return int(np.count_nonzero(self._beside[0][0])) * MORE < self.size * self.count

    @cached_property
    def right(self) -> _Side:
        """The entries of C."""
        return self._side(*self._beside[0])

    @cached_property
    def below(self) -> _Side:
        """The entries of R."""
        return self._side(*self._beside[1])

    def _side(self, is_there: Any, common: Ints, others: Ints) -> _Side:
        """The side of some entries, for the rows and the columns of all."""
        return _Side.of(np.flatnonzero(is_there), common, others, (self.count, self.size // max(self.lanes, 1)))

    def made(self, values: Any) -> BorderFactors:
        """The elimination of a matrix; raises LinAlgError for most singular ones."""
        return BorderFactors(self, self.base.undone(values[self.own]), values)

    def parts(self, values: Any) -> tuple[Any, Any, Any]:
        """The transpose of C, R, and D, of each lane."""
        corner = np.zeros((self.lanes, self.count, self.count), values.dtype)
        corner[self._corner] = values[self.corner]
        return self.right.made(values, self.lanes), self.below.made(values, self.lanes), corner

    def is_like(self, other: Border) -> bool:
        """True if the same unknowns stand last, lane by lane."""
        return self.lanes == other.lanes and np.array_equal(self.common, other.common)

    def in_lanes(self, rows: Any) -> Any:
        """The parts of rows that belong to each lane."""
        return rows.reshape(len(rows), self.lanes, rows.shape[1] // max(self.lanes, 1)).swapaxes(0, 1)

    def near_inverse(self, sides: tuple[Any, Any, Any], values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry, by the transpose of U, W, and S⁻¹."""
        u, w, s = sides
        undone, (rows, cols) = self.base.near_inverse(values[self.own]), self.places
        of_u, of_w = s.swapaxes(1, 2) @ u, s @ w
        for one, other in zip(_joined(of_u), _joined(w), strict=True):
            undone = undone + one.take(cols) * other.take(rows)
        made = np.empty_like(values, dtype=u.dtype)
        made[self.own] = undone
        made[self.right.entries] = -of_w.reshape(-1)[self.right.places]
        made[self.below.entries] = -of_u.reshape(-1)[self.below.places]
        lane, row, col = self._corner
        made[self.corner] = s[lane, col, row]
        return made

    def near_inverse_beside_singular(
        self, solve: Callable[[Any, bool], Any], values: Any, rows: Ints, cols: Ints
    ) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry where B is singular, once, by a solver with A and its transpose.

        One entry p on the diagonal of B is enlarged by c, where the null vectors of B are large, so that B is regular:
        this differs by rank one. The null vectors of B are made of those of the corner of A⁻¹.
        """
        n = len(self.others) + len(self.common)
        ends = np.zeros((len(self.common), n), values.dtype)
        ends[np.arange(len(ends)), self.common] = 1.0
        right, left = (solve(ends, flipped) for flipped in (False, True))
        u, _, v = np.linalg.svd(right[:, self.common].T)
        sizes = np.abs((v[-1] @ right) * (u[:, -1] @ left))
        main = self.own[rows[self.own] == cols[self.own]]
        k = main[np.argmax(sizes[rows[main]])]
        p, c = rows[k], np.abs(values[self.own]).max()
        larger, unit = values.copy(), np.zeros((1, n), values.dtype)
        larger[k] += c
        unit[0, p] = 1.0
        (x,), (y,) = (solve(unit, flipped) for flipped in (False, True))
        near = self.near_inverse(self.made(larger).sides(False), larger)  # noqa: FBT003 - see `Factors`
        return near + x[cols] * y[rows] / (1.0 / c + x[p])


@final
@frozen(eq=False)
class _Side:
    """The entries of the transpose of C, or of R, and their places in an array of a matrix for each lane."""

    entries: Ints
    places: Ints
    shape: tuple[int, int]

    @staticmethod
    def of(entries: Ints, common: Ints, others: Ints, shape: tuple[int, int]) -> _Side:
        """The side of some entries, for the rows and the columns of all, in the order of their places."""
        (lane, other), row = np.divmod(others[entries], max(shape[1], 1)), common[entries]
        places = (lane * shape[0] + row) * shape[1] + other
        order = np.argsort(places)
        return _Side(entries[order], places[order], shape)

    def made(self, values: Any, lanes: int) -> Any:
        """The matrix of each lane."""
        made = np.zeros((lanes, *self.shape), values.dtype)
        made.reshape(-1)[self.places] = values.take(self.entries, mode="clip")
        return made


def _joined(parts: Any) -> Any:
    """Rows, of the parts that belong to each lane."""
    return parts.swapaxes(0, 1).reshape(parts.shape[1], parts.shape[0] * parts.shape[2])


def quickest_border(
    places: tuple[Ints, Ints], size: int, block: int, others: Callable[[Ints, Ints, int, int], Others], due: float
) -> Border | None:
    """The border with the shortest predicted time; None where no unknown meets many, or each takes more than `due`.

    Borders of which U and S alone take more seconds than `due` are not made.
    """
    lanes = size // max(block, 1)
    found = [
        Border(places, size, block, some, others)
        for some in common_unknowns(*places, size, block)
        if _seconds_of_sides(size - lanes * len(some), len(some)) <= due
    ]
    return min((border for border in found if border.seconds <= due), key=lambda border: border.seconds, default=None)


def _seconds_of_sides(size: int, count: int) -> float:
    """The predicted seconds of U and S, for so many others and common unknowns of a lane."""
    return size * count * (SIDE + PRODUCT * count)


@final
class BorderFactors:
    """The elimination of a matrix whose common unknowns stand last; raises LinAlgError for most singular matrices."""

    def __init__(self, border: Border, base: Factors, values: Any) -> None:
        self.border, self.base = border, base
        right, below, corner = border.parts(values)
        self._given = right, below
        self._sides: list[Any] = [self._undone_by_base(right, False), None]  # noqa: FBT003 - see `Factors`
        rest = corner - below @ self._sides[0].swapaxes(1, 2)
        self._undone, self._log = np.linalg.inv(rest), float(np.linalg.slogdet(rest)[1].sum())
        self.entries = base.entries + 4 * right.size + rest.size

    def _undone_by_base(self, side: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
        return self.border.in_lanes(self.base.solve(_joined(side), flipped))

    def logdet(self) -> float:
        """log |det A|."""
        return self.base.logdet() + self._log

    def solve(self, b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
        """x with A x[k] = b[k] for rows k, or with the transpose of A where it is `flipped`."""
        border, x = self.border, np.empty_like(b)
        own = border.in_lanes(self.base.solve(b[:, border.others], flipped))
        left = border.in_lanes(b[:, border.common]) - own @ self._given[not flipped].swapaxes(1, 2)
        found = left @ (self._undone if flipped else self._undone.swapaxes(1, 2))
        x[:, border.common] = _joined(found)
        x[:, border.others] = _joined(own - found @ self._side(flipped))
        return x

    def sides(self, flipped: bool) -> tuple[Any, Any, Any]:  # noqa: FBT001 - see `Factors`
        """The transpose of U, W and S⁻¹, of the matrix or of its transpose."""
        return self._side(flipped), self._side(not flipped), self._undone.swapaxes(1, 2) if flipped else self._undone

    def _side(self, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
        """The transpose of U, or W, made once."""
        made = self._sides[flipped]
        if made is None:
            made = self._sides[flipped] = self._undone_by_base(self._given[1], True)  # noqa: FBT003 - see `Factors`
        return made
