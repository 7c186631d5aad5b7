"""The axes of an array that a relation acts on: those before, those of its domain or codomain, those after."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.base.once import cached_property

if TYPE_CHECKING:
    from types import ModuleType

    from hilbert.arrays.kernels.library import Library
    from hilbert.index.leaf import Leaf
    from hilbert.relation.relation import AnyRelation


Shape = tuple[int, ...]
SMALL = 4096
"""Below this many entries a copy costs less than the time that it would save."""
FRESH = 1 << 25
"""From this many bytes on, memory that is not touched costs nothing."""


@final
@frozen(slots=False)
class ReducedAxes:
    """An array of shape before + X.shape + after that becomes one of shape before + Y.shape + after."""

    lib: Library
    before: Shape
    dom: Shape
    cod: Shape
    after: Shape
    dtype: str

    @staticmethod
    def of(lib: Library, relation: AnyRelation, at: int, leaf: Leaf) -> ReducedAxes:
        """The place of a relation whose domain's axes start at axis `at` of a leaf."""
        dom, cod = relation.dom, relation.cod
        return ReducedAxes(lib, leaf.shape[:at], dom.shape, cod.shape, leaf.shape[at + len(dom.axes) :], leaf.dtype)

    @cached_property
    def xp(self) -> ModuleType:
        """The array namespace."""
        return self.lib.xp

    @property
    def at(self) -> int:
        """The number of axes before."""
        return len(self.before)

    @cached_property
    def n(self) -> int:
        """|X|."""
        return math.prod(self.dom)

    @cached_property
    def m(self) -> int:
        """|Y|."""
        return math.prod(self.cod)

    @cached_property
    def rows(self) -> int:
        """The number of entries before."""
        return math.prod(self.before)

    @cached_property
    def width(self) -> int:
        """The number of entries after."""
        return math.prod(self.after)

    @cached_property
    def made(self) -> Shape:
        """The shape of a result with Y as one axis."""
        return (*self.before, self.m, *self.after)

    @cached_property
    def out(self) -> Shape:
        """The shape of a result."""
        return self.before + self.cod + self.after

    def line(self, a: Any) -> Any:
        """The array with X as one axis."""
        return a if len(self.dom) == 1 else self.xp.reshape(a, (*self.before, self.n, *self.after))

    def whole(self, y: Any) -> Any:
        """The result with the axes of Y, from one where Y is one axis."""
        return y if len(self.cod) == 1 else self.xp.reshape(y, self.out)

    def cut(self, start: int | None, stop: int | None, step: int | None = None) -> tuple[Any, ...]:
        """The index of a slice along X or Y as one axis."""
        return self.index(slice(start, stop, step))

    def index(self, *entry: Any) -> tuple[Any, ...]:
        """The index of something along X or Y as one axis."""
        return (*(slice(None),) * self.at, *entry, ...)

    def zeros(self, a: Any, length: int) -> Any:
        """Zeros of `length` along the one axis, of the dtype and on the device of `a`."""
        return self.lib.zeros((*self.before, length, *self.after), a)

    def empty(self, a: Any, length: int) -> Any:
        """Fresh memory of numpy, `length` along the one axis."""
        return np.empty((*self.before, length, *self.after), a.dtype)

    def padded(self, v: Any, low: int, high: int) -> Any:
        """An array with X as one axis between zeros; negative widths cut off."""
        n = v.shape[self.at]
        start, stop = max(-low, 0), n - max(-high, 0)
        if stop <= start:
            return self.zeros(v, n + low + high)
        if low < 0 or high < 0:
            v = v[self.cut(start, stop)]
        if low <= 0 and high <= 0:
            return v
        return self.lib.between(v, self.at, max(low, 0), max(high, 0))


def amid(v: Any, at: int, low: int, high: int) -> Any:
    """A numpy array between so many zeros in front and behind along an axis."""
    n = v.shape[at]
    length = low + n + high
    shape = (*v.shape[:at], length, *v.shape[at + 1 :])
    front, middle, behind = (
        (*(slice(None),) * at, part) for part in (slice(low), slice(low, low + n), slice(low + n, None))
    )
    if 4 * n < 3 * length and math.prod(shape) * v.itemsize >= FRESH:
        out = np.zeros(shape, v.dtype)
    else:
        out = np.empty(shape, v.dtype)
        out[front] = 0
        out[behind] = 0
    out[middle] = v
    return out


class _Lent:
    """The memory of an array under another writeable flag; the array is kept alive."""

    __slots__ = ("__array_interface__", "of")

    def __init__(self, of: Any) -> None:
        self.of = of
        interface = of.__array_interface__
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def lent(a: Any) -> Any:
    """A numpy array for functions that only read it: take, repeat, bincount and convolve copy read-only arrays."""
    return a if a.flags.writeable or a.size < SMALL else np.asarray(_Lent(a))
