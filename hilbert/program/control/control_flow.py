"""The base class of steps that hold lines: loops, conditions and equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.program.line.line import Line


class ControlFlow(Operation):
    """An operation that holds lines, and runs them."""

    __slots__ = ()

    def on_lines(self, change: Callable[[Line], Line]) -> Operation:
        """The operation with each of its lines changed into one that does the same."""
        raise TypeError(type(self).__name__)


def on_lines(operation: Operation, change: Callable[[Line], Line]) -> Operation:
    """An operation with each line that it holds changed into one that does the same; most operations hold none."""
    return operation.on_lines(change) if isinstance(operation, ControlFlow) else operation
