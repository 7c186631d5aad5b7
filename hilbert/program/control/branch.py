"""Conditions: a step that runs one of two lines, and its lifted form, whose condition varies over lanes.

Lifted, a line runs if some lane takes it, on arrays where the lanes that do not take it are *filled* with those of the
first lane that does: so that each step is computed at points of its domain. The results are chosen lane by lane, by the
operations of `hilbert.program.line.choice`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.compiled.lower.line_loops import within
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import TRUTH, AnyLane, Choose, Fill  # noqa: F401 - saved files name them here
from hilbert.program.line.line import Line, live_parts, restricted
from hilbert.program.line.operation import Move
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.prepare import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Loops


@final
@frozen(repr=False, cache_hash=True)
class Cond(ControlFlow):
    """(c, captures) ↦ one of two lines on the captures; only that one is run."""

    then: Line = field()
    otherwise: Line = field()

    def __attrs_post_init__(self) -> None:
        ends = [Bundle(tuple(line.slots[k] for k in line.outputs)) for line in self.lines]
        starts = [line.slots[: line.arity] for line in self.lines]
        if ends[0] != ends[1] or starts[0] != starts[1]:
            msg = f"both branches of a condition end in one space, not in {ends[0]} and {ends[1]}"
            raise SpaceError(msg)

    @property
    def lines(self) -> tuple[Line, Line]:
        """The two lines."""
        return self.then, self.otherwise

    @property
    def given(self) -> Bundle:
        """The bundle of the operands: the condition and the captures."""
        return Bundle((TRUTH, *self.then.slots[: self.then.arity]))

    @property
    def made(self) -> Bundle:
        """The bundle of the results."""
        return Bundle(tuple(self.then.slots[k] for k in self.then.outputs))

    def image(self, *operands: Leaf) -> Bundle:
        """The results of either line."""
        if operands != (self.given,):
            msg = f"a condition on {self.given} does not apply to {operands[0]}"
            raise SpaceError(msg)
        return self.made

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel that runs the line that is taken."""
        return Kernel(_Taken(self, lib), fresh=False)

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """A branch of the program, which writes into the same buffers on either way."""
        (condition, *given), ends = operands[0], self.made.leaves
        made = tuple(to.of(leaf, to.buffer(leaf.shape, leaf.dtype)) for leaf in ends)

        def way(line: Line) -> None:
            for array, found in zip(made, within(to, line, given), strict=True):
                to.write(array, found)

        to.branch(condition.at(()), *(lambda line=line: way(line) for line in self.lines))
        return made

    def on_lines(self, change: Callable[[Line], Line]) -> Cond:
        """The condition with other lines that do the same."""
        then, otherwise = map(change, self.lines)
        return self if then is self.then and otherwise is self.otherwise else Cond(then, otherwise)

    def rearranged(self, given: Sequence[tuple[int, ...]], made: Sequence[tuple[int, ...]]) -> Cond:
        """The condition on captures, and to results, whose axes lie in other orders."""
        return Cond(*(_rearranged(line, given[1:], made) for line in self.lines))

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """The results asked for, and the operands that either line needs for them, with operand 0, the condition."""
        given = {0}
        for line in self.lines:
            live = live_parts(line, [line.outputs[k] for k in wanted])
            given |= {k + 1 for k in range(line.arity) if live[k]}
        return set(wanted), given

    def narrowed(self, need: set[int], given: set[int]) -> Cond:
        """The condition for some results only, on the operands that these need."""
        kept = [k - 1 for k in sorted(given) if k]
        return Cond(*(restricted(line.ending(line.outputs[k] for k in sorted(need)), kept) for line in self.lines))


def _rearranged(line: Line, given: Sequence[tuple[int, ...]], made: Sequence[tuple[int, ...]]) -> Line:
    """The line on arrays, and to arrays, whose axes lie in other orders: it moves axes first and last."""
    starts = [_in_order(leaf, order) for leaf, order in zip(line.slots, given, strict=False)]
    b = Builder(starts, fixed=line.fixed)
    inputs = [_moved(b, k, tuple(map(order.index, range(len(order))))) for k, order in enumerate(given)]
    where = b.inline(line, inputs)
    return b.line([_moved(b, where[k], order) for k, order in zip(line.outputs, made, strict=True)])


def _in_order(leaf: Leaf, order: tuple[int, ...]) -> Leaf:
    return leaf if isinstance(leaf, Bundle) else Leaf(leaf.entry, tuple([leaf.axes[k] for k in order]))


def _moved(b: Builder, slot: int, order: tuple[int, ...]) -> int:
    return slot if order == tuple(range(len(order))) else b.apply(Move(order), slot)


@final
class _Taken:
    """A kernel that runs the line that is taken; each line is bound when it is first run."""

    __slots__ = ("_bound", "_lib", "_lines")

    def __init__(self, cond: Cond, lib: Library) -> None:
        self._lib = lib
        self._lines = [prepared(line) for line in cond.lines]
        self._bound: list[BoundLine | None] = [None, None]

    def __call__(self, given: Arrays) -> Arrays:
        outer = self._lib
        c, *arrays = (outer.whole(a, "a condition") for a in given)
        return Arrays(outer.inner.branch(c, lambda: self._run(0, arrays, c), lambda: self._run(1, arrays, c)))

    def _run(self, k: int, arrays: list[Any], c: Any) -> list[Any]:
        bound = self._bound[k]
        if bound is None:
            bound = self._bound[k] = BoundLine(self._lines[k], self._lib.inner, [*Arrays(arrays).parts, c])
        return bound(arrays)
