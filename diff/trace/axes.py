"""The axis of a method: the one that `over` says, by its index set or by its position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from diff.mistakes.axis_hints import its_axes
from hilbert import Index, SpaceError, Type
from hilbert.errors import alike, integer, shown
from hilbert.index.index import require_index
from hilbert.space.space import require_space

if TYPE_CHECKING:
    from diff.mistakes.traced import Traced


@frozen
class Axis:
    """Axes of an expression: their index set, the axis of the leaves at which they begin, the space without them."""

    index: Index
    at: int
    space: Type

    @property
    def end(self) -> int:
        """The axis behind them."""
        return self.at + len(self.index.axes)


def axis(x: Traced, over: Any, name: str, every: str, several: str = "") -> Axis:
    """The one axis that `over` is; raises SpaceError where there is none, or more than one."""
    place = None if isinstance(over, Index) else integer(over)
    if place is None and not isinstance(over, Index):
        msg = f".{name}(X) of {shown(x)} takes the index set of an axis, not {shown(over)}: {its_axes(x)}"
        raise SpaceError(msg)
    found = x.space.sums(over if place is None else place)
    if len(found) != 1:
        places = [str(at) for _, at in found]
        times = f"{len(found)} factors of its index sets are {over}" if found else "it has no such axis"
        if place is not None:
            hint = f"axis {place} does not exist: {its_axes(x)}, at the positions from 0 on"
        elif found:
            which = f"say which by its position, over={' or over='.join(places)}"
            hint = f"{times}; {several or which}"
        else:
            near = (one for leaf in x.space.leaves for one in leaf.axes if str(one) == str(over))
            hint = f"{over} is no factor of its index sets{alike(over, next(near, None)) or f'; {every}'}"
        raise SpaceError(f".{name}({over if place is None else f'over={place}'}) of {shown(x)}: {hint}")
    ((space, at),) = found
    index = over if isinstance(over, Index) else x.space.leaves[0].axes[at]
    return Axis(index, at, space)


def repeated(x: Traced, V: Any, over: Any) -> list[tuple[Index, int]]:
    """The axes that V has more than the space of x, and their positions, the first first; SpaceError if it has not.

    Where V has an axis of x twice, `over` is the position in V of the one that is new, or its index set.
    """
    require_space(V, ".rep(V)")
    if len(x.space.leaves) != 1 or len(V.leaves) != 1 or x.space.leaves[0].entry != V.leaves[0].entry:
        msg = f".rep({V}) of {shown(x)} repeats one array along more axes: it is for spaces of one array each"
        raise SpaceError(msg)
    have, want = x.space.leaves[0].axes, V.leaves[0].axes
    if over is not None:
        return _new(x, V, over)
    left, found = list(have), list[tuple[Index, int]]()
    for at, one in enumerate(want):
        if left and left[0] == one:
            left.pop(0)
        else:
            found.append((one, at))
    if left or any(one in have for one, _ in found):
        ways = [f"over={at} along axis {at}" for at in range(len(want)) if want[:at] + want[at + 1 :] == have]
        which = f"two of its axes are one index set; x.rep(V, over=…) repeats x, {', '.join(ways) or 'along one'}"
        if left:
            which = f"{V} does not have the axes of {x.space} in order; x.transpose(Y) brings them into another"
            if missing := [axis for axis in dict.fromkeys(have) if want.count(axis) < have.count(axis)]:
                which = f"{missing[0]} is no axis of {V}" if missing[0] not in want else f"{V} has fewer {missing[0]}"
                which += "; x[k] for elements k of it, one for each element of another index set, gathers x along that"
        msg = f".rep({V}) of {shown(x)} does not say along which axes: {which}"
        raise SpaceError(msg)
    return found


def _new(x: Traced, V: Any, over: Any) -> list[tuple[Index, int]]:
    """The axes of V that `over` is, if x has the others."""
    place = None if isinstance(over, Index) else integer(over)
    if place is None and not isinstance(over, Index):
        msg = f".rep(V, over=X) of {shown(x)} takes the index set or the position of an axis of V, not {shown(over)}"
        raise SpaceError(msg)
    have, want = x.space.leaves[0].axes, V.leaves[0].axes
    spaces = V.sums(over if place is None else place)
    fits = [(W, at) for W, at in spaces if W.leaves[0].axes == have]
    if len(fits) != 1:
        several = ", ".join(f"over={at}" for _, at in fits)
        hint = f"say which by its position, {several}" if fits else f"{V} without it has not the axes of {x.space}"
        name = f"over={over}" if place is None else f"over={place}"
        raise SpaceError(f".rep({V}, {name}) of {shown(x)}: {hint}")
    ((_, first),) = fits
    return [(want[at], at) for at in range(first, first + len(want) - len(have))]


def reordering(X: Index, Y: Any, space: str) -> tuple[int, ...]:
    """The axes of X in the order in which Y has them; raises SpaceError unless Y has the same, each once."""
    require_index(Y, ".transpose(Y)")
    order = tuple(X.axes.index(one) for one in Y.axes if one in X.axes)
    if len(set(X.axes)) != len(X.axes):
        msg = f".transpose({Y}) of a vector of {space}: two of its axes are one index set, and their order is not known"
        raise SpaceError(msg)
    if sorted(order) != list(range(len(X.axes))) or len(Y.axes) != len(X.axes):
        msg = f".transpose({Y}) of a vector of {space}: {Y} does not have the axes of {X}, each once"
        raise SpaceError(msg)
    return order
