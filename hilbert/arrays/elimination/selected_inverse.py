"""Entries of the inverse of a matrix at its own places: by all columns, and checks of faster ways.

Eliminations without exchanges of rows are trusted where nothing that they take from the rest grows, and where the
products of the rows and of the columns of A with those of the inverse are 1.

>>> a = np.diag([2.0, 3.0, 4.0]) + np.diag([1.0, 1.0], 1) + np.diag([1.0, 0.5], -1)
>>> rows, cols = np.nonzero(a)
>>> has_digits(rows, cols, a[rows, cols], np.linalg.inv(a)[cols, rows], 3)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]

COLUMNS = 64
"""The columns that are solved for at once."""
ROW, ENTRY = 1e-8, 6e-10
"""Seconds for each row of a column, and for each entry of the factors."""


def seconds_by_columns(size: int, entries: int) -> float:
    """The predicted time by columns, for factors with so many entries."""
    return size * (ROW * size + ENTRY * entries)


def by_columns(solve: Callable[[Any], Any], rows: Ints, cols: Ints, values: Any, size: int) -> Any:
    """(A⁻¹)_ji for the places (i, j) of the entries of A, by the function that solves for rows."""
    made, order = np.empty_like(values), np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(0, size + COLUMNS, COLUMNS))
    for k, start in enumerate(range(0, size, COLUMNS)):
        some = order[ends[k] : ends[k + 1]]
        eye = np.zeros((min(COLUMNS, size - start), size), values.dtype)
        eye[np.arange(len(eye)), start + np.arange(len(eye))] = 1.0
        made[some] = solve(eye)[rows[some] - start, cols[some]]
    return made


def most_growth(values: Any) -> float:
    """The largest entry of what an elimination takes from the rest of a matrix whose entries are at most 1."""
    return float(np.finfo(values.dtype).eps ** (-1 / 6))


def require_no_growth(taken: Any) -> None:
    """Raise LinAlgError where an elimination without exchanges loses digits, or has no finite numbers."""
    if not np.abs(taken).max(initial=0.0) <= most_growth(taken):
        msg = "digits are lost without exchanges of rows"
        raise np.linalg.LinAlgError(msg)


def scales(rows: Ints, cols: Ints, values: Any, size: int) -> Any:
    """Numbers by which the entries are divided, so that they are at most 1: roots of the largest of row and column.

    Symmetric matrices stay so. The entries of the inverse at the mirrored places are divided by the same numbers.
    """
    sizes = np.abs(values)
    by_row, by_col = np.zeros((2, size), values.dtype)
    np.maximum.at(by_row, rows, sizes)
    np.maximum.at(by_col, cols, sizes)
    return np.sqrt(by_row).take(rows) * np.sqrt(by_col).take(cols)


def has_digits(rows: Ints, cols: Ints, values: Any, found: Any, size: int) -> bool:
    """True if the products of rows, and of columns, with those of the inverse are 1, as far as may be expected."""
    products = found * values
    sizes, most = np.abs(products), float(np.finfo(values.dtype).eps ** 0.5625)
    for side in (rows, cols):
        scale = np.maximum(np.bincount(side, sizes, size), 1.0)
        left = np.abs(np.bincount(side, products, size) - 1.0)
        if not (np.isfinite(scale) & (left <= most * scale)).all():
            return False
    return True
