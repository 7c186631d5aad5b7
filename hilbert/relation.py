"""Relations R ⊆ X × Y as symbolic objects, closed under transpose (paper §2.1, §2.2.3).

>>> from hilbert import Fin
>>> X, Y = Fin.of(4), Fin.of(2)
>>> R = function(X, Y, [0, 1, 1, 0])
>>> [p.tolist() for p in R.holds()]
[[0, 1, 2, 3], [0, 1, 1, 0]]
>>> R.T.T == R
True
"""

from __future__ import annotations

import math
import uuid
from typing import Any, Generic, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from hilbert.errors import SpaceError, integer, shown
from hilbert.index import Index, Unit, require_index
from hilbert.named import spelled
from hilbert.spec import ALPHABET

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
Ints: TypeAlias = npt.NDArray[np.int64]


@final
@frozen(repr=False)
class Table:
    """A read-only integer array that is compared by a token, which travels with the pickle."""

    array: Ints = field(eq=False)
    token: int = field(factory=lambda: uuid.uuid4().int)

    def __reduce__(self) -> tuple[Any, ...]:
        return table, (self.array, self.token)

    def __repr__(self) -> str:
        return spelled(self, f"{self.token:032x}", f"int64{list(self.array.shape)}")


def table(entries: Any, token: int | None = None) -> Table:
    """A table with a copy of the entries."""
    array = np.array(entries, np.int64)
    array.flags.writeable = False
    return Table(array) if token is None else Table(array, token)


class Relation(Generic[I, J]):
    """R ⊆ X × Y; `red_R : V^X ⊸ V^Y` sums over the related: (red_R v)_y = Σ_{(x,y)∈R} v_x."""

    __slots__ = ()

    @property
    def dom(self) -> I:
        """X."""
        raise TypeError(type(self).__name__)

    @property
    def cod(self) -> J:
        """Y."""
        raise TypeError(type(self).__name__)

    @property
    def T(self) -> Relation[J, I]:
        """The transpose {(y, x) : (x, y) ∈ R}."""
        raise TypeError(type(self).__name__)

    def holds(self) -> tuple[Ints, Ints]:
        """Every pair, as two arrays of positions: the definition, for tests and small relations."""
        raise TypeError(type(self).__name__)


@final
@frozen
class Full(Relation[I, J]):
    """X × Y: sum, then replicate."""

    dom: I
    cod: J

    @property
    def T(self) -> Full[J, I]:
        """Y × X."""
        return Full(self.cod, self.dom)

    def holds(self) -> tuple[Ints, Ints]:
        """All pairs."""
        x, y = np.divmod(np.arange(self.dom.size * self.cod.size), max(self.cod.size, 1))
        return x, y

    def __str__(self) -> str:
        return f"{self.dom}×{self.cod}"


@final
@frozen
class Identity(Relation[I, I]):
    """{(x, x)}."""

    dom: I

    @property
    def cod(self) -> I:
        """X."""
        return self.dom

    @property
    def T(self) -> Identity[I]:
        """Itself."""
        return self

    def holds(self) -> tuple[Ints, Ints]:
        """The diagonal."""
        return np.arange(self.dom.size), np.arange(self.dom.size)

    def __str__(self) -> str:
        return "id"


@final
@frozen
class Graph(Relation[I, J]):
    """{(x, f(x))} of a function f : X → Y given as a table of positions: segment sum."""

    dom: I
    cod: J
    positions: Table

    @property
    def T(self) -> Converse[J, I]:
        """{(f(x), x)}: gather."""
        return Converse(self)

    def holds(self) -> tuple[Ints, Ints]:
        """The graph."""
        return np.arange(self.dom.size), self.positions.array

    def __str__(self) -> str:
        return f"graph({self.dom}→{self.cod})"


@final
@frozen
class Inclusion(Relation[I, J]):
    """{(x, offset + x)}: X as a run of positions of Y; a single element for X = 𝟏."""

    dom: I
    cod: J
    offset: int

    @property
    def T(self) -> Converse[J, I]:
        """{(offset + x, x)}: a slice."""
        return Converse(self)

    def holds(self) -> tuple[Ints, Ints]:
        """The graph."""
        return np.arange(self.dom.size), np.arange(self.dom.size) + self.offset

    def __str__(self) -> str:
        return f"{self.offset + 1}" if isinstance(self.dom, Unit) else f"{self.dom}↪{self.cod}"


@final
@frozen
class Converse(Relation[I, J]):
    """The transpose of the graph of a function or of an inclusion."""

    of: Graph[J, I] | Inclusion[J, I]

    @property
    def dom(self) -> I:
        """The codomain of the function."""
        return self.of.cod

    @property
    def cod(self) -> J:
        """The domain of the function."""
        return self.of.dom

    @property
    def T(self) -> Graph[J, I] | Inclusion[J, I]:
        """The function's graph."""
        return self.of

    def holds(self) -> tuple[Ints, Ints]:
        """The graph, turned round."""
        x, y = self.of.holds()
        return y, x

    def __str__(self) -> str:
        plain = isinstance(self.of, Graph) or isinstance(self.of.dom, Unit)
        return f"{self.of}ᵀ" if plain else f"({self.of})ᵀ"


@final
@frozen
class Order(Relation[I, I]):
    """{(x, y) : x ≤ y} (or ≥) in the flat order: cumulative sum."""

    dom: I
    reverse: bool = False

    @property
    def cod(self) -> I:
        """X."""
        return self.dom

    @property
    def T(self) -> Order[I]:
        """The opposite order."""
        return Order(self.dom, not self.reverse)

    def holds(self) -> tuple[Ints, Ints]:
        """The triangle."""
        x, y = np.triu_indices(self.dom.size)
        return (y, x) if self.reverse else (x, y)

    def __str__(self) -> str:
        return "≥" if self.reverse else "≤"


@final
@frozen
class Pairs(Relation[I, J]):
    """Explicit pairs, as two tables of positions; a pair that stands twice counts once."""

    dom: I
    cod: J
    sources: Table
    targets: Table

    @property
    def T(self) -> Pairs[J, I]:
        """The pairs turned round."""
        return Pairs(self.cod, self.dom, self.targets, self.sources)

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs."""
        return self.sources.array, self.targets.array

    def __str__(self) -> str:
        return f"{len(self.sources.array)} pairs"


@final
@frozen
class Agreement(Relation[I, J]):
    """{(x, y) : coordinates with one label are equal}: a label for each axis of X and of Y, as in einsum's ii→i.

    What a bilinear map contracts and shares, as a relation: diagonals, traces and transpositions, and their converses.
    """

    dom: I
    cod: J
    source: str
    target: str

    @property
    def T(self) -> Agreement[J, I]:
        """The lists of labels in the other order."""
        return Agreement(self.cod, self.dom, *_canonical(self.target, self.source))

    def holds(self) -> tuple[Ints, Ints]:
        """A pair for each value of all labels together."""
        sizes = dict(zip(self.source + self.target, self.dom.shape + self.cod.shape, strict=True))
        count = math.prod(sizes.values())
        grid = dict(zip(sizes, np.indices(tuple(sizes.values())).reshape(len(sizes), count), strict=True))

        def flat(labels: str) -> Ints:
            place = np.zeros(count, np.int64)
            for c in labels:
                place = place * sizes[c] + grid[c]
            return place

        return flat(self.source), flat(self.target)

    def __str__(self) -> str:
        return f"{self.source}→{self.target}"


shown.register(Relation, lambda relation: f"a relation {relation.dom} × {relation.cod}")


def _array(entries: Any, what: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(entries)
    except (ValueError, TypeError) as error:
        msg = f"{what} is an array of integers, not {shown(entries)} that is ragged or holds no integers"
        raise SpaceError(msg) from error


def _positions(index: Index, entries: Any, what: str) -> Ints:
    array = _array(entries, what)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        msg = f"{what} is a one-dimensional array of integers, not {array.dtype} of shape {array.shape}"
        raise SpaceError(msg)
    if array.size and (array.min() < 0 or array.max() >= index.size):
        due = f"give 0 to {index.size - 1}" if index.size else "it has no elements"
        msg = f"{what}: positions from {array.min()} to {array.max()} do not lie in {index}: {due}"
        raise SpaceError(msg)
    return array.astype(np.int64)


def _sets(*sets: Any) -> None:
    for index in sets:
        require_index(index, "a relation")


def full(X: I, Y: J) -> Full[I, J]:
    """All pairs X × Y."""
    _sets(X, Y)
    return Full(X, Y)


def diagonal(X: I) -> Identity[I]:
    """The identity relation on X."""
    _sets(X)
    return Identity(X)


def function(X: I, Y: J, positions: Any) -> Graph[I, J]:
    """The graph of x ↦ positions[x]; raises SpaceError for a wrong length or a position outside Y."""
    _sets(X, Y)
    array = _positions(Y, positions, f"the table of a function {X} → {Y}")
    if array.shape != (X.size,):
        msg = f"the table of a function {X} → {Y} has {X.size} entries, not {array.size}"
        raise SpaceError(msg)
    return Graph(X, Y, table(array))


def agreement(X: I, Y: J, labels: str) -> Agreement[I, J]:
    """The relation of labels such as "ii->i", one for each axis of X and of Y; SpaceError where they do not fit."""
    _sets(X, Y)
    source, arrow, target = (labels if isinstance(labels, str) else "").replace(" ", "").partition("->")
    if not arrow or len(source) != len(X.axes) or len(target) != len(Y.axes):
        due = f"{len(X.axes)} labels, ->, {len(Y.axes)} labels"
        msg = f"a relation {X} × {Y} by labels is written as {due}, not as {shown(labels)}"
        raise SpaceError(msg)
    axes: dict[str, Index] = {}
    for label, axis in zip(source + target, X.axes + Y.axes, strict=True):
        if axes.setdefault(label, axis) != axis:
            msg = f"the labels {labels} of a relation {X} × {Y}: {label} is both {axes[label]} and {axis}"
            raise SpaceError(msg)
    return Agreement(X, Y, *_canonical(source, target))


def _canonical(source: str, target: str) -> tuple[str, str]:
    """Labels numbered by first occurrence, so that equal relations are equal."""
    names = {c: ALPHABET[k] for k, c in enumerate(dict.fromkeys(source + target))}
    return "".join(names[c] for c in source), "".join(names[c] for c in target)


def leq(X: I) -> Order[I]:
    """{(x, y) : x ≤ y}: prefix sums."""
    _sets(X)
    return Order(X)


def geq(X: I) -> Order[I]:
    """{(x, y) : x ≥ y}: suffix sums."""
    _sets(X)
    return Order(X, reverse=True)


def pairs(X: I, Y: J, entries: Any) -> Pairs[I, J]:
    """The relation with the given pairs (x, y) of positions; raises SpaceError for one outside X × Y."""
    _sets(X, Y)
    array = _array(entries, f"the table of pairs of {X}×{Y}")
    if array.size == 0:
        array = np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        msg = f"pairs of {X}×{Y} are an array of shape (n, 2), not {array.shape}"
        raise SpaceError(msg)
    sources = _positions(X, array[:, 0], f"the sources of pairs of {X}×{Y}")
    targets = _positions(Y, array[:, 1], f"the targets of pairs of {X}×{Y}")
    codes = np.unique(sources * Y.size + targets)
    return Pairs(X, Y, table(codes // max(Y.size, 1)), table(codes % max(Y.size, 1)))


def run(X: I, Y: J, offset: int) -> Inclusion[I, J]:
    """X as the run of positions offset, offset + 1, … of Y; raises SpaceError if it does not lie inside."""
    _sets(X, Y)
    place = integer(offset)
    if place is None or not 0 <= place <= Y.size - X.size:
        fits = f"give 0 to {Y.size - X.size}" if X.size <= Y.size else f"it has more elements than {Y}"
        msg = f"{X} does not fit into {Y} at position {shown(offset)}: {fits}"
        raise SpaceError(msg)
    return Inclusion(X, Y, place)
