"""Columns whose rows are lists of numbers, vectors or matrices, as arrays with an axis for each level of the lists.

>>> import numpy as np
>>> rows = np.empty(2, object)
>>> rows[:] = [[1.0, 2.0], [3.0, 4.0]]
>>> unlisted(rows).tolist(), unlisted(np.arange(2)).tolist()
([[1.0, 2.0], [3.0, 4.0]], [0, 1])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hilbert import SpaceError


def unlisted(rows: Any, first: int = 0) -> Any:
    """The rows of a column of lists as an array; other rows as they are.

    A column of lists is one of Arrow, or one of objects that are lists or arrays. Raises SpaceError where a row, or an
    entry of a row, has no value, and where rows have different lengths; the number of the first row is `first`.
    """
    if hasattr(getattr(rows, "type", None), "value_field"):
        return _of_arrow(rows.combine_chunks() if hasattr(rows, "combine_chunks") else rows, first)
    if str(getattr(rows, "dtype", None)) != "object":
        return rows
    given = list(rows.filled(None) if isinstance(rows, np.ma.MaskedArray) else rows)
    if not any(map(_is_list, given)):
        return rows
    require_values([not _is_list(row) for row in given], first)
    arrays = [unlisted(np.asarray(row)) for row in given]
    _require_lengths([len(row) for row in arrays], first)
    return np.stack(arrays)


def require_values(missing: Any, first: int) -> None:
    """Raise SpaceError where rows have no value, with their number, and the first three."""
    mask = np.asarray(missing, bool)
    gaps = np.flatnonzero(mask.reshape(len(mask), math.prod(mask.shape[1:])).any(1))
    if len(gaps):
        where = ", ".join(str(first + k) for k in gaps[:3]) + (", …" if len(gaps) > 3 else "")
        msg = f"no value in {len(gaps)} rows ({where}): fill them, or leave them out"
        raise SpaceError(msg)


def _is_list(row: Any) -> bool:
    return isinstance(row, (list, tuple, np.ndarray))


def _require_lengths(lengths: Any, first: int) -> None:
    """Raise SpaceError where the lists of rows have different lengths."""
    other = next((k for k, n in enumerate(lengths) if n != lengths[0]), None)
    if other is not None:
        msg = f"{lengths[0]} entries in row {first}, and {lengths[other]} in row {first + other}: "
        raise SpaceError(msg + "the rows of a vector have as many each")


def _of_arrow(column: Any, first: int, outer: tuple[int, ...] = ()) -> Any:
    """The entries of an array of Arrow, whose items are entries of lists of the shape `outer`."""
    n = len(column) // max(math.prod(outer), 1)
    if column.null_count:
        require_values(column.is_null().to_numpy(zero_copy_only=False).reshape(n, *outer), first)
    if not hasattr(column.type, "value_field"):
        return column.to_numpy(zero_copy_only=False).reshape(n, *outer)
    if hasattr(column.type, "list_size"):
        width = column.type.list_size
    else:
        lengths = column.value_lengths().to_numpy()
        if len(lengths) and (lengths != lengths[0]).any():
            _require_lengths(lengths, first)
        width = int(lengths[0]) if len(lengths) else 0
    return _of_arrow(column.flatten(), first, (*outer, width))
