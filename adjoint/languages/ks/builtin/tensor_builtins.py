"""Built-in functions of tensors: building, indexing, sums, maps, folds; the type of each use is known."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.languages.ks.builtin import integers
from adjoint.languages.ks.builtin.selection import position, selected
from adjoint.languages.ks.builtin.shapes import shape_is_unit, zero_of
from adjoint.languages.ks.builtin.zeros import zero
from adjoint.languages.ks.value.ks_values import is_real, items_of, mapped, stacked
from adjoint.languages.ks.value.tensor_lanes import require_few
from adjoint.languages.ks.value.types import element, is_apart
from adjoint.languages.ks.value.value_classes import LEAF, Arr, Items, Table, UnrolledError, Value
from diff.lam.term.term_error import TermError
from diff.lam.term.types import Arrow, TupleType, Ty
from linmap import total

if TYPE_CHECKING:
    from adjoint.languages.ks.builtin.evaluation import Evaluation, Use
    from diff.lam.term.binding import Pass

CELLS = 10**6
"""The elements of a tensor that is made of values at their indices: each is looked at by itself."""


def dims_of(use: Use, n: Value) -> tuple[int, ...]:
    """The sizes that n says, one or a tuple of them.

    Raises UnrolledError where one depends on the lane, or is found from reals in a lane, a loop or a branch, and
    TermError for a negative integer, for too many elements, and where a size is found from reals and no point is given.
    """
    found = n if isinstance(n, tuple) else (n,)
    if any(isinstance(k, Table) for k in found):
        raise UnrolledError("a size depends on the lane", found)
    wrong = next((k for k in found if isinstance(k, int) and k < 0), None)
    if wrong is not None:
        raise TermError("shape", f"a size is not negative, and this one is {wrong}", use.place)
    found = tuple([_decided(use, k) for k in found])
    require_few(math.prod(found), use.place)
    return found


def _decided(use: Use, k: Value) -> int:
    """A size; one that is found from reals is decided at the point."""
    if isinstance(k, int):
        return k
    if not use.ev.where.is_outside:
        raise use.ev.where.outside("a size is decided at a point")
    return int(use.ev.probe(k).array)


def built(use: Use, arg: Value, place: int = 1) -> Pass:
    """(build n f), or another use of a function at this place among the arguments: an axis after the other."""
    n, f = arg
    of = use.part(place)
    assert isinstance(of, Arrow)
    return _built(use, dims_of(use, n), f, is_apart(of.cod), ())
    yield


def _built(use: Use, dims: tuple[int, ...], f: Value, apart: bool, at: tuple[Value, ...]) -> Value:  # noqa: FBT001
    ev = use.ev

    def run(k: Value) -> Pass:
        here = (*at, k)
        if len(dims) > 1:
            return _built(use, dims[1:], f, apart, here)
        return (yield ev.call(f, here if at else k))

    return joined(ev.over(dims[0], run, apart=apart), len(dims) - 1)


def joined(x: Arr | Items, rest: int) -> Value:
    """A tensor of tensors as one of all their indices."""
    if not rest:
        return x
    if isinstance(x, Arr) and isinstance(x.item, (Arr, Items)):
        if isinstance(x.item, Arr):
            return Arr((*x.dims, *x.item.dims), x.item.item)
        x = items_of(x)
    rows = [items_of(row) for row in x.items] if isinstance(x, Items) else []
    dims = rows[0].dims if rows else (0,) * rest
    return stacked((*x.dims, *dims), [item for row in rows for item in row.items])


def indexed(use: Use, arg: Value) -> Value:
    """(index i v)."""
    k, x = arg
    at = k if isinstance(k, tuple) else (k,)
    for one in at:
        x = selected(use.ev, x, position(use.ev, one, x.dims[0]))
    return x


def size(x: Value) -> Value:
    """(size v)."""
    return x.dims[0] if len(x.dims) == 1 else x.dims


def summed(use: Use, x: Arr | Items) -> Value:
    """(sum v)."""
    return sum_of(x, element(use.of))


def sum_of(x: Arr | Items, of: Ty) -> Value:
    """The sum of all elements, each of a type."""
    if isinstance(x, Arr):
        item = x.item
        for _ in x.dims:
            item = mapped(_total, item)
        return item
    if not x.items:
        return zero(of)
    made = x.items[0]
    for item in x.items[1:]:
        made = added(made, item)
    return made


def _total(leaf: Any) -> Any:
    if isinstance(leaf, LEAF):
        return total(leaf.space.index, leaf.space.base)(leaf)
    assert isinstance(leaf, Table)
    return integers.total(leaf)


def added(a: Value, b: Value) -> Value:
    """a + b, integers too; truth values and texts stay."""
    return mapped(lambda x, y: integers.add(x, y) if _is_integer(x) else x + y if is_real(x) else x, a, b)


def _is_integer(v: Value) -> bool:
    return (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, Table) and v.array.dtype.kind == "i")


def sumbuilt(use: Use, arg: Value) -> Pass:
    """(sumbuild n f)."""
    made = yield built(use, arg)
    f = use.part(1)
    assert isinstance(f, Arrow)
    return sum_of(made, f.cod)


def map_over(use: Use, arg: Value) -> Pass:
    """(map f v), (map2 f v w)."""
    f, *tensors = arg
    first = tensors[0]
    if any(x.dims != first.dims for x in tensors):
        sizes = " and ".join("×".join(map(str, x.dims)) for x in tensors)
        raise TermError("shape", f"tensors of {sizes} elements: one size is due", use.place)
    ev, of = use.ev, use.part(0)
    assert isinstance(of, Arrow)
    apart = is_apart(of.cod)

    def run(at: tuple[Value, ...]) -> Pass:
        items = tensors
        for k in at:
            items = [selected(ev, x, k) for x in items]
        return (yield ev.call(f, items[0] if len(items) == 1 else tuple(items)))

    def axis(dims: tuple[int, ...], at: tuple[Value, ...]) -> Value:
        def one(k: Value) -> Pass:
            here = (*at, k)
            return axis(dims[1:], here) if len(dims) > 1 else (yield run(here))

        return joined(ev.over(dims[0], one, apart=apart), len(dims) - 1)

    if any(isinstance(x, Items) for x in tensors) and 0 not in first.dims:
        made = []
        for row in zip(*(items_of(x).items for x in tensors), strict=True):
            value = yield ev.call(f, row[0] if len(row) == 1 else tuple(row))
            made.append(value)
        return stacked(first.dims, made)
    return axis(first.dims, ())


def folded(use: Use, arg: Value) -> Pass:
    """(fold f start v)."""
    f, start, xs = arg
    return (yield use.ev.folded(f, start, xs))


def delta_vec(use: Use, arg: Value) -> Value:
    """(deltaVec n i e): zero everywhere if i is out of range."""
    n, i, e = arg
    dims = dims_of(use, n)
    at = i if isinstance(i, tuple) else (i,)
    return _rows(use, dims, at, e)


def _rows(use: Use, dims: tuple[int, ...], at: tuple[Value, ...], e: Value) -> Value:
    def run(k: Value) -> Pass:
        inner_ = _rows(use, dims[1:], at[1:], e) if len(dims) > 1 else e
        return choose(use.ev, integers.compare("eq", at[0], k), inner_, zeros(inner_))
        yield

    return joined(use.ev.over(dims[0], run), len(dims) - 1)


def zeros(value: Value) -> Value:
    """A value of the same shape that is zero."""

    def leaf(v: Any) -> Any:
        if isinstance(v, LEAF):
            return v.space.zeros() if is_real(v) else v
        if isinstance(v, Table):
            return Table(v.lanes, np.zeros_like(v.array))
        return type(v)() if isinstance(v, (int, str)) else v

    return mapped(leaf, value)


def choose(ev: Evaluation, c: Value, a: Value, b: Value) -> Value:
    """a where c holds, else b; both are known."""
    return ev.chosen(c, lambda: a, lambda: b)


def diagonal(use: Use, arg: Value) -> Pass:
    """(diag n m f)."""
    n, m, f = arg
    rows, columns = dims_of(use, (n, m))
    ev = use.ev

    def row(i: Value) -> Pass:
        value = yield ev.call(f, i)

        def entry(j: Value) -> Pass:
            return choose(ev, integers.compare("eq", i, j), value, zeros(value))
            yield

        return ev.over(columns, entry)

    return ev.over(rows, row)
    yield


def sparse(use: Use, arg: Value) -> Pass:
    """(buildFromSparse shape n f): the sum of the values at their indices, in a tensor of a shape."""
    shape, n, f = arg
    made = yield built(use, (n, f), 2)
    return _scattered(use, shape, items_of(made).items, _entry(use))


def sparse_tupled(use: Use, arg: Value) -> Pass:
    """(buildFromSparseTupled (tuple shape …) n f): one result for each shape."""
    shapes, n, f = arg
    made = yield built(use, (n, f), 2)
    flat = items_of(made).items
    results = enumerate(zip(shapes, _entry(use).parts, strict=True))
    return tuple(_scattered(use, shape, [item[k] for item in flat], of) for k, (shape, of) in results)


def _entry(use: Use) -> TupleType:
    """The type of what the function of buildFromSparse gives."""
    f = use.part(2)
    assert isinstance(f, Arrow)
    assert isinstance(f.cod, TupleType)
    return f.cod


def _scattered(use: Use, shape: Value, pairs: Any, of: Ty) -> Value:
    assert isinstance(of, TupleType)
    is_tensor = isinstance(shape, (Arr, Items))
    dims = dims_of(use, shape.dims if is_tensor else shape)
    require_few(math.prod(dims), use.place, CELLS)
    noughts = _noughts(use, shape, of.parts[1]) if is_tensor else {}
    cells: dict[tuple[int, ...], Value] = {}
    like: Value = None
    for at, v in pairs:
        where = at if isinstance(at, tuple) else (at,)
        if not all(isinstance(k, int) for k in where):
            raise UnrolledError("positions depend on the lane", where)
        if not all(0 <= k < n for k, n in zip(where, dims, strict=True)):
            raise TermError("shape", f"index {', '.join(map(str, where))} of {'×'.join(map(str, dims))}", use.place)
        if where in noughts:
            mapped(lambda *_: (), noughts[where], v)  # raises for a value that has not the shape of its cell
        cells[where] = added(cells[where], v) if where in cells else v
        like = v
    nought = None if noughts else zero(of.parts[1]) if like is None else zeros(like)
    return stacked(dims, [cells.get(where, noughts.get(where, nought)) for where in np.ndindex(*dims)])


def _noughts(use: Use, shape: Arr | Items, of: Ty) -> dict[tuple[int, ...], Value]:
    """The zero of each cell, by the shape that is given for the cell; nothing where the type alone says the zero."""
    if shape_is_unit(of):
        return {}
    some = [zero_of(one, of, partial(dims_of, use)) for one in items_of(shape).items]
    return dict(zip(np.ndindex(*shape.dims), some, strict=True))


def unzipped(v: Value, of: Ty) -> Value:
    """(unzip v)."""
    if isinstance(v, Arr):
        return tuple(Arr(v.dims, part) for part in v.item)
    count = len(element(of).parts)  # type: ignore[union-attr]  # a tuple, as the types say
    return tuple(stacked(v.dims, [item[k] for item in v.items]) for k in range(count))
