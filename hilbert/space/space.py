"""Spaces and discrete types (paper §2.2): 0 | K | ⊕ V_x | V^X | V ⊗ W, as explicit typed objects.

>>> from hilbert import direct_sum
>>> class Pixel: ...
>>> class Hidden: ...
>>> pixel, hidden = Fin(Pixel, 4), Fin(Hidden, 3)
>>> print(direct_sum(R ** (hidden * pixel), R ** hidden))
ℝ^{Hidden3×Pixel4} ⊕ ℝ^Hidden3
>>> print((R ** hidden) * (R ** pixel), ((R ** hidden) * (R ** pixel)).dim)
ℝ^Hidden3 ⊗ ℝ^Pixel4 12
"""

# pyright: reportIncompatibleMethodOverride=false
# a cached property implements a property
from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, Protocol, TypeAlias, TypeVar, final

import numpy as np
from attrs import field, frozen

from hilbert.base.attach import declared
from hilbert.base.notarray import SpaceRemedies
from hilbert.base.numpy_names import OUTER
from hilbert.base.once import OfFields, Remembering, cached_property, latest, once
from hilbert.base.sizes import countable
from hilbert.base.tag_classes import index_set_of
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import SpaceError, alike, other_index_sets, shown, written
from hilbert.index.index import Fin, Index, Product, Unit, require_index
from hilbert.index.leaf import Bundle, Entry, Leaf, raised
from hilbert.index.position import kept, without
from hilbert.space import nested_sums
from hilbert.space.unpacking import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert._calls import Vec  # vectors stand above spaces: a signature of the stub
    from hilbert.index.position import Key

I = TypeVar("I", bound=Index)
S = TypeVar("S")
T = TypeVar("T")
V = TypeVar("V", bound="Type")
W = TypeVar("W", bound="Type")
MANY = 64  # a vector of more components is not iterated: a loop over expressions is a step for each


class OfSpaces(Protocol):
    """A space whose parts are spaces, for the type checker: no discrete type, no direct sum with a discrete part.

    `parts` does not tell: its items are Any, so that a generator over them may be unpacked into arguments.
    """

    @property
    def _summands(self) -> tuple[Space, ...]:
        """The summands, of known types."""
        ...


class LinearSpace(OfSpaces, Protocol[V]):
    """A known space V whose parts are spaces, for the type checker; see `hilbert.space.vector.Linear`."""

    def unflat(self, array: Any, /) -> Vec[V]:
        """The element with the entries of a flat array."""
        ...


class Type(DisplayedAsFormula, Remembering, OfFields, SpaceRemedies):
    """The type of a value: a space, or a discrete type (Bool, elements of an index set, integers)."""

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The arrays that store an element, in order."""
        raise TypeError(type(self).__name__)

    def pack(self, flat: Iterator[Any]) -> Any:
        """The tuple tree of a flat sequence of leaves."""
        raise TypeError(type(self).__name__)

    def unpack(self, tree: Any) -> list[Any]:
        """The leaves of a tuple tree, in order; raises SpaceError where the tree has another form."""
        raise TypeError(type(self).__name__)

    @property
    def tangent(self) -> Space:
        """The space of differentials: that of a discrete type is 0, and 0 in its place in a direct sum."""
        raise TypeError(type(self).__name__)

    if not TYPE_CHECKING:  # no type checker knows it
        __call__ = called

    is_sum: ClassVar[bool] = False  # a direct sum or a record
    names: ClassVar[tuple[str, ...] | None] = None
    """The names of the parts of a record; None for everything else."""

    @property
    def _index_set(self) -> Fin[Any] | None:
        """The index set of a direct sum over one with a tag or labels: these name the parts; else None."""
        return None

    @property
    def parts(self) -> tuple[Type, ...]:
        """The summands of a direct sum; a type that is none is its own single summand."""
        return (self,)

    @property
    def _summands(self) -> tuple[Any, ...]:
        """The summands, of known types; for an unknown type they may be spaces."""
        return self.parts

    @property
    def summands(self) -> tuple[Type, ...]:
        """The parts of a direct sum, V^X and W^X for (V ⊕ W)^X; raises SpaceError for another type, and for records."""
        base: Type = self
        while isinstance(base, Copower):
            base = base.base
        require_numbered(base)
        return summands_of(self)

    @property
    def offsets(self) -> tuple[int, ...]:
        """The positions among all leaves where those of each part begin, and where the last ones end."""
        return 0, len(self.leaves)

    @property
    @once
    def is_space(self) -> bool:
        """True if every leaf is real, so that 0 + · ⊙ are defined."""
        return all(leaf.is_field for leaf in self.leaves)

    @property
    def dim(self) -> int:
        """The number of entries."""
        return sum(leaf.size for leaf in self.leaves)

    @property
    def places(self) -> range:
        """The positions of the parts of a direct sum, or of the components of V^X; SpaceError for another type."""
        msg = f"an element of {self} has no parts and no components"
        raise SpaceError(f"{msg}: v.array of a vector v is an array of numpy, float(v) of a scalar a number")

    @property
    def loop(self) -> range:
        """The places that `for part in v` visits; SpaceError for V^{X×Y} and for more than 64 components."""
        return self.places

    def selection(self, key: Any) -> tuple[Type, tuple[Key, ...]]:
        """The space of v[key] for v ∈ V^X, and the part of each axis of X that is kept; SpaceError for another type."""
        msg = f"{self} has no components, so v[{shown(key)}] does not exist: [k] takes a part of a direct sum, or a "
        raise SpaceError(f"{msg}component of V^X")

    def sums(self, X: Index | int) -> list[tuple[Type, int]]:
        """The space of Σ_X, and the number of axes before those of X, for each X that is a factor of the index sets.

        A position stands for the one axis there.
        """
        return []

    def __pow__(self: V, X: I) -> Copower[V, I]:
        return latest(self, X, Copower)

    def __add__(self, other: Never) -> Never:
        what = f"{self!r}, {other!r}" if isinstance(other, Type) else "V, W"
        msg = f"cannot form {self} + {other if isinstance(other, Type) else shown(other)}: the space of pairs is "
        raise SpaceError(f"{msg}direct_sum({what})")

    @declared
    def vec(self: V, data: Any, *more: Never) -> Vec[V]:
        """The element with the given entries: an array, a nested list, or the tuple tree of a direct sum.

        Elements of an index set are given by their positions, or, if they are strings or a categorical column, by their
        labels; see `at` of an index set for labels of other types.
        An array of the right dtype is viewed, not copied (later writes to it show); see `as_leaf` for conversions.
        Raises SpaceError for a wrong shape, dtype or nesting.
        """
        raise NotImplementedError

    @declared
    def unflat(self: V, array: Any) -> Vec[V]:
        """The element whose entries, in storage order, are those of one flat array; inverse of `Vec.flat`.

        Where the space mixes fields, the flat array is in double precision, and parts of it are cast.
        """
        raise NotImplementedError

    @written("V.random(rng), where rng = numpy.random.default_rng(seed)")
    def random(self: V, rng: np.random.Generator, *, scale: float = 1.0) -> Vec[V]:
        """An element drawn from `rng`: normal with deviation `scale` ≥ 0, or SpaceError; uniform where discrete."""
        drawn: Vec[V] = self._random(rng, scale)
        return drawn

    @declared
    def _random(self, rng: np.random.Generator, scale: float) -> Any:
        """An element drawn from `rng`; see `random`."""
        raise NotImplementedError

    @declared
    def basis(self: V) -> Iterator[Vec[V]]:
        """The standard basis, in storage order; raises SpaceError for a type that is no space."""
        raise NotImplementedError

    @declared
    def zeros(self: V) -> Vec[V]:
        """The zero vector; raises SpaceError for a type that is no space."""
        raise NotImplementedError

    @declared
    def ones(self: V) -> Vec[V]:
        """The vector with 1 in every entry; raises SpaceError for a type that is no space."""
        raise NotImplementedError

    @declared
    def full(self: V, k: float) -> Vec[V]:
        """The vector with the number k in every entry; raises SpaceError for a type that is no space."""
        raise NotImplementedError


def summands_of(space: Type) -> tuple[Type, ...]:
    """The parts of a direct sum or a record, of a copower of one those of all components."""
    powers, base = list[Index](), space
    while isinstance(base, Copower):
        powers, base = [*powers, base.index], base.base
    if not base.is_sum:
        raise SpaceError(f"{space} has no parts to split: it is no direct sum V ⊕ W, and no copower (V ⊕ W)^X of one")
    parts: tuple[Type, ...] = base.parts
    for index in reversed(powers):
        parts = tuple(Copower(part, index) for part in parts)
    return parts


shown.register(Type, lambda value: f"the {'space' if value.is_space else 'type'} {value}")


def require_type(value: Any, what: str) -> None:
    """Raise SpaceError unless a value is a space or a discrete type."""
    if not isinstance(value, Type):
        written = "R, R ** Fin(Tag, n), R ** (X * Y), direct_sum(V, W), V * W"
        msg = f"{what} takes a space, not {shown(value)}: write {written}"
        raise SpaceError(msg)


def require_space(space: Any, operation: str) -> None:
    """Raise SpaceError unless a value is a vector space."""
    require_type(space, operation)
    if not space.is_space:
        msg = f"{operation} needs a vector space, but {nested_sums.said(space)} has a discrete part, whose tangent is 0"
        raise SpaceError(msg + nested_sums.as_numbers(space))


def require_numbered(space: Any) -> None:
    """Raise SpaceError for a record, whose parts have names."""
    if space.names is not None:
        lenses = ", ".join(map(str, space.lenses.values()))
        msg = f"the parts of the record {type(space).__name__} have no positions: write p[lens], with one of "
        raise SpaceError(msg + lenses)


class Space(Type):
    """A type with 0, +, · and ⊙: a real Hilbert space."""

    @property
    def _summands(self) -> tuple[Space, ...]:
        return (self,)

    def __mul__(self: V, other: W) -> TensorProduct[V, W]:
        return TensorProduct(self, other)


class Atom(Type):
    """A type of one entry: K, or a discrete one."""

    @property
    def entry(self) -> Entry:
        """The entry that the one array holds."""
        raise TypeError(type(self).__name__)

    @property
    @once
    def leaves(self) -> tuple[Leaf, ...]:
        """One leaf without axes."""
        return (Leaf(self.entry),)

    def pack(self, flat: Iterator[Any]) -> Any:
        """The one entry."""
        return next(flat)

    def unpack(self, tree: Any) -> list[Any]:
        """The one entry."""
        return [tree]

    def __str__(self) -> str:
        return str(self.entry)


class PartlyDiscrete(Type):
    """A type that may have discrete parts: for the type checker, only an element of a space is made of numbers."""

    def basis(self: LinearSpace[V]) -> Iterator[Vec[V]]:
        """The standard basis; raises SpaceError where a part is discrete."""
        basis: Any = Type.basis  # checked here, made there
        made: Iterator[Vec[V]] = basis(self)
        return made

    def zeros(self: LinearSpace[V]) -> Vec[V]:
        """The zero vector; raises SpaceError where a part is discrete."""
        zeros: Any = Type.zeros  # checked here, made there
        made: Vec[V] = zeros(self)
        return made

    def ones(self: LinearSpace[V]) -> Vec[V]:
        """The vector with 1 in every entry; raises SpaceError where a part is discrete."""
        ones: Any = Type.ones  # checked here, made there
        made: Vec[V] = ones(self)
        return made

    def full(self: LinearSpace[V], k: float) -> Vec[V]:
        """The vector with the number k in every entry; raises SpaceError where a part is discrete."""
        full: Any = Type.full  # checked here, made there
        made: Vec[V] = full(self, k)
        return made


class Discrete(PartlyDiscrete, Atom):
    """A type without vector operations; its tangent is the space 0."""

    @property
    def _summands(self) -> tuple[Discrete, ...]:
        return (self,)

    @property
    def dtype(self) -> str:
        """The dtype of the array."""
        return self.entry.dtype

    @property
    def tangent(self) -> Space:
        """The space 0."""
        return Zero()


def _precision(_: Any, __: Any, value: Any) -> None:
    if not isinstance(value, str) or value not in ("float64", "float32"):
        msg = f"a field is 'float64' or 'float32', not {shown(value)}"
        raise SpaceError(msg)


@final
@frozen(repr=False)
class Field(Atom, Space):  # pyright: ignore[reportIncompatibleVariableOverride]  # Atom keeps its leaf
    """K: the real numbers in a dtype, which is not part of the static type; `R` is float64, `R32` float32 (§2.2)."""

    dtype: str = field(default="float64", validator=_precision)

    @property
    def entry(self) -> Entry:
        """A number of this dtype."""
        return Entry(self.dtype)

    @property
    def tangent(self) -> Space:
        """K itself."""
        return self

    def __repr__(self) -> str:
        return "R" if self.dtype == "float64" else "R32"


@final
@frozen(repr=False)
class Boolean(Discrete):
    """The truth values; `Bool` is the instance."""

    @property
    def entry(self) -> Entry:
        """A truth value, stored as bool."""
        return Entry("bool")

    def __repr__(self) -> str:
        return "Bool"


@final
@frozen(repr=False)
class Integers(Discrete):
    """The integers of 64 bits; `Z` is the instance."""

    @property
    def entry(self) -> Entry:
        """An integer, stored as int64."""
        return Entry("int64")

    def __repr__(self) -> str:
        return "Z"


def _index(_: Any, __: Any, value: Any) -> None:
    require_index(value, "Elements(X)")
    countable(value.size)


@final
@frozen(repr=False, cache_hash=True)
class Elements(Discrete, Generic[I]):
    """The elements of an index set, as dynamic values: labels, positions. Stored as int64 in flat order."""

    index: I = field(validator=_index)

    @property
    def entry(self) -> Entry:
        """An element of the index set, stored as int64."""
        return Entry("int64", self.index)

    def __repr__(self) -> str:
        return f"Elements({self.index!r})"


@final
@frozen(repr=False)
class Zero(Space):
    """The trivial space 0; its one element is the empty tuple (§2.2)."""

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """No leaves."""
        return ()

    def pack(self, flat: Iterator[Any]) -> Any:
        """The empty tuple."""
        return ()

    def unpack(self, tree: Any) -> list[Any]:
        """No leaves; raises SpaceError unless the tree is the empty tuple."""
        return items(self, tree, 0)

    @property
    def tangent(self) -> Space:
        """0 itself."""
        return self

    def __str__(self) -> str:
        return "0"

    def __repr__(self) -> str:
        return "Zero()"


def _type(_: Any, attribute: Any, value: Any) -> None:
    require_type(value, f"the {attribute.name} of a copower or a tensor product")


def items(space: Type, tree: Any, arity: int) -> list[Any]:
    """The items of a tuple of so many; raises SpaceError for another."""
    if not isinstance(tree, (tuple, list)) or len(tree) != arity:
        fits = f"a tuple of {arity} would fit{nested_sums.families(space)}{nested_sums.unflattened(space, tree)}"
        raise SpaceError(f"{shown(tree)} is not an element of {space}: {fits}")
    return list(tree)


def _exponent(power: Any, _: Any, value: Any) -> None:
    if not isinstance(value, Index):
        base = f"({power.base!r})" if " " in repr(power.base) else repr(power.base)
        way = f"write {base} ** {index_set_of(value, 'Fin.of(n)')}"
        raise SpaceError(f"the exponent of a copower is an index set, not {shown(value)}: {way}")


@final
@frozen(repr=False, cache_hash=True, slots=False)
class Copower(Space, Generic[V, I]):
    """V^X = ⊕_{x∈X} V, stored as V with the axes of X in front of every leaf (§2.2). The exponent is a set."""

    base: V = field(validator=_type)
    index: I = field(validator=_exponent)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the base with the axes of X in front."""
        return tuple(leaf.under(self.index.axes) for leaf in self.base.leaves)

    @property
    def places(self) -> range:
        """The positions of the components, in the flat order of the index set."""
        return range(self.index.size)

    @property
    def loop(self) -> range:
        """The positions of at most 64 components along one axis."""
        if len(self.index.axes) > 1:
            colons = ", ".join(":" * (len(self.index.axes) - 1))
            msg = f"a vector of {self} is not iterated, for it has several axes: write A[i, {colons}] for a component "
            raise SpaceError(f"{msg}along the first, lift(f, X) for a function of each, A.sum() for the sum")
        if self.index.size > MANY:
            msg = f"a loop over the {self.index.size} components of a vector of {self} is a step for each: each(f, x) "
            raise SpaceError(f"{msg}or lift(f, X) applies a function to all, and .array has the entries of a vector")
        return self.places

    def selection(self, key: Any) -> tuple[Type, tuple[Key, ...]]:
        """The component at a position or label, or V^Y for a slice; see `hilbert.index.position`."""
        keys, rest = kept(self.index, key, str(self))
        return (self.base if rest is None else Copower(self.base, rest)), keys

    def sums(self, X: Index | int) -> list[tuple[Type, int]]:
        """The spaces of sums along X where X is this index set, a factor of it, or one of the base's."""
        n = len(self.index.axes)
        here = [(power(self.base, Unit() if rest is None else rest), at) for at, rest in without(self.index, X)]
        inside = X if isinstance(X, Index) else X - n
        return [*here, *((Copower(inner, self.index), n + at) for inner, at in self.base.sums(inside))]

    def pack(self, flat: Iterator[Any]) -> Any:
        """The tuple tree of the base: structure of arrays."""
        return self.base.pack(flat)

    def unpack(self, tree: Any) -> list[Any]:
        """The leaves of a tuple tree of the base: structure of arrays."""
        return self.base.unpack(tuple(items(self, tree, len(self.base.parts))) if self.base.is_sum else tree)

    @cached_property
    def tangent(self) -> Space:
        """The copower of the base's tangent."""
        if self.is_space:
            return self
        inner = self.base.tangent
        return Zero() if isinstance(inner, Zero) else Copower(inner, self.index)

    def __str__(self) -> str:
        atom = isinstance(self.base, (Atom, Zero)) or self.base.names is not None
        return raised(str(self.base) if atom else f"({self.base})", str(self.index))

    def __repr__(self) -> str:
        base = repr(self.base)
        return f"{f'({base})' if isinstance(self.base, (Copower, TensorProduct)) else base} ** {self.index!r}"


@final
@frozen(repr=False, cache_hash=True, slots=False)
class TensorProduct(Space, Generic[V, W]):
    """V ⊗ W, stored leaf by leaf: the axes of V, then those of W (§2.2)."""

    left: V = field(validator=_type)
    right: W = field(validator=_type)

    def __attrs_post_init__(self) -> None:
        for part in (self.left, self.right):
            require_space(part, "⊗")
        if len({leaf.dtype for part in (self.left, self.right) for leaf in part.leaves}) > 1:
            msg = f"{self.left} ⊗ {self.right}: the factors have different dtypes"
            raise SpaceError(msg)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every pair of leaves."""
        return tuple(Leaf(a.entry, a.axes + b.axes) for a in self.left.leaves for b in self.right.leaves)

    def pack(self, flat: Iterator[Any]) -> Any:
        """The tree of V with trees of W for leaves."""
        inner = (self.right.pack(flat) for _ in self.left.leaves)
        return self.left.pack(iter(list(inner)))

    def unpack(self, tree: Any) -> list[Any]:
        """The tree of V with trees of W for leaves."""
        return [leaf for part in self.left.unpack(tree) for leaf in self.right.unpack(part)]

    @property
    def tangent(self) -> Space:
        """V ⊗ W itself."""
        return self

    def __str__(self) -> str:
        return " ⊗ ".join(
            f"({s})" if (s.is_sum and s.names is None) or isinstance(s, TensorProduct) else str(s)
            for s in (self.left, self.right)
        )

    def __repr__(self) -> str:
        left, right = (f"({s!r})" if isinstance(s, TensorProduct) else repr(s) for s in (self.left, self.right))
        return f"{left} * {right}"


R = Field()
R32 = Field("float32")
Bool = Boolean()
Z = Integers()
Scalar: TypeAlias = Field
Vector: TypeAlias = Copower[Field, Fin[T]]
Matrix: TypeAlias = Copower[Field, Product[Fin[S], Fin[T]]]


def atom(entry: Entry) -> Field | Discrete:
    """The type of one entry."""
    if entry.index is not None:
        return Elements(entry.index)
    return {"bool": Bool, "int64": Z}.get(entry.dtype) or Field(entry.dtype)


def type_of(leaf: Leaf) -> Type:
    """The leaf as a type of its own: K^{X×Y×…} for its axes, K for none; of a bundle the direct sum of its leaves."""
    return leaf.direct_sum() if isinstance(leaf, Bundle) else _type_of(leaf)


@once
def _type_of(leaf: Leaf) -> Type:
    base = atom(leaf.entry)
    return Copower(base, reduce(operator.mul, leaf.axes)) if leaf.axes else base


def power(space: Type, index: Index) -> Type:
    """V^X, where V^𝟏 is V itself."""
    return space if not index.axes else Copower(space, index)


def bracketing(have: Type, want: Type) -> str:
    """The end of an error for two spaces that differ in their brackets or names of axes only; otherwise empty."""
    if have == want:
        return ""
    if have.leaves != want.leaves:
        shapes = [tuple((leaf.shape, leaf.dtype) for leaf in space.leaves) for space in (have, want)]
        if shapes[0] != shapes[1] or not shapes[0]:
            return ""
        return alike(have, want) or other_index_sets(have, want)
    return f"; {_way(have, want)}"


def _way(have: Type, want: Type) -> str:
    """The operation that maps one space to another with the same arrays, as text."""
    if want.is_sum and want.names is None and tuple(want.parts) == (have,):
        return "a sum of one part takes a tuple of one: write (x,)"
    way = "a unitary operator"
    if {type(have), type(want)} == {TensorProduct, Copower}:
        way = f"linmap.unitary.tensor_matrix, or its adjoint ({OUTER}),"
    if isinstance(have, Copower) and isinstance(want, Copower) and _depth(have) != _depth(want):
        way = f"{'curry' if _depth(have) < _depth(want) else 'uncurry'}(V)(v)"
    elif have.is_sum and want.is_sum and (have.names, want.names) != (None, None):
        way = "unpack(P)(v)" if want.names is None else "pack(P)(v)" if have.names is None else "pack(Q) @ unpack(P)"
    elif any(isinstance(part, Zero) for part in (*have.parts, *want.parts)):
        return "the differential of a discrete part is 0 in its place: give Zero().zeros() for it"
    elif have.is_sum and isinstance(want, Copower):
        way = "zip_parts"
    elif isinstance(have, Copower) and want.is_sum:
        way = "unzip_parts"
    return f"they hold the same arrays, and {way} maps one to the other"


def _depth(space: Type) -> int:
    """The number of copowers one inside the other."""
    return 1 + _depth(space.base) if isinstance(space, Copower) else 0
