"""Products of tables whose values a plan knows, by scipy's product of sparse matrices where scipy is there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hilbert.arrays.kernels.segments import sparse
from linmap.matrices.labelled.columns import CELLS, Columns, Labels, TooManyRowsError, flat_positions, length, split

if TYPE_CHECKING:
    from collections.abc import Sequence

Values: TypeAlias = npt.NDArray[Any]
Side: TypeAlias = tuple[Columns, Values]
"""Distinct tuples of labels, and a number for each."""
WORTH = 2**13
"""The number of pairs from which scipy's matrix product is quicker than a list of them."""


def summed_product(left: Side, right: Side, kept: Labels, sizes: Sequence[int], most: int | None) -> Side | None:
    """The distinct tuples of some labels among the pairs that agree, with the sum of the products of their numbers.

    What both sides have is kept or summed, and no pair is listed. None where the matrices would be much larger than
    the tables, or scipy is not there. Raises TooManyRowsError where more than `most` pairs agree.
    """
    sp = sparse()
    if kept and kept[0] not in left[0]:
        left, right = right, left
    rows, cols = tuple(c for c in kept if c in left[0]), tuple(c for c in kept if c not in left[0])
    ends = rows, tuple(c for c in left[0] if c in right[0]), cols
    n, k, m = (math.prod(sizes[c] for c in labels) for labels in ends)
    if sp is None or max(n, k, m) > CELLS * (length(left[0]) + length(right[0])):
        return None

    def by_column(side: Side, labels: tuple[Labels, Labels], shape: tuple[int, int]) -> Any:
        places = tuple(flat_positions(end, side[0], sizes, np.int32) for end in labels)
        return sp.coo_array((side[1], places), shape=shape).tocsc()

    a, b = by_column(left, ends[:2], (n, k)), by_column(right, ends[1:], (k, m))
    if most is not None and int(np.diff(a.indptr) @ np.bincount(b.indices, minlength=k)) > most:
        raise TooManyRowsError
    found = pattern = (a @ b).tocsr()  # rows made of columns are in order
    if not _no_entry_vanishes(a, b):
        for side in (a, b):
            side.data = np.ones(len(side.data), bool)
        pattern = (a @ b).tocsr()  # numbers may cancel, and what is 0 then is left out; truth values do not
    flat, values = _places(pattern), found.data
    if found.nnz < pattern.nnz:
        values = np.zeros(pattern.nnz, values.dtype)
        values[np.searchsorted(flat, _places(found))] = found.data
    columns = dict(split((*rows, *cols), flat, sizes))
    return {c: columns[c] for c in kept}, values


def _no_entry_vanishes(a: Any, b: Any) -> bool:
    """Tell by the least numbers of both sides if no sum of products can be 0: then a·b itself shows the pattern."""
    least, other = (float(side.data.min()) if side.nnz else 0.0 for side in (a, b))
    return min(least, other) > 0.0 and least * other > 0.0


def _places(matrix: Any) -> npt.NDArray[np.int64]:
    """The flat position of each entry, in order."""
    rows = np.arange(matrix.shape[0], dtype=np.int64) * matrix.shape[1]
    flat: npt.NDArray[np.int64] = rows.repeat(np.diff(matrix.indptr))
    flat += matrix.indices
    return flat
