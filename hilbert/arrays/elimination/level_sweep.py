"""Entries of the inverse of a matrix at its own places, by a sweep over levels of its unknowns and one back.

A level has the unknowns that the one before meets, such as the diagonals of a grid, so that the matrix is block
tridiagonal with blocks D on the diagonal, C above and R below. Down, with the inverses G of what is left on the
diagonal, and back, with the blocks Z of the inverse:

    G_k = (D_k − R G_{k−1} C)⁻¹,    Z_k = G_k + G_k C Z_{k+1} R G_k,    −G_k C Z_{k+1} above,    −Z_{k+1} R G_k below.

>>> import numpy as np
>>> from scipy import sparse
>>> a = np.diag([2.0, 3.0, 4.0]) + np.diag([1.0, 1.0], 1) + np.diag([1.0, 0.5], -1)
>>> rows, cols = np.nonzero(a)
>>> levels = Levels.of(rows, cols, 3, np.arange(3))
>>> levels.ends.tolist()
[0, 1, 2, 3]
>>> np.allclose(levels.near_inverse(a[rows, cols], sparse), np.linalg.inv(a)[cols, rows])
True
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from hilbert.arrays.elimination.selected_inverse import require_no_growth

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]

Part: TypeAlias = "tuple[Ints, Ints, Ints]"
"""The numbers of some entries, and their rows and columns in a block."""

LEVEL, PRODUCT, PLACE = 4e-5, 3e-10, 5e-9
"""Seconds for a level, for a multiplication of a block with another, and for an entry of a block."""
SPARSE = 40
"""A block beside the diagonal is multiplied entry by entry if at most one of so many places has an entry."""


@final
class Levels:
    """An order of the unknowns, cut into levels each of which meets only those beside it, and the entries by level."""

    def __init__(self, rows: Ints, cols: Ints, size: int, order: Ints | None) -> None:
        place = np.arange(size)
        if order is not None:
            place[order] = np.arange(size)
        self._rows, self._cols = place[rows], place[cols]
        self.ends = _ends(self._rows, self._cols, size)
        self.sizes = np.diff(self.ends)
        blocks = self.sizes.astype(np.float64)
        squares, cubes = float(blocks @ blocks), float(blocks**2 @ blocks)
        self.fill = squares + 6 * float(blocks.max(initial=0)) ** 2
        self.seconds = LEVEL * len(blocks) + PRODUCT * cubes + PLACE * squares

    @staticmethod
    def of(rows: Ints, cols: Ints, size: int, order: Ints) -> Levels:
        """The quicker levels: of the unknowns as they are given, or in another order."""
        return min((Levels(rows, cols, size, some) for some in (None, order)), key=lambda levels: levels.seconds)

    @cached_property
    def parts(self) -> list[tuple[Part, Part, Part]]:
        """The entries of D, and those of C and R that belong to this level and that behind."""
        level = np.repeat(np.arange(len(self.sizes)), self.sizes)
        r, c = level[self._rows], level[self._cols]
        kind = 3 * np.minimum(r, c) + (r < c) + 2 * (r > c)
        order = np.argsort(kind, kind="stable")
        cuts = np.searchsorted(kind[order], np.arange(3 * len(self.sizes) + 1)).tolist()
        row, col = (self._rows - self.ends[r])[order], (self._cols - self.ends[c])[order]
        made = [(order[i:j], row[i:j], col[i:j]) for i, j in pairwise(cuts)]
        return list(zip(made[::3], made[1::3], made[2::3], strict=True))

    def near_inverse(self, values: Any, sparse: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry, by scipy's module; the entries are at most 1.

        Raises LinAlgError for a singular block, and where digits would be lost.
        """
        sizes, found = self.sizes.tolist(), np.zeros_like(values)
        undone, beside = list[Any](), list[tuple[Any, Any] | None]()
        for k, (on, above, below) in enumerate(self.parts):
            main, sides = _full(on, values, (sizes[k], sizes[k])), None
            if beside and beside[-1] is not None:
                c, r = beside[-1]
                taken = r @ undone[-1] @ c
                require_no_growth(taken)
                main -= taken
            if len(above[0]) and len(below[0]):
                shape = sizes[k], sizes[k + 1]
                sides = _block(above, values, shape, sparse), _block(below, values, shape[::-1], sparse)
            undone.append(np.linalg.inv(main))
            beside.append(sides)
        behind: Any = None
        for (on, above, below), sides in zip(reversed(self.parts), reversed(beside), strict=True):
            z = undone.pop()
            if sides is not None:
                c, r = sides
                from_left, to_right = r @ z, z @ (c @ behind)
                z = z + to_right @ from_left
                _read(found, below, -to_right)
                if sparse.issparse(c):
                    number, row, col = above
                    found[number] = -np.einsum("ij,ij->i", behind[col], from_left.T[row])
                else:
                    _read(found, above, -(behind @ from_left))
            _read(found, on, z)
            behind = z
        return found


def _read(found: Any, part: Part, block: Any) -> None:
    """Write the entries of a block of the inverse at the mirrored places of those of the matrix."""
    number, row, col = part
    found[number] = block[col, row]


def _full(part: Part, values: Any, shape: tuple[int, int]) -> Any:
    number, row, col = part
    made = np.zeros(shape, values.dtype)
    made[row, col] = values[number]
    return made


def _block(part: Part, values: Any, shape: tuple[int, int], sparse: Any) -> Any:
    """A block beside the diagonal, sparse or in full."""
    number, row, col = part
    if SPARSE * len(number) > shape[0] * shape[1]:
        return _full(part, values, shape)
    return sparse.csr_array((values[number], (row, col)), shape=shape)


def _ends(rows: Ints, cols: Ints, size: int) -> Ints:
    """The end of each level: a level has the unknowns that the level before meets, or one unknown if there are none."""
    last = np.arange(size)
    np.maximum.at(last, np.minimum(rows, cols), np.maximum(rows, cols))
    reach, ends = (np.maximum.accumulate(last) + 1).tolist(), [0]
    while ends[-1] < size:
        end = ends[-1]
        ends.append(max(reach[end - 1] if end else 0, end + 1))
    return np.asarray(ends)
