"""Running the passes of a line: block after block, or some at once; totals are put together in one order always.

The blocks, and the tree in which their totals are put together, depend on sizes only, so that results do not depend on
the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from operator import getitem
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from hilbert.errors import SpaceError
from hilbert.program.blocks.fact import Lane
from hilbert.program.blocks.passes import Between
from hilbert.program.blocks.tasks import Task, interpreted, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hilbert.program.blocks.fact import Monoid
    from hilbert.program.blocks.passes import Pass, Passes
    from hilbert.program.blocks.tasks import Run
    from hilbert.program.line.line import Line

AHEAD = 2
"""The blocks for each thread that may be computed before those in front of them are put together."""


Mapped: TypeAlias = "Callable[[Task, Iterable[Any]], Iterable[list[Any]]]"
"""What applies a task to the rows of each block, in order: `map`, or that of an executor."""


@final
class BlockRunner:
    """A line that is run in blocks of so many elements; `make` gives what runs the line of a block."""

    def __init__(self, passes: Passes, size: int, threads: int = 1, make: Callable[[Line], Run] = interpreted) -> None:
        self.passes, self.size, self.threads, self.make = passes, size, threads, make
        self._between: dict[Any, Any] = {}

    def run(self, arrays: Sequence[Any], mapped: Mapped | None = None) -> list[Any]:
        """The outputs, as numpy arrays, for arrays of the inputs; with `mapped` blocks run where that runs them."""
        found = self.passes
        known: dict[int, Any] = dict(enumerate([*arrays, *found.constants]))
        for stage in found.stages:
            if isinstance(stage, Between):
                run = self._between.get(stage) or self._between.setdefault(stage, self.make(stage.line))
                known |= zip(stage.made, run([known[k] for k in stage.known]), strict=True)
            else:
                known |= self._passed(stage, known, mapped)
        return [known[k] for k in found.line.outputs]

    def _passed(self, part: Pass, known: dict[int, Any], mapped: Mapped | None) -> dict[int, Any]:
        """The totals and the lanes that a pass makes."""
        index, n = self.passes.index, self.passes.index.size
        task = Task(part, index, [known[k] for k in part.known], self.make)
        lanes = [(known[k], (slice(None),) * at) for k, at in zip(part.lanes, part.at, strict=True)]
        leaves = [self.passes.line.slots[k] for k in part.results]
        places = [(slice(None),) * one.at for k in part.results if isinstance(one := self.passes.facts[k], Lane)]
        made = [np.empty(leaf.shape, leaf.dtype) for leaf in leaves]
        count = len(part.totals)
        starts = range(0, max(n, 1), self.size)
        cut = rows_of if mapped is not None else getitem

        def rows(start: int) -> tuple[int, int, list[Any]]:
            end = min(start + self.size, n)
            return start, end, [cut(array, (*before, slice(start, end))) for array, before in lanes]

        def totals() -> Iterator[list[Any]]:
            found = mapped(task, map(rows, starts)) if mapped is not None else self._each(task, rows, starts)
            blocks = iter(found)
            for k, start in enumerate(starts):
                block = next(blocks, None)
                if block is None:
                    msg = f"g.on(map): the map gave {k} results for {len(starts)} blocks: it gives one each, in order"
                    raise SpaceError(msg)
                for whole, before, array in zip(made, places, block[count:], strict=True):
                    whole[(*before, slice(start, start + self.size))] = array
                yield block[:count]

        return dict(zip([*part.totals, *part.results], [*put_together(part.monoids, totals()), *made], strict=True))

    def _each(self, task: Task, rows: Callable[[int], Any], starts: Sequence[int]) -> Iterator[list[Any]]:
        """What the blocks give, in order."""
        if self.threads == 1 or len(starts) == 1:
            yield from map(task, map(rows, starts))
            return
        with ThreadPoolExecutor(self.threads) as pool:
            rest = iter(starts)
            waiting = [pool.submit(task, rows(start)) for start in islice(rest, AHEAD * self.threads)]
            try:
                while waiting:
                    yield waiting.pop(0).result()
                    waiting += [pool.submit(task, rows(start)) for start in islice(rest, 1)]
            finally:
                for left in waiting:
                    left.cancel()


def put_together(monoids: Sequence[Monoid], parts: Iterable[list[Any]]) -> list[Any]:
    """The totals of what blocks give, by pairs and pairs of pairs: rounding errors grow with the logarithm."""
    stack: list[tuple[int, list[Any]]] = []
    for part in parts:
        level, total = 0, part
        while stack and stack[-1][0] == level:
            total = _both(monoids, stack.pop()[1], total)
            level += 1
        stack.append((level, total))
    _, total = stack.pop()
    while stack:
        total = _both(monoids, stack.pop()[1], total)
    return total


def _both(monoids: Sequence[Monoid], a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [np.logaddexp(x, y) if of == "logsumexp" else x + y for of, x, y in zip(monoids, a, b, strict=True)]
