"""Choices between arrays, lane by lane: the operations on conditions that vary, of which lifted branches are made."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.compiled.tree.arrays import Array
from hilbert.compiled.tree.places import along
from hilbert.errors import SpaceError
from hilbert.index.leaf import Entry, Leaf
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Loops, Places
    from hilbert.compiled.tree.places import Place
    from hilbert.compiled.tree.values import Value

TRUTH = Leaf(Entry("bool"))
"""A condition."""


def _conditions(c: Leaf, leaf: Leaf, what: str) -> None:
    if c.kind != "b" or leaf.axes[: len(c.axes)] != c.axes:
        msg = f"{what} by {c} does not fit {leaf}"
        raise SpaceError(msg)


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

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """A choice for each entry."""
        c, a, b = operands
        n = len(c.shape)
        return to.each(result, lambda at: to.pool.select(c.at(at[:n]), a.at(at), b.at(at)))

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

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """The entries put together by `or`, or by `and`."""
        (c,) = operands
        sizes = c.shape[self.at :]

        def entry(at: Places, lanes: Places) -> Value:
            value = c.at((*at, *lanes))
            return value if value.dtype == "bool" else value.compared("ne", 0.0)

        found = to.total(result, sizes, entry, "or" if self.when else "and")
        return found if self.when else to.each(result, lambda at: to.pool.unary("not", found.at(at)))

    def lifted(self, n: int) -> AnyLane:
        """The operation with its axes behind n more."""
        return AnyLane(self.at + n, self.when)


@final
@frozen(repr=False)
class Fill(Operation):
    """(c, a) ↦ a with a copy of one good lane in each lane where the condition c is not `when`.

    Before a branch is computed for all lanes at once, the lanes that do not take the branch are filled with the values
    of the first lane that does, so that the branch is not computed at values where it fails. With c = [F, T, T] and
    `when` true, a = [−1, 4, 9] gives [4, 4, 9], of which √ has a value in each lane. What is computed in filled lanes
    is not used afterwards; so the derivative is da where c is `when`, and 0 in filled lanes. The lanes are the axes of
    c from `at` on; the axes before are batches, each with a first lane of its own.
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

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """The array as it is: nobody sees a lane that would be filled, and no error arises in one.

        A kernel of the interpreter may raise one: it is given the array with the lanes filled.
        """
        c, a = operands
        return Array(result, a.at, a.buffer, lambda: self._filled(to, c, a, result))

    def _filled(self, to: Loops, c: Array, a: Array, result: Leaf) -> Array:
        """Each lane read at itself, or at the first one that is taken, which is found from the last one on."""
        a = a if a.whole is None else a.whole()
        outside, lanes = Leaf(Entry("int64"), c.leaf.axes[: self.at]), c.shape[self.at :]
        first = to.put(outside, outside.shape, lambda at: (at, to.number(0, "int64")), None)

        def take(t: Place) -> None:
            def entry(at: Places) -> tuple[Places, Value]:
                here = c.at((*at, *along(t, lanes)))
                pair = (to.pool.integer(t), first.at(at))
                return at, to.pool.select(here, *pair) if self.when else to.pool.select(here, *reversed(pair))

            assert first.buffer is not None
            to.put_into(first.buffer, outside.shape, entry)

        n = prod(lanes)
        to.rounds(n, lambda t: take(t * -1 + (n - 1)))

        def read(places: Places) -> Value:
            at, rest = places[: self.at], places[len(c.shape) :]
            own, other = a.at(places), a.at((*at, *along(to.place(first.at(at)), lanes), *rest))
            taken = c.at(places[: len(c.shape)])
            return to.pool.select(taken, own, other) if self.when else to.pool.select(taken, other, own)

        return to.each(result, read)

    def lifted(self, n: int) -> Fill:
        """The operation with its lanes behind n more axes."""
        return Fill(self.at + n, self.when)
