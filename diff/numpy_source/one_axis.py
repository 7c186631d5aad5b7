"""The place of a relation in an array, with X and Y each as one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from diff.python_text.axis_text import indexed
from diff.python_text.constants import array_of
from diff.python_text.expressions import Node
from diff.python_text.scope import Scope, zeros

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf


@final
class Axis:
    """The place of a relation between X and Y, each one axis, and the scope that the text stands in."""

    def __init__(
        self, scope: Scope, before: tuple[int, ...], n: int, m: int, after: tuple[int, ...], leaf: Leaf
    ) -> None:
        self.scope, self.before, self.n, self.m, self.after, self.leaf = scope, before, n, m, after, leaf
        self.at, self.is_alone = len(before), not before and not after

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the result, with Y as one axis."""
        return (*self.before, self.m, *self.after)

    def cut(self, node: Node, entry: str) -> Node:
        """A slice along the axis."""
        return indexed(node, self.at, entry)

    def zeros(self, base: str, length: int | None = None) -> str:
        """The name of new zeros, of another length if one is given."""
        word = self.scope.page.fresh(base)
        sizes = (*self.before, self.m if length is None else length, *self.after)
        self.scope.put(f"{word} = {zeros(sizes, self.leaf)}")
        return word

    def table(self, positions: Any, base: str) -> Node:
        """Positions as a constant, which is named."""
        return array_of(self.scope.page, positions, base)

    @property
    def argument(self) -> str:
        """The argument that says along which axis, where there are others."""
        return "" if self.is_alone else f", axis={self.at}"
