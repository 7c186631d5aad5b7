"""The step that puts the axes of an array in another order, in memory too."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import frozen

from hilbert.index.leaf import Leaf
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.kernel import Kernel
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
