"""Data along an index set, one entry or row for each element, read some rows at a time and checked against a space.

Rows come from arrays of numpy, in memory or mapped from a file; from columns of pandas or pyarrow; from arrays of Dask
or zarr, and other arrays that `a[start:end]` reads a part of.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from diff.blocks.list_columns import unlisted
from hilbert import Fin, SpaceError, Vec
from hilbert.errors import shown
from hilbert.index.leaf import Leaf
from hilbert.program.blocks.block_line import Block
from hilbert.program.blocks.sources import Shifted, Source, source_of
from hilbert.space.space import type_of


@final
@frozen
class Sliced(Source):
    """An array or a column whose rows `a[start:end]` gives."""

    rows: Any

    def read(self, start: int, end: int) -> Any:
        """The rows, as their library has them; computed, if they are a computation."""
        found = getattr(self.rows, "iloc", self.rows)[start:end]
        if not hasattr(found, "compute"):
            return found
        try:
            return found.compute(scheduler="synchronous")
        except ValueError as error:
            if "dependency" not in str(error):
                raise
            msg = "an array of Dask whose chunks lie on workers is no data: give the array as it was before persist()"
            raise SpaceError(msg) from error

    def sent(self, start: int, end: int) -> Source:
        """The rows; of arrays of Dask what computes them; arrays of zarr travel as the place where they lie."""
        if hasattr(self.rows, "store"):
            return self
        return Shifted(Sliced(self.rows[start:end] if hasattr(self.rows, "compute") else self.read(start, end)), start)

    def copied(self) -> Source:
        """A copy of rows in memory; arrays of Dask and zarr as they are."""
        is_elsewhere = hasattr(self.rows, "store") or hasattr(self.rows, "compute")
        return self if is_elsewhere else Sliced(deepcopy(self.rows))


@final
@frozen
class Checked(Source):
    """The rows of a part of an argument, in its space; raises SpaceError with the name of the part, and the rows."""

    source: Source
    name: str
    leaf: Leaf
    at: int

    def read(self, start: int, end: int) -> Any:
        """The rows as an array whose axis of rows is where the part has it."""
        others = [*self.leaf.axes[: self.at], *self.leaf.axes[self.at + 1 :]]
        space = type_of(Leaf(self.leaf.entry, (Fin(Block, end - start), *others)))
        rows = self.source.read(start, end)
        if type(rows).__module__.partition(".")[0] not in {"numpy", "pandas", "pyarrow"}:
            rows = np.asarray(rows)
        try:
            (array,) = space.vec(unlisted(rows, start)).leaves
        except SpaceError as error:
            msg = f"data {self.name!r}, rows {start} to {end - 1}: {error}"
            raise SpaceError(msg) from None
        return np.moveaxis(array, 0, self.at)

    def sent(self, start: int, end: int) -> Source:
        """The rows of the source, which are checked where they are read."""
        return evolve(self, source=self.source.sent(start, end))

    def copied(self) -> Source:
        """The copy of the source, which is checked where it is read."""
        return evolve(self, source=self.source.copied())


def source_of_rows(rows: Any, name: str) -> tuple[Source, int]:
    """The source of some rows, and how many there are; raises SpaceError for what has none."""
    if isinstance(rows, Vec):
        msg = f"data {name!r} is a vector of {rows.space}: give v.array, or v as one of the arguments in front"
        raise SpaceError(msg)
    if isinstance(rows, (list, tuple)):
        rows = np.asarray(rows)
    if hasattr(rows, "to_dask_array"):
        msg = f"data {name!r} is a column of Dask of unknown length: give column.to_dask_array(lengths=True)"
        raise SpaceError(msg)
    try:
        count = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if isinstance(rows, Source):
            return rows, int(count)
        rows[0:0]
        return (source_of(rows, 0) if isinstance(rows, np.ndarray) else Sliced(rows)), int(count)
    except (TypeError, ValueError, KeyError, IndexError):  # the length of Dask's arrays is nan where it is not known
        msg = (
            f"data {name!r} is {shown(rows)}: give an array or a column of known length, with a[start:end] for its rows"
        )
        raise SpaceError(msg) from None
