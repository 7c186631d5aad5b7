"""Kernels: array operations bound to a library and to shapes, chosen when a program is built.

The class of a library says how each operation is done: see `hilbert.arrays.kernels.library`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable


@frozen
class Kernel:
    """An array operation, bound to a library and to shapes.

    `inplace[k]` is a form that overwrites operand k; `scalar` is a quicker form for numpy's scalars; `fresh` says that
    the result shares no memory with an operand. `broadcasts`: an operand may be smaller and broadcast to the result;
    `repeats`: the result is the operand repeated along new axes in front, so that an operation that broadcasts may
    read the operand itself. `into(a, out)` writes the result into an array, where a reduction can; there the axes of
    the relation's codomain are one axis. A kernel that is not `pure` is called in its place among the steps.
    """

    call: Callable[..., Any]
    inplace: tuple[Callable[..., Any] | None, ...] = ()
    fresh: bool = True
    scalar: Callable[..., Any] | None = None
    broadcasts: bool = False
    repeats: bool = False
    into: Callable[[Any, Any], Any] | None = None
    pure: bool = True


class PrimitiveRow(Protocol):
    """A function that applies entry by entry, as a library needs it: a row of the table in `diff.terms.nodes`."""

    @property
    def name(self) -> str:
        """The function's name in the table."""
        ...

    @property
    def arity(self) -> int:
        """The number of arrays that the function takes."""
        ...

    @property
    def value(self) -> Callable[..., Any]:
        """value(xp, params, *arrays), in any array namespace."""
        ...

    @property
    def ufunc(self) -> str | None:
        """The name of the same function in numpy, which can also write into an operand."""
        ...

    @property
    def in_numpy(self) -> Callable[[tuple[float, ...]], Kernel] | None:
        """params ↦ a kernel for numpy that was written by hand."""
        ...

    @property
    def fresh(self) -> bool:
        """True if the value never is a view of an argument."""
        ...

    @property
    def is_discrete(self) -> bool:
        """True if the result holds truth values."""
        ...
