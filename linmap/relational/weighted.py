"""Weighted pairs: a sparse matrix as a linear map V^X ⊸ V^Y, a segment sum of weighted entries of a gather.

The adjoint is of the same form with both tables swapped. `diff.sparse_product` is the function of weights and vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert import Fin, Index, R, SpaceError
from hilbert.arrays.libraries.namespace import freeze, to_numpy
from hilbert.base.attach import overloaded
from hilbert.errors import shown
from hilbert.relation import function
from hilbert.relation.relation_checks import array_of
from linmap import contraction
from linmap.relational.entries import table_of
from linmap.term.maps import delta, in_order, red

if TYPE_CHECKING:
    from linmap import _calls
    from linmap.term.linear_map import AnyLinMap


@overloaded(lambda: _calls.sparse)
def sparse(rows: Any, cols: Any, weights: Any, X: Any, Y: Any, V: Any = R) -> Any:
    """sparse : V^X ⊸ V^Y, v ↦ (Σ weights[k]·v_{cols[k]} over rows[k] = y)_y: the matrix with these entries.

    Rows are elements of Y, columns of X: positions, labels that are strings, or `X.at(labels)`. Entries of one place
    are added. Raises SpaceError for elements outside X or Y, for unequal lengths, and for weights that are no numbers
    of the field of V: in double precision for single, masked, objects, or a column with missing entries.
    """
    in_order("sparse(rows, cols, weights, X, Y, V)", V, X, Y, tables=(rows, cols, weights))
    target = table_of(rows, Y, None, "sparse")
    source = table_of(cols, X, None, "sparse")
    c = contraction.scalar(V)
    data = array_of(weights, "the weights of a sparse matrix")
    if data.dtype.kind not in "iuf" or data.ndim != 1:
        msg = f"the weights of a sparse matrix are a one-dimensional array of numbers, not {data.dtype} of {data.shape}"
        raise SpaceError(msg)
    size = data.size
    if not target.dom.size == source.dom.size == size:
        sizes = f"{target.dom.size}, {source.dom.size} and {size}"
        msg = f"a sparse matrix has as many rows as columns and weights of entries, not {sizes}"
        raise SpaceError(msg)
    if data.dtype.kind == "f" or getattr(getattr(weights, "dtype", None), "kind", "") == "O":
        # As any array: no double precision for single, no objects, no column with missing entries.
        data = to_numpy((c.left ** Fin.of(size)).vec(weights).array)
    codes, places = np.unique(target.holds()[1] * X.size + source.holds()[1], return_inverse=True)
    y, x = np.divmod(codes, max(X.size, 1))
    entries = Fin.of(codes.size)
    summed = np.zeros(codes.size, c.left.dtype)
    np.add.at(summed, places, data)
    weighted: AnyLinMap = delta(c, 0, (c.left**entries).vec(freeze(summed)), entries)
    return red(function(y, entries, Y), V) @ weighted @ red(function(x, entries, X).T, V)


@overloaded(lambda: _calls.from_scipy)
def from_scipy(matrix: Any, X: Any = None, Y: Any = None, V: Any = R) -> Any:
    """from_scipy : V^X ⊸ V^Y, v ↦ A v for a sparse matrix A of scipy in any of its formats; X names its columns.

    Its entries are copied. Raises SpaceError for what is no sparse matrix, for a complex one, and for index sets of
    other sizes than its shape.
    """
    in_order("from_scipy(matrix, X, Y, V)", V, X, Y, tables=(matrix,))
    if not hasattr(matrix, "tocoo") or len(matrix.shape) != 2:
        msg = f"from_scipy takes a sparse matrix of scipy, not {shown(matrix)}"
        raise SpaceError(msg)
    coo = matrix.tocoo()
    if coo.data.dtype.kind == "c":
        msg = f"{shown(matrix)} is complex, and all spaces are real: make one map of its real and one of its imaginary "
        raise SpaceError(f"{msg}part, A.real and A.imag")
    X, Y = Fin.of(coo.shape[1]) if X is None else X, Fin.of(coo.shape[0]) if Y is None else Y
    for index, size in ((X, coo.shape[1]), (Y, coo.shape[0])):
        if not isinstance(index, Index) or index.size != size:
            msg = f"a matrix of {coo.shape[0]} rows and {coo.shape[1]} columns does not map {shown(X)} to {shown(Y)}"
            raise SpaceError(f"{msg}: X, which stands first, names the columns, and Y the rows")
    entries = Fin.of(coo.nnz)
    rows, cols = function(coo.coords[0], entries, Y), function(coo.coords[1], entries, X)
    return sparse(rows, cols, coo.data, X, Y, V)
