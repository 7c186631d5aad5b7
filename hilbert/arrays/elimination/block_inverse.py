"""Entries of the inverse of a matrix at its own places, where blocks of unknowns that never meet are eliminated first.

With A = [[B, C], [R, D]], B of such blocks, S = D − R B⁻¹ C is left, and a block b meets few unknowns of S. Of Z = S⁻¹
only the entries between these are read, which are places of S:

    (A⁻¹)_bb = B_b⁻¹ + B_b⁻¹ C_b Z R_b B_b⁻¹,    −B_b⁻¹ C_b Z right of it,    −Z R_b B_b⁻¹ below.

S has blocks in its turn, and is inverted in full in the end.

>>> import numpy as np
>>> a = np.diag([2.0, 3.0, 4.0]) + np.outer([1, 1, 0], [0, 0, 1.0]) + np.outer([0, 0, 1], [0.5, 1.0, 0.0])
>>> rows, cols = np.nonzero(a)
>>> found = BlockInverse(rows, cols, 3, [[(2, 1)]])
>>> np.allclose(found.near_inverse(a[rows, cols]), np.linalg.inv(a)[cols, rows])
True
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from hilbert.arrays.elimination.selected_inverse import require_no_growth

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]

PAIRS = 2**20
"""The most pairs of unknowns that blocks meet, for blocks that are treated at once."""


@final
class FullInverse:
    """Matrices in full, whose entries stand row by row."""

    def __init__(self, size: int) -> None:
        self.size, self.count = size, size * size

    def numbers(self, rows: Ints, cols: Ints) -> Ints:
        """The numbers of the entries at some places."""
        return rows * self.size + cols

    def near_inverse(self, values: Any) -> Any:
        """(A⁻¹)_ji for each place (i, j); raises LinAlgError for a singular matrix."""
        return np.linalg.inv(values.reshape(self.size, self.size)).T.reshape(-1)


@final
class BlockInverse:
    """The matrices of one pattern, which is symmetric, with entries row by row.

    The unknowns stand in the order in which rounds eliminate them. A round says how many blocks there are of each size.
    The unknowns of a block meet each other, and all of them meet the same other unknowns.
    """

    def __init__(self, rows: Ints, cols: Ints, size: int, rounds: list[list[tuple[int, int]]]) -> None:
        self.size, self.count, self._levels, self._code = size, len(rows), rounds[0], rows * np.int64(size) + cols
        self._cols, self._starts = cols, np.searchsorted(rows, np.arange(size + 1))
        self._mirrored = np.lexsort((rows, cols))
        self._gone = sum(count * width for count, width in self._levels)
        self._left = np.flatnonzero((rows >= self._gone) & (cols >= self._gone))
        left, row, col = size - self._gone, rows[self._left] - self._gone, cols[self._left] - self._gone
        self.rest: BlockInverse | FullInverse = FullInverse(left)
        if rounds[1:]:
            pairs = [(met[:, :, None] * left + met[:, None, :]).ravel() for *_, met in self._groups]
            code = np.unique(np.concatenate([row * left + col, *pairs]))
            self.rest = BlockInverse(*np.divmod(code, left), left, rounds[1:])
        self._own = self.rest.numbers(row, col)

    def numbers(self, rows: Ints, cols: Ints) -> Ints:
        """The numbers of the entries at some places."""
        return np.searchsorted(self._code, rows * self.size + cols)

    @cached_property
    def _groups(self) -> list[tuple[Ints, Ints, Ints, Ints]]:
        """The numbers of the entries of B, C and R for blocks that are alike, and the unknowns of S that these meet."""
        return list(self._made_groups())

    def _made_groups(self) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
        begin = 0
        for count, width in self._levels:
            first = begin + width * np.arange(count)
            begin += width * count
            lengths = self._starts[first + 1] - self._starts[first]
            for length in np.unique(lengths).tolist():
                alike, few = first[lengths == length], max(1, PAIRS // length**2)
                for k in range(0, len(alike), few):
                    own = self._starts[alike[k : k + few, None] + np.arange(width)]
                    entries = own[:, :, None] + np.arange(length)
                    on, above = entries[:, :, :width], entries[:, :, width:]
                    yield on, above, self._mirrored[above].swapaxes(1, 2), self._cols[above[:, 0]] - self._gone

    def near_inverse(self, values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry, of at most 1; LinAlgError where digits would be lost."""
        rest, made, blocks = np.zeros(self.rest.count, values.dtype), np.empty_like(values), []
        rest[self._own] = values[self._left]
        for on, above, below, met in self._groups:
            g, pairs = np.linalg.inv(values[on]), self.rest.numbers(met[:, :, None], met[:, None, :])
            taken = values[below] @ g @ values[above]
            require_no_growth(taken)
            np.subtract.at(rest, pairs, taken)
            blocks.append(g)
        undone = self.rest.near_inverse(rest)
        made[self._left] = undone[self._own]
        for (on, above, below, met), g in zip(self._groups, blocks, strict=True):
            z = undone[self.rest.numbers(met[:, None, :], met[:, :, None])]
            from_left, to_right = values[below] @ g, g @ values[above] @ z
            made[on] = (g + to_right @ from_left).swapaxes(1, 2)
            made[above] = -(z @ from_left).swapaxes(1, 2)
            made[below] = -to_right.swapaxes(1, 2)
        return made
