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
    from hilbert.arrays.systems.sparse_systems import Ints

SMALL, SPARSE = 64, 4
"""The unknowns up to which the matrix is made in full, and the part of its entries up to which it is sparse."""
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
            ones = sp.sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)
            found = (ones.T @ ones + sp.sparse.eye_array(n)).tocsr()
            found.sort_indices()
            if SPARSE * found.nnz <= n * n:
                places = np.repeat(np.arange(n), np.diff(found.indptr))
                self.codes = places * n + found.indices
                self.on = np.searchsorted(self.codes, np.arange(n) * (n + 1))
                self.sparse = SparseSystem(places, found.indices, n, n, sp)

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
        j = self.sparse.sp.sparse.csr_array((scaled, self.indices, self.indptr), shape=self.shape)
        found = (j.T @ j).tocsr()
        found.sort_indices()
        n = self.shape[1]
        values = np.zeros(len(self.codes))
        where: Any = slice(None)
        if found.nnz != len(values):  # entries that are 0 are left out
            where = np.searchsorted(self.codes, np.repeat(np.arange(n), np.diff(found.indptr)) * n + found.indices)
        values[where] = found.data
        return values


def _floored(diagonal: Any) -> Any:
    """D, no entry of which is 0 unless all are."""
    return np.maximum(diagonal, LEAST * np.max(diagonal, initial=0.0))
