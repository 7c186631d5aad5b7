"""Matrices with entries at some places, as scipy stores them, and their factors by SuperLU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.arrays.elimination.kept_factors import Factors, log_of

if TYPE_CHECKING:
    from hilbert.arrays.elimination.entry_order import EntryOrder, Ints

DIAGONAL = 0.01
"""The row of a diagonal entry that is smaller than this part of the largest in its column is exchanged."""


@final
@frozen(eq=False)
class SparseLU:
    """Matrices with entries at some places, `stored` column by column, and their factors.

    The places are `alike` if those of the transpose are the same. Matrices that are symmetric and `positive` need no
    exchange of rows. `last` are the unknowns in an order that has common unknowns last, if there are some.
    """

    sparse: Any
    factors: Any
    stored: EntryOrder
    alike: bool
    positive: bool
    last: Ints | None = None

    def made(self, values: Any) -> Factors:
        """The factors of a matrix; with symmetric places rows are exchanged only where the diagonal is small."""
        if not self.alike:
            return self._factored(self.stored.matrix(self.sparse, values), "COLAMD")
        return self._factored(
            self.stored.matrix(self.sparse, values), "MMD_AT_PLUS_A", 0.0 if self.positive else DIAGONAL
        )

    def made_in_order(self, values: Any) -> Factors:
        """The factors with the common unknowns last; each solution is corrected once by that of its residual.

        Few rows are exchanged, for the row of a common unknown, put in front, would fill the rows behind. The residual
        gives back the digits that this costs.
        """
        matrix, least = (
            self.stored.matrix(self.sparse, values)[self.last][:, self.last],
            np.finfo(values.dtype).eps ** 0.5,
        )
        found, back = self._factored(matrix, "NATURAL", least), matrix.T

        def solve(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
            x = found.solve(b, flipped)
            return x + found.solve(b - ((back if flipped else matrix) @ x.T).T, flipped)

        return Factors(solve, found.logdet, found.entries + matrix.nnz).permuted(self.last)

    def _factored(self, matrix: Any, columns: str, part: float | None = None) -> Factors:
        """The factors with columns in an order; in symmetric mode if a `part` is given, as `DIAGONAL` is."""
        options = {} if part is None else {"diag_pivot_thresh": part, "options": {"SymmetricMode": True}}
        try:
            found = self.factors.splu(matrix, columns, **options)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(str(error)) from error
        return Factors(
            lambda b, flipped: found.solve(np.ascontiguousarray(b.T), "T" if flipped else "N").T,
            lambda: log_of(found.U.diagonal()),
            found.nnz,
        )
