"""Steps on arrays whose long axis lies last: the copy into another order of axes, and choices lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.index.leaf import Leaf
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.library import Library


@final
@frozen(repr=False)
class Store(Operation):
    """The array with its axes in an order, as a copy whose memory is in that order."""

    order: tuple[int, ...]

    def image(self, *operands: Leaf) -> Leaf:
        """The axes in that order."""
        (leaf,) = operands
        return Leaf(leaf.entry, tuple(leaf.axes[k] for k in self.order))

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The library's copy."""
        return lib.stored(self.order)


@final
@frozen(repr=False)
class ChooseInside(Operation):
    """(c, a, b) ↦ a where the condition holds, b elsewhere; the axis of c is the last one of a and b."""

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of a and b."""
        return operands[1]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """`where`, which broadcasts; in numpy one of both itself where all lanes take it."""
        xp, whole = lib.inner.xp, lib.whole

        def chosen(c: Any, a: Any, b: Any) -> Any:
            return xp.where(c, whole(a, "where"), whole(b, "where"))

        def chosen_here(c: Any, a: Any, b: Any) -> Any:
            return a if c.all() else chosen(c, a, b) if c.any() else b

        return Kernel(chosen_here, fresh=False) if lib.is_host else Kernel(chosen)


@final
@frozen(repr=False)
class FillInside(Operation):
    """(c, a) ↦ a, lanes where c is not `when` filled with the first one where it is; they are the last axis."""

    when: bool

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of a."""
        return operands[1]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A gather of the first lane, and a choice; in numpy the array itself where no lane is filled, or all are."""
        xp, whole, when, is_host = lib.inner.xp, lib.whole, self.when, lib.is_host

        def filled(c: Any, a: Any) -> Any:
            if is_host and (c.all() or not c.any()):
                return a
            taken, a = c if when else xp.logical_not(c), whole(a, "where")
            first = xp.argmax(xp.astype(taken, xp.int64), axis=0)
            return xp.where(taken, a, xp.take(a, xp.reshape(first, (1,)), axis=-1))

        return Kernel(filled, fresh=not is_host)
