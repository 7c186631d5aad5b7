"""Columns of labels: lists, numpy arrays, pandas and Arrow columns, with labels of any hashable type.

Columns are read through `__array__` or `to_numpy`; no library of tables is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hilbert.errors import SpaceError, is_masked, shown
from hilbert.index.index import has_labels, is_missing

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from hilbert.index.index import Labelled
    from hilbert.index.leaf import Leaf

Ints: TypeAlias = npt.NDArray[np.int64]
SORTABLE = "iubSUmMf"
"""The kinds of numpy arrays whose distinct entries numpy finds; those of others are found by hashing in Python."""


def is_labels(data: Any) -> bool:
    """Whether data are labels by their type: strings, in lists and arrays of any shape, and categorical columns."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    if isinstance(data, (str, bytes)):
        return True
    if hasattr(data, "dictionary") or hasattr(getattr(data, "type", None), "index_type"):  # of Arrow
        return True
    dtype = getattr(data, "dtype", None)
    if hasattr(dtype, "categories") or str(dtype) in ("str", "string"):  # of pandas
        return True
    if isinstance(data, (np.ndarray, np.generic)) or hasattr(data, "to_numpy"):
        array: npt.NDArray[Any] = np.asarray(data)
        return array.dtype.kind in "SU" or (array.dtype.kind == "O" and any(isinstance(x, str) for x in array.flat))
    return False


def in_order(data: Any, leaf: Leaf) -> None:
    """Raise SpaceError where a dictionary or a table of pandas has labels of its own, in another order than an axis."""
    if not (isinstance(data, dict) or hasattr(data, "loc")):
        return
    labelled = [(k, axis) for k, axis in enumerate(leaf.axes) if has_labels(axis)]
    if isinstance(data, dict):
        if len(leaf.axes) == len(labelled) == 1:
            msg = f"a dictionary is no element of {leaf}: write V.vec([d[k] for k in X.labels]), X = {leaf.axes[0]}"
            raise SpaceError(msg)
        return
    table: Any = data
    given = (table.index, getattr(table, "columns", None))
    for k, axis in labelled:
        own: Any = given[k] if k < len(given) else None
        if own is None or type(own).__name__ == "RangeIndex" or list(own) == list(axis.labels):
            continue
        rows = "t.loc[list(X.labels)]" if k == 0 else "t[list(X.labels)]"
        msg = f"an element of {leaf} has its entries in the order of X.labels, X = {axis}, and the table in another"
        raise SpaceError(f"{msg}: write {rows}, or t.to_numpy() if its order is meant")


def positions_of(keys: Labelled[Any], data: Any) -> Any:
    """The positions of labels: an integer, or an array of the shape of the data."""
    if isinstance(data, (str, bytes)):
        return keys.position(data)
    if isinstance(data, (list, tuple, np.ndarray)):
        array = data if isinstance(data, np.ndarray) else np.asarray(data, dtype=object)
        return distinct_labels(column_of(array.reshape(-1)), keys)[1].reshape(array.shape)
    return distinct_labels(column_of(data), keys)[1]


def column_of(column: Any) -> Any:
    """A list of keys, or a one-dimensional array; what tables call a column becomes one of these."""
    if isinstance(column, (list, tuple)):
        return list(column)
    if is_masked(column):
        msg = "a column of keys is not a masked array: column.compressed() leaves the masked rows out"
        raise SpaceError(msg)
    try:
        if not hasattr(column, "__array__") and hasattr(column, "to_numpy"):
            column = column.to_numpy()
        array: npt.NDArray[Any] = np.asarray(column)
    except (ValueError, TypeError) as error:
        msg = f"a column of keys is a list, an array or a column of a table, not {shown(column)}"
        raise SpaceError(msg) from error
    if array.ndim != 1:
        msg = f"a column of keys has one axis, not the shape {array.shape}"
        raise SpaceError(msg)
    return array if array.dtype.kind in SORTABLE else array.tolist()


def distinct_labels(entries: Any, keys: Labelled[Any] | None) -> tuple[Sequence[Hashable], Ints]:
    """The distinct keys in the order of their first occurrence (or the given ones), and the place of each entry."""
    if isinstance(entries, list):
        return _hashed(entries, keys)
    values, first, inverse = np.unique(entries, return_index=True, return_inverse=True)
    if values.dtype.kind in "fmM" and (values[-1:] != values[-1:]).any():  # NaN and NaT come last
        _missing()
    if keys is not None:
        return keys.labels, _places(list(_plain(values)), keys)[inverse]
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return tuple(_plain(values[order])), rank[inverse]


def _plain(values: npt.NDArray[Any]) -> list[Any]:
    """Python's own values, but dates and durations as numpy's, which keep their unit."""
    return list(values) if values.dtype.kind in "mM" else values.tolist()


def _hashed(entries: list[Any], keys: Labelled[Any] | None) -> tuple[Sequence[Hashable], Ints]:
    if any(map(is_missing, entries)):
        _missing()
    if keys is not None:
        return keys.labels, _places(entries, keys)
    places: dict[Hashable, int] = {}
    try:
        positions = np.fromiter((places.setdefault(e, len(places)) for e in entries), np.int64, len(entries))
    except TypeError:
        msg = "the keys of a column are hashable; a list may become a tuple"
        raise SpaceError(msg) from None
    return tuple(places), positions


def _places(entries: list[Any], keys: Labelled[Any]) -> Ints:
    return np.fromiter((keys.position(entry) for entry in entries), np.int64, len(entries))


def _missing() -> None:
    msg = "a column of keys has missing entries (None, NaN): leave their rows out, or give them a key of their own"
    raise SpaceError(msg)
