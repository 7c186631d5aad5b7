"""Systems that fall into many small ones of one size, such as those of a Kronecker product with an identity.

>>> rows, cols = np.asarray([0, 0, 1, 1, 2, 2, 3, 3]), np.asarray([0, 1, 0, 1, 2, 3, 2, 3])
>>> found = SeparateBlocks.of(rows, cols, np.asarray([0, 2, 1, 3]))
>>> print(found)
in 2 blocks of 2
>>> found.solved(np.asarray([2.0, 1.0, 1.0, 1.0, 4.0, 0.0, 0.0, 4.0]), np.asarray([[3.0, 4.0, 2.0, 8.0]])).tolist()
[[1.0, 1.0, 1.0, 2.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.signedinteger[Any]]

BLOCK, PLACE, PRODUCT = 2e-6, 3e-9, 1e-10
"""Seconds for a block, for each of its places, and for a multiplication of its elimination."""

MOST = 256
"""The most unknowns of a block."""


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

    def solved(self, values: Any, b: Any) -> Any:
        """x with A x[k] = b[k] for rows k; raises LinAlgError for a singular matrix."""
        side = np.moveaxis(b[:, self.unknowns], 0, 2)
        x = np.empty_like(b)
        x[:, self.unknowns] = np.moveaxis(np.linalg.solve(self._blocks(values), side), 2, 0)
        return x

    def logdet(self, values: Any) -> float:
        """log |det A|; −∞ where A is singular."""
        return float(np.linalg.slogdet(self._blocks(values))[1].sum())

    def near_inverse(self, values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry; raises LinAlgError where A is singular."""
        undone = np.linalg.inv(self._blocks(values))
        return np.moveaxis(undone, 1, 2).reshape(-1)[self._places]

    def _blocks(self, values: Any) -> Any:
        made = np.zeros(self.fill, values.dtype)
        made[self._places] = values
        return made.reshape(self.count, self.width, self.width)


def least_seconds(size: int, width: int) -> float:
    """The estimated time for so many unknowns in blocks of at least so many."""
    return size * (BLOCK / max(width, 1) + PLACE * width + PRODUCT * width**2)
