"""A loop in segments: a loop over segments whose rounds are loops, and a loop of the remaining rounds (checkpoints).

Memory of the backward pass: the derivative keeps the states between segments, and runs each segment again. So n rounds
keep about √n states, and each round is computed once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from hilbert.index.index import Fin
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Reduce
from hilbert.program.transform.emit_loop import looped
from hilbert.relation import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.index import Index
    from hilbert.program.control.loop import Loop


def segmented(b: Builder, loop: Loop, given: Sequence[int], count: int) -> list[int]:
    """The slots of a loop's results, in so many segments of equal length and one of the remaining rounds."""
    n = loop.index.size
    length = n // count
    c, whole = loop.states, loop.states + loop.shared
    parts = [(0, count * length, count), (count * length, n - count * length, 1)]
    states, rows = list(given[:c]), dict[int, list[int]]()
    for start, size, pieces in parts[::-1] if loop.reverse else parts:
        if not size:
            continue
        segment = Fin.of(size // pieces)
        outer = Fin.of(pieces)
        stacks = [_cut(b, k, loop.index, start, size, outer * segment) for k in given[whole:]]
        found = looped(b, _over(evolve(loop, index=segment), outer), [*states, *given[c:whole], *stacks])
        states = found[:c]
        rows[start] = [_put(b, k, outer * segment, size, start, loop.index) for k in found[c:]]
    if not rows:
        return looped(b, loop, given)
    first, *rest = rows.values()
    for more in rest:
        first = [b.add(x, y) for x, y in zip(first, more, strict=True)]
    return [*states, *first]


def _over(loop: Loop, outer: Index) -> Loop:
    """The loop over segments, each of which is a loop."""
    inner = Builder(loop.given.leaves, fixed=loop.body.fixed)
    line = inner.line(looped(inner, loop, range(inner.arity)))
    return evolve(loop, body=line, index=outer, again=True)


def _cut(b: Builder, slot: int, X: Index, start: int, size: int, Y: Index) -> int:
    """The stack of some rounds, divided into segments."""
    part = Fin.of(size)
    return b.apply(Reduce(run(part, Y, 0), 0), b.apply(Reduce(run(part, X, start).T, 0), slot))


def _put(b: Builder, slot: int, Y: Index, size: int, start: int, X: Index) -> int:
    """The stack of some rounds as a part of the stack of all rounds, 0 elsewhere."""
    part = Fin.of(size)
    return b.apply(Reduce(run(part, X, start), 0), b.apply(Reduce(run(Y, part, 0), 0), slot))
