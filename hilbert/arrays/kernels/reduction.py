"""red_R on arrays: a kernel for each form of relation and for each direction (paper §2.2.3, theory §2.1).

| relation | numpy | other namespaces |
|---|---|---|
| identity | the argument itself | the same |
| X × Y | sum, then a broadcast view | sum, broadcast_to |
| partial identity | bitwise and with a mask of ones: NaN does not pass | where |
| function (segment sum) | see `hilbert.arrays.kernels.segments` | cupy: add.at; JAX: at[].add; torch: index_add |
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
| pairs | scipy.sparse CSR; take and bincount where few are in a row, or without it | take and segment sum |
| R × S, R + S, S ∘ R | axis by axis, block by block, one after the other | the same |

No reduction by a table has a kernel in a namespace that has no scatter (the strict array API): an error says so.
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, assert_never, cast

import numpy as np
from attrs import frozen

from hilbert.arrays.kernels.kernel import Kernel, inline
from hilbert.arrays.kernels.labelled_axes import agreement
from hilbert.arrays.kernels.library import Rows
from hilbert.arrays.kernels.reduced_axes import ReducedAxes, Shape, lent
from hilbert.arrays.kernels.segments import NumpySegments, Segments
from hilbert.arrays.kernels.shifts import NumpyShifts, Shifts
from hilbert.arrays.kernels.windows import LONG, SHORT, SMALL, row_sums
from hilbert.base.term import postorder
from hilbert.base.two_sided import below
from hilbert.index.index import Fin
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET
from hilbert.relation import (
    Agreement,
    Composite,
    Converse,
    Equality,
    Full,
    Graph,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hilbert.relation import Form
    from hilbert.relation.function_forms import Directed
    from hilbert.relation.relation import AnyRelation

WIDE = 16
"""Cumulative sums of so many columns are taken along rows of the transpose."""


MANY = 8
"""From this many equal parts, or small tables, in a row on, the parts of a sum are reduced at once."""
FEW = 256
"""A table of at most so many elements and pairs is small."""


@frozen
class Block:
    """A kernel that takes the entries `source` along X, in an array of `shape`, to the entries `target` along Y."""

    kernel: Kernel
    source: tuple[Any, ...]
    target: tuple[Any, ...]
    shape: Shape
    made: Shape
    alone: bool


class ReductionKernels(Shifts, Segments):
    """A kernel for each form of relation; a library that does one otherwise overrides the method of that form."""

    def reduce(self, relation: AnyRelation, at: int, leaf: Leaf) -> Kernel:
        """red_R on the axes of R's domain, which start at axis `at` of the array."""
        p = ReducedAxes.of(self, relation, at, leaf)
        if 0 in p.before + p.after:
            return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
        form = cast("Form", relation)
        match form:
            case Converse(of):
                return self.converse(p, of)
            case Equality():
                return Kernel(_same, fresh=False)
            case Full():
                return self.full(p)
            case Partial():
                return self.partial(p, form)
            case Order():
                return self.order(p, form)
            case Inclusion(_, _, offset, stride):
                return self.inclusion(p, offset, stride)
            case Rotation(_, by):
                return self.rotation(p, by) if by else Kernel(_same, fresh=False)
            case Graph():
                return self.graph(p, form)
            case Pairs():
                return self.pairs(p, form)
            case Window():
                return self.window(p, form)
            case Sliding():
                return self.overlaid(p, form)
            case Agreement(_, _, source, target):
                return self.agreement(p, source, target)
            case ProductRelation() | Composite():
                return self._in_turn(form, at, leaf)
            case SumRelation():
                return self.sum(p, form, at, leaf)
            case _:
                assert_never(form)

    def converse(self, p: ReducedAxes, of: Directed[Any, Any]) -> Kernel:
        """red_{Rᵀ} for a directed R: where red_R scatters and adds, red_{Rᵀ} gathers."""
        match of:
            case Graph(_, _, positions):
                return self.gather(p, Rows(self, positions.array))
            case Inclusion(_, _, offset, stride):
                return self.part(p, offset, stride)
            case Window():
                return self.spread(p, of)
            case Sliding():
                return self.side_by_side(p, of)
            case _:
                assert_never(of)

    def full(self, p: ReducedAxes) -> Kernel:
        """The sum over X, for each y."""
        xp = self.xp
        ones = p.before + (1,) * len(p.cod) + p.after
        if not p.dom:  # rep: a view
            narrow = (
                inline("{0}.reshape({shape})", shape=ones)
                if xp is np
                else inline("{f}({0}, {s})", f=xp.reshape, s=ones)
            )
            whole = inline("{f}({g}({0}, {ones}), {out})", f=xp.broadcast_to, g=xp.reshape, ones=ones, out=p.out)
            return Kernel(whole, fresh=False, repeats=not p.before, narrow=narrow)
        total = self.total(p)

        def into(a: Any, out: Any) -> None:
            out[...] = xp.reshape(total(a), (*p.before, 1, *p.after))

        if not p.cod:
            return Kernel(total, into=into)
        return Kernel(lambda a: xp.broadcast_to(xp.reshape(total(a), ones), p.out), fresh=False, into=into)

    def total(self, p: ReducedAxes) -> Callable[[Any], Any]:
        """Sums over X."""
        xp, axes = self.xp, tuple(range(p.at, p.at + len(p.dom)))
        return lambda a: xp.sum(a, axis=axes)

    def partial(self, p: ReducedAxes, r: Partial[Any]) -> Kernel:
        """Select, never multiply: an entry that is left out becomes 0 even if it is NaN."""
        xp = self.xp
        keep = Rows(self, r.keep.array.reshape(p.dom + (1,) * len(p.after)))
        return Kernel(lambda a: xp.where(keep.like(a), a, xp.zeros_like(a)))

    def order(self, p: ReducedAxes, r: Order[Any]) -> Kernel:
        """Take cumulative sums along the flat order."""
        xp, at = self.xp, p.at

        def sums(a: Any) -> Any:
            v = xp.flip(p.line(a), axis=at) if r.reverse else p.line(a)
            v = xp.cumulative_sum(v, axis=at, include_initial=r.strict)
            v = v[p.cut(0, p.n)]
            return p.whole(xp.flip(v, axis=at) if r.reverse else v)

        return Kernel(sums)

    def gather(self, p: ReducedAxes, positions: Rows) -> Kernel:
        """(red v)_x = v_{f(x)}."""
        return Kernel(lambda a: p.whole(p.xp.take(p.line(a), positions.like(a), axis=p.at)))

    def agreement(self, p: ReducedAxes, source: str, target: str) -> Kernel:
        """Reduce by labels for all axes: those of the relation, and one for each other axis."""
        free = [c for c in ALPHABET if c not in source + target]
        head, tail = "".join(free[: p.at]), "".join(free[p.at : p.at + len(p.after)])
        sizes = dict(zip(source + target + head + tail, p.dom + p.cod + p.before + p.after, strict=True))
        return Kernel(lambda a: agreement(self, head + source + tail, head + target + tail, sizes, a), fresh=False)

    def sum(self, p: ReducedAxes, r: SumRelation[Any, Any, Any, Any], at: int, leaf: Leaf) -> Kernel:
        """Reduce block by block, a block for each part of the sum."""
        xp, blocks = self.xp, self._blocks(p, r, at, leaf)

        def call(a: Any) -> Any:
            v = p.line(a)
            made = [xp.reshape(b.kernel.call(xp.reshape(v[b.source], b.shape)), b.made) for b in blocks]
            return p.whole(xp.concat(made, axis=p.at))

        return Kernel(call)

    def _blocks(self, p: ReducedAxes, r: SumRelation[Any, Any, Any, Any], at: int, leaf: Leaf) -> list[Block]:
        """A block for each part, or for many that follow each other."""
        made: dict[Any, tuple[Kernel, Shape]] = {}
        found: list[Block] = []
        x = y = 0
        for part, times in _together(r.run):
            if (part, times) not in made:
                axes = (*leaf.axes[:at], *map(Fin.of, times), *part.dom.axes, *leaf.axes[at + 1 :])
                kernel = self.reduce(part, at + len(times), Leaf(leaf.entry, axes))
                made[part, times] = kernel, tuple([axis.size for axis in axes])
            n, m = (math.prod(times) * side.size for side in (part.dom, part.cod))
            cuts = p.cut(x, x + n), p.cut(y, y + m)
            found.append(Block(made[part, times][0], *cuts, made[part, times][1], (*p.before, m, *p.after), not times))
            x, y = x + n, y + m
        return found

    def _in_turn(self, r: AnyRelation, at: int, leaf: Leaf) -> Kernel:
        """Reduce R × S first on the side after which fewer entries are left, and S ∘ R one after the other."""
        steps: list[Kernel] = []
        axes = _axes(r)
        waiting = [(r, at)]
        while waiting:
            part, place = waiting.pop()
            match part:
                case ProductRelation(left, right):
                    if left.cod.size * right.dom.size <= left.dom.size * right.cod.size:
                        waiting += [(right, place + axes[id(left)][1]), (left, place)]
                    else:
                        waiting += [(left, place), (right, place + axes[id(left)][0])]
                case Composite(outer, inner):
                    waiting += [(outer, place), (inner, place)]
                case _:  # every other form is one step
                    steps.append(self.reduce(part, place, leaf))
                    end = place + axes[id(part)][0]
                    leaf = Leaf(leaf.entry, leaf.axes[:place] + part.cod.axes + leaf.axes[end:])
        calls = [kernel.call for kernel in steps]

        def call(a: Any) -> Any:
            for step in calls:
                a = step(a)
            return a

        return Kernel(call, fresh=steps[-1].fresh)


class NumpyReductions(NumpyShifts, NumpySegments, ReductionKernels):
    """Reductions into memory that can be written into."""

    def total(self, p: ReducedAxes) -> Callable[[Any], Any]:
        """Sums over X; rows by BLAS."""
        axes = tuple(range(p.at, p.at + len(p.dom)))
        if p.before and not p.after and p.n > 1:
            rows = math.prod(p.before)
            if p.n < LONG and (p.n >= SHORT or rows * p.n <= SMALL):
                shape, ones = (rows, p.n), np.ones(p.n, p.dtype)
                if len(p.before) == 1:
                    return inline("{0}.reshape({shape}).dot({ones})", shape=shape, ones=ones)
                text = "{0}.reshape({shape}).dot({ones}).reshape({before})"
                return inline(text, shape=shape, ones=ones, before=p.before)
            return lambda a: row_sums(a.reshape((*p.before, p.n)))
        axis = axes[0] if len(axes) == 1 else axes
        return lambda a: np.add.reduce(a, axis=axis)

    def partial(self, p: ReducedAxes, r: Partial[Any]) -> Kernel:
        """Select by a bitwise `and` with a mask of ones and zeros."""
        kind = np.dtype(f"i{np.dtype(p.dtype).itemsize}")
        bits = r.keep.prepare("bits", lambda: -r.keep.array.astype(kind), kind)
        bits = bits.reshape(p.dom + (1,) * len(p.after))

        def into(a: Any, out: Any) -> None:
            np.bitwise_and(a.view(kind), bits, out=out.reshape(a.shape).view(kind))

        def over(a: Any) -> Any:
            np.bitwise_and(a.view(kind), bits, out=a.view(kind))
            return a

        return Kernel(lambda a: np.bitwise_and(a.view(kind), bits).view(a.dtype), (over,), into=into)

    def order(self, p: ReducedAxes, r: Order[Any]) -> Kernel:
        """Take cumulative sums, along rows where there are many columns."""
        at = p.at

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
            else:
                v = np.moveaxis(np.ascontiguousarray(np.moveaxis(v, at, -1)), -1, at)
                out = np.moveaxis(np.empty((*p.before, *p.after, p.n), v.dtype), -1, at)
            accumulate(v, out)
            return p.whole(out)

        return Kernel(call, into=lambda a, out: accumulate(p.line(a), out))

    def gather(self, p: ReducedAxes, positions: Rows) -> Kernel:
        """(red v)_x = v_{f(x)}; nothing wraps, because positions were checked when the relation was made."""
        if not p.m:
            return Kernel(lambda a: p.zeros(a, 0).reshape(p.out))
        here: Any = lent(positions.like(None))
        return Kernel(
            lambda a: p.whole(p.line(a).take(here, axis=p.at, mode="wrap")),
            into=lambda a, out: p.line(a).take(here, axis=p.at, out=out, mode="wrap"),
        )

    def sum(self, p: ReducedAxes, r: SumRelation[Any, Any, Any, Any], at: int, leaf: Leaf) -> Kernel:
        """Reduce block by block, each written into its part of the result."""
        blocks = self._blocks(p, r, at, leaf)

        def into(a: Any, out: Any) -> None:
            v = p.line(a)
            for b in blocks:
                block = np.reshape(v[b.source], b.shape)
                if b.kernel.into and b.alone:
                    b.kernel.into(block, out[b.target])
                else:
                    out[b.target] = np.reshape(b.kernel.call(block), b.made)

        def call(a: Any) -> Any:
            out = p.empty(a, p.m)
            into(a, out)
            return p.whole(out)

        return Kernel(call, into=into)


def _together(parts: Sequence[AnyRelation]) -> Iterator[tuple[AnyRelation, tuple[int, ...]]]:
    """The parts of a sum, each of them and, if there are many in a row that are equal, their number: R + R is id × R.

    Many small tables in a row are one.
    """
    for is_small, some in groupby(parts, _is_small_table):
        row = [*some]
        if is_small and len(row) >= MANY and any(part != row[0] for part in row):
            whole = reduce(SumRelation, row)
            X, Y = Fin.of(whole.dom.size), Fin.of(whole.cod.size)
            yield Pairs(X, Y, *map(table, whole.holds())), ()
            continue
        for part, equal in groupby(row):
            count = sum(1 for _ in equal)
            yield from [(part, (count,))] if count >= MANY else [(part, ())] * count


def _is_small_table(relation: AnyRelation) -> bool:
    form = relation.of if isinstance(relation, Converse) else relation
    return isinstance(form, (Graph, Pairs, Partial)) and max(relation.dom.size, relation.cod.size, relation.size) <= FEW


def _axes(relation: AnyRelation) -> dict[int, tuple[int, int]]:
    """The numbers of axes of domain and codomain, for a relation and for all products and compositions in it."""
    found: dict[int, tuple[int, int]] = {}

    def inner(part: Any) -> list[Any]:
        return below(part) if isinstance(part, (ProductRelation, Composite)) else []

    for part in postorder(relation, inner):
        match part:
            case ProductRelation(left, right):
                (a, b), (c, d) = found[id(left)], found[id(right)]
                found[id(part)] = a + c, b + d
            case Composite(outer, inner_):
                found[id(part)] = found[id(inner_)][0], found[id(outer)][1]
            case _:  # every other form is asked
                found[id(part)] = len(part.dom.axes), len(part.cod.axes)
    return found


def _same(a: Any) -> Any:
    return a
