"""Relations from the columns of a table: lists, numpy arrays, pandas and Arrow columns, with keys of any hashable type.

Columns are read through `__array__` or `to_numpy`; no library of tables is imported.

>>> towns = ["Turku", "Bergen", "Turku", "Aarhus"]
>>> R = by_key(towns)
>>> print(R, R.cod.labels)
graph(4→3) ('Turku', 'Bergen', 'Aarhus')
>>> S = by_keys(towns, [2021, 2021, 2022, 2022])
>>> print(S.dom, S.cod, S, S.cod.labels)
3 2 4 pairs (2021, 2022)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from hilbert.errors import SpaceError, shown
from hilbert.index import Anonymous, Fin, Index, require_index
from hilbert.labelled import Labelled
from hilbert.relation.base import I, Ints, table
from hilbert.relation.functions import AnyGraph, Graph
from hilbert.relation.plain import Pairs, distinct

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["by_key", "by_keys", "labels"]

T = TypeVar("T")
U = TypeVar("U")
SORTABLE = "iubSUmMf"
"""The kinds of numpy arrays whose distinct entries numpy finds; those of others are found by hashing in Python."""


def labels(column: Any, tag: type[T]) -> Labelled[T]:
    """The index set of a column's distinct keys, in the order in which they first occur."""
    return Labelled(tag, _distinct(_column(column), None)[0])


@overload
def by_key(column: Any, *, rows: None = ..., keys: None = ...) -> Graph[Fin[Anonymous], Labelled[Anonymous]]: ...
@overload
def by_key(column: Any, *, rows: None = ..., keys: Labelled[T]) -> Graph[Fin[Anonymous], Labelled[T]]: ...
@overload
def by_key(column: Any, *, rows: I, keys: None = ...) -> Graph[I, Labelled[Anonymous]]: ...
@overload
def by_key(column: Any, *, rows: I, keys: Labelled[T]) -> Graph[I, Labelled[T]]: ...
def by_key(column: Any, *, rows: Index | None = None, keys: Labelled[Any] | None = None) -> AnyGraph:
    """The function from the rows of a table to the keys in one of its columns; red of it groups and sums.

    `rows` names the index set of the rows, `keys` that of the keys (see `labels`); otherwise they are anonymous, and
    the keys are the distinct ones in the order in which they first occur. Raises SpaceError for a key that is missing
    (None, NaN, NaT, NA, a null of Arrow), not hashable or not among `keys`, and for another number of rows.
    """
    return _rows(column, rows, keys)


def _rows(column: Any, rows: Index | None, keys: Labelled[Any] | None) -> AnyGraph:
    entries = _column(column)
    if rows is None:
        rows = Fin.of(len(entries))
    require_index(rows, "by_key(column, rows=X)")
    if rows.size != len(entries):
        msg = f"a column of {len(entries)} entries does not have the rows {rows}"
        raise SpaceError(msg)
    if keys is not None and not isinstance(keys, Labelled):
        msg = f"the keys of a column are an index set with labels, not {shown(keys)}: see labels(column, Tag)"
        raise SpaceError(msg)
    found, positions = _distinct(entries, keys)
    return Graph(rows, Labelled(Anonymous, found) if keys is None else keys, table(positions))


@overload
def by_keys(
    left: Any, right: Any, *, sources: None = ..., targets: None = ...
) -> Pairs[Labelled[Anonymous], Labelled[Anonymous]]: ...
@overload
def by_keys(
    left: Any, right: Any, *, sources: Labelled[T], targets: Labelled[U]
) -> Pairs[Labelled[T], Labelled[U]]: ...
def by_keys(
    left: Any, right: Any, *, sources: Labelled[Any] | None = None, targets: Labelled[Any] | None = None
) -> Pairs[Any, Any]:
    """The relation between two columns of a table: keys that stand in one row are related.

    Raises SpaceError for columns of unequal lengths, and for keys as `by_key` does.
    """
    a, b = _rows(left, None, sources), _rows(right, None, targets)
    if a.dom.size != b.dom.size:
        msg = f"two columns of one table have the same length, not {a.dom.size} and {b.dom.size}"
        raise SpaceError(msg)
    return distinct(a.cod, b.cod, a.positions.array, b.positions.array)


def _column(column: Any) -> Any:
    """A list of keys, or a one-dimensional array; what tables call a column becomes one of these."""
    if isinstance(column, (list, tuple)):
        return list(column)
    if isinstance(column, np.ma.MaskedArray):
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


def _distinct(entries: Any, keys: Labelled[Any] | None) -> tuple[tuple[Hashable, ...], Ints]:
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


def _hashed(entries: list[Any], keys: Labelled[Any] | None) -> tuple[tuple[Hashable, ...], Ints]:
    if any(map(_is_missing, entries)):
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


def _is_missing(entry: Any) -> bool:
    try:
        return entry is None or bool(entry != entry)  # noqa: PLR0124 - only NaN and NaT differ from themselves
    except TypeError:  # the NA of pandas: whether it does is not known
        return True
    except ValueError:  # an array, which is no key
        return False


def _places(entries: list[Any], keys: Labelled[Any]) -> Ints:
    return np.fromiter((keys.position(entry) for entry in entries), np.int64, len(entries))


def _missing() -> None:
    msg = "a column of keys has missing entries (None, NaN): leave their rows out, or give them a key of their own"
    raise SpaceError(msg)
