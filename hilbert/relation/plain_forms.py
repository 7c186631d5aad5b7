"""Full and partial relations, orders, explicit pairs and agreement of coordinates, each with its constructors.

A form is a few numbers or a table, closed under transpose (paper §2.2.3, theory §2.1).
"""

# pyright: reportIncompatibleMethodOverride=false
# an attribute of a frozen class implements a property
from __future__ import annotations

import math
from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.base.sizes import MOST
from hilbert.errors import SpaceError, shown
from hilbert.index.index import Index
from hilbert.index.spec import ALPHABET
from hilbert.relation.relation import Function, I, Ints, J, Relation, Table, table
from hilbert.relation.relation_checks import array_of, positions_in, require_sets, require_table

__all__ = [
    "Agreement",
    "Equality",
    "Full",
    "Order",
    "Pairs",
    "Partial",
    "agreement",
    "columns",
    "equality",
    "full",
    "geq",
    "greater",
    "leq",
    "less",
    "pairs",
    "partial",
]


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
        x, y = np.divmod(np.arange(self.size), max(self.cod.size, 1))
        return x, y

    @property
    def size(self) -> int:
        """|X|·|Y|."""
        return self.dom.size * self.cod.size

    def __str__(self) -> str:
        return f"{self.dom}×{self.cod}"


def full(X: I, Y: J) -> Full[I, J]:
    """All pairs X × Y."""
    require_sets(X, Y)
    return Full(X, Y)


@final
@frozen
class Equality(Function[I, I]):
    """{(x, x)}."""

    dom: I

    @property
    def cod(self) -> I:
        """X."""
        return self.dom

    @property
    def T(self) -> Equality[I]:
        """The identity itself."""
        return self

    def holds(self) -> tuple[Ints, Ints]:
        """The diagonal."""
        return np.arange(self.dom.size), np.arange(self.dom.size)

    def __str__(self) -> str:
        return "id"


def equality(X: I) -> Equality[I]:
    """{(x, x)}: the identity relation on X."""
    require_sets(X)
    return Equality(X)


@final
@frozen
class Partial(Relation[I, I]):
    """{(x, x) : x ∈ S} for a subset S ⊆ X, given as a table of truth values: the mask that keeps S."""

    dom: I
    keep: Table

    @property
    def cod(self) -> I:
        """X."""
        return self.dom

    @property
    def T(self) -> Partial[I]:
        """The relation itself."""
        return self

    def holds(self) -> tuple[Ints, Ints]:
        """A part of the diagonal."""
        places = np.flatnonzero(self.keep.array)
        return places, places

    @property
    def size(self) -> int:
        """|S|."""
        return int(np.count_nonzero(self.keep.array))

    @property
    def is_partial_function(self) -> bool:
        """True: each x is related to itself or to nothing."""
        return True

    def __str__(self) -> str:
        return f"id on {self.size} of {self.dom}"


def partial(keep: Any, X: I) -> Partial[I]:
    """The identity on the elements of X for which `keep` is true: an array of truth values with the axes of X, or flat.

    Raises SpaceError for another shape or kind of array.
    """
    require_table("partial(keep, X)", keep, X)
    array = array_of(keep, f"a subset of {X}")
    if array.size == 0:
        array = array.astype(bool)
    if array.dtype != bool or array.shape not in (X.shape, (X.size,)):
        msg = f"a subset of {X} is an array of {X.size} truth values, not {array.dtype} of shape {array.shape}"
        raise SpaceError(msg)
    return Partial(X, table(array.reshape(-1)))


@final
@frozen
class Order(Relation[I, I]):
    """{(x, y) : x ≤ y} in the flat order: cumulative sum; ≥ if `reverse`, < or > if `strict`."""

    dom: I
    reverse: bool = False
    strict: bool = False

    @property
    def cod(self) -> I:
        """X."""
        return self.dom

    @property
    def T(self) -> Order[I]:
        """The opposite order."""
        return Order(self.dom, not self.reverse, self.strict)

    def holds(self) -> tuple[Ints, Ints]:
        """The triangle."""
        x, y = np.triu_indices(self.dom.size, int(self.strict))
        return (y, x) if self.reverse else (x, y)

    @property
    def size(self) -> int:
        """n·(n + 1)/2, or n·(n − 1)/2."""
        n = self.dom.size
        return n * (n - 1) // 2 if self.strict else n * (n + 1) // 2

    def __str__(self) -> str:
        return (">" if self.reverse else "<") if self.strict else "≥" if self.reverse else "≤"


def leq(X: I) -> Order[I]:
    """{(x, y) : x ≤ y}: prefix sums."""
    require_sets(X)
    return Order(X)


def geq(X: I) -> Order[I]:
    """{(x, y) : x ≥ y}: suffix sums."""
    require_sets(X)
    return Order(X, reverse=True)


def less(X: I) -> Order[I]:
    """{(x, y) : x < y}: prefix sums without the element itself."""
    require_sets(X)
    return Order(X, strict=True)


def greater(X: I) -> Order[I]:
    """{(x, y) : x > y}: suffix sums without the element itself."""
    require_sets(X)
    return Order(X, reverse=True, strict=True)


@final
@frozen
class Pairs(Relation[I, J]):
    """Explicit pairs, as two tables of positions; no pair stands twice."""

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

    @property
    def size(self) -> int:
        """The number of pairs."""
        return len(self.sources.array)

    @property
    def is_function(self) -> bool:
        """True if each element is a source exactly once."""
        return self.size == self.dom.size and self.is_partial_function

    @property
    def is_partial_function(self) -> bool:
        """True if no source stands twice."""
        return len(np.unique(self.sources.array)) == self.size

    def __str__(self) -> str:
        return f"{self.size} pairs"


def pairs(entries: Any, X: I, Y: J) -> Pairs[I, J]:
    """The relation with the given pairs (x, y) of positions; raises SpaceError for one outside X × Y."""
    require_table("pairs(entries, X, Y)", entries, X, Y)
    array = array_of(entries, f"the table of pairs of {X}×{Y}")
    if array.size == 0:
        array = np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        msg = f"pairs of {X}×{Y} are an array of shape (n, 2), not {array.shape}"
        raise SpaceError(msg)
    return columns(array[:, 0], array[:, 1], X, Y)


def columns(sources: Any, targets: Any, X: I, Y: J) -> Pairs[I, J]:
    """The relation with the pairs (sources[k], targets[k]) of positions, as two columns of a table give them.

    A pair that stands twice counts once. Raises SpaceError for unequal lengths and for positions outside X or Y.
    """
    require_table("columns(sources, targets, X, Y)", (sources, targets), X, Y)
    x = positions_in(X, sources, f"the sources of pairs of {X}×{Y}")
    y = positions_in(Y, targets, f"the targets of pairs of {X}×{Y}")
    if len(x) != len(y):
        msg = f"pairs of {X}×{Y} have as many sources as targets, not {len(x)} and {len(y)}"
        raise SpaceError(msg)
    return distinct(X, Y, x, y)


def distinct(X: I, Y: J, x: Ints, y: Ints) -> Pairs[I, J]:
    """The pairs of valid positions, each once, ordered by their sources."""
    if X.size * Y.size <= MOST:
        codes = np.unique(x * Y.size + y)
        return Pairs(X, Y, table(codes // max(Y.size, 1)), table(codes % max(Y.size, 1)))
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    first = np.ones(len(x), bool)
    first[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    return Pairs(X, Y, table(x[first]), table(y[first]))


@final
@frozen
class Agreement(Relation[I, J]):
    """{(x, y) : coordinates with one label are equal}: a label for each axis of X and of Y, as in einsum's ii→i.

    As a relation, the contractions and shared axes of bilinear maps: diagonals, traces, transpositions, converses.
    """

    dom: I
    cod: J
    source: str
    target: str

    @property
    def T(self) -> Agreement[J, I]:
        """The lists of labels in the other order."""
        return Agreement(self.cod, self.dom, *canonical(self.target, self.source))

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

    @property
    def size(self) -> int:
        """The number of values of all labels together."""
        return math.prod(dict(zip(self.source + self.target, self.dom.shape + self.cod.shape, strict=True)).values())

    def __str__(self) -> str:
        return f"{self.source}→{self.target}"


def canonical(source: str, target: str) -> tuple[str, str]:
    """Labels numbered by first occurrence, so that equal relations are equal."""
    names = {c: ALPHABET[k] for k, c in enumerate(dict.fromkeys(source + target))}
    return "".join(names[c] for c in source), "".join(names[c] for c in target)


def agreement(labels: str, X: I, Y: J) -> Agreement[I, J]:
    """The relation of labels such as "ii->i", one for each axis of X and of Y; SpaceError where they do not fit."""
    require_table("agreement(labels, X, Y)", labels, X, Y)
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
    return Agreement(X, Y, *canonical(source, target))


PlainForm: TypeAlias = (
    Full[Any, Any] | Equality[Any] | Partial[Any] | Order[Any] | Pairs[Any, Any] | Agreement[Any, Any]
)
