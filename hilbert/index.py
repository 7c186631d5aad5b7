"""Index sets (paper §2.1): X, Y ::= 𝐧 | X × Y | X + Y, and the one-element set 𝟏, the unit of ×.

>>> class Pixel: ...
>>> class Batch: ...
>>> X = Fin(Batch, 3) * Fin(Pixel, 4)
>>> print(X, X.size, X.shape)
Batch3×Pixel4 12 (3, 4)
"""

from __future__ import annotations

import math
import sys
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from attrs import field, frozen

from hilbert.errors import SpaceError, integer, shown

S = TypeVar("S")
T = TypeVar("T")
I = TypeVar("I", bound="Index")
J = TypeVar("J", bound="Index")


class Anonymous:
    """The tag of `Fin.of(n)`: an axis without a name."""


class Index:
    """A finite index set. `axes` are its atomic factors: what they are in an array, one axis each."""

    __slots__ = ()

    @property
    def axes(self) -> tuple[Index, ...]:
        """The atomic index sets whose product this is, in order."""
        return (self,)

    @property
    def size(self) -> int:
        """The number of elements."""
        raise TypeError(type(self).__name__)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(axis.size for axis in self.axes)

    def __mul__(self: I, other: J) -> Product[I, J]:
        return Product(self, other)

    def __add__(self: I, other: J) -> Coproduct[I, J]:
        return Coproduct(self, other)

    def position(self, element: Any) -> int:
        """The place of an element in the flat order: an integer for 𝐧 and X + Y, a pair for X × Y.

        Raises SpaceError if it is not an element.
        """
        place = integer(element)
        if place is None or not 0 <= place < self.size:
            due = f"give an integer from 0 to {self.size - 1}" if self.size else "it has none"
            msg = f"{shown(element)} is not an element of {self}: {due}"
            raise SpaceError(msg)
        return place


shown.register(Index, lambda index: f"the index set {index}")


def require_index(value: Any, what: str) -> None:
    """Raise SpaceError unless a value is an index set."""
    if not isinstance(value, Index):
        msg = f"{what} takes an index set, not {shown(value)}: write Fin(Tag, n)"
        raise SpaceError(msg)


def _size(given: Any) -> int:
    size = integer(given)
    if size is None or size < 0:
        msg = f"the size of an index set is an integer ≥ 0, not {shown(given)}"
        raise SpaceError(msg)
    return size


def as_tag(_: Any, __: Any, tag: Any) -> None:
    """An attrs validator: the tag of an axis is a class."""
    if not isinstance(tag, type):
        msg = f"the tag of an axis is a class (class Pixel: ...), not {shown(tag)}"
        raise SpaceError(msg)


def tagged(tag: type, size: int) -> str:
    """The name of an axis: its tag and size; the size alone for an anonymous one."""
    name = "" if tag is Anonymous else tag.__name__
    return f"{name}{':' if name[-1:].isdigit() else ''}{size}"


def require_importable(tag: type, axis: Index) -> None:
    """Raise SpaceError unless another process finds the tag by its name."""
    module = sys.modules.get(tag.__module__)
    try:
        found: object = reduce(getattr, tag.__qualname__.split("."), module)
    except AttributeError:
        found = None
    if found is not tag:
        msg = (
            f"the tag {tag.__qualname__} of axis {axis} cannot be pickled: it is not importable as "
            f"{tag.__module__}.{tag.__qualname__}; define the class at the top level of a module"
        )
        raise SpaceError(msg)


def _factor(_: Any, attribute: Any, index: Any) -> None:
    require_index(index, f"the {attribute.name} side of X × Y or X + Y")


@final
@frozen(repr=False, cache_hash=True)
class Fin(Index, Generic[T]):
    """The index set 𝐧 = {1, …, n}; the class `tag` names the axis, for mypy and in every message (§2.1)."""

    tag: type[T] = field(validator=as_tag)
    _size: int = field(converter=_size, alias="size")

    if not TYPE_CHECKING:  # what the checker sees is the constructor of the fields

        def __new__(cls, *given: Any, **named: Any) -> Any:
            """Say how to write an index set of which only the class or only the size was given."""
            if len(given) == 1 and not named:
                (one,) = given
                hint = f"Fin({one.__name__}, n)" if isinstance(one, type) else f"Fin.of({shown(one)})"
                msg = (
                    f"Fin(Tag, n) takes the class that names an axis and its size, not {shown(one)} alone: write {hint}"
                )
                raise SpaceError(msg)
            return object.__new__(cls)

    @staticmethod
    def of(size: int) -> Fin[Anonymous]:
        """The anonymous index set of n elements."""
        return Fin(Anonymous, size)

    @property
    def size(self) -> int:
        """The number of elements n."""
        return self._size

    def __str__(self) -> str:
        return tagged(self.tag, self._size)

    def __repr__(self) -> str:
        return f"Fin.of({self._size})" if self.tag is Anonymous else f"Fin({self.tag.__qualname__}, {self._size})"

    def __reduce__(self) -> tuple[Any, ...]:
        require_importable(self.tag, self)
        return Fin, (self.tag, self._size)


@final
@frozen(repr=False, cache_hash=True)
class Product(Index, Generic[I, J]):
    """The Cartesian product X × Y: the axes of X, then those of Y (§2.1)."""

    left: I = field(validator=_factor)
    right: J = field(validator=_factor)

    @property
    def axes(self) -> tuple[Index, ...]:
        """The axes of both factors."""
        return self.left.axes + self.right.axes

    @property
    def size(self) -> int:
        """|X|·|Y|."""
        return math.prod(self.shape)

    def position(self, element: Any) -> int:
        """The place of a pair (x, y) in row-major order; raises SpaceError if it is not a pair of elements."""
        if not isinstance(element, tuple) or len(element) != 2:
            msg = f"{shown(element)} is not an element of {self}: give a pair"
            raise SpaceError(msg)
        return self.left.position(element[0]) * self.right.size + self.right.position(element[1])

    def __str__(self) -> str:
        left = f"({self.left})" if isinstance(self.left, Coproduct) else str(self.left)
        right = f"({self.right})" if isinstance(self.right, (Coproduct, Product)) else str(self.right)
        return f"{left}×{right}"

    def __repr__(self) -> str:
        return f"({self.left!r} * {self.right!r})"


@final
@frozen(repr=False, cache_hash=True)
class Coproduct(Index, Generic[I, J]):
    """The disjoint union X + Y: one axis of length |X| + |Y|, the elements of X first (§2.1)."""

    left: I = field(validator=_factor)
    right: J = field(validator=_factor)

    @property
    def size(self) -> int:
        """|X| + |Y|."""
        return self.left.size + self.right.size

    def __str__(self) -> str:
        return f"{self.left}+{self.right}"

    def __repr__(self) -> str:
        return f"({self.left!r} + {self.right!r})"


@final
@frozen(repr=False)
class Unit(Index):
    """The one-element index set 𝟏 with no axes, the unit of ×: V^𝟏 is V (§2.1)."""

    @property
    def axes(self) -> tuple[Index, ...]:
        """No axes."""
        return ()

    @property
    def size(self) -> int:
        """One."""
        return 1

    def __str__(self) -> str:
        return "𝟏"

    def __repr__(self) -> str:
        return "Unit()"
