"""Linear systems whose matrix has entries on one side of the diagonal only: unknowns are substituted one by one.

>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> rows, cols = np.asarray([0, 1, 1, 2]), np.asarray([0, 0, 1, 2])
>>> some = Triangle(Band.of(rows, cols, 3), rows, cols, scipy_of())
>>> factors = some.made(np.asarray([2.0, 1.0, 1.0, 4.0]))
>>> factors.solve(np.asarray([[2.0, 3.0, 4.0]]), False).tolist()
[[1.0, 2.0, 1.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.elimination.kept_factors import Factors, log_of, require_pivots
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
        self._main = np.flatnonzero(rows == cols)

    def made(self, values: Any) -> Factors:
        """The matrix, which needs no elimination; solving raises LinAlgError for a singular one."""
        columns = self._columns(values)

        def solve(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
            if not b.size:  # LAPACK writes beside the array
                return np.empty_like(b)
            side = np.array(b.T, order="F")
            (solve,) = self.sp.linalg.get_lapack_funcs(("tbtrs",), (columns, side))
            part, trans = "L" if self.band.below else "U", "T" if flipped else "N"
            x, info = solve(columns.T, side, uplo=part, trans=trans, overwrite_b=True)
            require_pivots(info != 0)
            return x.T

        return Factors(solve, lambda: log_of(columns[:, self.band.above]), columns.size)

    def near_inverse(self, values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry: beside the diagonal that is 0."""
        require_pivots(len(self._main) < self.band.size or not values[self._main].all())
        made = np.zeros_like(values)
        made[self._main] = 1.0 / values[self._main]
        return made

    def _columns(self, values: Any) -> Any:
        made = np.zeros(self._shape[0] * self._shape[1], values.dtype)
        made[self._places] = values
        return made.reshape(self._shape)
