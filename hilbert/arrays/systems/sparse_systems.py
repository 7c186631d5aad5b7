"""Solve A x = b for a sparse matrix A by a function of scipy, for arrays of numpy, many times with A of one pattern.

A `SparseSystem` is made of the rows and the columns of the entries of A, before their values are known. It decides once
which of some ways is estimated to be quicker, and in which order the unknowns stand:

- scipy's solver of band matrices, where all entries lie near the diagonal, in the given order of the unknowns or after
  they were put into another one (reverse Cuthill–McKee); substitution, where they lie on one side of it;
- scipy's sparse LU, or an elimination of blocks;
- one of most unknowns in such a way, before few common ones; many small systems of one size where there are such.

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
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from hilbert.arrays.elimination.common_unknowns import Border, BorderFactors, quickest_border
from hilbert.arrays.elimination.cyclic_reduction import near_inverse
from hilbert.arrays.elimination.entry_order import EntryOrder
from hilbert.arrays.elimination.kept_factors import Factors, factors_of, log_of
from hilbert.arrays.elimination.level_sweep import Levels
from hilbert.arrays.elimination.selected_inverse import by_columns, has_digits, scales, seconds_by_columns
from hilbert.arrays.elimination.sparse_lu import SparseLU
from hilbert.arrays.systems.banded import Band, BandSystem, profile
from hilbert.arrays.systems.block_elimination import Elimination
from hilbert.arrays.systems.methods import without
from hilbert.arrays.systems.separate_blocks import MOST, SeparateBlocks, least_seconds
from hilbert.arrays.systems.triangles import Triangle
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from hilbert.arrays.systems.methods import Method
    from hilbert.arrays.systems.scipy_modules import Scipy

Ints = npt.NDArray[np.signedinteger[Any]]
AnyFactors: TypeAlias = Factors | BorderFactors
START, COLUMN, ENTRY, FRONT = 1e-4, 6e-7, 1.5e-7, 4e-10
"""Seconds of sparse LU, for a column, for an entry, and for a multiplication of its elimination."""
MANY = 256
"""Blocks and common unknowns are looked for among so many unknowns or more."""
WIDE = 16
"""The widest band whose inverse is found by cyclic reduction: a sweep over levels takes longer there."""
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
        bordered: bool = True,
    ) -> None:
        self.rows, self.cols, self.size, self.block, self.sp, self.positive = rows, cols, size, block, sp, positive
        self.how = how
        self.border: Border | None = None
        self.blocks: Elimination | None = None
        ones = np.ones(len(rows), np.int8)
        pattern = sp.sparse.coo_array((ones, (rows, cols)), shape=(size, size)).tocsr()
        alike = (pattern != pattern.T).nnz == 0
        near = sp.graphs.reverse_cuthill_mckee(pattern, symmetric_mode=alike)
        self._in_levels, place = near, np.empty(size, np.intp)
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
        due = self.apart.seconds if self.apart is not None and how is None else due
        is_looked_for = size > MANY if how is None else how in {"elimination", "sparse"}
        border = self._quickest_border(due if how is None else np.inf) if is_looked_for and bordered else None
        best = border or self.apart
        self.apart = None if border else self.apart
        self.by_band = best is None and (self.band.seconds <= self.seconds if how is None else how == "band")
        if best:
            self.flops, self.fill, self.seconds = best.flops, best.fill, best.seconds
        if self.by_band:
            self.flops, self.fill, self.seconds = self.band.flops, self.band.entries, self.band.seconds
            r, c = (rows, cols) if self.near is None else (r, c)
            is_triangular = self.band.is_triangular
            self._in_band = (
                Triangle(self.band, r, c, sp) if is_triangular else BandSystem(self.band, r, c, sp, positive=positive)
            )
        elif self.apart is None:
            self._by_factors(border, is_alike=alike and np.count_nonzero(rows == cols) == size)

    def _by_factors(self, border: Border | None, *, is_alike: bool) -> None:
        """Look for the order of sparse LU, and for blocks or a border that are eliminated before LU is tried."""
        how, is_many, order = self.how, self.size > MANY, None if border is None else border.order
        self._lu = SparseLU(self.sp.sparse, self.sp.factors, self._by_columns_first, is_alike, self.positive, order)
        if (is_told := how == "elimination" and border is None) and not is_alike:
            across = np.isin(self.cols * self.size + self.rows, self.rows * self.size + self.cols)
            odd, empty = np.count_nonzero(~across), self.size - np.count_nonzero(self.rows == self.cols)
            why = f"{odd} of its {len(self.rows)} entries have none at their place across the diagonal" if odd else ""
            raise without("elimination", why or f"{empty} of its {self.size} diagonal entries are 0")
        if is_alike and (border is None or border.is_thin) and (is_many if how is None else how == "elimination"):
            self.blocks = Elimination.of(self.rows, self.cols, self.size, self.sp, told=is_told)
        if self.blocks is None and how != "sparse":
            self.border = border

    def _quickest_border(self, due: float) -> Border | None:
        """The border that is predicted to be quicker, of a matrix of the others that is regular for some entries."""

        def others(rows: Ints, cols: Ints, size: int, block: int) -> SparseSystem:
            return SparseSystem(rows, cols, size, block, self.sp, positive=self.positive, bordered=False)

        found = quickest_border((self.rows, self.cols), self.size, self.block, others, due)
        if found is None or not found.base.has_room:
            return None
        pattern = self.sp.sparse.coo_array((np.ones(len(found.own)), found.places), shape=(found.size, found.size))
        return found if self.sp.graphs.structural_rank(pattern.tocsr()) == found.size else None

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
        return "band" if self.by_band else "sparse" if self.blocks is None and self.border is None else "elimination"

    @property
    def order(self) -> Ints | None:
        """The unknowns in the order of elimination, where they are in a band."""
        return None if not self.by_band else np.arange(self.size) if self.near is None else self.near

    @property
    def way(self) -> str:
        """The way to solve, as text."""
        if self.by_band:
            return self.band.text
        return str(self.apart or self.border or self.blocks or "by sparse LU")

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

        By cyclic reduction, beside a border, by blocks, or by a sweep over levels; where these take longer, or lose
        digits, by solving for all columns. Raises LinAlgError where A is singular.
        """
        if self.apart is not None:
            return self.apart.near_inverse(self.solver(values), values.dtype)
        if self.is_diagonal and values.all():
            return 1.0 / values
        if self.by_band and isinstance(self._in_band, Triangle):
            return self._in_band.near_inverse(values)
        places, size = (self.rows, self.cols), self.size
        with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
            found = self._near_inverse(values)
            if found is not None and has_digits(*places, values, found, size):
                return found
        found = by_columns(self.solver(values), *places, values, size)
        if (self.border or self.blocks) and not has_digits(*places, values, found, size):
            solve = self._lu.made(values).solve
            found = by_columns(lambda b: solve(b, False), *places, values, size)  # noqa: FBT003
        return found

    def _near_inverse(self, values: Any) -> Any:
        """The entries by some parts of the inverse; None where all columns of the inverse take less time."""
        if self.border is not None:
            factors, flipped = self.factors(values)
            if isinstance(factors, BorderFactors) and factors.border.is_like(self.border):
                return self.border.near_inverse(factors.sides(flipped), values)

            def solve(b: Any, is_turned: bool) -> Any:  # noqa: FBT001 - see `Factors`
                return factors.solve(b, flipped != is_turned)

            return self.border.near_inverse_beside_singular(solve, values, self.rows, self.cols)
        quick, scale = self._by_rounds(values), scales(self.rows, self.cols, values, self.size)
        return None if quick is None else quick(values / scale) / scale

    def _by_rounds(self, values: Any) -> Callable[[Any], Any] | None:
        """The function of scaled entries that eliminates without exchanges of rows; None where columns are quicker."""
        if self.by_band and (width := max(self.band.below, self.band.above)) <= WIDE:
            return lambda a: near_inverse(self.rows, self.cols, a, self.size, width, self.near, self._made)
        if self.blocks is not None and self.blocks.seconds_of_inverse <= self.levels.seconds:
            return self.blocks.near_inverse
        if self.levels.fill > FILL:
            return None
        due, size = self.levels.seconds, self.size
        if due > seconds_by_columns(size, len(values)) and due > seconds_by_columns(
            size, self.factors(values)[0].entries
        ):
            return None
        return lambda a: self.levels.near_inverse(a, self.sp.sparse)

    @cached_property
    def levels(self) -> Levels:
        """The levels of the unknowns for a sweep."""
        return Levels.of(self.rows, self.cols, self.size, self._in_levels)

    def solver(self, values: Any) -> Callable[[Any], Any]:
        """The function that solves for rows, with factors that are made once; LinAlgError for a singular matrix."""
        if self.is_diagonal:
            return lambda b: self._by_division(values, b)
        factors, flipped = self.factors(values)
        return lambda b: factors.solve(b, flipped)

    def undone(self, values: Any) -> Factors:
        """The elimination of the matrix, made once; raises LinAlgError for most singular matrices."""
        if self.is_diagonal:
            return Factors(lambda b, _: self._by_division(values, b), lambda: log_of(values), self.size)
        found, turned = self.factors(values)
        return Factors(lambda b, flipped: found.solve(b, flipped != turned), found.logdet, found.entries)

    def factors(self, values: Any) -> tuple[AnyFactors, bool]:
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

        made, flipped = factors_of(self.names, numbers, lambda: self._made(values), fresh=True)
        if self.border is not None and self.how is not None and not isinstance(made, BorderFactors):
            raise without(self.how, "what is eliminated first is singular at this point, or nearly so")
        return made, flipped

    @cached_property
    def names(self) -> tuple[Hashable, Hashable]:
        """The places of the entries and the kind of factors, and those of the transpose."""
        kind = "blocks" if self.apart else "band" if self.by_band else "border" if self.border else "LU"
        return (kind, self._by_columns_first.digest), (kind, self._by_rows_first.digest)

    def numbers(self, values: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `factors_of`
        """The entries column by column, or row by row: as those of the transpose stand in its columns."""
        order = (self._by_rows_first if flipped else self._by_columns_first).order
        return values.take(order, mode="clip")

    def _made(self, values: Any) -> AnyFactors:
        if self.apart is not None:
            return self.apart.made(values, self.sp)
        if self.by_band:
            found = self._in_band.made(values)
            return found if self.near is None else found.permuted(self.near)
        first = self._tried(self._eliminated, values) if self.border or self.blocks else None
        is_second = first is None and self._lu.last is not None
        second = self._tried(self._lu.made_in_order, values) if is_second else None
        return first or second or self._lu.made(values)

    def _eliminated(self, values: Any) -> AnyFactors:
        """The elimination of blocks, or before a border."""
        if self.border is not None:
            return self.border.made(values)
        assert self.blocks is not None  # one of both
        return self.blocks.made(values, positive=self.positive)

    def _tried(self, make: Callable[[Any], AnyFactors], values: Any) -> AnyFactors | None:
        """Factors with few exchanges of rows, or none; None where they lose digits of a right side of ones."""
        with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
            found, ones = make(values), np.ones((1, self.size), values.dtype)
            x = found.solve(ones, False)  # noqa: FBT003 - see `Factors`
            far = np.max(np.abs(self.applied(values, x) - ones)) / (1.0 + np.max(np.abs(values)) * np.max(np.abs(x)))
            if far <= np.finfo(values.dtype).eps ** 0.75:
                return found
        return None

    def applied(self, values: Any, x: Any) -> Any:
        """The products of the matrix with rows."""
        if self.is_diagonal:
            return self._diagonal(values) * x
        return (self._by_columns_first.matrix(self.sp.sparse, values) @ x.T).T

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
    def _by_columns_first(self) -> EntryOrder:
        return EntryOrder.of(self.cols, self.rows, self.size)

    @cached_property
    def _by_rows_first(self) -> EntryOrder:
        return EntryOrder.of(self.rows, self.cols, self.size)
