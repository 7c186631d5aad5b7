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

from typing import Any, TypeVar, overload

from hilbert.errors import SpaceError, shown
from hilbert.index.index import Anonymous, Fin, Index, Labelled, require_index
from hilbert.index.labels import column_of, distinct_labels
from hilbert.relation.function_forms import AnyGraph, Graph
from hilbert.relation.plain_forms import Pairs, distinct
from hilbert.relation.relation import I, table

__all__ = ["by_key", "by_keys", "labels"]

T = TypeVar("T")
U = TypeVar("U")


def labels(column: Any, tag: type[T]) -> Fin[T]:
    """The index set of a column's distinct keys, in the order in which they first occur.

    Of a categorical column of pandas, and an Enum of polars, it is that of the categories, in their order. Raises
    SpaceError for a key that is missing (None, NaN, NaT, NA, a null of Arrow) or not hashable.
    """
    found = distinct_labels(column_of(column), None)[0]
    categories = getattr(getattr(column, "dtype", None), "categories", None)
    if hasattr(categories, "__len__"):  # those of a Categorical of polars, which all columns share, have no order
        found = distinct_labels(column_of(categories), None)[0]
    return Labelled(tag, found)


@overload
def by_key(column: Any, *, rows: None = ..., keys: None = ...) -> Graph[Fin[Anonymous], Fin[Anonymous]]: ...
@overload
def by_key(column: Any, *, rows: None = ..., keys: Fin[T]) -> Graph[Fin[Anonymous], Fin[T]]: ...
@overload
def by_key(column: Any, *, rows: I, keys: None = ...) -> Graph[I, Fin[Anonymous]]: ...
@overload
def by_key(column: Any, *, rows: I, keys: Fin[T]) -> Graph[I, Fin[T]]: ...
def by_key(column: Any, *, rows: Index | None = None, keys: Fin[Any] | None = None) -> AnyGraph:
    """The function from the rows of a table to the keys in one of its columns; red of it groups and sums.

    `rows` names the index set of the rows, `keys` that of the keys (see `labels`); otherwise they are anonymous, and
    the keys are the distinct ones in the order in which they first occur. Raises SpaceError for a key that is missing
    (None, NaN, NaT, NA, a null of Arrow), not hashable or not among `keys`, and for another number of rows.
    """
    return _rows(column, rows, keys)


def _rows(column: Any, rows: Index | None, keys: Fin[Any] | None) -> AnyGraph:
    entries = column_of(column)
    if rows is None:
        rows = Fin.of(len(entries))
    require_index(rows, "by_key(column, rows=X)")
    if rows.size != len(entries):
        msg = f"a column of {len(entries)} entries does not have the rows {rows}"
        raise SpaceError(msg)
    if keys is not None and not isinstance(keys, Fin):
        msg = f"the keys of a column are an index set with labels, not {shown(keys)}: see labels(column, Tag)"
        raise SpaceError(msg)
    found, positions = distinct_labels(entries, keys)
    return Graph(rows, Labelled(Anonymous, found) if keys is None else keys, table(positions))


@overload
def by_keys(
    left: Any, right: Any, *, sources: None = ..., targets: None = ...
) -> Pairs[Fin[Anonymous], Fin[Anonymous]]: ...
@overload
def by_keys(left: Any, right: Any, *, sources: Fin[T], targets: Fin[U]) -> Pairs[Fin[T], Fin[U]]: ...
def by_keys(
    left: Any, right: Any, *, sources: Fin[Any] | None = None, targets: Fin[Any] | None = None
) -> Pairs[Any, Any]:
    """The relation between two columns of a table: keys that stand in one row are related.

    Raises SpaceError for columns of unequal lengths, and for keys as `by_key` does.
    """
    a, b = _rows(left, None, sources), _rows(right, None, targets)
    if a.dom.size != b.dom.size:
        msg = f"two columns of one table have the same length, not {a.dom.size} and {b.dom.size}"
        raise SpaceError(msg)
    return distinct(a.cod, b.cod, a.positions.array, b.positions.array)
