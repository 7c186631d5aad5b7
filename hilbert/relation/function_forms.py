"""Functions, windows and their converses, each with its constructors.

A form is a few numbers or a table, closed under transpose (paper §2.2.3, theory §2.1).
"""

# pyright: reportIncompatibleMethodOverride=false
# an attribute of a frozen class implements a property
from __future__ import annotations

from typing import Any, TypeAlias, final, overload

import numpy as np
from attrs import frozen

from hilbert.errors import SpaceError, integer, shown
from hilbert.index.index import Anonymous, Fin, Index, Product, Unit
from hilbert.relation.relation import Function, I, Ints, J, K, Relation, Table, table
from hilbert.relation.relation_checks import positions_in, require_sets, require_table, whole

__all__ = [
    "Converse",
    "Graph",
    "Inclusion",
    "Rotation",
    "Sliding",
    "Window",
    "band",
    "function",
    "reversal",
    "rotation",
    "run",
    "shift",
    "sliding",
    "window",
]


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


AnyGraph: TypeAlias = Graph[Any, Any]
"""The graph of a function between any index sets."""


def function(positions: Any, X: I, Y: J) -> Graph[I, J]:
    """The graph of x ↦ positions[x]; raises SpaceError for a wrong length or a position outside Y."""
    require_table("function(positions, X, Y)", positions, X, Y)
    array = positions_in(Y, positions, f"the table of a function {X} → {Y}")
    if array.shape != (X.size,):
        msg = f"the table of a function {X} → {Y} has {X.size} entries, not {array.size}"
        raise SpaceError(msg)
    return Graph(X, Y, table(array))


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


def run(X: I, Y: J, offset: int, stride: int = 1) -> Inclusion[I, J]:
    """X as the positions offset, offset + stride, … of Y; raises SpaceError if it does not lie inside."""
    require_sets(X, Y)
    step = whole(stride, "the stride of an inclusion")
    if not step:
        msg = f"the stride of an inclusion of {X} into {Y} is not 0"
        raise SpaceError(msg)
    span = abs(step) * max(X.size - 1, 0) + min(X.size, 1)  # how many positions it covers, with those between
    low = (span - 1 if span else 0) if step < 0 else 0
    place = integer(offset)
    if place is None or not low <= place <= low + Y.size - span:
        fits = f"give {low} to {low + Y.size - span}" if span <= Y.size else f"it has more elements than {Y}"
        if span > Y.size >= X.size:
            fits = f"with stride {step} it covers {span} of {Y.size} positions"
        msg = f"{X} does not fit into {Y} at position {shown(offset)}: {fits}"
        raise SpaceError(msg)
    return Inclusion(X, Y, place, step)


def reversal(X: I) -> Inclusion[I, I]:
    """{(x, |X| − 1 − x)}: the flat order backwards."""
    require_sets(X)
    return run(X, X, max(X.size - 1, 0), -1)


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


def rotation(X: I, by: int) -> Rotation[I]:
    """{(x, x + by mod |X|)}: a cyclic shift; `by` may be negative."""
    require_sets(X)
    return Rotation(X, whole(by, "the step of a rotation") % max(X.size, 1))


@final
@frozen
class Window(Relation[I, J]):
    """{(x, y) : x = stride·y + offset + dilation·k, 0 ≤ k < width} in the flat orders: y is related to a window of X.

    Entries of a window outside X are cut off. Shifts, bands, stencils and pooling are of this form.
    """

    dom: I
    cod: J
    width: int
    stride: int = 1
    offset: int = 0
    dilation: int = 1

    @property
    def T(self) -> Window[J, I] | Converse[J, I]:
        """Windows again for stride 1, otherwise the converse."""
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
        """The number of entries of the windows that lie in X."""
        if self.stride == self.dilation == 1:  # those from the first on, less those behind the last: both are triangles
            n, m = self.dom.size, self.cod.size
            ends = self.offset, self.offset + self.width
            return sum(k * _below(x, n, m) for k, x in zip((-1, 1), ends, strict=True))
        start = self.offset + self.dilation * np.arange(self.width)  # of window 0
        first = np.maximum(-(start // self.stride), 0)
        last = np.minimum((self.dom.size - 1 - start) // self.stride, self.cod.size - 1)
        return int(np.maximum(last - first + 1, 0).sum())

    def __str__(self) -> str:
        if self.stride == self.dilation == 1:
            return f"band({self.offset}..{self.offset + self.width - 1})".replace("-", "−")
        return f"window({self.width}{_unusual(self)})"


def _below(end: int, n: int, m: int) -> int:
    """The number of pairs x < n, y < m with x − y < end: for each y end + y, cut off at 0 and at n."""

    def triangle(side: int) -> int:
        return side * (side + 1) // 2 if side > 0 else 0

    return triangle(end + m - 1) - triangle(end - 1) - triangle(end + m - 1 - n) + triangle(end - 1 - n)


@overload
def window(
    X: I, width: int, *, stride: int = ..., offset: int = ..., dilation: int = ..., to: None = ...
) -> Window[I, Fin[Anonymous]]: ...
@overload
def window(X: I, width: int, *, stride: int = ..., offset: int = ..., dilation: int = ..., to: J) -> Window[I, J]: ...
def window(
    X: Any, width: int, *, stride: int = 1, offset: int = 0, dilation: int = 1, to: Any = None
) -> Window[Any, Any]:
    """{(x, y) : x = stride·y + offset + dilation·k, 0 ≤ k < width}: y is related to its window of X.

    Y is `to`, or as many windows as end in X; entries of a window outside X are cut off. Raises SpaceError for
    numbers that are no integers, and for a width, stride or dilation below 1.
    """
    require_sets(X)
    w, s, o, d = _geometry(width, stride, offset, dilation)
    if to is None:
        return Window(X, Fin.of(_count(X, w, s, o, d)), w, s, o, d)
    require_sets(to)
    return Window(X, to, w, s, o, d)


def shift(X: I, by: int) -> Window[I, I]:
    """{(x, x + by)} where both lie in X: elements that would move over an end are left out."""
    require_sets(X)
    return Window(X, X, 1, 1, -_within(X, whole(by, "the step of a shift")))


def band(X: I, below: int, above: int) -> Window[I, I]:
    """{(x, y) : −below ≤ x − y ≤ above}: with below = above = w the band |x − y| ≤ w, a stencil."""
    require_sets(X)
    low, high = whole(below, "the lower width of a band"), whole(above, "the upper width of a band")
    if low + high + 1 < 0:
        msg = f"a band on {X} from {-low} to {high} is empty: give below ≥ −above"
        raise SpaceError(msg)
    low, high = _within(X, low), _within(X, high)
    return Window(X, X, low + high + 1, 1, -low)


def _within(X: Index, distance: int) -> int:
    """A distance of elements, where more than |X| makes no difference."""
    return max(-X.size, min(distance, X.size))


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
        return f"windows({self.dom}→{self.cod}{_unusual(self)})"


@overload
def sliding(
    X: J, width: int, *, stride: int = ..., offset: int = ..., dilation: int = ..., to: None = ...
) -> Sliding[Fin[Anonymous], Fin[Anonymous], J]: ...
@overload
def sliding(
    X: J, width: int, *, stride: int = ..., offset: int = ..., dilation: int = ..., to: Product[I, K]
) -> Sliding[I, K, J]: ...
def sliding(
    X: Any, width: int, *, stride: int = 1, offset: int = 0, dilation: int = 1, to: Any = None
) -> Sliding[Any, Any, Any]:
    """The function (y, k) ↦ stride·y + offset + dilation·k from Y × K to X, for as many windows y as lie in X.

    `to` names Y × K, whose sizes are the number of windows and the width. Raises SpaceError as `window` does, for an
    offset below 0, which would begin outside X, and for a Y × K of other sizes.
    """
    require_sets(X)
    w, s, o, d = _geometry(width, stride, offset, dilation)
    count = _count(X, w, s, o, d)
    if o < 0:
        msg = f"windows from {o} on do not lie in {X}: an offset is at least 0"
        raise SpaceError(msg)
    if to is None:
        to = Fin.of(count) * Fin.of(w)
    if not isinstance(to, Product) or (to.left.size, to.right.size) != (count, w):
        msg = f"the {count} windows of width {w} in {X} have |Y| = {count}, |K| = {w} in Y×K, not {shown(to)}"
        raise SpaceError(msg)
    return Sliding(to, X, s, o, d)


def _unusual(windows: Window[Any, Any] | Sliding[Any, Any, Any]) -> str:
    """The stride, dilation and offset as text, except those that are 1, 1 and 0."""
    named = (("stride", windows.stride, 1), ("dilation", windows.dilation, 1), ("offset", windows.offset, 0))
    return "".join(f", {name} {value}" for name, value, usual in named if value != usual).replace("-", "−")


FAR = 2**47
"""A bound of distances between entries: addresses have fewer bits."""


def _geometry(width: Any, stride: Any, offset: Any, dilation: Any) -> tuple[int, int, int, int]:
    w, s = whole(width, "the width of windows", least=1), whole(stride, "the stride of windows", least=1)
    o, d = whole(offset, "the offset of windows"), whole(dilation, "the dilation of windows", least=1)
    for name, amount in (("width", w), ("stride", s), ("offset", o), ("dilation", d)):
        if abs(amount) >= FAR:
            msg = f"the {name} of windows is {amount}, further than any array reaches"
            raise SpaceError(msg)
    return w, s, o, d


def _count(X: Index, width: int, stride: int, offset: int, dilation: int) -> int:
    """The number of windows that end inside X."""
    return max((X.size - 1 - offset - dilation * (width - 1)) // stride + 1, 0)


Directed: TypeAlias = Graph[I, J] | Inclusion[I, J] | Window[I, J] | Sliding[Any, Any, J]
"""Relations whose converse is no form of their own kind."""


@final
@frozen
class Converse(Relation[I, J]):
    """The transpose of the graph of a function, of an inclusion, or of windows with a stride."""

    of: Directed[J, I]

    @property
    def dom(self) -> I:
        """The codomain of the relation that is transposed."""
        return self.of.cod

    @property
    def cod(self) -> J:
        """The domain of the relation that is transposed."""
        dom: J = self.of.dom  # type: ignore[assignment]  # the domain of windows is a product, which J then is
        return dom

    @property
    def T(self) -> Relation[J, I]:
        """The relation that this is the converse of."""
        of: Relation[J, I] = self.of  # type: ignore[assignment]
        return of

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs, turned round."""
        x, y = self.of.holds()
        return y, x

    @property
    def size(self) -> int:
        """The number of pairs, as of the relation that is transposed."""
        return self.of.size

    @property
    def is_function(self) -> bool:
        """True if a run has all elements of Y; of other forms pairs are counted."""
        of = self.of
        return of.dom.size == of.cod.size if isinstance(of, Inclusion) else super().is_function

    @property
    def is_partial_function(self) -> bool:
        """True for the converse of a run; of other forms pairs are counted."""
        return isinstance(self.of, Inclusion) or super().is_partial_function

    def __str__(self) -> str:
        plain = isinstance(self.of, Graph) or isinstance(self.of.dom, Unit)
        return f"{self.of}ᵀ" if plain else f"({self.of})ᵀ"


FunctionForm: TypeAlias = Directed[Any, Any] | Rotation[Any] | Converse[Any, Any]
