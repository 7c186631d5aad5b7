"""Products along an axis, as steps of a program: their derivatives are those of the steps, right at 0, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert import Fin, Unit
from hilbert.index.leaf import Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.operation import Reduce
from hilbert.relation import run

if TYPE_CHECKING:
    from diff.trace.axes import Axis
    from hilbert.program.line.builder import Builder


def _cut(b: Builder, slot: int, at: int, start: int, size: int) -> int:
    """`size` entries from `start` on, along one axis."""
    axes = b.slots[slot].axes
    return b.apply(Reduce(run(Fin.of(size), axes[at], start).T, at), slot)


def _line(b: Builder, slot: int, place: Axis) -> int:
    """The array with the axes of a place as one axis."""
    if len(place.index.axes) == 1:
        return slot
    return b.apply(Reduce(run(place.index, Fin.of(place.index.size), 0), place.at), slot)


def times(b: Builder, p: int, q: int) -> int:
    """p · q, entry by entry."""
    return b.contract(Spec.pointwise(len(b.slots[p].axes)), p, q)


def multiplied(b: Builder, slot: int, place: Axis) -> int:
    """Π along axes, halves multiplied with each other again and again: 3 to 5 steps each time, none of them long."""
    at, n, slot = place.at, place.index.size, _line(b, slot, place)
    leaf = b.slots[slot]
    if not n:
        return b.number(1.0, Leaf(leaf.entry, leaf.axes[:at] + leaf.axes[at + 1 :]))
    left: int | None = None  # the product of what was odd
    while n > 1:
        half = n // 2
        if n % 2:
            last = _cut(b, slot, at, n - 1, 1)
            left = last if left is None else times(b, left, last)
        slot, n = times(b, _cut(b, slot, at, 0, half), _cut(b, slot, at, half, half)), half
    slot = slot if left is None else times(b, slot, left)
    return b.apply(Reduce(run(Unit(), b.slots[slot].axes[at], 0).T, at), slot)


def running(b: Builder, slot: int, place: Axis) -> int:
    """(Π_{y≤x} v_y)_x: v, then products of two, of four, … entries up to each (Hillis & Steele 1986)."""
    at, n, index = place.at, place.index.size, place.index
    slot, leaf = _line(b, slot, place), b.slots[slot]
    line, by = b.slots[slot].axes[at], 1
    while by < n:
        shifted = b.apply(Reduce(run(Fin.of(n - by), line, by), at), _cut(b, slot, at, 0, n - by))
        ones = b.number(1.0, Leaf(leaf.entry, (*leaf.axes[:at], Fin.of(by), *leaf.axes[place.end :])))
        filled = b.apply(Reduce(run(Fin.of(by), line, 0), at), ones)
        slot, by = times(b, slot, b.add(shifted, filled)), 2 * by
    return slot if len(index.axes) == 1 else b.apply(Reduce(run(index, Fin.of(n), 0).T, at), slot)
