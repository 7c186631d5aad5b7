"""Parquet files as tables: one, or some that have the next rows each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from glob import escape, glob, has_magic
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.blocks.parquet_columns import Column
from hilbert import SpaceError
from hilbert.errors import shown
from hilbert.program.blocks.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@final
@frozen
class Columns(Source):
    """The same column of files that have the next rows each; `starts` are their first rows, and the end of the last.

    Of several files, each has rows: one without has none whose lists have a length.
    """

    files: tuple[Column, ...]
    starts: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all rows."""
        return (self.starts[-1], *self.files[0].shape[1:])

    def read(self, start: int, end: int) -> Any:
        """The rows, from the files that have them."""
        part = self.sent(start, end)
        ends = zip(part.files, part.starts, part.starts[1:], strict=False)
        pieces = [file.read(max(start - a, 0), min(end, b) - a) for file, a, b in ends]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def sent(self, start: int, end: int) -> Columns:
        """The files that have these rows, at least one."""
        first = min(bisect_right(self.starts, start), len(self.files)) - 1
        behind = max(bisect_left(self.starts, end), first + 1)
        return Columns(self.files[first:behind], self.starts[first : behind + 1])


@final
@frozen
class ParquetFileData:
    """The columns of a Parquet file, or of several, by their names: see `parquet`."""

    paths: tuple[str, ...]
    columns: tuple[str, ...]
    ends: tuple[tuple[int, ...], ...]
    changed: tuple[int, ...]

    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str | Sequence[str]) -> Column | Columns:
        """A column; several are the entries of a vector for each row. Raises SpaceError for a name that is none."""
        path = self.paths[0]
        if not isinstance(name, (str, tuple, list)):
            msg = f"a column of {path} is named by a string, some by several, not by {shown(name)}"
            raise SpaceError(msg)
        names = (name,) if isinstance(name, str) else tuple(name)
        for one in names:
            if self.columns.count(one) > 1:
                msg = f"{path} has {self.columns.count(one)} columns {one!r}: give them other names"
                raise SpaceError(msg)
            if one not in self.columns:
                msg = f"{path} has no column {one!r}; its columns are {', '.join(self.columns)}"
                raise SpaceError(msg)
        files = [
            Column(of, names, ends, changed, not isinstance(name, str))
            for of, ends, changed in zip(self.paths, self.ends, self.changed, strict=True)
        ]
        files = [file for file in files if file.shape[0]] or files[:1]
        if len(files) == 1:
            return files[0]
        return Columns(tuple(files), tuple(accumulate((file.shape[0] for file in files), initial=0)))


def parquet(path: str | Path | Sequence[str | Path]) -> ParquetFileData:
    """The columns of a Parquet file, of which blocks read their own rows, a group of rows at a time.

    `parquet(path)["rate"]` has a number for each row, `parquet(path)["x", "y"]` a vector of two. A list of paths has
    the rows of one file after the other; a folder, and a pattern such as "rows/*.parquet", the files in the order of
    their names. The files must be there for all that run blocks. Needs pyarrow. Raises SpaceError for a file that
    cannot be read, and for files with different columns.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        msg = 'parquet(path) needs pyarrow: pip install "hilbert[parquet]"'
        raise SpaceError(msg) from error
    paths, columns, ends = _files(path), list[tuple[str, ...]](), list[tuple[int, ...]]()
    for one in paths:
        try:
            with ParquetFile(one) as file:
                of = file.metadata
                rows = np.cumsum([of.row_group(k).num_rows for k in range(of.num_row_groups)])
                columns.append(tuple(file.schema_arrow.names))
        except (OSError, ArrowException) as error:
            msg = f"parquet({one!r}): {error}"
            raise SpaceError(msg) from error
        ends.append(tuple(map(int, rows)))
        if {*columns[-1]} != {*columns[0]}:
            msg = f"{paths[0]} has the columns {', '.join(columns[0])}, and {one} has {', '.join(columns[-1])}"
            raise SpaceError(msg)
    changed = tuple([Path(one).stat().st_mtime_ns for one in paths])
    return ParquetFileData(tuple(paths), columns[0], tuple(ends), changed)


def _files(path: Any) -> list[str]:
    """The paths of files; raises SpaceError for what is none, and where there is no file."""
    if isinstance(path, (list, tuple)) and path and all(isinstance(one, (str, Path)) for one in path):
        return [str(one) for one in path]
    if not isinstance(path, (str, Path)):
        msg = f"parquet(path) takes the path of a file or a folder, or a list of paths, not {shown(path)}"
        raise SpaceError(msg)
    text = str(path)
    is_folder = Path(text).is_dir()
    if not is_folder and (Path(text).exists() or not has_magic(text)):
        return [text]
    pattern = str(Path(escape(text)) / "*.parquet") if is_folder else text
    found = sorted(glob(pattern))  # noqa: PTH207 - that of Path takes no pattern from the root
    if not found:
        msg = f"parquet({text!r}): there is no file {'*.parquet' if is_folder else 'of this form'}"
        raise SpaceError(msg)
    return found
