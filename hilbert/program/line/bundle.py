"""Several arrays as one slot, and one array of these: steps of control flow take and give more than one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Loops


def part(leaf: Leaf, k: int, what: str) -> Leaf:
    """Array k of a bundle; raises SpaceError where there is none."""
    if not isinstance(leaf, Bundle) or not 0 <= k < len(leaf.leaves):
        msg = f"{what} takes array {k} of a bundle, which {leaf} has not"
        raise SpaceError(msg)
    return leaf.leaves[k]


@final
@frozen(repr=False)
class Pack(Operation):
    """Some arrays as one bundle."""

    def image(self, *operands: Leaf) -> Bundle:
        """The bundle of the operands' leaves."""
        return Bundle(operands)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The arrays themselves."""
        return Kernel(lambda *arrays: Arrays(arrays), fresh=False)

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """The arrays themselves."""
        return tuple(operands)

    def lifted(self, n: int) -> Pack:
        """The same operation."""
        return self


@final
@frozen(repr=False)
class Unpack(Operation):
    """Array k of a bundle."""

    k: int

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of array k."""
        return part(operands[0], self.k, "Unpack")

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The array itself."""
        k = self.k
        return Kernel(lambda arrays: arrays[k], fresh=False, part=k)

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """The array itself."""
        return operands[0][self.k]

    def lifted(self, n: int) -> Unpack:
        """The same operation."""
        return self
