"""Columns of Parquet files whose rows are read as blocks need them."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert import SpaceError
from hilbert.errors import shown
from hilbert.program.blocks.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUPS = 4
"""The groups of rows of Parquet files that a process keeps."""


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
            pieces.append(self._group(k)[max(start - first, 0) : end - first])
        return np.concatenate(pieces) if pieces else self._empty()

    def _group(self, k: int) -> Any:
        return _group_of(self.path, self.names, k, self.changed, self.ends[k - 1] if k else 0, self.is_vector)

    def _empty(self) -> Any:
        empty = _metadata(self.path, self.changed).schema.to_arrow_schema().empty_table()
        return np.empty((0, *self.shape[1:]), empty[self.names[0]].to_numpy().dtype)


@lru_cache(GROUPS)
def _group_of(path: str, names: tuple[str, ...], k: int, changed: int, first: int, is_vector: bool) -> Any:  # noqa: FBT001
    """The rows of a group, as an array; `changed` tells the file from an earlier one."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, metadata=_metadata(path, changed)) as file:
            table = file.read_row_groups([k], columns=list(names))
    except (OSError, ArrowException) as error:
        msg = f"rows {first} and after of {path} cannot be read: {error}"
        raise SpaceError(msg) from error
    for name in names:
        missing = table[name].null_count
        if missing:
            gaps = table[name].is_null().to_numpy().nonzero()[0][:3] + first
            where = ", ".join(map(str, gaps)) + (", …" if missing > len(gaps) else "")
            msg = f"column {name!r} of {path} has no value in {missing} rows ({where}): fill them, or leave them out"
            raise SpaceError(msg)
    arrays = [table[name].to_numpy() for name in names]
    return np.stack(arrays, 1) if is_vector else arrays[0]


@lru_cache(GROUPS)
def _metadata(path: str, changed: int) -> Any:  # noqa: ARG001 - a file that has changed is read again
    """The places of the groups of rows in the file, read once."""
    from pyarrow.parquet import read_metadata

    return read_metadata(path)


@final
@frozen
class ParquetFileData:
    """The columns of a Parquet file by their names: see `parquet`."""

    path: str
    columns: tuple[str, ...]
    ends: tuple[int, ...]
    changed: int

    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str | Sequence[str]) -> Column:
        """A column; several are the entries of a vector for each row. Raises SpaceError for a name that is none."""
        if not isinstance(name, (str, tuple, list)):
            msg = f"a column of {self.path} is named by a string, some by several, not by {shown(name)}"
            raise SpaceError(msg)
        names = (name,) if isinstance(name, str) else tuple(name)
        for one in names:
            if self.columns.count(one) > 1:
                msg = f"{self.path} has {self.columns.count(one)} columns {one!r}: give them other names"
                raise SpaceError(msg)
            if one not in self.columns:
                msg = f"{self.path} has no column {one!r}; its columns are {', '.join(self.columns)}"
                raise SpaceError(msg)
        return Column(self.path, names, self.ends, self.changed, not isinstance(name, str))


def parquet(path: str | Path) -> ParquetFileData:
    """The columns of a Parquet file, of which blocks read their own rows, a group of rows at a time.

    `parquet(path)["rate"]` has a number for each row, `parquet(path)["x", "y"]` a vector of two. The file must be there
    for all that run blocks. Needs pyarrow. Raises SpaceError for a file that cannot be read.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        msg = 'parquet(path) needs pyarrow: pip install "hilbert[parquet]"'
        raise SpaceError(msg) from error
    if not isinstance(path, (str, Path)):
        msg = f"parquet(path) takes the path of a file, not {shown(path)}"
        raise SpaceError(msg)
    try:
        with ParquetFile(path) as file:
            of = file.metadata
            ends = np.cumsum([of.row_group(k).num_rows for k in range(of.num_row_groups)])
            columns = tuple(file.schema_arrow.names)
    except (OSError, ArrowException) as error:
        msg = f"parquet({str(path)!r}): {error}"
        raise SpaceError(msg) from error
    return ParquetFileData(str(path), columns, tuple(map(int, ends)), Path(path).stat().st_mtime_ns)
