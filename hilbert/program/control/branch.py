"""Conditions: a step that runs one of two lines, and its lifted form, whose condition varies over lanes.

Lifted, a line runs if some lane takes it, on arrays where the lanes that do not take it are *filled* with those of the
first lane that does: so that each step is computed at points of its domain. The results are chosen lane by lane.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, final

from attrs import field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.line import Line, live_parts, restricted
from hilbert.program.line.step_operation import Operation
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.fuse import fused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library

TRUTH = Leaf(Entry("bool"))
"""A condition."""


def _conditions(c: Leaf, leaf: Leaf, what: str) -> None:
    if c.kind != "b" or leaf.axes[: len(c.axes)] != c.axes:
        msg = f"{what} by {c} does not fit {leaf}"
        raise SpaceError(msg)


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

    def on_lines(self, change: Callable[[Line], Line]) -> Cond:
        """The condition with other lines that do the same."""
        then, otherwise = map(change, self.lines)
        return self if then is self.then and otherwise is self.otherwise else Cond(then, otherwise)

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


@final
class _Taken:
    """A kernel that runs the line that is taken; each line is bound when it is first run."""

    __slots__ = ("_bound", "_lib", "_lines")

    def __init__(self, cond: Cond, lib: Library) -> None:
        self._lib = lib
        self._lines = [fused(folded(line)) for line in cond.lines]
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


@final
@frozen(repr=False)
class Choose(Operation):
    """(c, a, b) ↦ a where the condition holds, b elsewhere; the axes of c are the first ones of a and b."""

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of a and b."""
        c, a, b = operands
        _conditions(c, a, "a choice")
        if a != b:
            msg = f"a choice between {a} and {b}: both must be in one space"
            raise SpaceError(msg)
        return a

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """`where`, on arrays with the condition's axes in front."""
        xp, shape = lib.inner.xp, (*operands[0].shape, *(1 for _ in result.axes[len(operands[0].axes) :]))
        whole = lib.whole
        return Kernel(lambda c, a, b: xp.where(xp.reshape(c, shape), whole(a, "where"), whole(b, "where")))

    def lifted(self, n: int) -> Choose:
        """The same choice: the axes of c come first anyway."""
        return self


@final
@frozen(repr=False)
class AnyLane(Operation):
    """True if c is `when` somewhere along the axes from `at` on; a number is true unless it is 0."""

    at: int
    when: bool

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf without these axes, of truth values."""
        return Leaf(TRUTH.entry, operands[0].axes[: self.at])

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel: `any`, or not `all`."""
        xp, when, is_truth = lib.xp, self.when, operands[0].kind == "b"
        axes = tuple(range(self.at, len(operands[0].axes)))

        def found(c: Any) -> Any:
            c = c if is_truth else c != 0
            c = c if when else xp.logical_not(c)
            return xp.any(c, axis=axes) if axes else c

        return Kernel(found)

    def lifted(self, n: int) -> AnyLane:
        """The operation with its axes behind n more."""
        return AnyLane(self.at + n, self.when)


@final
@frozen(repr=False)
class Fill(Operation):
    """(c, a) ↦ a, the lanes where c is not `when` filled with the first one where it is; the lanes are c's last axes.

    Nobody sees a lane that is filled: no differential flows into it, so the derivative is the mask.
    """

    at: int
    when: bool

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of a."""
        _conditions(operands[0], operands[1], "a filling")
        return operands[1]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel: a gather of the first lane, and a choice."""
        xp, whole, when = lib.inner.xp, lib.whole, self.when
        c, a = operands
        outside, lanes = prod(c.shape[: self.at]), prod(c.shape[self.at :])
        rest, shape = a.shape[len(c.axes) :], a.shape
        ones = tuple(1 for _ in rest)

        def filled(c: Any, a: Any) -> Any:
            a = whole(a, "where")
            if not lanes or not outside:
                return a
            taken = xp.reshape(c if when else xp.logical_not(c), (outside, lanes))
            first = xp.argmax(xp.astype(taken, xp.int64), axis=1)
            places = first + lanes * xp.arange(outside, dtype=first.dtype, device=getattr(first, "device", None))
            rows = xp.take(xp.reshape(a, (outside * lanes, *rest)), places, axis=0)
            mask = xp.reshape(taken, (outside, lanes, *ones))
            whole_a = xp.reshape(a, (outside, lanes, *rest))
            return xp.reshape(xp.where(mask, whole_a, xp.reshape(rows, (outside, 1, *rest))), shape)

        return Kernel(filled)

    def lifted(self, n: int) -> Fill:
        """The operation with its lanes behind n more axes."""
        return Fill(self.at + n, self.when)
