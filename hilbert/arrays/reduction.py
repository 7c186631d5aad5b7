"""red_R on arrays: a kernel for each form of relation and for each direction (paper §2.2.3, theory §2.1).

| relation | numpy | other namespaces |
|---|---|---|
| identity | the argument itself | the same |
| X × Y | sum, then a broadcast view | sum, broadcast_to |
| partial identity | bitwise and with a mask of ones: NaN does not pass | where |
| function (segment sum) | see `hilbert.arrays.segments` | cupy: add.at; JAX: at[].add; torch: index_add |
| its converse (gather) | take | take |
| inclusion, its converse | assignment into zeros; a view | concat; a view |
| rotation | two slices | roll |
| ≤ ≥ < > | cumsum | cumulative_sum |
| windows | convolve and slices | slices |
| windows with a stride | slices, matmul with ones | slices |
| their converse | repeat, slices | windows over entries with zeros between |
| all windows side by side | a view | stack |
| its converse | slices | padded slices |
| labels | diagonal, sum, broadcast_to, where | the same |
| pairs | scipy.sparse CSR; take and bincount without it | take and segment sum |
| R × S, R + S, S ∘ R | axis by axis, block by block, one after the other | the same |

No reduction by a table has a kernel in a namespace that has no scatter (the strict array API): an error says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast

import numpy as np

from hilbert.arrays import segments, windows
from hilbert.arrays.by_labels import agreement
from hilbert.arrays.kernel import Kernel, Pseudo, Rows
from hilbert.arrays.reduced_axes import Place, lent
from hilbert.leaf import Entry, Leaf
from hilbert.relation import (
    Agreement,
    Composition,
    Converse,
    Full,
    Graph,
    Identity,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
)
from hilbert.spec import ALPHABET

if TYPE_CHECKING:
    from types import ModuleType

    import numpy.typing as npt

    from hilbert.relation import Form
    from hilbert.relation.base import AnyRelation
    from hilbert.relation.functions import Directed

WIDE = 16
"""Cumulative sums of so many columns are taken along rows of the transpose."""


def reduce(xp: ModuleType, relation: AnyRelation, at: int, leaf: Leaf) -> Kernel:
    """red_R on the axes of R's domain, which start at axis `at` of the array."""
    if isinstance(xp, Pseudo):
        return xp.reduce(relation, at, leaf)
    p = Place.of(xp, relation, at, leaf)
    if 0 in p.before + p.after:
        return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
    form = cast("Form", relation)
    match form:
        case Identity():
            return Kernel(lambda a: a, fresh=False)
        case Full():
            return _full(p)
        case Partial():
            return _partial(p, form)
        case Order():
            return _order(p, form)
        case Inclusion(_, _, offset, stride):
            return _inclusion(p, offset, stride)
        case Rotation(_, by):
            return _rotation(p, by)
        case Graph():
            return segments.graph(p, form)
        case Pairs():
            return segments.pairs(p, form)
        case Window():
            return windows.window(p, form)
        case Sliding():
            return windows.overlaid(p, form)
        case Converse(of):
            return _converse(p, of)
        case Agreement(_, _, source, target):
            return _agreement(p, source, target)
        case ProductRelation():
            return _product(p, form, at, leaf)
        case SumRelation():
            return _sum(p, form, at, leaf)
        case Composition(outer, inner):
            return _then((inner, at), (outer, at), xp, leaf)
        case _:
            assert_never(form)


def _converse(p: Place, of: Directed[Any, Any]) -> Kernel:
    """Where red_R scatters and adds, red_{Rᵀ} gathers."""
    match of:
        case Graph(_, _, positions):
            return _gather(p, Rows(p.xp, positions.array))
        case Inclusion(_, _, offset, stride):
            return _slice(p, offset, stride)
        case Window():
            return windows.spread(p, of)
        case Sliding():
            return windows.side_by_side(p, of)
        case _:
            assert_never(of)


def reduced(relation: AnyRelation, flat: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """red_R of a flat array of ℝ^X, flat again."""
    kernel = reduce(np, relation, 0, Leaf(Entry("float64"), relation.dom.axes))
    result: npt.NDArray[np.float64] = np.reshape(kernel.call(flat.reshape(relation.dom.shape)), -1)
    return result


def counted(relation: AnyRelation) -> npt.NDArray[np.int64]:
    """To how many x each y is related."""
    return reduced(relation, np.ones(relation.dom.size)).astype(np.int64)


def _full(p: Place) -> Kernel:
    xp, axes = p.xp, tuple(range(p.at, p.at + len(p.dom)))
    ones = p.before + (1,) * len(p.cod) + p.after
    if not axes:  # rep: a view
        return Kernel(lambda a: xp.broadcast_to(xp.reshape(a, ones), p.out), fresh=False, repeats=not p.before)

    def total(a: Any) -> Any:
        if xp is not np:
            return xp.sum(a, axis=axes)
        if p.before and not p.after and p.n > 1:
            return windows.row_sums(np.reshape(a, (*p.before, p.n)))
        return np.add.reduce(a, axis=axes[0] if len(axes) == 1 else axes)

    def into(a: Any, out: Any) -> None:
        out[...] = np.reshape(total(a), (*p.before, 1, *p.after))

    if not p.cod:
        return Kernel(total, into=into)
    return Kernel(lambda a: xp.broadcast_to(xp.reshape(total(a), ones), p.out), fresh=False, into=into)


def _partial(p: Place, r: Partial[Any]) -> Kernel:
    """Selection, never multiplication: what is left out is 0 even where it is NaN."""
    shape = p.dom + (1,) * len(p.after)
    if p.xp is not np:
        keep = Rows(p.xp, r.keep.array.reshape(shape))
        return Kernel(lambda a: p.xp.where(keep.like(a), a, p.xp.zeros_like(a)))
    kind = np.dtype(f"i{np.dtype(p.dtype).itemsize}")
    bits = r.keep.prepare("bits", lambda: -r.keep.array.astype(kind), kind).reshape(shape)

    def into(a: Any, out: Any) -> None:
        np.bitwise_and(a.view(kind), bits, out=out.reshape(a.shape).view(kind))

    def over(a: Any) -> Any:
        np.bitwise_and(a.view(kind), bits, out=a.view(kind))
        return a

    return Kernel(lambda a: np.bitwise_and(a.view(kind), bits).view(a.dtype), (over,), into=into)


def _order(p: Place, r: Order[Any]) -> Kernel:
    """Sums along the flat order."""
    xp, at = p.xp, p.at
    if xp is not np:

        def sums(a: Any) -> Any:
            v = xp.flip(p.line(a), axis=at) if r.reverse else p.line(a)
            v = xp.cumulative_sum(v, axis=at, include_initial=r.strict)
            v = v[p.cut(0, p.n)]
            return p.whole(xp.flip(v, axis=at) if r.reverse else v)

        return Kernel(sums)

    def accumulate(v: Any, out: Any) -> None:
        if r.reverse:
            v, out = np.flip(v, at), np.flip(out, at)
        if r.strict:
            out[p.cut(0, 1)] = 0
            v, out = v[p.cut(0, -1)], out[p.cut(1, None)]
        np.cumsum(v, axis=at, out=out)

    def call(a: Any) -> Any:
        v = p.line(a)
        if p.width < WIDE:
            out = p.empty(v, p.n)
        else:  # along rows
            v = np.moveaxis(np.ascontiguousarray(np.moveaxis(v, at, -1)), -1, at)
            out = np.moveaxis(np.empty((*p.before, *p.after, p.n), v.dtype), -1, at)
        accumulate(v, out)
        return p.whole(out)

    return Kernel(call, into=lambda a, out: accumulate(p.line(a), out))


def _inclusion(p: Place, offset: int, stride: int) -> Kernel:
    """X at its places in Y, zeros elsewhere."""
    if p.n == p.m:  # all of Y
        return Kernel(lambda a: p.whole(p.line(a) if stride > 0 else p.xp.flip(p.line(a), axis=p.at)), fresh=False)
    low = offset if stride > 0 else offset + stride * (p.n - 1)

    def put(a: Any, out: Any) -> None:
        if stride == 1:
            p.put(out, p.line(a), offset)
        else:
            out[...] = 0
            out[_at(p, offset, stride, p.n)] = p.line(a)

    def in_numpy(a: Any) -> Any:
        if stride == 1:
            return p.whole(p.amid(p.line(a), offset, p.m))
        out = p.zeros(a, p.m)
        out[_at(p, offset, stride, p.n)] = p.line(a)
        return p.whole(out)

    def elsewhere(a: Any) -> Any:
        if not p.n:
            return p.whole(p.zeros(a, p.m))
        v = p.line(a)
        v = windows.spaced(p, p.xp.flip(v, axis=p.at) if stride < 0 else v, abs(stride))
        return p.whole(p.padded(v, low, p.m - low - v.shape[p.at]))

    return Kernel(in_numpy if p.xp is np else elsewhere, into=put)


def add_into(relation: Inclusion[Any, Any], at: int, leaf: Leaf) -> Kernel:
    """a + red_R(b) in numpy, for b of a leaf: b is added to its places, in place where a may be overwritten."""
    p = Place.of(np, relation, at, leaf)
    index = _at(p, relation.offset, relation.stride, p.n)

    def over(a: Any, b: Any) -> Any:
        v = a.reshape(p.made)
        v[index] += b.reshape(*p.before, p.n, *p.after)
        return v.reshape(p.out)

    return Kernel(lambda a, b: over(a.copy(), b), (over, None))


def _slice(p: Place, offset: int, stride: int) -> Kernel:
    """The places of X in Y: a view."""
    if not p.cod:
        return Kernel(lambda a: p.line(a)[p.index(offset)], fresh=False)
    if stride < 0 and p.xp is not np:  # torch has no slices that go backwards
        index = _at(p, p.n - 1 - offset, -stride, p.m)
        return Kernel(lambda a: p.whole(p.xp.flip(p.line(a), axis=p.at)[index]))
    index = _at(p, offset, stride, p.m)
    return Kernel(lambda a: p.whole(p.line(a)[index]), fresh=False)


def _at(p: Place, offset: int, stride: int, count: int) -> tuple[Any, ...]:
    """The index of `count` places from `offset` on."""
    if not count:
        return p.cut(0, 0)
    stop = offset + stride * (count - 1) + (1 if stride > 0 else -1)
    return p.cut(offset, None if stop < 0 else stop, stride)


def _rotation(p: Place, by: int) -> Kernel:
    if not by:
        return Kernel(lambda a: a, fresh=False)
    if p.xp is not np:
        return Kernel(lambda a: p.whole(p.xp.roll(p.line(a), by, axis=p.at)))

    def into(a: Any, out: Any) -> None:
        v = p.line(a)
        out[p.cut(by, None)] = v[p.cut(0, p.n - by)]
        out[p.cut(0, by)] = v[p.cut(p.n - by, None)]

    def call(a: Any) -> Any:
        out = p.empty(a, p.n)
        into(a, out)
        return p.whole(out)

    return Kernel(call, into=into)


def _gather(p: Place, positions: Rows) -> Kernel:
    if p.xp is not np:
        return Kernel(lambda a: p.whole(p.xp.take(p.line(a), positions.like(a), axis=p.at)))
    if not p.m:
        return Kernel(lambda a: p.zeros(a, 0).reshape(p.out))
    here: Any = lent(positions.like(None))  # checked when the relation was made: there is nothing to wrap
    return Kernel(
        lambda a: p.whole(p.line(a).take(here, axis=p.at, mode="wrap")),
        into=lambda a, out: p.line(a).take(here, axis=p.at, out=out, mode="wrap"),
    )


def _agreement(p: Place, source: str, target: str) -> Kernel:
    """Labels for all axes: those of the relation, and one for each other axis."""
    free = [c for c in ALPHABET if c not in source + target]
    head, tail = "".join(free[: p.at]), "".join(free[p.at : p.at + len(p.after)])
    sizes = dict(zip(source + target + head + tail, p.dom + p.cod + p.before + p.after, strict=True))
    return Kernel(lambda a: agreement(p.xp, head + source + tail, head + target + tail, sizes, a), fresh=False)


def _product(p: Place, r: ProductRelation[Any, Any, Any, Any], at: int, leaf: Leaf) -> Kernel:
    """Axis by axis, first the side that leaves less to the other."""
    left, right = r.left, r.right
    shrink = left.cod.size * right.dom.size, left.dom.size * right.cod.size
    if shrink[0] <= shrink[1]:
        return _then((left, at), (right, at + len(left.cod.axes)), p.xp, leaf)
    return _then((right, at + len(left.dom.axes)), (left, at), p.xp, leaf)


def _then(first: tuple[AnyRelation, int], second: tuple[AnyRelation, int], xp: ModuleType, leaf: Leaf) -> Kernel:
    """One relation after the other, each at its axis."""
    r, at = first
    f = reduce(xp, r, at, leaf)
    middle = Leaf(leaf.entry, leaf.axes[:at] + r.cod.axes + leaf.axes[at + len(r.dom.axes) :])
    g = reduce(xp, second[0], second[1], middle)
    return Kernel(lambda a: g.call(f.call(a)), fresh=g.fresh)


def _sum(p: Place, r: SumRelation[Any, Any, Any, Any], at: int, leaf: Leaf) -> Kernel:
    """Block by block; in numpy each block is written into its part of the result."""
    xp = p.xp
    n, m = r.left.dom.size, r.left.cod.size
    parts = (r.left, r.right)
    places = [Place.of(xp, part, at, _block(leaf, at, part)) for part in parts]
    kernels = [reduce(xp, part, at, _block(leaf, at, part)) for part in parts]
    inputs, outputs = (p.cut(0, n), p.cut(n, None)), (p.cut(0, m), p.cut(m, None))

    def blocks(a: Any) -> list[Any]:
        v = p.line(a)
        return [xp.reshape(v[cut], q.before + q.dom + q.after) for cut, q in zip(inputs, places, strict=True)]

    def into(a: Any, out: Any) -> None:
        for block, kernel, q, cut in zip(blocks(a), kernels, places, outputs, strict=True):
            if kernel.into:
                kernel.into(block, out[cut])
            else:
                out[cut] = np.reshape(kernel.call(block), q.made)

    def in_numpy(a: Any) -> Any:
        out = p.empty(a, p.m)
        into(a, out)
        return p.whole(out)

    def elsewhere(a: Any) -> Any:
        made = zip(blocks(a), kernels, places, strict=True)
        return p.whole(xp.concat([xp.reshape(kernel.call(b), q.made) for b, kernel, q in made], axis=p.at))

    return Kernel(in_numpy if xp is np else elsewhere, into=into)


def _block(leaf: Leaf, at: int, part: AnyRelation) -> Leaf:
    """The leaf with one part's domain in place of the coproduct."""
    return Leaf(leaf.entry, leaf.axes[:at] + part.dom.axes + leaf.axes[at + 1 :])
