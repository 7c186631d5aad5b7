"""Running the passes of a line: block after block, or some at once; totals are put together in one order always.

The blocks, and the tree in which their totals are put together, depend on sizes only, so that results do not depend on
the number of threads, or on what runs the blocks.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from hilbert.arrays.libraries.blas_threads import one_blas_thread
from hilbert.errors import SpaceError, shown
from hilbert.program.blocks.fact import Lane
from hilbert.program.blocks.halos import BlockRows
from hilbert.program.blocks.passes import Between
from hilbert.program.blocks.sources import Source, source_of
from hilbert.program.blocks.tasks import Task, interpreted, own_rows, put_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hilbert.program.blocks.passes import Pass, Passes
    from hilbert.program.blocks.tasks import Done, Rows, Run
    from hilbert.program.line.line import Line

AHEAD = 2
"""The blocks for each thread that may be computed before those in front of them are put together."""
RUNS = 128
"""The most runs of blocks that are sent elsewhere; a run is a power of two of blocks."""

Mapped: TypeAlias = "Callable[[Task, Iterable[Rows]], Iterable[Done]]"
"""Applies a task to each of some rows, in order: `map`, or that of an executor."""
Passed: TypeAlias = "Callable[[Pass, dict[int, Any]], dict[int, Any]]"
"""Gives the slots that a pass makes, for those that are known before."""
Feed: TypeAlias = "Callable[[Sequence[int], Sequence[Any]], Iterator[Rows]]"
"""All elements of X in order, with sources of some inputs: given are their numbers, and the sources that are known."""


@final
class BlockRunner:
    """A line that is run in blocks of so many elements; `make(line)` is the function that runs the line of a block."""

    def __init__(self, passes: Passes, size: int, threads: int = 1, make: Callable[[Line], Run] = interpreted) -> None:
        self.passes, self.size, self.threads, self.make = passes, size, threads, make
        self._between: dict[Any, Any] = {}

    def run(
        self,
        arrays: Sequence[Any],
        out: Sequence[Any] | None = None,
        mapped: Mapped | None = None,
        feed: Feed | None = None,
    ) -> list[Any]:
        """The outputs, as numpy arrays, for arrays of the inputs; those along X may be sources.

        Results along X with an array in `out` are written there.
        With `mapped` blocks run where that runs them. With `feed` elements come in the parts that it gives, with the
        rows of those inputs that are None.
        """
        ends = zip(self.passes.line.outputs, out, strict=True) if out is not None else ()
        into = {k: a for k, a in ends if a is not None}
        return self.run_by(lambda part, known: self._passed(part, known, into, mapped, feed), arrays)

    def run_by(self, passed: Passed, arrays: Sequence[Any]) -> list[Any]:
        """The outputs, where `passed` gives the totals and results of each pass."""
        with one_blas_thread():
            return self._ran(passed, arrays)

    def _ran(self, passed: Passed, arrays: Sequence[Any]) -> list[Any]:
        found = self.passes
        known: dict[int, Any] = dict(enumerate([*arrays, *found.constants]))
        for stage in found.stages:
            if isinstance(stage, Between):
                run = self._between.get(stage) or self._between.setdefault(stage, self.make(stage.line))
                known |= zip(stage.made, run([known[k] for k in stage.known], None), strict=True)
            else:
                known |= passed(stage, known)
        n = found.index.size
        outputs = [known[k] for k in found.line.outputs]
        return [a.read(0, n) if isinstance(a, Source) else a for a in outputs]

    def _passed(
        self, part: Pass, known: dict[int, Any], into: Mapping[int, Any], mapped: Mapped | None, feed: Feed | None
    ) -> dict[int, Any]:
        """The totals and the lanes that a pass makes; some lanes are written into arrays."""
        passes, count = self.passes, len(part.totals)
        leaves = [passes.line.slots[k] for k in part.results]
        at = [one.at for k in part.results if isinstance(one := passes.facts[k], Lane)]
        ends = [(k, leaf.axes[k]) for k, leaf in zip(at, leaves, strict=True)]
        made = [
            np.empty(leaf.shape, leaf.dtype) if k not in into else into[k]
            for k, leaf in zip(part.results, leaves, strict=True)
        ]
        whole = made if mapped is None else None
        task = Task(part, passes.index, self.size, [known[k] for k in part.known], ends, self.make, whole)
        given = [(known[k], at) for k, at in zip(part.lanes, part.at, strict=True)]
        lanes = [a if a is None or isinstance(a, Source) else source_of(a, at) for a, at in given]
        places = list[tuple[int, int]]()

        def rows() -> Iterator[Rows]:
            if feed is not None and part.has_halo:
                msg = f"f reads rows beside their own along {passes.index}: give the data as one table, or as arrays"
                raise SpaceError(msg)
            for start, end, sources in feed(part.lanes, lanes) if feed is not None else self._rows(part, lanes, mapped):
                places.append((start, end))
                yield start, end, sources

        def totals() -> Iterator[list[Any]]:
            k = 0
            for k, found in enumerate(mapped(task, rows()) if mapped is not None else self._each(task, rows()), 1):
                if k > len(places):
                    break
                start, end = places[k - 1]
                block = _block_of(found, start)
                for to, (at, axis), array in zip(made, ends, block[count:], strict=False):  # none, or all
                    own_rows(to, at, BlockRows(passes.along, start, end).own(axis))[...] = array
                done.append(end)
                yield block[:count]
            if not places or k != len(places) or places[-1][1] != passes.index.size:
                msg = f"the map gave {k} results for {len(places)} runs of blocks: it gives one each, in order"
                raise SpaceError(msg)

        done = list[int]()
        try:
            found = put_together(part.monoids, totals())
        except Exception as error:
            if len(done) < len(places) and not isinstance(error, SpaceError) and not hasattr(error, "__notes__"):
                start, end = places[len(done)]
                error.add_note(f"  in the blocks of the elements {start} to {end - 1} of {passes.index}")
            raise
        return dict(zip([*part.totals, *part.results], [*found, *made], strict=True))

    def _rows(self, part: Pass, lanes: Sequence[Any], mapped: Mapped | None) -> Iterator[Rows]:
        """All elements, in blocks; where they run elsewhere, in runs of blocks, a power of two."""
        n, step = self.passes.index.size, self.size
        while mapped is not None and step * RUNS < n:
            step *= 2
        for start in range(0, max(n, 1), step):
            end = min(start + step, n)
            if mapped is None:
                yield start, end, lanes
            else:
                spans = part.rows(start, end).lanes
                yield start, end, [lane.sent(*span) for lane, span in zip(lanes, spans, strict=True)]

    def _each(self, task: Task, rows: Iterator[Rows]) -> Iterator[Done]:
        """The results of the blocks, in order; threads have the caller's context, such as numpy's `errstate`."""
        if self.threads == 1:
            yield from map(task, rows)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            yield from in_window(
                lambda of, row: pool.submit(copy_context().run, of, row), task, rows, AHEAD * self.threads
            )


def _block_of(found: Any, start: int) -> list[Any]:
    """The totals and results that a task gave; raises SpaceError where it is not the task's turn."""
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], list)):
        msg = f"the map gave {shown(found)} where the result of a block is due: it applies the task to each of the rows"
        raise SpaceError(msg)
    if found[0] != start:
        msg = f"the map gave the block of element {found[0]} where that of {start} is due: it gives one each, in order"
        raise SpaceError(msg)
    block: list[Any] = found[1]
    return block


def in_window(submit: Callable[..., Any], task: Any, rows: Iterator[Any], ahead: int) -> Iterator[Any]:
    """The results of a task for some rows, in order, of which so many are submitted before their turn.

    Those that are left are cancelled where one raises.
    """
    waiting = [submit(task, row) for row in islice(rows, ahead)]
    try:
        while waiting:
            yield waiting.pop(0).result()
            waiting += [submit(task, row) for row in islice(rows, 1)]
    finally:
        for left in waiting:
            left.cancel()
