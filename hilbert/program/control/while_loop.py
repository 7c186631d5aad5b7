"""The loop without a number of rounds, as one step: as long as a condition holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve, field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.compiled.lower.line_loops import within
from hilbert.compiled.operations.small_systems import negated
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.line import Line, live_parts, restricted
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.prepare import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Array, Loops


MANY = 100_000
"""The rounds that machine code runs of a loop without a bound, before it leaves the loop to the interpreter."""
_TRUTH = Leaf(Entry("bool"), ())


@final
@frozen(repr=False, cache_hash=True)
class While(ControlFlow):
    """(go, states, shared) ↦ (go, states): the body again and again, as long as `go` holds somewhere.

    The first state is the condition; lifted, it has the lanes' axes, and the body leaves alone a lane where it does not
    hold. Of a `search` for something, the second state tells how far away it is, and after `most` rounds it has failed.
    `names` are those of the states behind the first, for printing only.
    """

    body: Line
    states: int
    search: str = ""
    most: int = 0
    names: tuple[str, ...] = field(default=(), eq=False)

    def __attrs_post_init__(self) -> None:
        body = self.body
        after = tuple(body.slots[k] for k in body.outputs)
        if body.slots[: self.states] != after or not after or after[0].kind != "b":
            msg = f"a state is in {Bundle(body.slots[: self.states])} before a round, and in {Bundle(after)} after it"
            raise SpaceError(msg)

    @property
    def given(self) -> Bundle:
        """The bundle of the operands: states and shared arrays."""
        return Bundle(self.body.slots[: self.body.arity])

    @property
    def made(self) -> Bundle:
        """The bundle of the results: the states."""
        return Bundle(self.body.slots[: self.states])

    def image(self, *operands: Leaf) -> Bundle:
        """The bundle of the last states."""
        if operands != (self.given,):
            msg = f"a loop on {self.given} does not apply to {operands[0]}"
            raise SpaceError(msg)
        return self.made

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel that runs the rounds."""
        return Kernel(_Rounds(self, lib), fresh=False)

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """Rounds of the body's loops; the interpreter has the word after very many, and where a search has failed."""
        (given,), n = operands, self.states
        states = [to.copied(array) for array in given[:n]]

        def goes_on() -> Array:
            return to.aside(lambda: to.total(_TRUTH, states[0].shape, lambda _, p: states[0].at(p), "or"))

        def round_() -> None:
            to.exchange(states, within(to, self.body, [*states, *given[n:]]))
            to.write(goes, goes_on())

        goes = goes_on()
        to.search(self.most or MANY, goes, round_)
        if self.search or not self.most:
            to.doubt(states[0].shape, states[0].at)
        if self.search:
            to.doubt(states[1].shape, lambda p: negated(abs(states[1].at(p)).compared("lt", math.inf)))
        return tuple(states)

    def on_lines(self, change: Callable[[Line], Line]) -> While:
        """The loop with another body that does the same."""
        body = change(self.body)
        return self if body is self.body else evolve(self, body=body)

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """All states, for the condition may depend on each, and the operands that a round reads."""
        live = live_parts(self.body, self.body.outputs)
        states = set(range(self.states))
        return states, states | {k for k in range(self.body.arity) if live[k]}

    def narrowed(self, need: set[int], given: set[int]) -> While:
        """The loop without arrays that no round reads."""
        return evolve(self, body=restricted(self.body, sorted(given)))


@final
class _Rounds:
    """A kernel that runs the loop; the body is bound when it is first run."""

    __slots__ = ("_bound", "_lib", "_line", "_of")

    def __init__(self, of: While, lib: Library) -> None:
        self._of, self._lib = of, lib
        self._line = prepared(of.body)
        self._bound: BoundLine | None = None

    def __call__(self, given: Arrays) -> Arrays:
        of, outer = self._of, self._lib
        lib, c = outer.inner, of.states
        arrays = [outer.whole(a, "a loop") for a in given]
        bound = self._bound
        if bound is None:
            bound = self._bound = BoundLine(self._line, lib, Arrays(arrays).parts)
        states = lib.repeat(bound, arrays[:c], arrays[c:], of.most)
        if of.search and lib.holds(outer.inner.xp.isnan(states[1])):
            msg = f"{of.search} is not found: a residual is NaN, where the function is not defined or too large"
            raise SpaceError(f"{msg}: start elsewhere")
        if of.search and lib.holds(states[0]):
            left = float(np.max(to_numpy(states[1]), where=to_numpy(states[0]), initial=0.0))
            rounds = f"{of.most} rounds" if of.most > 1 else "one round"
            msg = f"{of.search} is not found in {rounds}; the last residual is {left:.3g}: start closer to it, "
            msg += "or allow more rounds by at_most=…, or less accuracy by tolerance=…"
            raise SpaceError(f"{msg}; where the derivative of the equation is nearly singular, no start helps")
        return Arrays(states)
