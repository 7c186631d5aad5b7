"""The forms of relations, each a few numbers or a table, closed under transpose (paper §2.2.3, theory §2.1)."""

# pyright: reportIncompatibleMethodOverride=false
# an attribute of a frozen class implements a property
from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from attrs import frozen

from hilbert.index import Product, Unit
from hilbert.relation.base import Function, I, Ints, J, K, Relation, Table
from hilbert.spec import ALPHABET


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


@final
@frozen
class Identity(Function[I, I]):
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
        """Itself."""
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
        """Yes."""
        return True

    def __str__(self) -> str:
        return f"id on {self.size} of {self.dom}"


@final
@frozen
class Graph(Function[I, J]):
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
class Inclusion(Function[I, J]):
    """{(x, offset + stride·x)}: X as evenly spaced positions of Y, backwards if stride < 0; a single element for 𝟏."""

    dom: I
    cod: J
    offset: int
    stride: int = 1

    @property
    def T(self) -> Converse[J, I]:
        """{(offset + stride·x, x)}: a slice."""
        return Converse(self)

    def holds(self) -> tuple[Ints, Ints]:
        """The graph."""
        return np.arange(self.dom.size), np.arange(self.dom.size) * self.stride + self.offset

    def __str__(self) -> str:
        if isinstance(self.dom, Unit):
            return f"{self.offset + 1}"
        start = f" from {self.offset}" if self.offset else ""
        step = f" by {self.stride}".replace("-", "−") if self.stride != 1 else ""
        return f"{self.dom}↪{self.cod}{start}{step}"


@final
@frozen
class Rotation(Function[I, I]):
    """{(x, x + by mod |X|)} in the flat order: a cyclic shift; 0 ≤ by < |X|, or 0 for the empty set."""

    dom: I
    by: int

    @property
    def cod(self) -> I:
        """X."""
        return self.dom

    @property
    def T(self) -> Rotation[I]:
        """The rotation back."""
        return Rotation(self.dom, -self.by % max(self.dom.size, 1))

    def holds(self) -> tuple[Ints, Ints]:
        """The graph."""
        x = np.arange(self.dom.size)
        return x, (x + self.by) % max(self.dom.size, 1)

    def __str__(self) -> str:
        return f"rotation by {self.by}"


@final
@frozen
class Window(Relation[I, J]):
    """{(x, y) : x = stride·y + offset + dilation·k, 0 ≤ k < width} in the flat orders: y is related to a window of X.

    What of a window lies outside X is cut off. Shifts, bands, stencils and pooling are of this form.
    """

    dom: I
    cod: J
    width: int
    stride: int = 1
    offset: int = 0
    dilation: int = 1

    @property
    def T(self) -> Window[J, I] | Converse[J, I]:
        """For stride 1 windows again, otherwise their converse."""
        if self.stride != 1:
            return Converse(self)
        last = self.offset + self.dilation * (self.width - 1)
        return Window(self.cod, self.dom, self.width, 1, -last, self.dilation)

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs, window after window."""
        y, k = np.divmod(np.arange(self.cod.size * self.width), max(self.width, 1))
        x = self.stride * y + self.offset + self.dilation * k
        inside = (x >= 0) & (x < self.dom.size)
        return x[inside], y[inside]

    @property
    def size(self) -> int:
        """How many entries of the windows lie in X."""
        start = self.offset + self.dilation * np.arange(self.width)  # of window 0
        first = np.maximum(-(start // self.stride), 0)
        last = np.minimum((self.dom.size - 1 - start) // self.stride, self.cod.size - 1)
        return int(np.maximum(last - first + 1, 0).sum())

    def __str__(self) -> str:
        if self.stride == self.dilation == 1:
            return f"band({self.offset}..{self.offset + self.width - 1})".replace("-", "−")
        named = (("stride", self.stride, 1), ("dilation", self.dilation, 1), ("offset", self.offset, 0))
        rest = "".join(f", {name} {value}" for name, value, usual in named if value != usual)
        return f"window({self.width}{rest})".replace("-", "−")


@final
@frozen
class Sliding(Function[Product[I, K], J]):
    """{((y, k), stride·y + offset + dilation·k)}: Y × K → X, place k of window y; every place lies inside X."""

    dom: Product[I, K]
    cod: J
    stride: int = 1
    offset: int = 0
    dilation: int = 1

    @property
    def T(self) -> Converse[J, Product[I, K]]:
        """All windows side by side: a gather that moves nothing."""
        return Converse(self)

    def holds(self) -> tuple[Ints, Ints]:
        """The graph."""
        place = np.arange(self.dom.size)
        y, k = np.divmod(place, max(self.dom.right.size, 1))
        return place, self.stride * y + self.offset + self.dilation * k

    def __str__(self) -> str:
        return f"windows({self.dom}→{self.cod})"


@final
@frozen
class Converse(Relation[I, J]):
    """The transpose of the graph of a function, of an inclusion, or of windows with a stride."""

    of: Graph[J, I] | Inclusion[J, I] | Window[J, I] | Sliding[Any, Any, I]

    @property
    def dom(self) -> I:
        """Its codomain."""
        return self.of.cod

    @property
    def cod(self) -> J:
        """Its domain."""
        dom: J = self.of.dom  # type: ignore[assignment]  # the domain of windows is a product, which J then is
        return dom

    @property
    def T(self) -> Relation[J, I]:
        """What it is the converse of."""
        of: Relation[J, I] = self.of  # type: ignore[assignment]
        return of

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs, turned round."""
        x, y = self.of.holds()
        return y, x

    @property
    def size(self) -> int:
        """As many."""
        return self.of.size

    def __str__(self) -> str:
        plain = isinstance(self.of, Graph) or isinstance(self.of.dom, Unit)
        return f"{self.of}ᵀ" if plain else f"({self.of})ᵀ"


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
        """How many there are."""
        return len(self.sources.array)

    def __str__(self) -> str:
        return f"{self.size} pairs"


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
