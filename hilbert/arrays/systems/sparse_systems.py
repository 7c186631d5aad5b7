"""Solve A x = b for a sparse matrix A by a function of scipy, for arrays of numpy, many times with A of one pattern.

A `SparseSystem` is made of the rows and the columns of the entries of A, before their values are known. It decides once
which of some ways is estimated to be quicker, and in which order the unknowns stand:

- scipy's solver of band matrices, where all entries lie near the diagonal, in the given order of the unknowns or after
  they were put into another one (reverse Cuthill–McKee); substitution, where they lie on one side of it;
- scipy's sparse LU, or an elimination of blocks;
- where the system falls into many small ones of one size, these.

Then `solved(values, b, …)` takes the values of the entries and several right sides.

>>> import numpy as np
>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> some = SparseSystem(np.asarray([0, 1, 1, 2]), np.asarray([0, 0, 1, 2]), 3, 3, scipy_of())
>>> some.way, some.solved(np.asarray([2.0, 1.0, 1.0, 4.0]), np.asarray([[2.0, 3.0, 4.0]]), "singular").tolist()
('in a band of 1 + 1 + 0 diagonals', [[1.0, 2.0, 1.0]])
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from hilbert.arrays.systems.banded import Band, BandSystem, profile
from hilbert.arrays.systems.block_elimination import Elimination
from hilbert.arrays.systems.kept_factors import Factors, factors_of, log_of
from hilbert.arrays.systems.methods import without
from hilbert.arrays.systems.selected_inverse import near_inverse
from hilbert.arrays.systems.separate_blocks import MOST, SeparateBlocks, least_seconds
from hilbert.arrays.systems.triangles import Triangle
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from hilbert.arrays.systems.methods import Method
    from hilbert.arrays.systems.scipy_modules import Scipy

Ints = npt.NDArray[np.signedinteger[Any]]
START, COLUMN, ENTRY, FRONT = 1e-4, 6e-7, 1.5e-7, 4e-10
"""Seconds of sparse LU, for a column, for an entry, and for a multiplication of its elimination."""
DIAGONAL, MANY = 0.01, 256
"""A diagonal entry is exchanged where it is smaller than this part of the largest entry of its column; blocks are
looked for among so many unknowns or more."""
WIDE, COLUMNS = 16, 64
"""The widest band whose inverse is found by cyclic reduction, and the columns that are solved for at once otherwise."""
FILL = 2**28
"""The most entries of factors, bounded by the profile of the matrix; of more no factors are made."""


@final
class SparseSystem:
    """Square matrices with entries at some distinct places only, in blocks of so many unknowns on the diagonal.

    A block that is asked for nothing, whose right sides are all 0, gives 0, whatever its entries are. Matrices that are
    symmetric and `positive` need no exchange of rows. With `how` that method is taken; raises SpaceError where the
    places do not allow it.
    """

    def __init__(
        self,
        rows: Ints,
        cols: Ints,
        size: int,
        block: int,
        sp: Scipy,
        *,
        positive: bool = False,
        how: Method | None = None,
    ) -> None:
        self.rows, self.cols, self.size, self.block, self.sp, self.positive = rows, cols, size, block, sp, positive
        ones = np.ones(len(rows), np.int8)
        pattern = sp.sparse.coo_array((ones, (rows, cols)), shape=(size, size)).tocsr()
        alike = (pattern != pattern.T).nnz == 0
        near = sp.graphs.reverse_cuthill_mckee(pattern, symmetric_mode=alike)
        place = np.empty(size, np.intp)
        place[near] = np.arange(size)
        r, c = place[rows], place[cols]
        narrow = Band.of(r, c, size), near
        self.band, self.near = min((Band.of(rows, cols, size), None), narrow, key=lambda some: some[0].seconds)
        self.flops, self.fill = profile(pattern, place, alike=alike)
        self.seconds = START + COLUMN * size + ENTRY * len(rows) + FRONT * self.flops
        width, due = int(np.diff(pattern.indptr).max(initial=0)), min(self.seconds, self.band.seconds)
        wide = self.band.below + self.band.above >= WIDE // 2
        is_tried = how is None and wide and width <= MOST and least_seconds(size, width) < due
        apart = SeparateBlocks.of(r, c, near) if is_tried or how == "blocks" else None
        self.apart = apart if apart is not None and (how == "blocks" or apart.seconds < due) else None
        if how == "blocks" and apart is None:
            raise without(how, "its unknowns fall into no groups of one size that never meet")
        self.by_band = self.apart is None and (self.band.seconds <= self.seconds if how is None else how == "band")
        if self.apart is not None:
            self.flops, self.fill, self.seconds = self.apart.flops, self.apart.fill, self.apart.seconds
            return
        if self.by_band:
            self.flops, self.fill, self.seconds = self.band.flops, self.band.entries, self.band.seconds
            r, c = (rows, cols) if self.near is None else (r, c)
            is_triangular = self.band.is_triangular
            self._in_band = (
                Triangle(self.band, r, c, sp) if is_triangular else BandSystem(self.band, r, c, sp, positive=positive)
            )
            return
        alike = alike and np.count_nonzero(rows == cols) == size
        self._columns = "MMD_AT_PLUS_A" if alike else "COLAMD"
        is_looked_for = alike and (size > MANY if how is None else how == "elimination")
        if how == "elimination" and not alike:
            odd, empty = (pattern != pattern.T).nnz // 2, size - np.count_nonzero(rows == cols)
            why = f"{odd} of its {len(rows)} entries have none at their place across the diagonal" if odd else ""
            raise without(how, why or f"{empty} of its {size} diagonal entries are 0")
        self.blocks = Elimination.of(rows, cols, size, sp, told=how is not None) if is_looked_for else None

    @property
    def has_room(self) -> bool:
        """True if the factors are small enough to be made."""
        return self.fill <= FILL

    @property
    def no_room(self) -> str:
        """The reason why factors are not made, with the limit."""
        size, most = (f"{8e-9 * entries:.3g} GB" for entries in (self.fill, FILL))
        return f"{self.way} its factors have up to {self.fill} entries ({size}), and at most {FILL} ({most}) are made"

    @property
    def method(self) -> Method:
        """The name of the method."""
        if self.apart is not None:
            return "blocks"
        return "band" if self.by_band else "sparse" if self.blocks is None else "elimination"

    @property
    def way(self) -> str:
        """The way to solve, as text."""
        if self.apart is not None:
            return str(self.apart)
        return self.band.text if self.by_band else str(self.blocks or "by sparse LU")

    def solved(self, values: Any, b: Any, singular: str) -> Any:
        """x with A x[k] = b[k] for rows k; NaN in blocks with an entry that is none, or infinite.

        Raises SpaceError for a singular matrix, with the message `singular`.
        """
        if self.is_diagonal and np.isfinite(values).all() and values.all():
            return self._by_division(values, b)
        lanes = self.size // self.block
        idle = np.all(b.reshape(len(b), lanes, self.block) == 0, axis=(0, 2))
        wrong = np.zeros(lanes, bool)
        wrong[self.rows[~np.isfinite(values)] // self.block] = True
        left = idle | wrong
        if not left.any():
            try:
                return self._at_once(values, b)
            except (np.linalg.LinAlgError, RuntimeError) as error:
                raise SpaceError(singular) from error
        x = np.where(np.repeat(wrong & ~idle, self.block), np.nan, np.zeros_like(b))
        if not left.all():
            some, here = np.repeat(~left, self.block), ~left[self.rows // self.block]
            number = np.cumsum(some) - 1
            rows, cols = (number[side[here]] for side in (self.rows, self.cols))
            rest = SparseSystem(rows, cols, int(some.sum()), self.block, self.sp, positive=self.positive)
            x[:, some] = rest.solved(values[here], b[:, some], singular)
        return x

    def is_regular(self, values: Any) -> bool:
        """Tell if |A|·|A⁻¹| is below ε^(−1/2), by an estimate of |A⁻¹| in the largest column's norm."""
        n = self.size
        if not np.isfinite(values).all():
            return True  # no number is right
        if self.is_diagonal:
            sizes = np.abs(values)
            return bool(sizes.max() <= float(np.finfo(values.dtype).eps) ** -0.5 * sizes.min())
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

    @cached_property
    def is_diagonal(self) -> bool:
        """True if the matrix is a diagonal with all of its entries."""
        return self.by_band and len(self.rows) == self.size and not (self.band.below or self.band.above)

    def logdet(self, values: Any) -> float:
        """log |det A|; −∞ where A is singular."""
        if not np.isfinite(values).all():
            return np.nan
        if self.is_diagonal:
            return log_of(values)
        try:
            return self.factors(values)[0].logdet()
        except np.linalg.LinAlgError:  # a column without a pivot
            return -np.inf

    def near_inverse(self, values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry: the derivative of log |det A| in that entry.

        In a band by cyclic reduction; otherwise, and where that loses digits, by solving for some columns at a time.
        Raises LinAlgError where A is singular.
        """
        if self.apart is not None:
            return self.apart.near_inverse(self.solver(values), values.dtype)
        if self.is_diagonal and values.all():
            return 1.0 / values
        if self.by_band and self.band.is_triangular:
            return self._undone_triangle(values)
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

    def _undone_triangle(self, values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry of a triangle: beside the diagonal that is 0."""
        main = np.flatnonzero(self.rows == self.cols)
        if len(main) < self.size or not values[main].all():
            msg = "a diagonal entry is 0"
            raise np.linalg.LinAlgError(msg)
        made = np.zeros_like(values)
        made[main] = 1.0 / values[main]
        return made

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
        if self.is_diagonal:
            return lambda b: self._by_division(values, b)
        factors, flipped = self.factors(values)
        return lambda b: factors.solve(b, flipped)

    def factors(self, values: Any) -> tuple[Factors, bool]:
        """The factors of the matrix, or those of its transpose and True; LinAlgError for most singular matrices."""
        system = self._in_band if self.by_band else None
        if isinstance(system, Triangle):
            return self._made(values), False
        if system is not None and system.is_three:
            found, flipped = system.factors_of_three(values)
            return found if self.near is None else found.permuted(self.near), flipped
        if self.apart is not None and self.apart.is_narrow:
            return self._made(values), False

        def numbers(flipped: bool) -> tuple[Any, ...]:  # noqa: FBT001 - see `factors_of`
            return (self.numbers(values, flipped),)

        return factors_of(self.names, numbers, lambda: self._made(values), fresh=True)

    @cached_property
    def names(self) -> tuple[Hashable, Hashable]:
        """The places of the entries and the kind of factors, and those of the transpose."""
        kind = "blocks" if self.apart is not None else "band" if self.by_band else "LU"
        return (kind, self._by_columns_first.digest), (kind, self._by_rows_first.digest)

    def numbers(self, values: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `factors_of`
        """The entries column by column, or row by row: as those of the transpose stand in its columns."""
        order = (self._by_rows_first if flipped else self._by_columns_first).order
        return values.take(order, mode="clip")

    def _made(self, values: Any) -> Factors:
        if self.apart is not None:
            return self.apart.made(values, self.sp)
        if self.by_band:
            found = self._in_band.made(values)
            return found if self.near is None else found.permuted(self.near)
        return self._by_blocks(values) or self._factored(values)

    def _by_blocks(self, values: Any) -> Factors | None:
        """The elimination of blocks; None where there is none, or where that loses digits.

        Nothing is exchanged between blocks, so that x is tried with a right side of ones.
        """
        if self.blocks is None:
            return None
        with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
            found, ones = self.blocks.made(values, positive=self.positive), np.ones((1, self.size), values.dtype)
            x = found.solve(ones, False)  # noqa: FBT003 - see `Factors`
            far = np.max(np.abs(self.applied(values, x) - ones)) / (1.0 + np.max(np.abs(values)) * np.max(np.abs(x)))
            if far <= np.finfo(values.dtype).eps ** 0.75:
                return found
        return None

    def applied(self, values: Any, x: Any) -> Any:
        """The products of the matrix with rows."""
        if self.is_diagonal:
            return self._diagonal(values) * x
        matrix = self.sp.sparse.coo_array((values, (self.rows, self.cols)), shape=(self.size, self.size))
        return (matrix @ x.T).T

    def _at_once(self, values: Any, b: Any) -> Any:
        """The solution for rows."""
        return self.solver(values.astype(b.dtype, copy=False))(b)

    def _by_division(self, values: Any, b: Any) -> Any:
        """The solution of a diagonal system."""
        if not np.all(values):
            msg = "a diagonal entry is 0"
            raise np.linalg.LinAlgError(msg)
        return b / self._diagonal(values)

    def _diagonal(self, values: Any) -> Any:
        diagonal = np.empty_like(values)
        diagonal[self.cols] = values
        return diagonal

    @cached_property
    def _by_columns_first(self) -> _Order:
        return _Order.of(self.cols, self.rows, self.size)

    @cached_property
    def _by_rows_first(self) -> _Order:
        return _Order.of(self.rows, self.cols, self.size)

    @cached_property
    def _columns_of(self) -> tuple[Ints, Ints]:
        """The rows of the entries column by column, and where the columns start."""
        starts = np.zeros(self.size + 1, np.intc)
        np.cumsum(np.bincount(self.cols, minlength=self.size), out=starts[1:])
        return self.rows[self._by_columns_first.order].astype(np.intc), starts

    def _factored(self, values: Any) -> Factors:
        """The factors of SuperLU."""
        given = self.numbers(values, flipped=False), *self._columns_of
        matrix = self.sp.sparse.csc_array(given, shape=(self.size, self.size))
        try:
            if self._columns == "COLAMD":
                found = self.sp.factors.splu(matrix)
            else:  # rows are exchanged only where the diagonal is small
                part = 0.0 if self.positive else DIAGONAL
                found = self.sp.factors.splu(matrix, self._columns, part, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise np.linalg.LinAlgError(str(error)) from error
        return Factors(
            lambda b, flipped: found.solve(np.ascontiguousarray(b.T), "T" if flipped else "N").T,
            lambda: log_of(found.U.diagonal()),
            found.nnz,
        )


@final
@frozen(eq=False)
class _Order:
    """The order of entries column by column, or row by row, and what tells their places from others."""

    order: Ints
    digest: bytes

    @staticmethod
    def of(outer: Ints, inner: Ints, size: int) -> _Order:
        """The order by `outer`, and there by `inner`."""
        code = outer.astype(np.int64) * size + inner
        order = np.argsort(code, kind="stable")
        return _Order(order, blake2b(code[order].tobytes() + size.to_bytes(8, "little")).digest())
