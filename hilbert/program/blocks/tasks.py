"""Blocks as a task: a function of some elements of X that travels to another thread, process or machine."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.arrays.libraries.blas_threads import one_blas_thread
from hilbert.base.once import LOCK
from hilbert.program.blocks.halos import BlockRows
from hilbert.program.blocks.places_along import EXTREMES, greater, within
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert.index.index import Index
    from hilbert.program.blocks.fact import Monoid
    from hilbert.program.blocks.passes import Pass
    from hilbert.program.blocks.passes import Rows as RowsOfBlock
    from hilbert.program.blocks.sources import Source
    from hilbert.program.line.line import Line

    Run: TypeAlias = Callable[[Sequence[Any], Sequence[Any] | None], list[Any]]
    """The outputs for inputs; one with an array in the second may be written there, else it is another array."""

Rows: TypeAlias = "tuple[int, int, Sequence[Source]]"
"""The elements from a start to an end, and where the arrays that have them are read."""
Done: TypeAlias = "tuple[int, list[Any]]"
"""The first of some elements, and what a task made of them."""
KEPT = 32
"""The lines of blocks whose runners a process keeps."""
_runners: OrderedDict[Any, Run] = OrderedDict()
_turns: dict[Any, Lock] = {}
"""The lines whose runners are being made."""
if hasattr(os, "register_at_fork"):  # a forked process has none of the threads that make them
    os.register_at_fork(after_in_child=_turns.clear)


@final
@frozen(eq=False)
class Task:
    """A pass on some elements of X, in blocks of `size`; `ends` are the axes of the results along X, with their places.

    Results are written into those of all of X, `whole`, or into arrays of the elements of a run of blocks.
    """

    part: Pass
    index: Index
    size: int
    shared: Sequence[Any]
    ends: Sequence[tuple[int, Index]]
    make: Callable[[Line], Run]
    whole: Sequence[Any] | None = None

    def __call__(self, rows: Rows) -> Done:
        """The first element, and the totals and the results of these; an error names the elements of its block."""
        with one_blas_thread():
            return rows[0], self._blocks(*rows)

    def _blocks(self, start: int, end: int, sources: Sequence[Source]) -> list[Any]:
        whole, firsts = self._fresh(start, end) if self.whole is None else (self.whole, [0] * len(self.ends))
        blocks = (
            self._block(k, min(k + self.size, end), sources, whole, firsts)
            for k in range(start, max(end, start + 1), self.size)
        )
        return [*put_together(self.part.monoids, blocks), *(whole if self.whole is None else ())]

    def _fresh(self, start: int, end: int) -> tuple[list[Any], list[int]]:
        """Arrays for the results of some elements, and the first rows that each has."""
        rows, part = BlockRows(self.part.along, start, end), self.part
        leaves = [part.line.slots[k] for k in part.line.outputs[len(part.totals) :]]
        spans = [rows.own(axis) for _, axis in self.ends]
        made = [
            np.empty((*leaf.shape[:at], last - first, *leaf.shape[at + 1 :]), leaf.dtype)
            for leaf, (at, _), (first, last) in zip(leaves, self.ends, spans, strict=True)
        ]
        return made, [first for first, _ in spans]

    def _block(
        self, start: int, end: int, sources: Sequence[Source], whole: Sequence[Any], firsts: Sequence[int]
    ) -> list[Any]:
        """The totals of a block, whose results are written into arrays from some first rows on."""
        part = self.part
        try:
            rows = part.rows(start, end)
            given = [source.read(*span) for source, span in zip(sources, rows.lanes, strict=True)]
            known = zip(part.places, rows.places, strict=True)
            places = [a for k, span in known for a in within(self.shared[k], span, self._each(k))]
            out = [
                own_rows(array, at, rows.own.own(axis), first)
                for array, (at, axis), first in zip(whole, self.ends, firsts, strict=True)
            ]
            made = self._run(rows)([*self.shared, *places, *given], [*[None] * len(part.totals), *map(by_rows, out)])
        except Exception as error:
            error.add_note(f"  in the block of the elements {start} to {end - 1} of {self.index}")
            raise
        totals = made[: len(part.totals)]
        for target, array in zip(out, made[len(part.totals) :], strict=True):
            if array is not target:
                target[...] = array
        for k, of in enumerate(part.monoids):
            if of in EXTREMES:
                slot = part.line.outputs[k]
                first, _ = rows.own.own(self._found(slot).axes[0])
                totals[k] = totals[k] + first * self._each(slot)
        return totals

    def _found(self, slot: int) -> Index:
        """The set whose elements a slot has: X, or another of its family, is the first of the axes."""
        index = self.part.line.slots[slot].entry.index
        assert index is not None
        return index

    def _each(self, slot: int) -> int:
        """The number of places for each row."""
        return math.prod(axis.size for axis in self._found(slot).axes[1:])

    def _run(self, rows: RowsOfBlock) -> Run:
        key = self.make, self.part.line, self.index, rows.key
        with LOCK:
            found = _runners.get(key)
            if found is not None:
                return found
            turn = _turns.setdefault(key, Lock())
        with turn:  # one thread makes it, the others wait
            with LOCK:
                found = _runners.get(key)
            if found is None:
                found = self.make(self.part.block(rows))
            with LOCK:
                _runners[key] = found
                _turns.pop(key, None)
                while len(_runners) > KEPT:
                    _runners.popitem(last=False)
        return found


def own_rows(array: Any, at: int, span: tuple[int, int], first: int = 0) -> Any:
    """Some rows of an array along its axis `at`, which has those from `first` on."""
    rows = slice(span[0] - first, span[1] - first)
    return array[(slice(None),) * at + (rows,)] if at else array[rows]


def by_rows(array: Any) -> Any:
    """The array, if it lies row by row; else None."""
    return array if array.flags.c_contiguous else None


def interpreted(line: Line) -> Run:
    """The function that runs a line step by step."""
    return Runner(line).run


def put_together(monoids: Sequence[Monoid], parts: Iterable[list[Any]]) -> list[Any]:
    """The totals of what blocks give, by pairs and pairs of pairs: rounding errors grow with the logarithm.

    Runs of 2ᵏ blocks, of which only the last is shorter, may be put together first: the pairs are the same.
    """
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
    made = list[Any]()
    for k, (of, x, y) in enumerate(zip(monoids, a, b, strict=True)):
        if of in EXTREMES:  # with the entry behind it
            made += greater(of, a[k : k + 2], b[k : k + 2])
        elif of != "picked":
            made.append(np.logaddexp(x, y) if of == "logsumexp" else x + y)
    return made
