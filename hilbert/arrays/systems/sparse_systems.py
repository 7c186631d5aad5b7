"""Solve A x = b for a sparse matrix A by a function of scipy, for arrays of numpy, many times with A of one pattern.

A `SparseSystem` is made of the rows and the columns of the entries of A, before their values are known. It decides once
which of two ways is estimated to be quicker, and in which order the unknowns stand:

- scipy's solver of band matrices, where all entries lie near the diagonal, in the given order of the unknowns or after
  they were put into another one (reverse Cuthill–McKee);
- scipy's sparse LU.

Then `solved(values, b, …)` takes the values of the entries and several right sides.

>>> import numpy as np
>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> some = SparseSystem(np.asarray([0, 1, 1, 2]), np.asarray([0, 0, 1, 2]), 3, 3, scipy_of())
>>> some.way, some.solved(np.asarray([2.0, 1.0, 1.0, 4.0]), np.asarray([[2.0, 3.0, 4.0]]), "singular").tolist()
('in a band of 1 + 1 + 0 diagonals', [[1.0, 2.0, 1.0]])
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from hilbert.arrays.systems.block_elimination import Elimination
from hilbert.arrays.systems.selected_inverse import near_inverse
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.systems.scipy_modules import Scipy

Ints = npt.NDArray[np.signedinteger[Any]]
PLACE, SQUARE = 2e-8, 1e-10
"""Seconds for a row of a band, for each diagonal beside the main one and for the square of their number."""
ENTRY, FRONT = 4e-7, 2e-10
"""Seconds of sparse LU for an entry, and for a multiplication of its elimination."""
DIAGONAL, MANY = 0.01, 256
"""The part of the largest entry below that a diagonal entry is exchanged, and the unknowns from which on blocks are
looked for."""
WIDE, COLUMNS = 16, 64
"""The widest band whose inverse is found by cyclic reduction, and the columns that are solved for at once otherwise."""
FILL = 2**28
"""The most entries of factors, bounded by the profile of the matrix; of more no factors are made."""


@final
class SparseSystem:
    """Square matrices with entries at some distinct places only, in blocks of so many unknowns on the diagonal.

    A block that is asked for nothing, whose right sides are all 0, gives 0, whatever its entries are.
    """

    def __init__(self, rows: Ints, cols: Ints, size: int, block: int, sp: Scipy) -> None:
        self.rows, self.cols, self.size, self.block, self.sp = rows, cols, size, block, sp
        ones = np.ones(len(rows), np.int8)
        pattern = sp.sparse.coo_array((ones, (rows, cols)), shape=(size, size)).tocsr()
        near = sp.graphs.reverse_cuthill_mckee(pattern)
        place = np.empty_like(near)
        place[near] = np.arange(size, dtype=near.dtype)
        narrow = _Band.of(place[rows], place[cols], size), near
        self.band, self.near = min((_Band.of(rows, cols, size), None), narrow, key=lambda some: some[0].seconds)
        self.flops, self.fill = _profile(place[rows], place[cols], size)
        self.seconds = ENTRY * len(rows) + FRONT * self.flops
        self.by_band = self.band.seconds <= self.seconds
        if self.by_band:
            self.flops, self.fill, self.seconds = self.band.flops, self.band.entries, self.band.seconds
            r, c = (rows, cols) if self.near is None else (place[rows], place[cols])
            self._places = (self.band.above + r - c) * size + c
            return
        self._order = np.lexsort((rows, cols))
        starts = np.zeros(size + 1, np.intc)
        np.cumsum(np.bincount(cols, minlength=size), out=starts[1:])
        self._csc = rows[self._order].astype(np.intc), starts
        full = np.count_nonzero(rows == cols) == size
        alike = full and (pattern != pattern.T).nnz == 0
        self._columns = "MMD_AT_PLUS_A" if alike else "COLAMD"
        self.blocks = Elimination.of(rows, cols, size, sp) if alike and size > MANY else None

    @property
    def has_room(self) -> bool:
        """True if the factors are small enough to be made."""
        return self.fill <= FILL

    @property
    def way(self) -> str:
        """The way to solve, as text."""
        return self.band.text if self.by_band else str(self.blocks or "by sparse LU")

    def solved(self, values: Any, b: Any, singular: str) -> Any:
        """x with A x[k] = b[k] for rows k; NaN in blocks with an entry that is none, or infinite.

        Raises SpaceError for a singular matrix, with the message `singular`.
        """
        lanes = self.size // self.block
        idle = np.all(b.reshape(len(b), lanes, self.block) == 0, axis=(0, 2))
        wrong = np.zeros(lanes, bool)
        wrong[self.rows[~np.isfinite(values)] // self.block] = True
        left = idle | wrong
        if not left.any():
            try:
                return (self._by_band if self.by_band else self._by_factors)(values, b)
            except (np.linalg.LinAlgError, RuntimeError) as error:
                raise SpaceError(singular) from error
        x = np.where(np.repeat(wrong & ~idle, self.block), np.nan, np.zeros_like(b))
        if not left.all():
            some, here = np.repeat(~left, self.block), ~left[self.rows // self.block]
            number = np.cumsum(some) - 1
            rows, cols = (number[side[here]] for side in (self.rows, self.cols))
            rest = SparseSystem(rows, cols, int(some.sum()), self.block, self.sp)
            x[:, some] = rest.solved(values[here], b[:, some], singular)
        return x

    def is_regular(self, values: Any) -> bool:
        """Tell if |A|·|A⁻¹| is below ε^(−1/2), by an estimate of |A⁻¹| in the largest column's norm."""
        n = self.size
        if not np.isfinite(values).all():
            return True  # no number is right
        try:
            with np.errstate(all="ignore"):
                solve = self.solver(values)
                x = np.full((1, n), 1.0 / n, values.dtype)
                found = 0.0
                for _ in range(3):  # Hager's estimate, with A for its transpose: the order of size is asked for
                    y = solve(x)
                    found = max(found, float(np.abs(y).sum()))
                    x = np.zeros_like(x)
                    x[0, int(np.argmax(np.abs(y)))] = 1.0
        except np.linalg.LinAlgError:
            return False
        size = float(np.bincount(self.cols, np.abs(values), n).max(initial=0.0))
        return bool(np.isfinite(found)) and found * size <= float(np.finfo(values.dtype).eps) ** -0.5

    def logdet(self, values: Any) -> float:
        """log |det A|; −∞ where A is singular."""
        if not np.isfinite(values).all():
            return np.nan
        if self.by_band:
            band = self.band
            rows = 2 * band.below + band.above + 1
            full = np.zeros((rows, self.size), values.dtype)
            full[band.below :] = self._diagonals(values)
            kind = "s" if values.dtype == np.float32 else "d"
            factors, _, _ = getattr(self.sp.linalg.lapack, f"{kind}gbtrf")(full, band.below, band.above)
            pivots = factors[band.below + band.above]
        else:
            try:
                pivots = self._factored(values).U.diagonal()
            except RuntimeError:  # a column without a pivot
                return -np.inf
        with np.errstate(divide="ignore"):
            return float(np.log(np.abs(pivots)).sum())

    def near_inverse(self, values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry: the derivative of log |det A| in that entry.

        In a band by cyclic reduction; otherwise, and where that loses digits, by solving for some columns at a time.
        Raises LinAlgError where A is singular.
        """
        width = max(self.band.below, self.band.above)
        if self.by_band and width <= WIDE:
            place = np.arange(self.size)
            if self.near is not None:
                place[self.near] = np.arange(self.size)
            with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
                found = near_inverse(place[self.rows], place[self.cols], values, self.size, width)
                left = abs(float(found @ values) / max(self.size, 1) - 1.0)  # tr(A⁻¹A) is n
                if left <= np.finfo(values.dtype).eps ** 0.75:
                    return found
        return self._by_columns(values)

    def _by_columns(self, values: Any) -> Any:
        made, order = np.empty_like(values), np.argsort(self.rows, kind="stable")
        ends = np.searchsorted(self.rows[order], np.arange(0, self.size + COLUMNS, COLUMNS))
        solve = self.solver(values)
        for k, start in enumerate(range(0, self.size, COLUMNS)):
            some = order[ends[k] : ends[k + 1]]
            eye = np.zeros((min(COLUMNS, self.size - start), self.size), values.dtype)
            eye[np.arange(len(eye)), start + np.arange(len(eye))] = 1.0
            made[some] = solve(eye)[self.rows[some] - start, self.cols[some]]
        return made

    def solver(self, values: Any) -> Callable[[Any], Any]:
        """The function that solves for rows, with factors that are made once; LinAlgError for a singular matrix."""
        if self.by_band:
            return lambda b: self._by_band(values, b)
        by_blocks = self._by_blocks(values)
        if by_blocks is not None:
            return by_blocks
        try:
            factors = self._factored(values)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(str(error)) from error
        return lambda b: factors.solve(np.ascontiguousarray(b.T)).T

    def _by_blocks(self, values: Any) -> Callable[[Any], Any] | None:
        """The function that solves by elimination of blocks; None where there is none, or where that loses digits.

        Nothing is exchanged between blocks, so that x is tried with a right side of ones.
        """
        if self.blocks is None:
            return None
        with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
            solve, ones = self.blocks.solver(values), np.ones((1, self.size), values.dtype)
            x = solve(ones)
            far = np.max(np.abs(self.applied(values, x) - ones)) / (1.0 + np.max(np.abs(values)) * np.max(np.abs(x)))
            if far <= np.finfo(values.dtype).eps ** 0.75:
                return solve
        return None

    def applied(self, values: Any, x: Any) -> Any:
        """The products of the matrix with rows."""
        matrix = self.sp.sparse.coo_array((values, (self.rows, self.cols)), shape=(self.size, self.size))
        return (matrix @ x.T).T

    def _by_band(self, values: Any, b: Any) -> Any:
        band, near = self.band, self.near
        if len(self.rows) == self.size and not (band.below or band.above):
            return self._by_division(values, b)
        found = self.sp.linalg.solve_banded(
            (band.below, band.above),
            self._diagonals(values.astype(b.dtype, copy=False)),
            b.T if near is None else b.T[near],
            overwrite_ab=True,
            check_finite=False,
        )
        if near is None:
            return found.T
        x = np.empty_like(b)
        x[:, near] = found.T
        return x

    def _by_division(self, values: Any, b: Any) -> Any:
        """The solution of a diagonal system."""
        if not np.all(values):
            msg = "a diagonal entry is 0"
            raise np.linalg.LinAlgError(msg)
        diagonal = np.empty_like(values)
        diagonal[self.cols] = values
        return b / diagonal

    def _diagonals(self, values: Any) -> Any:
        """The entries by diagonals, the highest first, as LAPACK has them."""
        made = np.zeros((self.band.below + self.band.above + 1) * self.size, values.dtype)
        made[self._places] = values
        return made.reshape(-1, self.size)

    def _by_factors(self, values: Any, b: Any) -> Any:
        values = values.astype(b.dtype, copy=False)
        by_blocks = self._by_blocks(values)
        return self._factored(values).solve(np.ascontiguousarray(b.T)).T if by_blocks is None else by_blocks(b)

    def _factored(self, values: Any) -> Any:
        """The factors of SuperLU."""
        matrix = self.sp.sparse.csc_array((values[self._order], *self._csc), shape=(self.size, self.size))
        if self._columns == "COLAMD":
            return self.sp.factors.splu(matrix)
        symmetric = {"SymmetricMode": True}  # rows are exchanged only where the diagonal is small
        return self.sp.factors.splu(matrix, self._columns, DIAGONAL, options=symmetric)


@final
@frozen
class _Band:
    """The numbers of diagonals below and above the main one that have entries."""

    below: int
    above: int
    size: int

    @staticmethod
    def of(rows: Ints, cols: Ints, size: int) -> _Band:
        apart = rows - cols
        return _Band(max(int(apart.max(initial=0)), 0), max(int(-apart.min(initial=0)), 0), size)

    @property
    def seconds(self) -> float:
        width = self.below + self.above
        return self.size * (PLACE * (width + 1) + SQUARE * width**2)

    @property
    def flops(self) -> int:
        return 2 * self.size * self.below * (self.below + self.above)

    @property
    def entries(self) -> int:
        return self.size * (2 * self.below + self.above + 1)

    @property
    def text(self) -> str:
        return f"in a band of {self.below} + 1 + {self.above} diagonals"


def _profile(rows: Ints, cols: Ints, size: int) -> tuple[int, int]:
    """The multiplications of elimination, and the entries of its factors, where the whole profile fills.

    The profile lies between the first entry of a row, or of a column, and the diagonal.
    """
    fronts = []
    for line, across in ((rows, cols), (cols, rows)):
        first = np.arange(size)
        np.minimum.at(first, line, across)
        started = np.cumsum(np.bincount(first, minlength=size))
        fronts.append(started - np.arange(1, size + 1))
    below, above = fronts
    return int(below @ above), int(below.sum() + above.sum()) + size
