"""Constructors of relations: what they are given is checked before anything is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from hilbert.errors import SpaceError, integer, shown
from hilbert.index import Fin, Index, Product, require_index
from hilbert.relation.base import I, Ints, J, K, table
from hilbert.relation.forms import (
    Agreement,
    Full,
    Graph,
    Identity,
    Inclusion,
    Order,
    Pairs,
    Partial,
    Rotation,
    Sliding,
    Window,
    canonical,
)

if TYPE_CHECKING:
    from hilbert.index import Anonymous


def array_of(entries: Any, what: str) -> npt.NDArray[Any]:
    """The numpy array that a list, an array or a column of a table is (anything with `__array__` or `to_numpy`)."""
    try:
        if not hasattr(entries, "__array__") and hasattr(entries, "to_numpy"):
            entries = entries.to_numpy()
        array = np.asarray(entries)
        return np.asarray(array.tolist()) if array.dtype == object else array
    except (ValueError, TypeError) as error:
        msg = f"{what} is an array of integers, not {shown(entries)} that is ragged or holds no integers"
        raise SpaceError(msg) from error


def positions_in(index: Index, entries: Any, what: str) -> Ints:
    """A one-dimensional array of positions in an index set; raises SpaceError for others."""
    array = array_of(entries, what)
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


def whole(value: Any, what: str, *, least: int | None = None) -> int:
    """An integer of at least `least`; raises SpaceError for anything else."""
    found = integer(value)
    if found is None or (least is not None and found < least):
        msg = f"{what} is an integer{f' ≥ {least}' if least is not None else ''}, not {shown(value)}"
        raise SpaceError(msg)
    return found


def full(X: I, Y: J) -> Full[I, J]:
    """All pairs X × Y."""
    _sets(X, Y)
    return Full(X, Y)


def equality(X: I) -> Identity[I]:
    """{(x, x)}: the identity relation on X."""
    _sets(X)
    return Identity(X)


def partial(X: I, keep: Any) -> Partial[I]:
    """The identity on the elements of X for which `keep` is true: an array of truth values with the axes of X, or flat.

    Raises SpaceError for another shape or kind of array.
    """
    _sets(X)
    array = array_of(keep, f"a subset of {X}")
    if array.size == 0:
        array = array.astype(bool)
    if array.dtype != bool or array.shape not in (X.shape, (X.size,)):
        msg = f"a subset of {X} is an array of {X.size} truth values, not {array.dtype} of shape {array.shape}"
        raise SpaceError(msg)
    return Partial(X, table(array.reshape(-1)))


def function(X: I, Y: J, positions: Any) -> Graph[I, J]:
    """The graph of x ↦ positions[x]; raises SpaceError for a wrong length or a position outside Y."""
    _sets(X, Y)
    array = positions_in(Y, positions, f"the table of a function {X} → {Y}")
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
    return Agreement(X, Y, *canonical(source, target))


def leq(X: I) -> Order[I]:
    """{(x, y) : x ≤ y}: prefix sums."""
    _sets(X)
    return Order(X)


def geq(X: I) -> Order[I]:
    """{(x, y) : x ≥ y}: suffix sums."""
    _sets(X)
    return Order(X, reverse=True)


def less(X: I) -> Order[I]:
    """{(x, y) : x < y}: prefix sums without the element itself."""
    _sets(X)
    return Order(X, strict=True)


def greater(X: I) -> Order[I]:
    """{(x, y) : x > y}: suffix sums without the element itself."""
    _sets(X)
    return Order(X, reverse=True, strict=True)


def pairs(X: I, Y: J, entries: Any) -> Pairs[I, J]:
    """The relation with the given pairs (x, y) of positions; raises SpaceError for one outside X × Y."""
    _sets(X, Y)
    array = array_of(entries, f"the table of pairs of {X}×{Y}")
    if array.size == 0:
        array = np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        msg = f"pairs of {X}×{Y} are an array of shape (n, 2), not {array.shape}"
        raise SpaceError(msg)
    return columns(X, Y, array[:, 0], array[:, 1])


def columns(X: I, Y: J, sources: Any, targets: Any) -> Pairs[I, J]:
    """The relation with the pairs (sources[k], targets[k]) of positions, as two columns of a table give them.

    A pair that stands twice counts once. Raises SpaceError for unequal lengths and for positions outside X or Y.
    """
    _sets(X, Y)
    x = positions_in(X, sources, f"the sources of pairs of {X}×{Y}")
    y = positions_in(Y, targets, f"the targets of pairs of {X}×{Y}")
    if len(x) != len(y):
        msg = f"pairs of {X}×{Y} have as many sources as targets, not {len(x)} and {len(y)}"
        raise SpaceError(msg)
    return distinct(X, Y, x, y)


def distinct(X: I, Y: J, x: Ints, y: Ints) -> Pairs[I, J]:
    """The pairs of valid positions, each once, ordered by their sources."""
    codes = np.unique(x * Y.size + y)
    return Pairs(X, Y, table(codes // max(Y.size, 1)), table(codes % max(Y.size, 1)))


def run(X: I, Y: J, offset: int, stride: int = 1) -> Inclusion[I, J]:
    """X as the positions offset, offset + stride, … of Y; raises SpaceError if it does not lie inside."""
    _sets(X, Y)
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
    _sets(X)
    return run(X, X, max(X.size - 1, 0), -1)


def rotation(X: I, by: int) -> Rotation[I]:
    """{(x, x + by mod |X|)}: a cyclic shift; `by` may be negative."""
    _sets(X)
    return Rotation(X, whole(by, "the step of a rotation") % max(X.size, 1))


def shift(X: I, by: int) -> Window[I, I]:
    """{(x, x + by)} where both lie in X: what is moved over an end is gone."""
    _sets(X)
    return Window(X, X, 1, 1, -whole(by, "the step of a shift"))


def band(X: I, below: int, above: int) -> Window[I, I]:
    """{(x, y) : −below ≤ x − y ≤ above}: with below = above = w the band |x − y| ≤ w, a stencil."""
    _sets(X)
    low, high = whole(below, "the lower width of a band"), whole(above, "the upper width of a band")
    if low + high + 1 < 0:
        msg = f"a band on {X} from {-low} to {high} is empty: give below ≥ −above"
        raise SpaceError(msg)
    return Window(X, X, low + high + 1, 1, -low)


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

    Y is `to` (windows over the ends of X are cut off there), or as many windows as lie in X. Raises SpaceError for
    numbers that are no integers, and for a width, stride or dilation below 1.
    """
    _sets(X)
    w, s, o, d = _geometry(width, stride, offset, dilation)
    if to is None:
        return Window(X, Fin.of(_count(X, w, s, o, d)), w, s, o, d)
    _sets(to)
    return Window(X, to, w, s, o, d)


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

    `to` names Y × K, whose sizes are the number of windows and the width. Raises SpaceError as `window` does, and for
    windows that do not lie in X.
    """
    _sets(X)
    w, s, o, d = _geometry(width, stride, offset, dilation)
    count = _count(X, w, s, o, d)
    if to is None:
        to = Fin.of(count) * Fin.of(w)
    if not isinstance(to, Product) or to.right.size != w or to.left.size > count or o < 0:
        msg = f"windows of width {w} in {X} from {o} on are indexed by Y×K with |Y| ≤ {count}, |K| = {w}, not by {to}"
        raise SpaceError(msg)
    return Sliding(to, X, s, o, d)


def _geometry(width: Any, stride: Any, offset: Any, dilation: Any) -> tuple[int, int, int, int]:
    w, s = whole(width, "the width of windows", least=1), whole(stride, "the stride of windows", least=1)
    return w, s, whole(offset, "the offset of windows"), whole(dilation, "the dilation of windows", least=1)


def _count(X: Index, width: int, stride: int, offset: int, dilation: int) -> int:
    """How many windows end inside X."""
    return max((X.size - 1 - offset - dilation * (width - 1)) // stride + 1, 0)
