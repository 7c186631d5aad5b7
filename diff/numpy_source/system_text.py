"""Linear systems in text: the matrix is the line on the vectors of a basis, and numpy solves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

from diff.numpy_source.body import Body, FlowText
from diff.python_text.axis_text import reshaped, shape
from diff.python_text.constants import of_number
from diff.python_text.expressions import Node, put
from diff.python_text.scope import Scope, Value, dtype, whole
from hilbert.index.index import Fin
from hilbert.program.run.constant_folding import folded
from hilbert.program.transform.run_linear_system import under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.control.equation_step import Solve
    from hilbert.program.line.line import Line


@final
class System:
    """A linear system, whose matrix is its line on the vectors of a basis."""

    def __init__(self, scope: Scope, of: Solve, given: Sequence[Value], flow: FlowText) -> None:
        self.scope, self.of, self.flow = scope, of, flow
        self.ends = len(of.line.outputs)
        self.right = given[: self.ends]
        self.data = [scope.named(value, "a") for value in given[self.ends :]]
        self.unknowns = of.line.slots[: of.unknowns]
        self.total, self.lanes = of.sizes
        self.rows = math.prod(axis.size for axis in of.many)

    def solved(self) -> tuple[Value, ...]:
        """The unknowns."""
        leaves = self.of.made.leaves
        if not self.total or not self.lanes or not self.rows:
            return tuple(Value(put(f"np.zeros({shape(leaf.shape)}{dtype(leaf)})"), leaf) for leaf in leaves)
        b = self._flat(self.right, self._front(self.rows))
        if self.total == 1 or (not self.of.is_small and self.of.plan().division):
            ones = [self._of_ones(leaf) for leaf in self.unknowns]
            return self._parts(put("{0} / {1}", b, self._flat(self._applied(1, ones), self._front(1))))
        made = self._flat(self._applied(self.total, self._basis()), self._front(self.total))
        columns = self.scope.named(Value(made, self.unknowns[0]), "columns").node
        if self.lanes == 1:
            return self._parts(put("np.linalg.solve({0}.T, {1})" if self.rows == 1 else TURNED, columns, b))
        matrices = put("{0}.transpose(1, 2, 0)", columns)
        if self.rows == 1:
            return self._parts(put("np.linalg.solve({0}, {1}[..., None])[..., 0]", matrices, b))
        b = self.scope.named(Value(put("{0}.transpose(1, 2, 0)", b), self.unknowns[0]), "b").node
        return self._parts(put("np.linalg.solve({0}, {1}).transpose(2, 0, 1)", matrices, b))

    def _front(self, rows: int) -> tuple[int, ...]:
        """The axes in front of the unknowns: rows and lanes, where there are several."""
        return (rows,) * (rows > 1) + (self.lanes,) * (self.lanes > 1)

    def _ends(self) -> list[Leaf]:
        return [self.of.line.slots[k] for k in self.of.line.outputs]

    def _of_ones(self, leaf: Leaf) -> Value:
        return of_number(1.0, leaf.under((Fin.of(1),)))

    def _flat(self, values: Sequence[Value], front: tuple[int, ...]) -> Node:
        """Arrays side by side, as one with some axes in front."""
        parts = []
        for value, leaf in zip(values, self._ends(), strict=True):
            node = reshaped(whole(value), value.shape, (*front, leaf.size // self.lanes))
            parts.append(self.scope.light(Value(node, leaf), "b", 2).node)
        if len(parts) == 1:
            return parts[0]
        each = ", ".join(f"{{{k}}}" for k in range(len(parts)))
        axis = ", axis=-1" if front else ""
        return self.scope.assign(Value(put(f"np.concatenate([{each}]{axis})", *parts), self.unknowns[0]), "b").node

    def _basis(self) -> list[Value]:
        """Each vector of the basis, in the shapes of the unknowns."""
        kind, n = dtype(self.unknowns[0]), self.total
        eye: Node = put(f"np.eye({n}{kind})")
        found, start = [], 0
        if len(self.unknowns) > 1:
            eye = self.scope.assign(Value(eye, self.unknowns[0]), "basis").node
        for leaf in self.unknowns:
            size = leaf.size // self.lanes
            part = eye if len(self.unknowns) == 1 else put(f"{{0}}[:, {start}:{start + size}]", eye)
            have: tuple[int, ...] = (n, size)
            if self.lanes > 1:
                have = (n, self.lanes, size)
                part = put(f"np.broadcast_to({{0}}[:, None], {have})", part)
            value = Value(reshaped(part, have, (n, *leaf.shape)), leaf.under((Fin.of(n),)))
            found.append(self.scope.named(value, "basis"))
            start += size
        return found

    def _applied(self, n: int, x: Sequence[Value]) -> list[Value]:
        """The line on n vectors at once."""
        line: Line = folded(under(self.of.line, (Fin.of(n),), self.of.unknowns).pruned())
        given = [self.scope.named(value, "ones") for value in x]
        return Body(self.scope, line, [*given, *self.data], self.flow).run()

    def _parts(self, x: Node) -> tuple[Value, ...]:
        """The unknowns in their shapes."""
        leaves, front = self.of.made.leaves, self._front(self.rows)
        if len(leaves) == 1:
            return (self.scope.assign(Value(reshaped(x, (*front, self.total), leaves[0].shape), leaves[0]), "x"),)
        word = self.scope.assign(Value(x, leaves[0]), "x").node
        found, start = [], 0
        for leaf in leaves:
            size = leaf.size // (self.rows * self.lanes)
            part = put(f"{{0}}[{'..., ' if front else ''}{start}:{start + size}]", word)
            found.append(self.scope.named(Value(reshaped(part, (*front, size), leaf.shape), leaf), "x"))
            start += size
        return tuple(found)


TURNED = "np.linalg.solve({0}.T, {1}.T).T"
"""The solution for several right sides, as columns."""
