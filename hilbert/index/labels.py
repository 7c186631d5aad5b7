"""Columns of labels: lists, numpy arrays, columns of pandas, polars and Arrow, with labels of any hashable type.

Columns are read through `__array__` or `to_numpy`; no library of tables is imported. Names of dimensions and labels
that a table or an array has of its own are compared with the axes of the space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hilbert.errors import SpaceError, is_masked, shown
from hilbert.index.index import Anonymous, Labelled, has_labels, is_missing

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from hilbert.index.leaf import Leaf

Ints: TypeAlias = npt.NDArray[np.int64]
SORTABLE = "iubSUmMf"
"""The kinds of numpy arrays whose distinct entries numpy finds; those of others are found by hashing in Python."""


def is_labels(data: Any) -> bool:
    """Tell if data are labels by their type: strings, in lists and arrays of any shape, and categorical columns."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    if isinstance(data, (str, bytes)):
        return True
    if hasattr(data, "dictionary") or hasattr(getattr(data, "type", None), "index_type"):  # of Arrow
        return True
    dtype = getattr(data, "dtype", None)
    if hasattr(dtype, "categories") or str(dtype) in ("str", "string", "String"):  # of pandas, of polars
        return True
    if isinstance(data, (np.ndarray, np.generic)) or hasattr(data, "to_numpy"):
        array: npt.NDArray[Any] = np.asarray(data)
        return array.dtype.kind in "SU" or (array.dtype.kind == "O" and any(isinstance(x, str) for x in array.flat))
    return False


def has_missing(column: Any) -> bool:
    """Tell if a column, a table or a DataArray has missing entries: NA, None, null, and NaN except in polars."""
    nulls = getattr(column, "null_count", None)  # a number in Arrow, a method in polars, where NaN is a number
    if nulls is not None and np.any(np.asarray(nulls() if callable(nulls) else nulls)):
        return True
    ask = getattr(column, "isna", None) or getattr(column, "isnull", None)
    return callable(ask) and bool(np.any(np.asarray(ask())))


def in_order(data: Any, leaf: Leaf) -> Any:
    """The data, the axes of a DataArray in the order of the leaf's.

    Raises SpaceError where a dictionary, a table or a DataArray has labels of its own, in another order than an axis.
    """
    if isinstance(data, dict):
        if len(leaf.axes) == 1 and has_labels(leaf.axes[0]):
            msg = f"a dictionary is no element of {leaf}: write V.vec([d[k] for k in X.labels]), X = {leaf.axes[0]}"
            raise SpaceError(msg)
        return data
    if isinstance(getattr(data, "dims", None), tuple):
        return _by_name(data, leaf)
    if hasattr(data, "data_vars"):
        msg = f"a Dataset is no element of {leaf}: it has several arrays, of which d[name] is one"
        raise SpaceError(msg)
    rows = data.index if hasattr(data, "loc") else None
    given = (rows, getattr(data, "column_names", None) or getattr(data, "columns", None))
    for k, axis in enumerate(leaf.axes[:2]):
        own: Any = given[k]
        if has_labels(axis) and own is not None and type(own).__name__ != "RangeIndex":
            remedy = ("t.loc[list(X.labels)]", "t[list(X.labels)]")[k]
            _require_labels(list(own), axis, leaf, f"the table in another: write {remedy}, or t.to_numpy()")
    return data


def _require_labels(own: list[Any], axis: Labelled[Any], leaf: Leaf, otherwise: str) -> None:
    if own != list(axis.labels):
        msg = f"an element of {leaf} has its entries in the order of X.labels, X = {axis}, and "
        raise SpaceError(f"{msg}{otherwise} if its order is meant")


def _by_name(data: Any, leaf: Leaf) -> npt.NDArray[Any]:
    """The array of a DataArray: a dimension is the axis whose tag has its name; others are anonymous axes, in order."""
    dims, axes = [str(name) for name in data.dims], leaf.axes
    if has_missing(data):
        msg = f"a DataArray with missing entries (NaN) is not an element of {leaf}: fill them (a.fillna(0.0)); "
        raise SpaceError(f"{msg}a.to_numpy() keeps NaN")
    tags = [
        _name(axis.tag.__name__) if isinstance(axis, Labelled) and axis.tag is not Anonymous else "" for axis in axes
    ]
    rest = [k for k, name in enumerate(dims) if _name(name) not in tags]
    order = [_place(tag, dims) if tag else rest.pop(0) if rest else -1 for tag in tags]
    if sorted(order) != list(range(len(dims))):
        msg = (
            f"a DataArray with the dimensions ({', '.join(dims)}) is not an element of {leaf}: each dimension has the "
        )
        raise SpaceError(
            f"{msg}name of the tag of an axis (a.rename gives it one); a.to_numpy() is taken without names"
        )
    for axis, k in zip(axes, order, strict=True):
        own = getattr(data, "coords", {})
        if has_labels(axis) and data.dims[k] in own:
            remedy = f"a.sel({dims[k]}=list(X.labels)), or a.to_numpy()"
            labels = list(np.asarray(own[data.dims[k]]))
            _require_labels(labels, axis, leaf, f"dimension {dims[k]} in another: write {remedy}")
    return np.asarray(data if hasattr(data, "__array__") else data.to_numpy()).transpose(order)


def _name(word: str) -> str:
    """A name, whether it is written as a class or as a variable: TimeStep, time_step."""
    return word.replace("_", "").casefold()


def _place(tag: str, dims: list[str]) -> int:
    """The number of the dimension that has the name of a tag; −1 if none has, or several have."""
    found = [k for k, name in enumerate(dims) if _name(name) == tag]
    return found[0] if len(found) == 1 else -1


def positions_of(keys: Labelled[Any], data: Any) -> Any:
    """The positions of labels: an integer, or an array of the shape of the data."""
    if isinstance(data, (str, bytes)):
        return keys.position(data)
    if isinstance(data, (list, tuple, np.ndarray)):
        array = data if isinstance(data, np.ndarray) else np.asarray(data, dtype=object)
        return distinct_labels(column_of(array.reshape(-1)), keys)[1].reshape(array.shape)
    return distinct_labels(column_of(data), keys)[1]


def column_of(column: Any) -> Any:
    """A list of keys, or a one-dimensional array, made of a column of a table."""
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
