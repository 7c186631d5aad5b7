"""Linear systems whose matrix has entries on one side of the diagonal only: unknowns are substituted one by one.

>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> rows, cols = np.asarray([0, 1, 1, 2]), np.asarray([0, 0, 1, 2])
>>> some = Triangle(Band.of(rows, cols, 3), rows, cols, scipy_of())
>>> some.solved(np.asarray([2.0, 1.0, 1.0, 4.0]), np.asarray([[2.0, 3.0, 4.0]])).tolist()
[[1.0, 2.0, 1.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.systems.banded import Band

if TYPE_CHECKING:
    import numpy.typing as npt

    from hilbert.arrays.systems.scipy_modules import Scipy

    Ints = npt.NDArray[np.signedinteger[Any]]


@final
class Triangle:
    """Matrices with entries at some places of a band that lies on one side of the diagonal.

    Its diagonals stand column by column, as LAPACK has them; no rows are exchanged.
    """

    def __init__(self, band: Band, rows: Ints, cols: Ints, sp: Scipy) -> None:
        self.band, self.sp = band, sp
        self._shape = band.size, band.below + band.above + 1
        self._places = cols * np.intp(self._shape[1]) + band.above + rows - cols

    def solved(self, values: Any, b: Any) -> Any:
        """x with A x[k] = b[k] for rows k; raises LinAlgError for a singular matrix."""
        made, side = self._columns(values), np.array(b.T, order="F")
        (solve,) = self.sp.linalg.get_lapack_funcs(("tbtrs",), (made, side))
        x, info = solve(made.T, side, uplo="L" if self.band.below else "U", overwrite_b=True)
        if info:
            msg = "the matrix is singular"
            raise np.linalg.LinAlgError(msg)
        return x.T

    def pivots(self, values: Any) -> Any:
        """The entries of the diagonal, whose product is the determinant."""
        return self._columns(values)[:, self.band.above]

    def _columns(self, values: Any) -> Any:
        made = np.zeros(self._shape[0] * self._shape[1], values.dtype)
        made[self._places] = values
        return made.reshape(self._shape)
