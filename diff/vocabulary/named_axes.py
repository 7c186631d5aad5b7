"""The meaning of methods that give an axis another name or size, or fit a vector to the axis that it names.

>>> from diff import fun
>>> from hilbert import Axis, R
>>> class Row(Axis, size=2): ...
>>> class Next(Axis, size=2): ...
>>> class Column(Axis, size=3): ...
>>> A, v = (R ** (Row.set * Column.set)).ones(), (R**Row.set).vec([1.0, 2.0])
>>> print(A.times(v))
[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]] ∈ ℝ^{Row2×Column3}
>>> print(fun(R**Row.set)(lambda v: v.named(Next.set)), "|", A.pad(0, 1, over=Row.set).space)
v ↦ v : Next2 | ℝ^{3×Column3}
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from diff.mistakes.axis_hints import its_axes, one_axis
from diff.trace.axes import Axis, axis
from diff.trace.expr import Expr, operand
from hilbert import Copower, Index, Product, SpaceError, Type, Unit
from hilbert.errors import shown
from hilbert.index.index import require_index
from hilbert.index.spec import Spec
from hilbert.relation import Full, run
from hilbert.space.space import require_space
from linmap.relational.axis_maps import cropping, padding
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.relation.relation import AnyRelation


def named(x: Expr[Any], Y: Index, *, over: Any = None) -> Expr[Any]:
    """v : Y."""
    require_index(Y, ".named(Y)")
    place = _whole(x, "named") if over is None else axis(x, over, "named", ".named(Y) names all axes anew")
    if place.index.shape != Y.shape:
        due = f"{place.index} has the shape {place.index.shape}, and {Y} has {Y.shape}"
        hint = "; x.reshape(Y) keeps the entries in their flat order" if place.index.size == Y.size else ""
        msg = f".named({Y}) of {shown(x)}: {due}{hint}"
        raise SpaceError(msg)
    slots = x.slots
    for at, (old, new) in enumerate(zip(place.index.axes, Y.axes, strict=True), place.at):
        if old != new:
            step = wire.Reduce(run(old, new, 0), at)
            slots = tuple(x.builder.apply(step, slot) for slot in slots)
    return Expr(x.builder, _with(x.space, place, Y), slots)


def pad(x: Expr[Any], before: int, after: int, *, over: Any = None, to: Any = None) -> Expr[Any]:
    """Zeros around."""
    return _resized(x, "pad", over, lambda X: padding(X, before, after, to=to))


def crop(x: Expr[Any], start: Any, stop: Any, *, step: int = 1, over: Any = None, to: Any = None) -> Expr[Any]:
    """A slice."""
    return _resized(x, "crop", over, lambda X: cropping(X, start, stop, step=step, to=to))


def _resized(x: Expr[Any], name: str, over: Any, relation: Callable[[Index], AnyRelation]) -> Expr[Any]:
    """A relation along one axis, which is the only one, or the one that `over` is."""
    place = _whole(x, name) if over is None else axis(x, over, name, "one axis at a time is padded or cropped")
    of = relation(one_axis(x, name, place.index, place.at))
    step = wire.Reduce(of, place.at)
    slots = tuple(x.builder.apply(step, slot) for slot in x.slots)
    return Expr(x.builder, _with(x.space, place, of.cod), slots)


def _whole(x: Expr[Any], name: str) -> Axis:
    """The axes of the index set of a copower."""
    if not isinstance(x.space, Copower):
        msg = f".{name}() is for vectors of V^X, not for {shown(x)}"
        raise SpaceError(msg)
    return Axis(x.space.index, 0, x.space.base)


def _with(space: Type, place: Axis, Y: Index) -> Type:
    """The space in which Y stands in the place of some axes."""
    assert isinstance(space, Copower)
    n = len(space.index.axes)
    if place.at >= n:
        return Copower(_with(space.base, Axis(place.index, place.at - n, place.space), Y), space.index)
    return Copower(space.base, _replaced(space.index, place.at, len(place.index.axes), Y))


def _replaced(X: Index, at: int, count: int, Y: Index) -> Index:
    """The index set with Y in the place of the factor that begins at an axis and has so many."""
    if at == 0 and len(X.axes) == count:
        return Y
    assert isinstance(X, Product)
    n = len(X.left.axes)
    if at < n:
        return Product(_replaced(X.left, at, count, Y), X.right)
    return Product(X.left, _replaced(X.right, at - n, count, Y))


def add(x: Expr[Any], v: Any) -> Expr[Any]:
    """x + v for each element of the other axes."""
    v, at = _along(x, v, "add")
    ((slot,), b) = v.slots, x.builder
    for k, one in enumerate(x.space.leaves[0].axes):
        if k not in at:
            slot = b.apply(wire.Reduce(Full(Unit(), one), k), slot)
    return Expr(b, x.space, (b.add(x.slots[0], slot),))


def times(x: Expr[Any], v: Any) -> Expr[Any]:
    """x·v for each element of the other axes."""
    v, at = _along(x, v, "times")
    whole = Spec.pointwise(len(x.space.leaves[0].axes)).left
    spec = Spec.of(whole, "".join(whole[k] for k in at), whole)
    return Expr(x.builder, x.space, (x.builder.contract(spec, x.slots[0], v.slots[0]),))


def _along(x: Expr[Any], given: Any, name: str) -> tuple[Expr[Any], tuple[int, ...]]:
    """The vector, and the positions of its axes among those of x: SpaceError unless there is one way to fit them."""
    v = operand(x, given, name)
    require_space(x.space, f".{name}(v)")
    what = f".{name}(v) of {shown(x)} and v in {v.space}"
    if len(x.space.leaves) != 1 or len(v.space.leaves) != 1 or x.space.leaves[0].entry != v.space.leaves[0].entry:
        msg = f"{what} is for spaces of one array each, over one field"
        raise SpaceError(msg)
    want, have = x.space.leaves[0].axes, v.space.leaves[0].axes
    ways = [at for at in combinations(range(len(want)), len(have)) if tuple(want[k] for k in at) == have]
    if len(ways) == 1:
        return v, ways[0]
    if not ways:
        absent = [one for one in dict.fromkeys(have) if one not in want]
        wrong = f"{absent[0]} is none of them" if absent else "those of v stand in another order, or more often"
        msg = f"{what}: {its_axes(x)}, and {wrong}"
        raise SpaceError(msg)
    places = " or ".join(" and ".join(map(str, at)) for at in ways)
    sign = "+" if name == "add" else "*"
    msg = f"{what}: v fits along the axes {places}; write A {sign} v.rep(A.space, over=k), where k is the axis along "
    raise SpaceError(f"{msg}which v is repeated, or give the axes two names by A.named(Y)")
