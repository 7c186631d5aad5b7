"""The loop as one step: a bundle of states, shared arrays and stacks to the last states and a stack for each result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.base.once import OfFields, cached_property, first
from hilbert.compiled.lower.line_loops import within
from hilbert.compiled.tree.places import along
from hilbert.errors import SpaceError
from hilbert.index.index import Index
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.control.rounds import Rounds
from hilbert.program.line.line import Line, Liveness, restricted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Loops
    from hilbert.compiled.tree.places import Place


@final
@frozen(repr=False, slots=False, cache_hash=True)
class Loop(OfFields, ControlFlow):
    """The rounds of a body for each element of X, in order or backwards: (states, shared, slices) ↦ (states, results).

    The operands are the first states, arrays that all rounds share, and stacks, which have the axes of X in front; the
    results are the last states, and a stack for each result of the body. With `again` the derivative keeps only the
    operands of a round, and computes the rest again. `names` are those of the body's arguments, for printing only.
    """

    body: Line
    index: Index
    states: int
    shared: int
    reverse: bool = False
    again: bool = False
    names: tuple[str, ...] = field(default=(), eq=False)

    def __attrs_post_init__(self) -> None:
        body = self.body
        before = body.slots[: self.states]
        after = tuple(body.slots[k] for k in body.outputs[: self.states])
        if before != after or self.states + self.shared > body.arity:
            msg = f"the states of a loop are in {Bundle(before)} before a round, and in {Bundle(after)} after it"
            raise SpaceError(msg)

    @cached_property
    def given(self) -> Bundle:
        """The bundle of the operands: first states, shared arrays, stacks."""
        leaves, whole = self.body.slots[: self.body.arity], self.states + self.shared
        return Bundle((*leaves[:whole], *(leaf.under(self.index.axes) for leaf in leaves[whole:])))

    @cached_property
    def made(self) -> Bundle:
        """The bundle of the results: last states, stacks."""
        leaves = [self.body.slots[k] for k in self.body.outputs]
        return Bundle((*leaves[: self.states], *(leaf.under(self.index.axes) for leaf in leaves[self.states :])))

    def image(self, *operands: Leaf) -> Bundle:
        """The bundle of the last states and the stacks."""
        (bundle,) = operands
        if bundle != self.given:
            msg = f"a loop on {self.given} does not apply to {bundle}"
            raise SpaceError(msg)
        return self.made

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel that runs the rounds."""
        return Kernel(
            Rounds(self.body, lib, self.index.shape, self.states, self.shared, reverse=self.reverse), fresh=False
        )

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """Rounds of the body's loops: states are buffers that each round writes anew, stacks are read and written."""
        (given,), body, shape = operands, self.body, self.index.shape
        own = self.states + self.shared
        states = [to.copied(array) for array in given[: self.states]]
        leaves = [body.slots[k].under(self.index.axes) for k in body.outputs[self.states :]]
        stacks = [to.of(leaf, to.buffer(leaf.shape, leaf.dtype)) for leaf in leaves]

        def round_(t: Place) -> None:
            at = along(t * -1 + (self.index.size - 1) if self.reverse else t, shape)
            slices = [to.row(body.slots[k], stack, at) for k, stack in enumerate(given[own:], own)]
            made = within(to, body, [*states, *given[self.states : own], *slices])
            for stack, array in zip(stacks, made[self.states :], strict=True):
                to.write(stack, array, at)
            to.exchange(states, made[: self.states])

        to.rounds(self.index.size, round_)
        return (*states, *stacks)

    def on_lines(self, change: Callable[[Line], Line]) -> Loop:
        """The loop with another body that does the same."""
        body = change(self.body)
        return self if body is self.body else evolve(self, body=body)

    # --- results that nobody reads ---

    @cached_property
    def found(self) -> dict[frozenset[int], tuple[set[int], set[int]]]:
        """Answers of `needed`, kept because every line around a loop asks the loops within it."""
        return {}

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """The results that must be made for some of them, states among them, and the operands that these need."""
        asked = frozenset(wanted)
        need, given = self.found.get(asked) or first(self.found, asked, self._needed(wanted))
        return set(need), set(given)

    def _needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        live, need, new = Liveness(self.body), set(wanted), set(wanted)
        given = set[int]()
        while new:
            found = live.need([self.body.outputs[k] for k in new])
            given |= found
            new = {k for k in found if k < self.states} - need
            need |= new
        return need, given | {k for k in need if k < self.states}

    def narrowed(self, need: set[int], given: set[int]) -> Loop:
        """The loop that gives these results only, of the operands that they need."""
        outputs = [self.body.outputs[k] for k in sorted(need)]
        ending = self.body.ending(outputs)
        if ending is self.body and len(given) == ending.arity:
            return self
        body = restricted(ending, sorted(given))
        states = sum(k < self.states for k in need)
        shared = sum(self.states <= k < self.states + self.shared for k in given)
        own = [k for k in sorted(given) if not self.states <= k < self.states + self.shared]
        names = tuple(self.names[k if k < self.states else k - self.shared] for k in own) if self.names else ()
        return Loop(body, self.index, states, shared, self.reverse, self.again, names)
