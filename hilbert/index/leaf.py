"""Leaves: one array of entries of one kind along some axes. The ground floor, which knows no spaces (paper §2.2).

>>> from hilbert.index.index import Fin
>>> leaf = Leaf(Entry("float64"), (Fin.of(2), Fin.of(3)))
>>> print(leaf, leaf.shape, leaf.kind)
ℝ^{2×3} (2, 3) f
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

from attrs import field, frozen

from hilbert.base.attach import declared
from hilbert.base.once import Remembering, cached_property
from hilbert.base.sizes import addressable
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from hilbert.index.index import Index

BUNDLE = "bundle"
"""The dtype of a bundle, which stands for several arrays."""
AXES = 64
"""The most axes that arrays of numpy have."""
KINDS = {"float64": "f", "float32": "f", "bool": "b", "int64": "i"}
SIGNS = {"float64": "ℝ", "float32": "ℝ₃₂", "bool": "Bool", "int64": "ℤ", BUNDLE: "…"}


@final
@frozen(repr=False, eq=False, unsafe_hash=True, cache_hash=True)
class Entry:  # noqa: PLW1641 - attrs makes the hash
    """One entry of an array: a number, a truth value, an integer; an element of `index` if that is given.

    Elements of an index set are stored as integers, their positions in the flat order.
    """

    dtype: str
    index: Index | None = field(default=None)

    def __eq__(self, other: object) -> bool:
        if self is other:  # most often
            return True
        return isinstance(other, Entry) and self.dtype == other.dtype and self.index == other.index

    @property
    def is_field(self) -> bool:
        """True for a number of a field, which has a tangent."""
        return self.dtype.startswith("float")

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes that an element of an index set stands for; none for other entries."""
        return () if self.index is None else self.index.shape

    def __str__(self) -> str:
        return SIGNS[self.dtype] if self.index is None else str(self.index)

    def __repr__(self) -> str:
        return f"Entry({self.dtype!r}{'' if self.index is None else f', {self.index!r}'})"


@frozen(repr=False, eq=False, unsafe_hash=True, cache_hash=True, slots=False)
class Leaf(Remembering):  # noqa: PLW1641 - attrs makes the hash
    """Entries along atomic axes: the content of one array. Every type is a tuple of leaves."""

    entry: Entry
    axes: tuple[Index, ...] = ()

    def __eq__(self, other: object) -> bool:
        if self is other:  # most often
            return True
        if not isinstance(other, Leaf):
            return False
        return (self.entry is other.entry or self.entry == other.entry) and self.axes == other.axes

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return tuple([axis.size for axis in self.axes])

    @cached_property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> str:
        """The dtype's name."""
        return self.entry.dtype

    @cached_property
    def kind(self) -> str:
        """`f` real, `i` integer, `b` Boolean."""
        return KINDS[self.dtype]

    @cached_property
    def is_field(self) -> bool:
        """True if the entries are numbers of a field: they have tangents."""
        return self.entry.is_field

    def stored(self) -> Leaf:
        """The leaf itself; raises SpaceError for too many entries for memory, or axes for an array."""
        addressable(self.size, "an element of ", self)
        if len(self.axes) > AXES:
            msg = f"an element of {str(self)[:80]} has {len(self.axes)} axes, and arrays have at most {AXES}"
            raise SpaceError(msg)
        return self

    def under(self, axes: tuple[Index, ...]) -> Leaf:
        """The leaf with more axes in front: its copower."""
        return Leaf(self.entry, axes + self.axes) if axes else self

    def moved(self, order: tuple[int, ...]) -> Leaf:
        """The leaf with its axes in another order."""
        return Leaf(self.entry, tuple(self.axes[k] for k in order))

    def __reduce__(self) -> tuple[Any, ...]:
        return Leaf, (self.entry, self.axes)

    def __str__(self) -> str:
        base = str(self.entry)
        return raised(base, "×".join(map(str, self.axes)), len(self.axes)) if self.axes else base

    def __repr__(self) -> str:
        return f"Leaf({self.entry!r}, {self.axes!r})"


@final
@frozen(repr=False, eq=False, unsafe_hash=True, cache_hash=True, slots=False)
class Bundle(Leaf):  # noqa: PLW1641 - attrs makes the hash
    """Several arrays in one slot: argument and result of a step of control flow. No type of users has such a leaf.

    >>> x = Leaf(Entry("float64"))
    >>> print(Bundle((x, x)), Bundle((x, x)).size, Bundle((x, x)).is_field)
    (ℝ, ℝ) 2 False
    """

    entry: Entry = field(default=Entry(BUNDLE), init=False)
    axes: tuple[Index, ...] = field(default=(), init=False)
    leaves: tuple[Leaf, ...]

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Bundle) and self.leaves == other.leaves)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of arrays."""
        return (len(self.leaves),)

    @cached_property
    def size(self) -> int:
        """The number of all entries."""
        return sum(leaf.size for leaf in self.leaves)

    @cached_property
    def kind(self) -> str:
        """No numpy kind."""
        return BUNDLE

    @declared
    def direct_sum(self) -> Any:
        """The direct sum of its leaves, each as a type."""
        raise NotImplementedError

    def under(self, axes: tuple[Index, ...]) -> Bundle:
        """Each array with more axes in front."""
        return Bundle(tuple(leaf.under(axes) for leaf in self.leaves))

    def __reduce__(self) -> tuple[Any, ...]:
        return Bundle, (self.leaves,)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.leaves))})"

    def __repr__(self) -> str:
        return f"Bundle({self.leaves!r})"


def raised(base: str, exponent: str, factors: int = 1) -> str:
    """base^exponent, the exponent in braces unless it is one word."""
    return f"{base}^{{{exponent}}}" if factors > 1 or not exponent.isalnum() else f"{base}^{exponent}"
