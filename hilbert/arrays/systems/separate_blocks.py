"""Systems that fall into many small ones of one size, such as those of a Kronecker product with an identity.

>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> rows, cols = np.asarray([0, 0, 1, 1, 2, 2, 3, 3]), np.asarray([0, 1, 0, 1, 2, 3, 2, 3])
>>> found = SeparateBlocks.of(rows, cols, np.asarray([0, 2, 1, 3]))
>>> print(found)
in 2 blocks of 2
>>> factors = found.made(np.asarray([2.0, 1.0, 1.0, 1.0, 4.0, 0.0, 0.0, 4.0]), scipy_of())
>>> factors.solve(np.asarray([[3.0, 4.0, 2.0, 8.0]]), False).tolist()
[[1.0, 1.0, 1.0, 2.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.elimination.kept_factors import Factors
from hilbert.arrays.systems.linear_systems import factors_in_full

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from hilbert.arrays.systems.scipy_modules import Scipy

    Ints = npt.NDArray[np.signedinteger[Any]]

BLOCK, PLACE, PRODUCT = 2e-6, 3e-9, 1e-10
"""Seconds for a block, for each of its places, and for a multiplication of its elimination."""

MOST, NARROW = 256, 48
"""The most unknowns of a block, and of one that is eliminated anew each time, all at once: that is as quick."""


@final
class SeparateBlocks:
    """Matrices whose entries lie within blocks of so many unknowns each, one row of unknowns for each block."""

    def __init__(self, rows: Ints, cols: Ints, unknowns: Ints) -> None:
        self.unknowns = unknowns
        self.count, self.width = map(int, unknowns.shape)
        self._places = rows * np.intp(self.width) + cols % self.width

    @staticmethod
    def of(rows: Ints, cols: Ints, order: Ints) -> SeparateBlocks | None:
        """The blocks of an order of the unknowns, for places of entries in that order.

        None where the blocks differ in size, or where there is one only. In the order of Cuthill and McKee those that
        meet stand together.
        """
        last = np.arange(len(order))
        np.maximum.at(last, np.minimum(rows, cols), np.maximum(rows, cols))
        ends = np.flatnonzero(np.maximum.accumulate(last) == np.arange(len(order))) + 1
        if len(ends) < 2 or np.any(np.diff(ends) != ends[0]):
            return None
        return SeparateBlocks(rows, cols, order.reshape(len(ends), -1))

    def __str__(self) -> str:
        return f"in {self.count} blocks of {self.width}"

    @property
    def seconds(self) -> float:
        """The estimated time to solve."""
        return least_seconds(self.unknowns.size, self.width)

    @property
    def flops(self) -> int:
        """The multiplications and additions of the eliminations."""
        return 2 * self.count * self.width**3 // 3

    @property
    def fill(self) -> int:
        """The entries of all blocks."""
        return self.count * self.width**2

    @property
    def is_narrow(self) -> bool:
        """True if no factors are worth to be kept."""
        return self.width <= NARROW

    def made(self, values: Any, sp: Scipy) -> Factors:
        """The factors of some entries, or the blocks themselves where these are narrow."""
        blocks = self._blocks(values)
        if self.is_narrow:

            def solve(side: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
                return np.linalg.solve(np.moveaxis(blocks, 1, 2) if flipped else blocks, side)

            return Factors(self._on_blocks(solve), lambda: float(np.linalg.slogdet(blocks)[1].sum()), blocks.size)
        parts = [factors_in_full(sp, block) for block in blocks]

        def solve_by_factors(side: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
            return np.stack([part.solve(own.T, flipped).T for part, own in zip(parts, side, strict=True)])

        return Factors(self._on_blocks(solve_by_factors), lambda: sum(part.logdet() for part in parts), blocks.size)

    def _on_blocks(self, solve: Callable[[Any, bool], Any]) -> Callable[[Any, bool], Any]:
        """The function of rows that solves for the columns of each block."""

        def solved(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
            side = np.moveaxis(b[:, self.unknowns], 0, 2)
            x = np.empty_like(b)
            x[:, self.unknowns] = np.moveaxis(solve(side, flipped), 2, 0)
            return x

        return solved

    def near_inverse(self, solve: Callable[[Any], Any], dtype: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry, by the function that solves for rows."""
        eye = np.zeros((self.width, self.unknowns.size), dtype)
        eye[np.arange(self.width)[:, None], self.unknowns.T] = 1.0  # a row has the same unit vector in each block
        return np.moveaxis(solve(eye)[:, self.unknowns], 0, 1).reshape(-1)[self._places]

    def _blocks(self, values: Any) -> Any:
        made = np.zeros(self.fill, values.dtype)
        made[self._places] = values
        return made.reshape(self.count, self.width, self.width)


def least_seconds(size: int, width: int) -> float:
    """The estimated time for so many unknowns in blocks of at least so many."""
    return size * (BLOCK / max(width, 1) + PLACE * width + PRODUCT * width**2)
