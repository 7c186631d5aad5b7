"""Running the passes of a line: block after block, or some at once; totals are put together in one order always.

The blocks, and the tree in which their totals are put together, depend on sizes only, so that results do not depend on
the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.program.blocks.fact import Lane
from hilbert.program.blocks.passes import Between
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hilbert.program.blocks.fact import Monoid
    from hilbert.program.blocks.passes import Pass, Passes
    from hilbert.program.line.line import Line

AHEAD = 2
"""The blocks for each thread that may be computed before those in front of them are put together."""


@final
class BlockRunner:
    """A line that is run in blocks of so many elements; `make` gives what runs a line on arrays."""

    def __init__(
        self, passes: Passes, size: int, threads: int = 1, make: Callable[[Line], Any] = lambda line: Runner(line).run
    ) -> None:
        self.passes, self.size, self.threads, self._make = passes, size, threads, make
        self._made: dict[Any, Any] = {}

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs, as numpy arrays, for arrays of the inputs."""
        found = self.passes
        known: dict[int, Any] = dict(enumerate([*arrays, *found.constants]))
        for stage in found.stages:
            if isinstance(stage, Between):
                made = self._of(stage, stage.line)([known[k] for k in stage.known])
                known |= zip(stage.made, made, strict=True)
            else:
                known |= self._passed(stage, known)
        return [known[k] for k in found.line.outputs]

    def _of(self, key: Any, line: Line) -> Any:
        run = self._made.get(key)
        if run is None:
            run = self._made.setdefault(key, self._make(line))
        return run

    def _passed(self, part: Pass, known: dict[int, Any]) -> dict[int, Any]:
        """The totals and the lanes that a pass makes."""
        index, n = self.passes.index, self.passes.index.size
        shared = [known[k] for k in part.known]
        lanes = [(known[k], (slice(None),) * at) for k, at in zip(part.lanes, part.at, strict=True)]
        leaves = [self.passes.line.slots[k] for k in part.results]
        places = [(slice(None),) * one.at for k in part.results if isinstance(one := self.passes.facts[k], Lane)]
        made = [np.empty(leaf.shape, leaf.dtype) for leaf in leaves]
        count = len(part.totals)

        def block(start: int) -> list[Any]:
            end = min(start + self.size, n)
            run = self._of((part, end - start), part.block(index, end - start))
            given = [array[(*before, slice(start, end))] for array, before in lanes]
            found = run([*shared, *given])
            for whole, before, array in zip(made, places, found[count:], strict=True):
                whole[(*before, slice(start, end))] = array
            return list(found[:count])

        starts = range(0, max(n, 1), self.size)
        totals = put_together(part.monoids, self._each(block, starts))
        return dict(zip([*part.totals, *part.results], [*totals, *made], strict=True))

    def _each(self, block: Callable[[int], list[Any]], starts: Sequence[int]) -> Iterator[list[Any]]:
        """What the blocks give, in order."""
        if self.threads == 1 or len(starts) == 1:
            yield from map(block, starts)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            rest = iter(starts)
            waiting = [pool.submit(block, start) for start in islice(rest, AHEAD * self.threads)]
            try:
                while waiting:
                    yield waiting.pop(0).result()
                    waiting += [pool.submit(block, start) for start in islice(rest, 1)]
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
