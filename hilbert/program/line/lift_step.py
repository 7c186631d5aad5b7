"""A step under more axes: operands that vary over them have them in front; others are read without, or replicated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.program.line.builder import Builder
    from hilbert.program.line.step_operation import Operation


def lifted_step(
    b: Builder, operation: Operation, n: int, args: Sequence[int], up: Sequence[bool], rep: Callable[[int], int]
) -> int:
    """The slot of an operation under n axes on operands of which some vary; `rep(j)` is operand j with the axes."""
    partly = operation.partly(n, tuple(up))
    if partly is None:
        return b.step(operation.lifted(n), tuple([rep(j) for j in range(len(args))]))
    return b.step(partly, tuple(args))
