"""Tables: mappings from names to rows, frames of pandas, tables of pyarrow, `parquet(path)`; and tables in turn."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hilbert import SpaceError
from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def is_table(data: Any) -> bool:
    """Tell if data are a table, not some that have the next rows each."""
    return hasattr(data, "column_names") or (hasattr(data, "keys") and hasattr(data, "__getitem__"))


def columns_of(table: Any) -> Sequence[str]:
    """The names of a table; raises SpaceError for what is none."""
    if not is_table(table):
        _refuse_others(table)
        msg = f"data= takes a table, such as a mapping from names of arguments to rows, or tables, not {shown(table)}"
        raise SpaceError(msg)
    return list(table.column_names if hasattr(table, "column_names") else table.keys())


def column_of(table: Any, name: str) -> Any:
    """A column of a table; raises SpaceError where the name is that of several, or of none."""
    try:
        return table[name]
    except (KeyError, ValueError, IndexError) as error:
        msg = f"the data have {list(columns_of(table)).count(name)} columns {name!r}: {error}"
        raise SpaceError(msg) from error


def meant(name: Any, among: Iterable[str]) -> str:
    """A question for the name that is nearest; nothing where none is near."""
    lower = {str(one).lower(): one for one in among}
    near = difflib.get_close_matches(str(name).lower(), lower, 1)
    return f" (did you mean {lower[near[0]]!r}?)" if near else ""


def tables_of(data: Any, passes: int) -> tuple[Any, Callable[[], Iterable[Any]]]:
    """The first of some tables, and what gives all of them, for each pass again."""
    if callable(data) and not is_table(data):
        made = data()
        if is_table(made):
            msg = "the function data() gives a table, where an iterator over tables is due: give the table itself"
            raise SpaceError(msg)
        first, _ = tables_of(made, 1)

        def again() -> Iterable[Any]:
            found: Iterable[Any] = data()
            if found is made and iter(found) is found:
                msg = "the function data() gives the same iterator again, which is read by then: it is to make a new "
                raise SpaceError(msg + "one each time, such as lambda: (read(part) for part in parts)")
            return found

        return first, again
    _refuse_others(data)
    try:
        tables: Iterator[Any] = iter(data)
    except TypeError:
        msg = f"data= takes a table, tables with the next rows each, or a function that gives them, not {shown(data)}"
        raise SpaceError(msg) from None
    is_read = tables is data
    if is_read and passes > 1:
        msg = f"there are {passes} passes over the data, and an iterator gives them once: give a function that makes it"
        raise SpaceError(msg)
    first = next(tables, None)
    if first is None:
        which = "the iterator is empty: it has no tables, or was read before" if is_read else "data= has no tables"
        msg = f"{which}: give tables with the next rows each, or a function that makes an iterator over them"
        raise SpaceError(msg)

    def all_of() -> Iterator[Any]:
        yield first
        yield from tables

    return first, all_of if is_read else lambda: data


def _refuse_others(data: Any) -> None:
    """Raise SpaceError for data from which a table can be made, and say how."""
    if isinstance(data, (str, Path)):
        msg = f"data= is a path, {str(data)!r}, not a table: open the file, data=parquet({str(data)!r})"
        raise SpaceError(msg)
    if hasattr(data, "to_dask_array"):
        msg = "data= is a frame of Dask: give its columns as arrays, "
        raise SpaceError(msg + 'data={"x": frame["x"].to_dask_array(lengths=True), …}')
    if getattr(getattr(data, "dtype", None), "names", None):
        msg = "data= is a structured array, which is no table: give its columns, "
        raise SpaceError(msg + "data={name: array[name] for name in array.dtype.names}")
    if hasattr(data, "dtype"):
        msg = f"data= is {shown(data)}, whose columns have no names: "
        raise SpaceError(msg + 'give the rows by the names of arguments, data={"x": array}')
