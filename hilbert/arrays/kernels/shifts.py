"""Reductions that only move entries along one axis: inclusions, the parts that they include, rotations."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.reduced_axes import FRESH, ReducedAxes
from hilbert.arrays.kernels.windows import NumpyWindows, Windows
from hilbert.relation import Graph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hilbert.index.leaf import Leaf
    from hilbert.relation import Inclusion
    from hilbert.relation.function_forms import AnyGraph


class Shifts(Windows):
    """Shifts by slices, with zeros around entries that are put back."""

    def inclusion(self, p: ReducedAxes, offset: int, stride: int) -> Kernel:
        """X at its places in Y, zeros elsewhere."""
        xp, at = self.xp, p.at
        if p.n == p.m:  # all of Y
            return _renamed(p) if stride > 0 else Kernel(lambda a: p.whole(xp.flip(p.line(a), axis=at)), fresh=False)
        low = offset if stride > 0 else offset + stride * (p.n - 1)

        def call(a: Any) -> Any:
            if not p.n:
                return p.whole(p.zeros(a, p.m))
            v = p.line(a)
            v = self.spaced(p, xp.flip(v, axis=at) if stride < 0 else v, abs(stride))
            return p.whole(p.padded(v, low, p.m - low - v.shape[at]))

        return Kernel(call)

    def part(self, p: ReducedAxes, offset: int, stride: int) -> Kernel:
        """The entries of Y at the places of X, as a view."""
        if not p.cod:
            return Kernel(lambda a: p.line(a)[p.index(offset)], fresh=False)
        if stride < 0:  # torch has no slices that go backwards
            back = _at(p, p.n - 1 - offset, -stride, p.m)
            return Kernel(lambda a: p.whole(p.xp.flip(p.line(a), axis=p.at)[back]))
        return _sliced(p, _at(p, offset, stride, p.m))

    def rotation(self, p: ReducedAxes, by: int) -> Kernel:
        """Rotate along the axis: x ↦ x + by, around its end."""
        return Kernel(lambda a: p.whole(p.xp.roll(p.line(a), by, axis=p.at)))


class NumpyShifts(NumpyWindows, Shifts):
    """Shifts by assignment to slices."""

    def inclusion(self, p: ReducedAxes, offset: int, stride: int) -> Kernel:
        """X at its places in Y, written into an array with zeros elsewhere."""
        if p.n == p.m:
            return super().inclusion(p, offset, stride)
        index = _at(p, offset, stride, p.n)
        before, behind = p.cut(0, offset), p.cut(offset + p.n, None)
        shape, size = p.made, p.m * p.rows * p.width * np.dtype(p.dtype).itemsize
        few = stride != 1 or (4 * p.n < 3 * p.m and size >= FRESH)

        def into(a: Any, out: Any) -> None:
            if stride == 1:
                out[before] = 0
                out[behind] = 0
            else:
                out[...] = 0
            out[index] = p.line(a)

        def call(a: Any) -> Any:
            if few:
                out = np.zeros(shape, a.dtype)
                out[index] = p.line(a)
            else:
                out = np.empty(shape, a.dtype)
                into(a, out)
            return p.whole(out)

        return Kernel(call, into=into)

    def add_into(self, relation: Inclusion[Any, Any] | AnyGraph, at: int, leaf: Leaf, *, minus: bool) -> Kernel | None:
        """Add b at its places, or subtract it there, in place where a may be overwritten."""
        p = ReducedAxes.of(self, relation, at, leaf)
        if isinstance(relation, Graph):
            index = p.index(relation.positions.array)
            if p.rows * p.width == 1:  # numpy reads, adds and writes in turn elsewhere
                at_places = np.subtract.at if minus else np.add.at
                return _adding(p, lambda v, b: at_places(v, index[0], b))
        else:
            index = _at(p, relation.offset, relation.stride, p.n)

        def add(v: Any, b: Any) -> None:
            v[index] += b

        def subtract(v: Any, b: Any) -> None:
            v[index] -= b

        return _adding(p, subtract if minus else add)

    def placed(self, places: Mapping[int, Inclusion[Any, Any]], shape: tuple[int, ...]) -> Kernel | None:
        """Put entries at their places along several axes by one assignment."""
        index = [slice(None)] * len(shape)
        for at, r in places.items():
            index[at] = _slice(r.offset, r.stride, r.dom.size)
        where = tuple(index)

        def call(a: Any) -> Any:
            out = np.zeros(shape, a.dtype)
            out[where] = a
            return out

        return Kernel(call)

    def part(self, p: ReducedAxes, offset: int, stride: int) -> Kernel:
        """The entries of Y at the places of X, as a view, also backwards."""
        if not p.cod:
            return super().part(p, offset, stride)
        if p.n == p.m and stride > 0:
            return _renamed(p)
        return _sliced(p, _at(p, offset, stride, p.m))

    def rotation(self, p: ReducedAxes, by: int) -> Kernel:
        """Rotate along the axis by two slices."""
        low, high = p.cut(0, p.n - by), p.cut(p.n - by, None)
        after, first = p.cut(by, None), p.cut(0, by)
        shape = p.made

        def into(a: Any, out: Any) -> None:
            v = p.line(a)
            out[after] = v[low]
            out[first] = v[high]

        def call(a: Any) -> Any:
            out = np.empty(shape, a.dtype)
            into(a, out)
            return p.whole(out)

        return Kernel(call, into=into)


def _renamed(p: ReducedAxes) -> Kernel:
    """All entries in their order, as a view: an array whose axes stand in another order in memory is not copied."""
    if p.dom == p.cod:
        return Kernel(lambda a: a, fresh=False)
    xp, shape = p.xp, p.out
    return Kernel(lambda a: xp.reshape(a, shape), fresh=False)


def _sliced(p: ReducedAxes, index: tuple[Any, ...]) -> Kernel:
    """A view of some places along X."""
    if len(p.dom) == len(p.cod) == 1:
        return Kernel(itemgetter(index), fresh=False)
    return Kernel(lambda a: p.whole(p.line(a)[index]), fresh=False)


def _at(p: ReducedAxes, offset: int, stride: int, count: int) -> tuple[Any, ...]:
    """The index of `count` places from `offset` on."""
    return p.index(_slice(offset, stride, count))


def _slice(offset: int, stride: int, count: int) -> slice:
    """`count` places from `offset` on."""
    if not count:
        return slice(0, 0)
    stop = offset + stride * (count - 1) + (1 if stride > 0 else -1)
    return slice(offset, None if stop < 0 else stop, stride)


def _adding(p: ReducedAxes, add: Callable[[Any, Any], None]) -> Kernel:
    """A sum that `add` does in the array with Y as one axis, or in a copy."""

    def over(a: Any, b: Any) -> Any:
        v = a.reshape(p.made)
        add(v, p.line(b))
        return v.reshape(p.out)

    return Kernel(lambda a, b: over(a.copy(), b), (over, None))
