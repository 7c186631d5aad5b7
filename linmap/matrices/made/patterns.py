"""The index data of matrices, and the matrices that they make of arrays: a line of a form's plan ends in these arrays.

>>> import numpy as np
>>> made = SparsePattern((2, 2), np.array([0, 1, 2]), np.array([1, 0]), "float64")
>>> print(made.arrays)
ℝ^2
>>> made.matrix([np.array([3.0, 4.0])]).toarray().tolist()
[[0.0, 3.0], [4.0, 0.0]]
"""

from __future__ import annotations

import importlib
import math
from functools import cache
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from hilbert import Copower, DirectSum, Field, Fin, SpaceError
from hilbert.arrays.libraries.namespace import freeze, fresh, to_numpy
from hilbert.base.once import OfFields, cached_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type


@cache
def scipy(module: str) -> Any:
    """A module of scipy; SpaceError if scipy is not installed."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError as error:
        msg = "sparse matrices and operators need scipy: pip install scipy, or pip install '.[sparse]' from a clone"
        raise SpaceError(msg) from error


@final
@frozen(slots=False)
class SparsePattern(OfFields):
    """The places of the entries of a CSR matrix: read-only index arrays, which all its matrices share."""

    shape: tuple[int, int]
    indptr: npt.NDArray[np.signedinteger[Any]] = field(eq=False, repr=False, converter=freeze)
    indices: npt.NDArray[np.signedinteger[Any]] = field(eq=False, repr=False, converter=freeze)
    dtype: str = "float64"

    @property
    def entries(self) -> int:
        """The number of entries."""
        return len(self.indices)

    @cached_property
    def arrays(self) -> Type:
        """The space of the entries, row by row."""
        return Copower(Field(self.dtype), Fin.of(self.entries))

    @cached_property
    def _made(self) -> tuple[type, dict[str, Any]]:
        return attributes("csr_array", np.zeros(self.entries), self, shape=self.shape)

    def matrix(self, arrays: Sequence[Any]) -> Any:
        """The CSR array with these entries, an array of its own."""
        return with_entries(self._made, fresh(to_numpy(arrays[0])))


@final
@frozen(slots=False)
class BlockCell(OfFields):
    """The places of the blocks of a BSR matrix, between the leaves `at`; `space` is that of all blocks."""

    at: tuple[int, int]
    space: Type
    shape: tuple[int, int]
    size: tuple[int, int]
    indptr: npt.NDArray[np.signedinteger[Any]] = field(eq=False, repr=False, converter=freeze)
    indices: npt.NDArray[np.signedinteger[Any]] = field(eq=False, repr=False, converter=freeze)

    @cached_property
    def _made(self) -> tuple[type, dict[str, Any]]:
        blocks = np.zeros((len(self.indices), *self.size))
        return attributes("bsr_array", blocks, self, shape=self.shape, blocksize=self.size)

    def matrix(self, array: Any) -> Any:
        """The BSR array with these blocks, an array of its own."""
        return with_entries(self._made, fresh(to_numpy(array)).reshape(-1, *self.size))


@final
@frozen(slots=False)
class BlocksPattern(OfFields):
    """The cells of a matrix in block layout that are not 0; `grid` counts the leaves of the codomain and the domain."""

    grid: tuple[int, int]
    cells: tuple[BlockCell, ...]

    @property
    def entries(self) -> int:
        """The number of entries in all blocks."""
        return sum(len(cell.indices) * math.prod(cell.size) for cell in self.cells)

    @cached_property
    def arrays(self) -> Type:
        """The direct sum of the spaces of the cells' blocks."""
        return DirectSum(tuple(cell.space for cell in self.cells))

    def matrix(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        """A BSR array for each pair of leaves; None where the term proves 0."""
        rows: list[list[Any]] = [[None] * self.grid[1] for _ in range(self.grid[0])]
        for cell, array in zip(self.cells, arrays, strict=True):
            rows[cell.at[0]][cell.at[1]] = cell.matrix(array)
        return tuple(map(tuple, rows))


def attributes(name: str, data: Any, of: SparsePattern | BlockCell, **options: Any) -> tuple[type, dict[str, Any]]:
    """The class of a matrix of scipy and its attributes beside the entries: the constructor looks at each index."""
    cls = getattr(scipy("sparse"), name)
    made = cls((data, of.indices, of.indptr), **options)
    made.has_sorted_indices = made.has_canonical_format = True
    made.indices, made.indptr = freeze(made.indices), freeze(made.indptr)
    del made.data
    return cls, vars(made)


def with_entries(made: tuple[type, dict[str, Any]], data: Any) -> Any:
    """A matrix with the attributes of others, and entries of its own."""
    cls, rest = made
    matrix: Any = cls.__new__(cls)
    matrix.__dict__.update(rest, data=data)
    return matrix
