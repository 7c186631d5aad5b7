"""Checks of the arguments of constructors of relations: index sets, arrays of positions, whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hilbert.errors import BYTES, FROM_BYTES, SpaceError, integer, is_masked, shown
from hilbert.index.index import Index, require_index
from hilbert.relation.relation import Ints


def array_of(entries: Any, what: str) -> npt.NDArray[Any]:
    """The numpy array that a list, an array or a column of a table is (anything with `__array__` or `to_numpy`)."""
    if is_masked(entries):
        msg = f"{what} is no masked array: entries.compressed() leaves the masked entries out"
        raise SpaceError(msg)
    if isinstance(entries, BYTES):
        msg = f"an array is due for {what}, not {shown(entries)}: {FROM_BYTES}"
        raise SpaceError(msg)
    try:
        if not hasattr(entries, "__array__") and hasattr(entries, "to_numpy"):
            entries = entries.to_numpy()
        array = np.asarray(entries)
        return np.asarray(array.tolist()) if array.dtype == object else array
    except (ValueError, TypeError) as error:
        msg = f"{what} is an array of integers, not {shown(entries)} that is ragged or holds no integers"
        raise SpaceError(msg) from error


def positions_in(index: Index, entries: Any, what: str) -> Ints:
    """A one-dimensional array of positions in an index set; raises SpaceError for others."""
    array = array_of(entries, what)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        msg = f"{what} is a one-dimensional array of integers, not {array.dtype} of shape {array.shape}"
        raise SpaceError(msg)
    if array.size and (array.min() < 0 or array.max() >= index.size):
        outside = np.unique(array[(array < 0) | (array >= index.size)])
        due = f"give 0 to {index.size - 1}" if index.size else "it has no elements"
        which = f"position {shown(outside[0])} does" if outside.size == 1 else f"positions {_some(outside)} do"
        msg = f"{what}: {which} not lie in {index}: {due}"
        raise SpaceError(msg)
    return array.astype(np.int64)


def _some(positions: Ints) -> str:
    """A few positions as text, and the number of the others."""
    few = ", ".join(shown(k) for k in positions[:3])
    return few if positions.size <= 3 else f"{few} and {positions.size - 3} others"


def require_sets(*sets: Any) -> None:
    """Raise SpaceError unless all are index sets."""
    for index in sets:
        require_index(index, "a relation")


def require_table(form: str, table: Any, *sets: Any) -> None:
    """Raise SpaceError unless index sets stand last in a form, and none where its table, or its columns, are due."""
    early = [given for given in (table if isinstance(table, tuple) else (table,)) if isinstance(given, Index)]
    if early:
        msg = f"{form} takes its arguments in this order, index sets last: {shown(early[0])} stands too early"
        raise SpaceError(msg)
    require_sets(*sets)


def whole(value: Any, what: str, *, least: int | None = None) -> int:
    """An integer of at least `least`; raises SpaceError for anything else."""
    found = integer(value)
    if found is None or (least is not None and found < least):
        msg = f"{what} is an integer{f' ≥ {least}' if least is not None else ''}, not {shown(value)}"
        raise SpaceError(msg)
    return found
