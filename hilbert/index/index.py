"""Index sets (paper §2.1): X, Y ::= 𝐧 | X × Y | X + Y, and the one-element set 𝟏, the unit of ×.

>>> class Pixel: ...
>>> class Batch: ...
>>> X = Fin(Batch, 3) * Fin(Pixel, 4)
>>> print(X, X.size, X.shape)
Batch3×Pixel4 12 (3, 4)
>>> class City: ...
>>> Y = Labelled(City, ("Bergen", "Turku", "Aarhus"))
>>> print(Y, Y.size, Y.position("Turku"), Y.at(["Turku", "Turku", "Bergen"]))
City3 3 1 [1, 1, 0] ∈ City3^3
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar, final

from attrs import Factory, field, frozen

from hilbert.base.attach import declared, overloaded
from hilbert.base.notarray import IndexRemedies
from hilbert.base.once import Unchanging, cached_property, once
from hilbert.base.repr_names import spelled
from hilbert.base.sizes import countable
from hilbert.base.tag_classes import as_tag, index_set_of, require_importable
from hilbert.base.two_sided import TwoSided, text, upwards
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import SpaceError, integer, is_masked, shown

if TYPE_CHECKING:
    from hilbert import _calls

S = TypeVar("S")
T = TypeVar("T")
I = TypeVar("I", bound="Index")
J = TypeVar("J", bound="Index")
SHORT = 12
"""The `repr` of an index set of more labels names them."""


class Anonymous:
    """The tag of `Fin.of(n)`: an axis without a name."""


class Index(DisplayedAsFormula, Unchanging, IndexRemedies):
    """A finite index set. `axes` are its atomic factors, one axis of an array each."""

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
        msg = f"{what} takes an index set, not {shown(value)}: write {index_set_of(value, 'Fin(Tag, n)')}"
        raise SpaceError(msg)


def _size(given: Any) -> int:
    size = integer(given)
    if size is None or size < 0:
        labels = ": for labels write Labelled(Tag, labels)" if isinstance(given, (tuple, list)) else ""
        msg = f"the size of an index set is an integer ≥ 0, not {shown(given)}{labels}"
        raise SpaceError(msg)
    return countable(size)


def tagged(tag: type, size: int) -> str:
    """The name of an axis: its tag and size; the size alone for an anonymous one."""
    name = "" if tag is Anonymous else tag.__name__
    return f"{name}{':' if name[-1:].isdigit() else ''}{size}"


def _factor(_: Any, attribute: Any, index: Any) -> None:
    require_index(index, f"the {attribute.name} side of X × Y or X + Y")


class Labelled(Index, Generic[T]):
    """One axis of an array: a finite index set with a tag, which names the axis, and a label for each element.

    `Labelled(Tag, labels)` takes distinct hashable labels, in order; `Fin(Tag, n)` has the labels 0, …, n − 1. The type
    checker calls both `Fin[Tag]`, so that ℝ^X is `Vector[Tag]` for either. Two are equal if they have the same tag and
    the same labels in the same order.
    """

    __slots__ = ()
    tag: type[T]

    def __new__(cls, tag: type[T], labels: Any) -> Fin[T]:  # noqa: ARG004 - __init__ reads them
        """The axis with these labels; raises SpaceError unless they are hashable and distinct."""
        return object.__new__(_Labels)

    @staticmethod
    def of(labels: Any) -> Fin[Anonymous]:
        """The anonymous index set with these labels."""
        return Labelled(Anonymous, labels)

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels, in order."""
        raise TypeError(type(self).__name__)

    def __contains__(self, element: object) -> bool:
        """True for a label, which is found by hashing, or for a position in range; False for what cannot be hashed."""
        place = integer(element)
        return place is not None and 0 <= place < self.size

    @overloaded(lambda: _calls.Labelled_at)
    @declared
    def at(self: Labelled[T], column: Any, rows: Any = None) -> Any:
        """The positions of a column of labels of any type, as elements: one for each row.

        `rows` names the index set of the rows. Raises SpaceError for a label that is missing (None, NaN, NA) or is none
        of this set, and for another number of rows.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        return tagged(self.tag, self.size)


@frozen(repr=False, cache_hash=True, slots=False)
class Fin(Labelled[T]):
    """The index set 𝐧 = {1, …, n}; the class `tag` names the axis, for mypy and in every message (§2.1)."""

    tag: type[T] = field(validator=as_tag)
    _size: int = field(converter=_size, alias="size")

    if TYPE_CHECKING:

        def __new__(cls, tag: type[T], size: int) -> Fin[T]:
            """The index set of n elements."""
            ...
    else:

        def __new__(cls, *given: Any, **named: Any) -> Any:
            """Say how to write an index set of which only the class or only the size was given."""
            if len(given) == 1 and not named:
                (one,) = given
                hint = index_set_of(one, f"Fin.of({shown(one)})")
                msg = (
                    f"Fin(Tag, n) takes the class that names an axis and its size, not {shown(one)} alone: write {hint}"
                )
                raise SpaceError(msg)
            return object.__new__(cls)

    @staticmethod
    def of(size: int) -> Fin[Anonymous]:  # pyright: ignore[reportIncompatibleMethodOverride]  # as a constructor
        """The anonymous index set of n elements."""
        return Fin(Anonymous, size)

    @property
    def size(self) -> int:
        """The number of elements n."""
        return self._size

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,)."""
        return (self._size,)

    @property
    def labels(self) -> Sequence[Hashable]:
        """0, …, n − 1."""
        return range(self._size)

    def __repr__(self) -> str:
        return f"Fin.of({self._size})" if self.tag is Anonymous else f"Fin({self.tag.__qualname__}, {self._size})"

    def __reduce__(self) -> tuple[Any, ...]:
        require_importable(self.tag, f"the tag {self.tag.__qualname__} of axis {self}")
        return Fin, (self.tag, self._size)


def is_missing(label: Any) -> bool:
    """True for None, NaN and NaT, which name no element."""
    try:
        return label is None or is_masked(label) or bool(label != label)  # noqa: PLR0124 - only NaN and NaT differ from themselves
    except TypeError:  # the NA of pandas: NA != NA is NA
        return True
    except ValueError:  # an array, which is no label
        return False


def _as_labels(given: Any) -> tuple[Hashable, ...]:
    if is_masked(given):
        msg = f"the labels of an index set are a sequence, not {shown(given)}"
        raise SpaceError(msg)
    if hasattr(given, "columns"):  # a data frame goes over their names
        msg = "the labels of an index set are a sequence, not a table: give one column, table[name], or table.columns"
        raise SpaceError(msg)
    if isinstance(given, (bytes, set, frozenset, dict)):  # numbers that look like text, or in no order that lasts
        msg = f"the labels of an index set are a sequence in a fixed order, not {shown(given)}: give a list"
        raise SpaceError(msg)
    try:
        return tuple(given)
    except TypeError:
        msg = f"the labels of an index set are a sequence, not {shown(given)}"
        raise SpaceError(msg) from None


@final
@frozen(repr=False, cache_hash=True, slots=False)
class _Labels(Fin[T]):
    """The index set that `Labelled(Tag, labels)` makes."""

    _labels: tuple[Hashable, ...] = field(converter=_as_labels, alias="labels")
    _size: int = field(  # pyright: ignore[reportIncompatibleVariableOverride]  # it sees the other field's converter
        init=False, eq=False, default=Factory(lambda X: len(X.labels), takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        missing = next((k for k, label in enumerate(self.labels) if is_missing(label)), None)
        if missing is not None:
            msg = f"label {missing} of an index set is missing (None, NaN): leave it out, or name it"
            raise SpaceError(msg)
        if len(self._places) != len(self.labels):
            again = next(label for k, label in enumerate(self.labels) if self._places[label] != k)
            msg = f"the labels of an index set are distinct, but {shown(again)} stands twice"
            raise SpaceError(msg)

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The labels, in order."""
        return self._labels

    def __contains__(self, element: object) -> bool:
        try:
            return element in self._places
        except TypeError:
            return False

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        try:
            return {label: k for k, label in enumerate(self.labels)}
        except TypeError:
            msg = "the labels of an index set are hashable; a list may become a tuple"
            raise SpaceError(msg) from None

    def position(self, element: Any) -> int:
        """The place of a label; raises SpaceError if there is no such label."""
        try:
            return self._places[element]
        except (KeyError, TypeError):
            examples = ", ".join(shown(label) for label in self.labels[:3])
            some = f"its labels are {examples}{', …' if self.size > 3 else ''}" if self.size else "it has none"
            msg = f"{shown(element)} is not a label of {self}: {some}"
            raise SpaceError(msg) from None

    def __repr__(self) -> str:
        if self.size > SHORT:
            return spelled(self, f"labels {id(self):x}", f"{self.size} labels")
        start = "Labelled.of(" if self.tag is Anonymous else f"Labelled({self.tag.__qualname__}, "
        return f"{start}{self.labels!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        require_importable(self.tag, f"the tag {self.tag.__qualname__} of axis {self}")
        return Labelled, (self.tag, self.labels)


def has_labels(X: Index) -> TypeGuard[Labelled[Any]]:
    """True if the elements of an axis have other labels than their positions."""
    return isinstance(X, _Labels)


class _OfTwo(TwoSided, Index):
    """X × Y or X + Y."""

    __slots__ = ()

    def __str__(self) -> str:
        return text(self, _formula, str)

    def __repr__(self) -> str:
        return text(self, _source, repr)


@final
@frozen(repr=False, eq=False)
class Product(_OfTwo, Generic[I, J]):
    """The Cartesian product X × Y: the axes of X, then those of Y (§2.1)."""

    left: I = field(validator=_factor)
    right: J = field(validator=_factor)

    @property
    @once
    def axes(self) -> tuple[Index, ...]:
        """The axes of both factors."""
        return tuple([axis for factor in self.run for axis in factor.axes])

    @property
    @upwards
    def size(self) -> int:
        """|X|·|Y|."""
        return self.left.size * self.right.size

    def position(self, element: Any) -> int:
        """The place of a pair (x, y) in row-major order; raises SpaceError if it is not a pair of elements."""
        place = 0
        waiting: list[tuple[Any, Any, int]] = [(self, element, 1)]
        while waiting:
            X, at, step = waiting.pop()
            if not isinstance(X, Product):
                place += X.position(at) * step
            elif isinstance(at, tuple) and len(at) == 2:
                waiting += [(X.right, at[1], step), (X.left, at[0], step * X.right.size)]
            else:
                msg = f"{shown(at)} is not an element of {X}: give a pair"
                raise SpaceError(msg)
        return place


@final
@frozen(repr=False, eq=False)
class Coproduct(_OfTwo, Generic[I, J]):
    """The disjoint union X + Y: one axis of length |X| + |Y|, the elements of X first (§2.1)."""

    left: I = field(validator=_factor)
    right: J = field(validator=_factor)

    def __attrs_post_init__(self) -> None:
        countable(self.size)

    @property
    @upwards
    def size(self) -> int:
        """|X| + |Y|."""
        return self.left.size + self.right.size


def _formula(X: Any) -> Iterable[Any]:
    if isinstance(X, Coproduct):
        return X.left, "+", X.right
    left = ("(", X.left, ")") if isinstance(X.left, Coproduct) else (X.left,)
    right = ("(", X.right, ")") if isinstance(X.right, (Coproduct, Product)) else (X.right,)
    return *left, "×", *right


def _source(X: Any) -> Iterable[Any]:
    return "(", X.left, " + " if isinstance(X, Coproduct) else " * ", X.right, ")"


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
