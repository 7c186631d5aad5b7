"""Damped normal equations (JᵀWJ + λD) x = JᵀWb of least squares, D the diagonal of JᵀWJ, for matrices J of one pattern.

Where the pattern of JᵀJ has few entries, they are solved sparsely; the way is found once.

>>> import numpy as np
>>> full = NormalEquations((3, 2), np.asarray([0, 2, 4, 6]), np.asarray([0, 1, 0, 1, 0, 1]))
>>> entries, b = np.asarray([1.0, 0.0, 1.0, 1.0, 1.0, 2.0]), np.asarray([1.0, 3.0, 5.0])
>>> full.solved(entries, np.ones(3), b, 0.0).round(12).tolist()
[1.0, 2.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem

if TYPE_CHECKING:
    from hilbert.arrays.systems.scipy_modules import Scipy
    from hilbert.arrays.systems.sparse_systems import Ints

SMALL, SPARSE = 64, 4
"""The unknowns up to which the matrix is made in full, and the part of its entries up to which it is sparse."""
TINY = 1e-150
"""The number in place of an entry of J that is 0: scipy leaves out products that are 0. It is lost beside others."""
LEAST = 1e-12
"""The least entry of D, as a part of the largest one."""


@final
class NormalEquations:
    """The equations for matrices of a shape with entries at some places, row by row as in a CSR matrix."""

    def __init__(self, shape: tuple[int, int], indptr: Ints, indices: Ints) -> None:
        self.shape, self.indptr, self.indices = shape, indptr, indices
        self.rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
        self.sparse: SparseSystem | None = None
        n, sp = shape[1], scipy_of()
        if n > SMALL and sp is not None:
            self.idle = np.flatnonzero(np.bincount(indices, minlength=n) == 0)
            ends = indptr[-1] + np.arange(1, len(self.idle) + 1)
            kept = [np.concatenate(some).astype(np.int32) for some in ((indices, self.idle), (indptr, ends))]
            self.kept, self.tall = kept, (shape[0] + len(self.idle), n)  # J, and a row for each unknown that is not met
            found = self._product(np.ones(len(kept[0]), np.float32), sp)
            if SPARSE * found.nnz <= n * n:
                row = np.repeat(np.arange(n, dtype=np.int32), np.diff(found.indptr))
                self.on = np.flatnonzero(row == found.indices)
                self.sparse = SparseSystem(row, found.indices, n, n, sp, positive=True)

    @property
    def way(self) -> str:
        """The way to solve, as text."""
        return "by its matrix" if self.sparse is None else self.sparse.way

    def product(self, entries: Any, b: Any) -> Any:
        """Jᵀb."""
        return np.bincount(self.indices, entries * b[self.rows], self.shape[1])

    def solved(self, entries: Any, weights: Any, b: Any, damping: float) -> Any:
        """x for the entries of J, one weight for each row, and a damping λ; raises LinAlgError where there is none."""
        n = self.shape[1]
        side = self.product(entries, weights * b)
        scaled = entries * np.sqrt(weights)[self.rows]
        if self.sparse is None:
            j = np.zeros(self.shape)
            j[self.rows, self.indices] = scaled
            matrix = j.T @ j
            matrix[np.arange(n), np.arange(n)] += damping * _floored(np.diagonal(matrix))
            return np.linalg.solve(matrix, side)
        values = self._gram(scaled)
        values[self.on] += damping * _floored(values[self.on])
        return self.sparse.solver(values)(side[None])[0]

    def _gram(self, scaled: Any) -> Any:
        """The entries of JᵀJ at the places of the pattern."""
        assert self.sparse is not None
        kept = np.full(len(self.kept[0]), TINY)
        np.copyto(kept[: len(scaled)], scaled, where=scaled != 0.0)
        found, system, n = self._product(kept, self.sparse.sp), self.sparse, self.shape[1]
        values = found.data
        if found.nnz != len(system.rows):  # some are 0 all the same, and left out
            codes = system.rows.astype(np.int64) * n + system.cols
            values = np.zeros(len(codes))
            values[np.searchsorted(codes, np.repeat(np.arange(n), np.diff(found.indptr)) * n + found.indices)] = (
                found.data
            )
        values[self.on[self.idle]] = 0.0
        return values

    def _product(self, kept: Any, sp: Scipy) -> Any:
        """JᵀJ for entries of J and one for each unknown that is not met."""
        j = sp.sparse.csr_array((kept, *self.kept), shape=self.tall)
        found = (j.T @ j).tocsr()
        found.sort_indices()
        return found


def _floored(diagonal: Any) -> Any:
    """D, no entry of which is 0 unless all are."""
    return np.maximum(diagonal, LEAST * np.max(diagonal, initial=0.0))
