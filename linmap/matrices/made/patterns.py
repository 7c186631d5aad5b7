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
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from hilbert import Copower, DirectSum, Field, Fin, SpaceError, TensorProduct, Vec, formal
from hilbert.arrays.formal.formal_array import Memo, add, scaled
from hilbert.arrays.formal.formal_kernels import dense as multiplied_out
from hilbert.arrays.libraries.libraries import common_library
from hilbert.arrays.libraries.namespace import freeze, fresh, to_numpy
from hilbert.base.once import OfFields, cached_property
from hilbert.space.space import type_of
from hilbert.tensors.formal_tensors import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type
    from hilbert.index.leaf import Leaf


@cache
def scipy(module: str) -> Any:
    """A module of scipy; SpaceError if scipy is not installed."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError as error:
        msg = "sparse matrices and operators need scipy: pip install scipy, or pip install '.[sparse]' from a clone"
        raise SpaceError(msg) from error


def entry_type(cod: Type, dom: Type) -> str:
    """The type of a matrix's entries."""
    dtypes = [leaf.dtype for leaf in (*cod.leaves, *dom.leaves)]
    return str(np.result_type(*dtypes)) if dtypes else "float64"


def _bits(array: npt.NDArray[Any]) -> tuple[str, bytes]:
    """The key that index arrays are compared by."""
    return array.dtype.str, array.tobytes()


@final
@frozen
class DensePattern:
    """A dense matrix: it has no index data."""

    leaf: Leaf

    @property
    def shape(self) -> tuple[int, ...]:
        """(dim W, dim V)."""
        return self.leaf.shape

    @property
    def entries(self) -> int:
        """The number of entries."""
        return self.leaf.size

    @property
    def arrays(self) -> Type:
        """The space of the matrix."""
        return type_of(self.leaf)

    def matrix(self, arrays: Sequence[Any]) -> Any:
        """The matrix, an array of its own."""
        array = fresh(multiplied_out(arrays[0]))
        return np.ascontiguousarray(array) if isinstance(array, np.ndarray) else array


@final
@frozen(slots=False, cache_hash=True)
class SparsePattern(OfFields):
    """The places of the entries of a CSR matrix: read-only index arrays, which all its matrices share."""

    shape: tuple[int, int]
    indptr: npt.NDArray[np.signedinteger[Any]] = field(eq=_bits, repr=False, converter=freeze)
    indices: npt.NDArray[np.signedinteger[Any]] = field(eq=_bits, repr=False, converter=freeze)
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
        return with_entries(self._made, _own(arrays[0]))


@final
@frozen(slots=False, cache_hash=True)
class BlockCell(OfFields):
    """The places of the blocks of a BSR matrix, between the leaves `at`; `space` is that of all blocks."""

    at: tuple[int, int]
    space: Type
    shape: tuple[int, int]
    size: tuple[int, int]
    indptr: npt.NDArray[np.signedinteger[Any]] = field(eq=_bits, repr=False, converter=freeze)
    indices: npt.NDArray[np.signedinteger[Any]] = field(eq=_bits, repr=False, converter=freeze)

    @cached_property
    def _made(self) -> tuple[type, dict[str, Any]]:
        blocks = np.zeros((len(self.indices), *self.size))
        return attributes("bsr_array", blocks, self, shape=self.shape, blocksize=self.size)

    def matrix(self, array: Any) -> Any:
        """The BSR array with these blocks, an array of its own."""
        return with_entries(self._made, _own(array).reshape(-1, *self.size))


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


@final
@frozen
class Pair:
    """A product of the block (out, inp): the places of its factors among the line's outputs, or of its whole array.

    The factors have axes of `shape` in front, and the product a number, or the place of one.
    """

    out: int
    inp: int
    left: int
    right: int | None = None
    shape: tuple[int, ...] = ()
    k: float = 1.0
    scalar: int | None = None


@final
@frozen(slots=False)
class TensorPattern(OfFields):
    """The products of factors that a formal tensor of W ⊗ V is the sum of; `leaves` are those of all factors."""

    space: TensorProduct[Any, Any]
    pairs: tuple[Pair, ...]
    leaves: tuple[Leaf, ...]

    @cached_property
    def arrays(self) -> Type:
        """The direct sum of the spaces of the factors."""
        return DirectSum(tuple(map(type_of, self.leaves)))

    def matrix(self, arrays: Sequence[Any]) -> Vec[Any]:
        """The element of W ⊗ V with these factors."""
        W, V = self.space.left, self.space.right
        lib, memo = common_library(arrays), Memo()
        leaves = list(formal(self.space, []).leaves)
        for p in self.pairs:
            a, b = W.leaves[p.out], V.leaves[p.inp]
            made = arrays[p.left]
            if p.right is not None:
                made = joined(lib, memo, (arrays[p.left], a), (arrays[p.right], b), p.shape)
                made = scaled(made, p.k if p.scalar is None else p.k * lib.number(arrays[p.scalar]))
            place = p.out * len(V.leaves) + p.inp
            leaves[place] = add(leaves[place], made, memo)
        return Vec(self.space, tuple(map(_plain, leaves)))


def _plain(leaf: Any) -> Any:
    """A dense part without terms as an array."""
    return freeze(leaf.dense if not leaf.rank and leaf.dense is not None else leaf)


Pattern: TypeAlias = DensePattern | SparsePattern | BlocksPattern | TensorPattern
"""The index data of a matrix in one of the forms."""


def attributes(name: str, data: Any, of: SparsePattern | BlockCell, **options: Any) -> tuple[type, dict[str, Any]]:
    """The class of a matrix of scipy and its attributes beside the entries: the constructor looks at each index."""
    cls = getattr(scipy("sparse"), name)
    made = cls((data, of.indices, of.indptr), **options)
    made.has_sorted_indices = made.has_canonical_format = True
    made.indices, made.indptr = freeze(made.indices), freeze(made.indptr)
    del made.data
    return cls, vars(made)


def _own(array: Any) -> Any:
    """An array as entries in memory of the host that may be written into."""
    return fresh(array if type(array) is np.ndarray else to_numpy(multiplied_out(array)))


def with_entries(made: tuple[type, dict[str, Any]], data: Any) -> Any:
    """A matrix with the attributes of others, and entries of its own."""
    cls: Any = made[0]
    matrix = cls.__new__(cls)
    matrix.__dict__.update(made[1], data=data)
    return matrix
