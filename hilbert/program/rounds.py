"""The rounds of a loop, bound to a library: one environment for all of them, each result written where it belongs."""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.library import Arrays
from hilbert.program.bind import BoundLine
from hilbert.program.fold import folded
from hilbert.program.fuse import fused

if TYPE_CHECKING:
    from hilbert.arrays.library import Library
    from hilbert.program.line import Line


@final
class Rounds:
    """What runs a loop."""

    __slots__ = ("_bound", "_leaves", "_lib", "_line", "_reverse", "_shape", "_shared", "_states")

    def __init__(
        self, body: Line, lib: Library, shape: tuple[int, ...], states: int, shared: int, *, reverse: bool
    ) -> None:
        self._line, self._lib = fused(folded(body)), lib
        self._shape, self._states, self._shared, self._reverse = shape, states, shared, reverse
        self._leaves = [body.slots[k] for k in body.outputs[states:]]
        self._bound: BoundLine | None = None

    def __call__(self, given: Arrays) -> Arrays:
        """The last states and the stacks."""
        outer = self._lib
        lib = outer.inner
        arrays = [outer.whole(a, "a loop") for a in given]
        bound = self._bound
        if bound is None:  # constants go where the arrays live
            bound = self._bound = BoundLine(self._line, lib, Arrays(arrays).parts)
        n, c = prod(self._shape), self._states
        whole = c + self._shared
        flat = len(self._shape) == 1
        stacks = arrays[whole:]
        if not flat:
            stacks = [lib.xp.reshape(a, (n, *a.shape[len(self._shape) :])) for a in stacks]
        if lib.scans and n:
            made = lib.scan(bound, arrays[:c], arrays[c:whole], stacks, n, reverse=self._reverse)
        else:
            made = self._run(bound, arrays[:whole], stacks, n)
        if not flat:
            made[c:] = [lib.xp.reshape(a, (*self._shape, *a.shape[1:])) for a in made[c:]]
        return Arrays(made)

    def _run(self, bound: BoundLine, arrays: list[Any], stacks: list[Any], n: int) -> list[Any]:
        """One round after the other."""
        lib, c, whole = self._lib.inner, self._states, len(arrays)
        env = [*arrays, *stacks, *bound.rest]
        for slot in bound.scalars:
            if slot < whole:
                env[slot] = env[slot][()]
        run, outputs = bound.run, bound.outputs
        like = next((a for a in chain(arrays, stacks)), None)
        rows = [lib.rows(n, leaf, like) for leaf in self._leaves]
        slices = list(enumerate(stacks, whole))
        written = list(zip(rows, outputs[c:], strict=True))
        after = outputs[:c]
        rest = () if lib.is_host else (...,)  # the array API asks for all axes; without, numpy gives scalars
        for t in range(n - 1, -1, -1) if self._reverse else range(n):
            place = (t, *rest) if rest else t
            for k, stack in slices:
                env[k] = stack[place]
            run(env)
            for row, slot in written:
                row[t] = env[slot]
            env[:c] = [env[slot] for slot in after]
        return [*env[:c], *(lib.stacked(row, leaf, like) for row, leaf in zip(rows, self._leaves, strict=True))]
