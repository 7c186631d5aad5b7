"""A linear system of few unknowns in machine code: its matrix in full, as loops, and the elimination of that."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.compiled.lower.line_loops import within
from hilbert.compiled.operations import dense_systems
from hilbert.compiled.tree.arrays import Array
from hilbert.compiled.tree.places import along, flat
from hilbert.index.index import Fin
from hilbert.index.leaf import Leaf
from hilbert.program.transform.run_linear_system import under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.tree.arrays import Loops, Places
    from hilbert.compiled.tree.values import Value
    from hilbert.program.control.equation_step import Solve


def loops(of: Solve, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:  # noqa: ARG001 - of all steps
    """The unknowns; None for many of them, and where a method is told."""
    (given,), line, (n, _) = operands, of.line, of.sizes
    if of.by is not None or n == 0 or (n > 1 and not of.is_small):
        return None
    ends, axis, many, front = len(line.outputs), Fin.of(n), of.many, len(of.many) + of.lanes
    unknowns = line.slots[: of.unknowns]
    entry, lanes = unknowns[0].entry, unknowns[0].axes[: of.lanes]
    starts = [0, *accumulate(prod(leaf.shape[of.lanes :]) for leaf in unknowns)]
    eye = to.constant(np.eye(n, dtype=unknowns[0].dtype))

    def unit(k: int, leaf: Leaf) -> Array:
        def at(p: Places) -> Value:
            own = 1 + of.lanes
            return to.pool.load(eye, (p[0], flat(p[own:], leaf.shape[own - 1 :]) + k))

        return to.view(leaf.under((axis,)), at)

    basis = [unit(k, leaf) for k, leaf in zip(starts, unknowns, strict=False)]
    columns = to.aside(lambda: within(to, under(line, (axis,), of.unknowns), [*basis, *given[ends:]]))
    matrix = to.aside(lambda: _joined(to, Leaf(entry, (axis, *lanes, axis)), columns))
    rows = to.view(Leaf(entry, (*lanes, axis, axis)), lambda p: matrix.at((p[-1], *p[:-1])))
    sides = to.aside(lambda: _joined(to, Leaf(entry, (*many, *lanes, axis)), given[:ends]))
    masks = (False,) * len(many) + (True,) * of.lanes, (True,) * front
    x = to.aside(lambda: dense_systems.solve(to, [rows, sides], masks, sides.leaf))
    if x is None:
        return None
    found: Array = x

    def part(k: int, leaf: Leaf) -> Array:
        def at(p: Places) -> Value:
            return found.at((*p[:front], flat(p[front:], leaf.shape[of.lanes :]) + k))

        return to.view(leaf.under(many), at)

    return tuple(part(k, leaf) for k, leaf in zip(starts, unknowns, strict=False))


def _joined(to: Loops, leaf: Leaf, arrays: Sequence[Array]) -> Array:
    """Arrays with all axes but the last one of a leaf in front, the rest of each flat, one after the other."""
    front, pieces, start = len(leaf.axes) - 1, [], 0
    for array in arrays:
        shape = array.shape[front:]

        def value(others: Places, step: Any, array: Array = array, start: int = start, shape: Any = shape) -> Value:
            return array.at((*others, *along(step + -start, shape)))

        pieces.append((start, start + prod(shape), value))
        start += prod(shape)
    return to.pieces(leaf, front, pieces)
