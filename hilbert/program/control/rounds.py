"""The rounds of a loop, bound to a library: one environment for all of them, each result written where it belongs.

If little of a loop depends on its own past, the rest is run for a block of rounds at once.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.kernels.library import Arrays
from hilbert.index.index import Fin
from hilbert.program.calls.emitted_line import Round
from hilbert.program.control.distributed_loop import Part, blocked, distributed
from hilbert.program.control.loop_coefficients import with_coefficients
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.fuse import fused

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.program.line.line import Line

BLOCK = 1 << 17
"""The numbers that a block of rounds makes at most, a megabyte: they stay in the second cache (measured)."""
FEW = 8
"""Rounds that are not worth a block."""


@final
class Rounds:
    """A kernel that runs a loop."""

    __slots__ = ("_body", "_bound", "_lib", "_n", "_parts", "_reverse", "_shape", "_shared", "_size", "_states")

    def __init__(
        self, body: Line, lib: Library, shape: tuple[int, ...], states: int, shared: int, *, reverse: bool
    ) -> None:
        self._body, self._lib = folded(body), lib
        self._shape, self._n = shape, prod(shape)
        self._states, self._shared, self._reverse = states, shared, reverse
        self._bound: dict[Hashable, BoundLine] = {}
        self._parts, self._size = list[Part](), 0
        if lib.inner.is_host:
            self._body, self._parts, self._size = _parts(self._body, states, shared, self._n)

    def __call__(self, given: Arrays) -> Arrays:
        """The last states and the stacks."""
        outer = self._lib
        lib = outer.inner
        arrays = [outer.whole(a, "a loop") for a in given]
        n, c = self._n, self._states
        whole = c + self._shared
        flat = len(self._shape) == 1
        stacks = arrays[whole:]
        if not flat:
            stacks = [lib.xp.reshape(a, (n, *a.shape[len(self._shape) :])) for a in stacks]
        if lib.scans:
            bound = self._line("round", self._body, arrays)
            made = lib.scan(bound, arrays[:c], arrays[c:whole], stacks, n, reverse=self._reverse)
        elif self._parts:
            made = self._in_blocks(arrays[:whole], stacks)
        else:
            made = self._one_by_one(arrays[:whole], stacks)
        if not flat:
            made[c:] = [lib.xp.reshape(a, (*self._shape, *a.shape[1:])) for a in made[c:]]
        return Arrays(made)

    def _line(self, key: Hashable, line: Line, arrays: Sequence[Any]) -> BoundLine:
        """A line that is bound once; its constants go where the arrays live."""
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = BoundLine(fused(line), self._lib.inner, Arrays(arrays).parts)
        return bound

    def _one_by_one(self, arrays: list[Any], stacks: list[Any]) -> list[Any]:
        """Run one round after the other."""
        lib, c, n = self._lib.inner, self._states, self._n
        like = next(iter([*arrays, *stacks]), None)
        leaves = [self._body.slots[k] for k in self._body.outputs[c:]]
        rows = [lib.rows(n, leaf, like) for leaf in leaves]
        bound = self._line("round", self._body, [*arrays, *stacks])
        states = self._run(bound, c, arrays, stacks, rows, n)
        return [*states, *(lib.stacked(row, leaf, like) for row, leaf in zip(rows, leaves, strict=True))]

    def _run(
        self, bound: BoundLine, c: int, arrays: list[Any], stacks: list[Any], rows: list[Any], n: int
    ) -> list[Any]:
        """The last states after n rounds; the other results of each round are written into the rows."""
        order = range(n - 1, -1, -1) if self._reverse else range(n)
        ends = bound.outputs
        of = Round(c, len(arrays) - c, len(stacks), ends[:c], ends[c:], self._reverse)
        found: list[Any] = bound.rounds(of, order, arrays, stacks, rows)
        return found

    # --- in blocks ---

    def _in_blocks(self, arrays: list[Any], stacks: list[Any]) -> list[Any]:
        """Run block after block, part after part: the results of a part in a block are there for the later parts."""
        lib, body, c, n = self._lib.inner, self._body, self._states, self._n
        states, ends = arrays[:c], body.outputs[c:]
        rows = {k: lib.rows(n, body.slots[k], None) for k in ends}
        for start in range(0, n, self._size):
            size = min(self._size, n - start)
            low = n - start - size if self._reverse else start
            block = slice(low, low + size)
            found = dict(enumerate(arrays[c:], c))
            found |= {k: stack[block] for k, stack in enumerate(stacks, len(arrays))}
            place = {k: row[block] for k, row in rows.items()}
            for number, part in enumerate(self._parts):
                given = [found[k] for k in part.reads]
                if part.in_rounds:
                    made = [place[k] if k in place else lib.rows(size, body.slots[k], None) for k in part.makes]
                    bound = self._line(number, part.line, arrays)
                    before = [*(states[k] for k in part.states), *given[: part.shared]]
                    after = self._run(bound, len(part.states), before, given[part.shared :], made, size)
                    changed = part.states
                else:
                    line = self._bound.get((number, size)) or self._line((number, size), blocked(part, size), arrays)
                    results = line([*(states[k] for k in part.totals), *given])
                    made, after, changed = results[: len(part.makes)], results[len(part.makes) :], part.totals
                for k, state in zip(changed, after, strict=True):
                    states[k] = state
                found |= zip(part.makes, made, strict=True)
            for k, row in place.items():
                if found[k] is not row:
                    row[...] = found[k]
        return [*map(_own, states), *(rows[k] for k in ends)]


def _own(state: Any) -> Any:
    """The state, as a copy if it is a part of a block."""
    base = getattr(state, "base", None)
    return state if base is None or base.size == state.size else state.copy()


def _parts(body: Line, states: int, shared: int, n: int) -> tuple[Line, list[Part], int]:
    """The body that is run, its parts, and the rounds of a block; no parts where they are no quicker than the whole."""
    if n < FEW:
        return body, [], 0
    bodies = [line for line in (body, with_coefficients(body, states)) if line is not None]
    found = [distributed(line, states, shared) for line in bodies]
    best = min(range(len(found)), key=lambda k: _calls_in_rounds(found[k]))
    size = min(BLOCK // max(sum(map(_entries, found[best])), 1), n)
    alone = len(body.steps) + (len(body.outputs) + body.arity - 2 * states - shared) / 4
    if size < FEW or _calls_in_rounds(found[best]) >= 0.8 * alone:
        return body, [], 0
    return bodies[best], found[best], size


def _calls_in_rounds(parts: Sequence[Part]) -> float:
    return sum(_calls(part) for part in parts if part.in_rounds)


def _entries(part: Part) -> int:
    """The numbers that a part holds for each round of a block."""
    if part.in_rounds:
        first = len(part.states)
        slices = range(first + part.shared, part.line.arity)
        ends = [part.line.slots[k] for k in (*slices, *part.line.outputs[first:])]
        return sum(leaf.size for leaf in ends)
    axis = Fin.of(FEW)
    return sum(leaf.size for leaf in blocked(part, FEW).slots if leaf.axes[:1] == (axis,)) // FEW


def _calls(part: Part) -> float:
    """The cost of a round, in calls; a slice that is read or written is a quarter of one."""
    return len(part.line.steps) + (len(part.reads) - part.shared + len(part.makes)) / 4
