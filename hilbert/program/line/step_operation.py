"""The base class of the operations of steps: they stand as data in a line, which knows them by this class alone.

An operation says which leaf it makes of which (`image`), gives its kernel for an array library (`bind`), and says how
it acts under more axes (`lifted`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Loops
    from hilbert.index.leaf import Leaf

    Order: TypeAlias = tuple[int, ...]
    """The axes of an array in the order in which they lie."""


class Operation:
    """An operation on the operands of a step."""

    __slots__ = ()

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of the result; raises SpaceError for operands that do not fit."""
        raise TypeError(type(self).__name__)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel for operands of these leaves."""
        raise TypeError(type(self).__name__)

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """The kernel on arrays of any one shape, and numbers, if an entry of the result depends on its own place only.

        None for other operations.
        """
        return None

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """The result as loops, an array or the tuple of a bundle's; None where the kernel is to be called."""
        return None

    @property
    def key(self) -> Any:
        """The key of the operation's kernels, beside leaves and the library."""
        return self

    @property
    def is_pure(self) -> bool:
        """True if nobody notices where, and how often, the operation is computed."""
        return True

    def after(self, inner: Operation | None) -> Operation | None:
        """The one operation that equals this one after an operation with one operand; None where there is none."""
        return None

    def lifted(self, n: int) -> Operation:
        """The operation on operands with n more axes in front, all of them."""
        raise TypeError(type(self).__name__)

    def front(self, operand: int, axis: int) -> int | None:
        """The axis of the result whose entries depend on those at the same place of an operand's axis, one by one.

        None where that is not known; operations that an entry passes through as it is say so by `lifted` alone.
        """
        return None

    def partly(self, n: int, up: tuple[bool, ...]) -> Operation | None:
        """The operation on operands of which only some have n more axes in front; None where all must have them."""
        return None

    def rearranged(self, given: Sequence[Order], made: Sequence[Order]) -> Operation | None:
        """The operation on a bundle of arrays, and to one, whose axes lie in other orders; None where there is none."""
        return None

    def needed(self, wanted: set[int]) -> tuple[set[int], set[int]]:
        """For an operation from bundle to bundle: the results to make for some of them, and their operands."""
        raise TypeError(type(self).__name__)

    def narrowed(self, need: set[int], given: set[int]) -> Operation:
        """The operation that makes these results only, of these operands."""
        raise TypeError(type(self).__name__)

    def __repr__(self) -> str:
        cls: Any = type(self)
        name = f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"
        return f"{name}({', '.join(repr(getattr(self, f.name)) for f in fields(cls))})"
