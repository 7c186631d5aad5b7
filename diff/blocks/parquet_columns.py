"""Columns of Parquet files whose rows are read as blocks need them."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, final

import numpy as np
from attrs import define, field, frozen

from diff.blocks.list_columns import require_values, unlisted
from hilbert import SpaceError
from hilbert.program.blocks.sources import Source

FILES = 4
"""The files whose places of groups of rows a process keeps."""
LEAST, MOST, BYTES = 2, 8, 2**25
"""A process keeps the last groups of rows: at least LEAST, at most MOST, and of these as many as take so many BYTES."""


@final
@frozen
class Column(Source):
    """A column of a Parquet file, or some that are the entries of a vector; `ends` are those of its groups of rows."""

    path: str
    names: tuple[str, ...]
    ends: tuple[int, ...]
    changed: int
    is_vector: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all rows."""
        return (self.ends[-1] if self.ends else 0, *((len(self.names),) if self.is_vector else ()))

    def read(self, start: int, end: int) -> Any:
        """The rows; raises SpaceError where one is missing."""
        if self.changed != Path(self.path).stat().st_mtime_ns:
            msg = f"{self.path} has changed since parquet(path) read its length: call parquet again"
            raise SpaceError(msg)
        pieces = []
        for k in range(bisect_right(self.ends, start), len(self.ends)):
            first = self.ends[k - 1] if k else 0
            if first >= end:
                break
            if first < self.ends[k]:
                pieces.append(_kept(self, k)[max(start - first, 0) : end - first])
        return np.concatenate(pieces) if pieces else self._joined(_schema(self).empty_table(), 0)

    def group(self, k: int) -> Any:
        """The rows of a group, as an array."""
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        first = self.ends[k - 1] if k else 0
        try:
            with ParquetFile(self.path, metadata=_metadata(self.path, self.changed)) as file:
                table = file.read_row_groups([k], columns=list(self.names))
        except (OSError, ArrowException) as error:
            msg = f"rows {first} and after of {self.path} cannot be read: {error}"
            raise SpaceError(msg) from error
        return self._joined(table, first)

    def _joined(self, table: Any, first: int) -> Any:
        """The columns of a table as one array; raises SpaceError for a column with missing values."""
        arrays = []
        for name in self.names:
            column = table[name]
            try:
                if column.null_count:
                    require_values(column.is_null().to_numpy(), first)
                rows = unlisted(column, first)
            except SpaceError as error:
                msg = f"column {name!r} of {self.path} has {error}"
                raise SpaceError(msg) from None
            arrays.append(rows if rows is not column else column.to_numpy())
        return np.stack(arrays, 1) if self.is_vector else arrays[0]


@final
@define(eq=False)
class _Group:
    """A group of rows in memory: the array of each column that was asked for."""

    arrays: dict[tuple[tuple[str, ...], bool], Any] = field(factory=dict)
    lock: Any = field(factory=Lock)

    def array(self, column: Column, k: int) -> Any:
        """The array of a column, read once, also where several threads ask for it."""
        key = column.names, column.is_vector
        with self.lock:
            if key not in self.arrays:
                self.arrays[key] = column.group(k)
            return self.arrays[key]

    @property
    def bytes(self) -> int:
        """The bytes of the arrays."""
        return sum(array.nbytes for array in [*self.arrays.values()])


_GROUPS: dict[tuple[str, int, int], _Group] = {}
"""The groups of rows that this process keeps, by file, its time of change and number; the last ones last."""
_LOCK = Lock()


def _kept(column: Column, k: int) -> Any:
    """The rows of a group, kept for the next blocks; groups that were read longest ago are dropped."""
    key = column.path, column.changed, k
    with _LOCK:
        group = _GROUPS[key] = _GROUPS.pop(key) if key in _GROUPS else _Group()
    found = group.array(column, k)
    with _LOCK:
        while len(_GROUPS) > MOST or (len(_GROUPS) > LEAST and sum(one.bytes for one in _GROUPS.values()) > BYTES):
            del _GROUPS[next(iter(_GROUPS))]
    return found


@lru_cache(FILES)
def _metadata(path: str, changed: int) -> Any:  # noqa: ARG001 - a file that has changed is read again
    """The places of the groups of rows in the file, read once."""
    from pyarrow.parquet import read_metadata

    return read_metadata(path)


def _schema(column: Column) -> Any:
    return _metadata(column.path, column.changed).schema.to_arrow_schema()
