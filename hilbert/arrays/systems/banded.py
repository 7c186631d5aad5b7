"""Linear systems whose matrix has its entries in a band, by LAPACK; with Cholesky's factor, where there is one.

>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> rows, cols = np.asarray([0, 0, 1, 1]), np.asarray([0, 1, 0, 1])
>>> band = Band.of(rows, cols, 2)
>>> print(band.text)
in a band of 1 + 1 + 1 diagonals
>>> some = BandSystem(band, rows, cols, scipy_of())
>>> some.solved(np.asarray([2.0, 1.0, 1.0, 1.0]), np.asarray([[3.0, 2.0]])).tolist()
[[1.0, 1.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.arrays.elimination.kept_factors import Factors, factors_of, log_of, require_pivots

if TYPE_CHECKING:
    import numpy.typing as npt

    from hilbert.arrays.systems.scipy_modules import Scipy

    Ints = npt.NDArray[np.signedinteger[Any]]

ROW, FILLED = 2e-8, 5e-9
"""Seconds for a row of a triangle, of which a band takes three times as many, and for each of its other diagonals."""
PLACE, PRODUCT = 8e-9, 5e-11
"""Seconds for a row of a band, for each diagonal beside the main one, and for each pair of one below and one above."""
MANY = 2**14
"""The unknowns from which on factors of three diagonals are kept: otherwise it is as quick to make them again."""


@final
@frozen
class Band:
    """The numbers of diagonals below and above the main one that have entries."""

    below: int
    above: int
    size: int

    @staticmethod
    def of(rows: Ints, cols: Ints, size: int) -> Band:
        """The narrowest band with entries at these places."""
        apart = rows - cols
        return Band(max(int(apart.max(initial=0)), 0), max(int(-apart.min(initial=0)), 0), size)

    @property
    def is_triangular(self) -> bool:
        """True if all entries lie on one side of the diagonal, or on it: none is eliminated."""
        return not (self.below and self.above)

    @property
    def seconds(self) -> float:
        """The estimated time to solve."""
        width = self.below + self.above
        if self.is_triangular:
            return self.size * (ROW + FILLED * width)
        return self.size * (3 * ROW + PLACE * width + PRODUCT * self.below * self.above)

    @property
    def flops(self) -> int:
        """The multiplications and additions of the elimination, or of the substitution."""
        return 2 * self.size * (self.below + self.above) * (1 if self.is_triangular else self.below)

    @property
    def entries(self) -> int:
        """The entries of the factors, with room for rows that are exchanged."""
        return self.size * ((0 if self.is_triangular else self.below) + self.below + self.above + 1)

    @property
    def text(self) -> str:
        """The band in words."""
        return f"in a band of {self.below} + 1 + {self.above} diagonals"


@final
class BandSystem:
    """Matrices with entries at some places of a band.

    The diagonals of three stand one behind the other; those of others column by column, with room for the rows that
    LAPACK exchanges, as its functions have them. Of symmetric, `positive` ones Cholesky's factor is tried at once.
    """

    def __init__(self, band: Band, rows: Ints, cols: Ints, sp: Scipy, *, positive: bool = False) -> None:
        self.band, self.sp, self.positive = band, sp, positive
        rows, cols = rows.astype(np.intp, copy=False), cols.astype(np.intp, copy=False)
        below, above, n = band.below, band.above, band.size
        self._three = below == above == 1
        if self._three:
            self._shape, places = (3, n), (1 + rows - cols) * n + cols
        else:
            self._shape = n, 2 * below + above + 1
            places = cols * self._shape[1] + below + above + rows - cols
        size = self._shape[0] * self._shape[1]
        self._places, self._from = places, None
        if 2 * len(rows) >= size:  # nearly all places have an entry: these are read in their order
            self._from = np.zeros(size, np.intp)
            self._from[places] = np.arange(len(rows))
            empty = np.ones(size, bool)
            empty[places] = False
            self._places = np.flatnonzero(empty)
        self._pairs = None if self._three or below != above else _mirrored(rows, cols, n)
        if self._pairs is not None:
            own = np.flatnonzero(rows >= cols)
            self._lower = own, cols[own] * (below + 1) + rows[own] - cols[own]
            self._main = np.flatnonzero(rows == cols)

    @property
    def is_three(self) -> bool:
        """True for three diagonals, whose factors are kept here: no numbers need to be copied for that."""
        return self._three

    def solved(self, values: Any, b: Any) -> Any:
        """x with A x[k] = b[k] for rows k; raises LinAlgError for a singular matrix."""
        factors, flipped = self.factors_of_three(values) if self._three else (self.made(values), False)
        return factors.solve(b, flipped)

    def factors_of_three(self, values: Any) -> tuple[Factors, bool]:
        """The factors of three diagonals, or of their transpose and True; those of few unknowns are made anew."""
        made = self._diagonals(values)
        if self.band.size < MANY:
            return self._of_three(made), False

        def numbers(flipped: bool) -> tuple[Any, ...]:  # noqa: FBT001 - see `factors_of`
            ends = made[2, :-1], made[0, 1:]
            return (made[1], *reversed(ends)) if flipped else (made[1], *ends)

        return factors_of(("three diagonals",) * 2, numbers, lambda: self._of_three(made), fresh=True)

    def made(self, values: Any) -> Factors:
        """The factors of some entries: Cholesky's of a matrix that has some, or LU."""
        if self._three:
            return self._of_three(self._diagonals(values))
        return self._by_cholesky(values) or self._by_elimination(values)

    def _of_three(self, made: Any) -> Factors:
        lapack, n = self.sp.lapack, self.band.size
        if self.positive or (np.array_equal(made[2, :-1], made[0, 1:]) and np.min(made[1]) > 0.0):
            factor, solve = lapack(("pttrf", "pttrs"), made)
            d, e, info = factor(made[1], made[2, :-1])
            if not info:
                return Factors(lambda b, _: solve(d, e, _columns(b), overwrite_b=True)[0].T, lambda: log_of(d), 2 * n)
        factor, solve = lapack(("gttrf", "gttrs"), made)
        *lu, info = factor(made[2, :-1], made[1], made[0, 1:])

        def solved(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
            require_pivots(bool(info))
            return solve(*lu, _columns(b), trans="T" if flipped else "N", overwrite_b=True)[0].T

        return Factors(solved, lambda: log_of(lu[1]), 5 * n)

    def _by_elimination(self, values: Any) -> Factors:
        made, (below, above) = self._diagonals(values).T, (self.band.below, self.band.above)
        factor, solve = self.sp.lapack(("gbtrf", "gbtrs"), made)
        lu, exchanged, info = factor(made, below, above, overwrite_ab=True)

        def solved(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
            require_pivots(bool(info))
            places = exchanged.copy()  # counted from 1 meanwhile, in place
            return solve(lu, below, above, _columns(b), places, trans=int(flipped), overwrite_b=True)[0].T

        return Factors(solved, lambda: log_of(lu[below + above]), lu.size)

    def _diagonals(self, values: Any) -> Any:
        if self._from is None:
            made = np.zeros(self._shape[0] * self._shape[1], values.dtype)
            made[self._places] = values
        else:
            made = values.take(self._from, mode="clip")
            made[self._places] = 0.0
        return made.reshape(self._shape)

    def _definite(self, values: Any) -> bool:
        """True if the matrix is symmetric with a positive diagonal, so that a Cholesky factor may exist."""
        if self._pairs is None:
            return False
        if self.positive:
            return True
        if not np.min(values[self._main]) > 0.0:
            return False
        one, other = (values.take(some, mode="clip") for some in self._pairs)
        return bool(np.array_equal(one, other))

    def _lower_half(self, values: Any) -> Any:
        """The main diagonal and those below, column by column."""
        own, places = self._lower
        n, width = self.band.size, self.band.below + 1
        made = np.zeros(n * width, values.dtype)
        made[places] = values.take(own, mode="clip")
        return made.reshape(n, width).T

    def _by_cholesky(self, values: Any) -> Factors | None:
        """Cholesky's factor, or None where the matrix is not positive definite."""
        if not self._definite(values):
            return None
        factor, solve = self.sp.lapack(("pbtrf", "pbtrs"), values)
        made, info = factor(self._lower_half(values), lower=True, overwrite_ab=True)
        if info:
            return None
        return Factors(
            lambda b, _: solve(made, _columns(b), lower=True, overwrite_b=True)[0].T,
            lambda: 2.0 * log_of(made[0]),
            made.size,
        )


def _columns(b: Any) -> Any:
    """A copy of rows as columns."""
    return np.array(b.T, order="F")


def _mirrored(rows: Ints, cols: Ints, size: int) -> tuple[Ints, Ints] | None:
    """The entries above the diagonal, and for each that at the mirrored place; None where a place has no entry."""
    above, below = np.flatnonzero(rows < cols), np.flatnonzero(rows > cols)
    if len(above) != len(below) or np.count_nonzero(rows == cols) != size:
        return None
    codes = rows[above] * size + cols[above], cols[below] * size + rows[below]
    orders = [np.argsort(code, kind="stable") for code in codes]
    if not np.array_equal(codes[0][orders[0]], codes[1][orders[1]]):
        return None
    return above[orders[0]], below[orders[1]]


def profile(pattern: Any, place: Ints, *, alike: bool) -> tuple[int, int]:
    """The multiplications of elimination, and the entries of its factors, where the whole profile fills.

    The profile lies between the first entry of a row, or of a column, and the diagonal; these are `alike` in a
    symmetric pattern.
    """
    below = _fronts(pattern, place)
    above = below if alike else _fronts(pattern.T.tocsr(), place)
    return int(below @ above), int(below.sum() + above.sum()) + len(place)


def _fronts(pattern: Any, place: Ints) -> Ints:
    """For each unknown in its place the rows behind that begin before."""
    n = len(place)
    first, some = np.arange(n), np.flatnonzero(np.diff(pattern.indptr))
    if len(some):
        at = place[some]
        first[at] = np.minimum(at, np.minimum.reduceat(place[pattern.indices], pattern.indptr[some]))
    return np.cumsum(np.bincount(first, minlength=n)) - np.arange(1, n + 1)
