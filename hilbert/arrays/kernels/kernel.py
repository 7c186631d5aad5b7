"""Kernels: array operations bound to a library and to shapes, chosen when a program is built.

Which library does an operation how is said by its class: see `hilbert.arrays.kernels.library`.
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
    the relation's codomain are one axis. What is not `pure` is called in its place among the steps.
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
    """What a library is told of a function that applies entry by entry: a row of the table in `diff.terms.nodes`."""

    @property
    def name(self) -> str:
        """Its name in the table."""
        ...

    @property
    def arity(self) -> int:
        """How many arrays it takes."""
        ...

    @property
    def value(self) -> Callable[..., Any]:
        """value(xp, params, *arrays), in any array namespace."""
        ...

    @property
    def ufunc(self) -> str | None:
        """The function of numpy that it is, which can also write into an operand."""
        ...

    @property
    def in_numpy(self) -> Callable[[tuple[float, ...]], Kernel] | None:
        """params ↦ a kernel for numpy that was written by hand."""
        ...

    @property
    def fresh(self) -> bool:
        """Whether the value never is a view of an argument."""
        ...

    @property
    def is_discrete(self) -> bool:
        """Whether the result holds truth values."""
        ...
