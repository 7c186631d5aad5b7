"""Keys of v[k] for v ∈ V^X: the element of X at a position or label, a run of elements, or all of X.

>>> X, Y = Fin.of(2), Fin.of(3)
>>> print(kept(X * Y, (0, slice(None)), "ℝ^{2×3}"), kept(X * Y, (-1, slice(1, 3)), "ℝ^{2×3}"))
((0, None), Fin.of(3)) ((1, range(1, 3)), Fin.of(2))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from hilbert.base.notarray import NotArray
from hilbert.errors import SpaceError, integer, shown
from hilbert.index.index import Fin, Index, Labelled, Product, Unit, has_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

Key: TypeAlias = int | range | None
"""The part of an axis that a key keeps: the element at a position, a run of elements, or all of it."""
ROWS = "for a dynamic element x, write A.rows()[x] for A[x, :], and A.T.rows()[x] for A[:, x]"
"""The remedy in an error about a dynamic element of one of several axes."""


def kept(X: Index, key: Any, space: str) -> tuple[tuple[Key, ...], Index | None]:
    """The part of each axis of X that v[key] keeps, and the index set that is left, None if none is; `space` names V^X.

    A key is a position, from the end if it is negative, a label or a slice; for X × Y a tuple of one for each axis.
    Raises SpaceError for keys that do not fit.
    """
    given = key if isinstance(key, tuple) and not (isinstance(X, Labelled) and key in X) else (key,)
    if len(X.axes) > 1 and any(map(_is_several, given)):
        msg = f"A[{_text(key)}] for A in {space} takes several positions of an axis: {ROWS}, "
        raise SpaceError(f"{msg}where x = (Elements(X) ** Y).vec(positions) has several")
    if len(given) != len(X.axes):
        raise SpaceError(_wrong_count(len(X.axes), key, len(given), space))
    keys = tuple(_key(axis, k, space) for axis, k in zip(X.axes, given, strict=True))
    return keys, _rest(X, iter(keys))


def _wrong_count(n: int, key: Any, count: int, space: str) -> str:
    keys = key if isinstance(key, tuple) else (key,)
    if any(k is None or k is Ellipsis for k in keys):
        msg = f"v[{_text(key)}] for v in {space}: axes have names, so none is inserted or left out"
        is_new = any(k is None for k in keys)
        return f"{msg}; v.rep(A.space) repeats v along the axes that A has more" if is_new else msg
    if n > 1 and count == 1:
        colons = ", ".join(":" * (n - 1))
        return f"A[{_text(key)}] for A in {space} does not say along which axis: write A[{_text(key)}, {colons}]"
    fits = f"one for each of the {n} axes would fit" if n > 1 else "one would fit; v[x][y] goes on"
    return f"v[{_text(key)}] for v in {space} gives {count} positions: {fits}"


def _is_several(key: Any) -> bool:
    """Tell if a key is a list or an array of positions."""
    return isinstance(key, list) or bool(getattr(key, "shape", ()))


def _text(key: Any) -> str:
    if isinstance(key, tuple):
        return ", ".join(map(_text, key))
    if key is Ellipsis:
        return "..."
    if isinstance(key, slice):
        start, stop = ("" if k is None else shown(k) for k in (key.start, key.stop))
        return f"{start}:{stop}" + ("" if key.step is None else f":{shown(key.step)}")
    return shown(key)


def _key(axis: Index, key: Any, space: str) -> Key:
    if isinstance(key, slice):
        is_whole = key.start is None and key.stop is None and key.step is None
        return None if is_whole else _run(axis, key, space)
    if key is None or key is Ellipsis:
        raise SpaceError(_wrong_count(1, key, 1, space))
    place = integer(key)
    if place is None:
        return _labelled(axis, key, space)
    if not -axis.size <= place < axis.size:
        due = f"give {-axis.size} to {axis.size - 1}" if axis.size else "it has none"
        msg = f"position {shown(place)} of a vector of {space} does not exist: {axis} has {axis.size} elements, {due}"
        raise SpaceError(msg)
    return place % axis.size


def _labelled(axis: Index, key: Any, space: str) -> int:
    if has_labels(axis):
        return axis.position(key)
    if isinstance(key, NotArray):
        msg = f"v[k] for v in {space} takes a position or a slice, not {shown(key)} beside others: {ROWS}"
        raise SpaceError(msg)
    if isinstance(key, (list, tuple)) or hasattr(key, "dtype"):
        msg = f"v[k] for v in {space} takes a position or a slice, not {shown(key)}: several positions are elements of "
        raise SpaceError(f"{msg}{axis}, v[(Elements(X) ** Y).vec(positions)]; a condition selects by select(c, v)")
    msg = f"v[k] for v in {space} takes an integer or a slice, not {_text(key)}: only Labelled index sets have labels"
    raise SpaceError(msg)


def _run(axis: Index, key: slice, space: str) -> range:
    given = (key.start, key.stop, key.step)
    bounds = [integer(k) for k in given]
    for k, bound in zip(given, bounds, strict=True):
        if k is not None and bound is None:
            msg = f"the bounds of a slice of a vector of {space} are integers, not {shown(k)}"
            raise SpaceError(msg)
    if bounds[2] == 0:
        msg = f"the step of a slice of a vector of {space} is not 0"
        raise SpaceError(msg)
    return range(axis.size)[slice(*bounds)] or range(0)


def _rest(X: Index, keys: Iterator[Key]) -> Index | None:
    """The index set without the axes at which a position is given."""
    if isinstance(X, Product):
        left, right = _rest(X.left, keys), _rest(X.right, keys)
        if left is None or right is None:
            return right if left is None else left
        return X if (left, right) == (X.left, X.right) else left * right
    if isinstance(X, Unit):
        return None
    key = next(keys)
    return X if key is None else None if isinstance(key, int) else Fin.of(len(key))


def position_of(X: Index, element: Any) -> int:
    """The flat position of an element that is given by positions and labels: integers are always positions.

    Raises SpaceError if it is no element.
    """
    if isinstance(X, Product) and isinstance(element, tuple) and len(element) == 2:
        left, right = position_of(X.left, element[0]), position_of(X.right, element[1])
        return left * int(X.right.size) + right
    place = integer(element) if has_labels(X) else None
    if place is None:
        found: int = X.position(element)
        return found
    if not 0 <= place < X.size:
        due = f"positions from 0 to {X.size - 1}, or labels, would fit" if X.size else "it has none"
        msg = f"{place} is not an element of {X}: {due}"
        raise SpaceError(msg)
    return place


def slices(keys: Sequence[Key]) -> tuple[int | slice, ...]:
    """The keys as an array's index takes them."""
    return tuple(slice(None) if k is None else k if isinstance(k, int) else _slice(k) for k in keys)


def _slice(run: range) -> slice:
    return slice(run.start, run.stop if run.stop >= 0 else None, run.step)


def without(X: Index, Y: Index | int) -> list[tuple[int, Index | None]]:
    """The factors of X that are Y, or the axis at a position: for each the number of axes before it, and the rest."""
    if isinstance(Y, int):
        n = len(X.axes)
        return [(Y, _rest(X, iter([0 if k == Y else None for k in range(n)])))] if 0 <= Y < n else []
    if X == Y:
        return [(0, None)]
    if not isinstance(X, Product):
        return []
    n = len(X.left.axes)
    left = [(at, X.right if rest is None else rest * X.right) for at, rest in without(X.left, Y)]
    right = [(at + n, X.left if rest is None else X.left * rest) for at, rest in without(X.right, Y)]
    return [*left, *right]
