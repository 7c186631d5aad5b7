"""red_R by loops: a case for each form of relation (paper §2.2.3).

| relation | loops |
|---|---|
| identity, converse of a function | none: read elsewhere |
| X × Y | a total over X, read for each y |
| rotation | none: read elsewhere, modulo n |
| inclusion, windows of a few entries | pieces of Y in which the same entries are read |
| ≤ ≥ < > | rounds with a running sum |
| function, labels, pairs, windows of many | zeros; each pair is put |
| R × S, R + S, S ∘ R | one after the other, block by block |
"""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, assert_never, cast

import numpy as np
from attrs import frozen

from hilbert.compiled.tree.arrays import Array
from hilbert.compiled.tree.places import Place, along, flat
from hilbert.index.leaf import Leaf
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
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.compiled.tree.arrays import Loops, Piece, Places
    from hilbert.compiled.tree.values import Value
    from hilbert.relation import Form
    from hilbert.relation.function_forms import Directed
    from hilbert.relation.relation import AnyRelation

NARROW = 16
"""Windows of up to so many entries are written out."""


class Span(NamedTuple):
    """The y from `first` to `end`, which read the entry at start + stride·y."""

    first: int
    end: int
    stride: int
    start: int


@frozen(eq=False)
class Reduced:
    """The array that is reduced, and where the axes of R's domain begin in it."""

    to: Loops
    relation: AnyRelation
    at: int
    array: Array

    @property
    def dom(self) -> tuple[int, ...]:
        """The sizes of the axes of the domain."""
        shape: tuple[int, ...] = self.relation.dom.shape
        return shape

    @property
    def cod(self) -> tuple[int, ...]:
        """The sizes of the axes of the codomain."""
        shape: tuple[int, ...] = self.relation.cod.shape
        return shape

    @property
    def leaf(self) -> Leaf:
        """The leaf of the result."""
        leaf, r = self.array.leaf, self.relation
        return Leaf(leaf.entry, leaf.axes[: self.at] + r.cod.axes + leaf.axes[self.at + len(self.dom) :])

    def split(self, places: Places) -> tuple[Places, Places]:
        """The places of an entry of the result: along the codomain's axes, and along the others."""
        end = self.at + len(self.cod)
        return places[self.at : end], places[: self.at] + places[end:]

    def read(self, others: Places, x: Places) -> Value:
        """An entry of the array, by its places along the domain's axes and the others."""
        return self.array.at((*others[: self.at], *x, *others[self.at :]))

    def read_flat(self, others: Places, x: Place) -> Value:
        """An entry of the array, by its place in the flat order of the domain."""
        return self.read(others, along(x, self.dom))

    def gathered(self, source: Callable[[Place], Place]) -> Array:
        """For each y the entry at one x."""

        def at(places: Places) -> Value:
            y, others = self.split(places)
            return self.read_flat(others, source(flat(y, self.cod)))

        return self.to.view(self.leaf, at)

    def put(self, sizes: tuple[int, ...], pair: Callable[[Places], tuple[Places, Places]], monoid: str | None) -> Array:
        """Entries put from places along the domain to places along the codomain, given by places along some axes."""
        own, at = self.array.shape, self.at
        every = (*own[:at], *sizes, *own[at + len(self.dom) :])

        def moved(places: Places) -> tuple[Places, Value]:
            middle, others = places[at : at + len(sizes)], places[:at] + places[at + len(sizes) :]
            x, y = pair(middle)
            return (*others[:at], *y, *others[at:]), self.read(others, x)

        return self.to.put(self.leaf, every, moved, monoid)


def reduced(to: Loops, relation: AnyRelation, at: int, array: Array) -> Array:
    """red_R on the axes of R's domain, which begin at axis `at`."""
    p = Reduced(to, relation, at, array)
    form = cast("Form", relation)
    match form:
        case Converse(of):
            return _converse(p, of)
        case Equality():
            return array
        case Full():
            return _full(p)
        case Partial():
            return _masked(p, form)
        case Order():
            return _running(p, form)
        case Inclusion(_, _, offset, stride):
            return _included(p, offset, stride)
        case Rotation(_, by):
            return _rotated(p, by)
        case Window():
            return _windows(p, form)
        case Sliding():
            return p.put(form.dom.shape, lambda x: (x, along(_slid(form, x), p.cod)), "add")
        case Agreement(_, _, source, target):
            return _agreement(p, source, target)
        case ProductRelation(left, right):
            count = len(left.dom.axes), len(left.cod.axes)
            if left.cod.size * right.dom.size <= left.dom.size * right.cod.size:
                return reduced(to, right, at + count[1], _between(to, left, at, array))
            return reduced(to, left, at, _between(to, right, at + count[0], array))
        case Composite(outer, inner):
            return reduced(to, outer, at, _between(to, inner, at, array))
        case Graph() | Pairs() | SumRelation():
            return _pairs(p)
        case _:
            assert_never(form)


def _between(to: Loops, relation: AnyRelation, at: int, array: Array) -> Array:
    """A reduction before another one, which may read it in any order: it is not stored where the result is wanted."""
    return to.aside(lambda: reduced(to, relation, at, array))


def _converse(p: Reduced, of: Directed[Any, Any]) -> Array:
    """Each y reads the entry at f(y); of windows with a stride, each x goes to the windows that it is in."""
    match of:
        case Graph(_, _, positions):
            places = p.to.table(positions.array)
            return p.gathered(lambda y: places((y,)))
        case Inclusion(_, _, offset, stride):
            return p.gathered(lambda y: y * stride + offset)
        case Sliding():
            return p.gathered(lambda y: _slid(of, along(y, of.dom.shape)))
        case Window():
            return _pairs(p)
        case _:
            assert_never(of)


def _slid(of: Sliding[Any, Any, Any], places: Places) -> Place:
    """stride·y + offset + dilation·k, of the places along Y × K."""
    count = len(of.dom.left.axes)
    y, k = flat(places[:count], of.dom.left.shape), flat(places[count:], of.dom.right.shape)
    return y * of.stride + k * of.dilation + of.offset


def _full(p: Reduced) -> Array:
    """The total over X, the same for each y."""
    if not p.dom:
        return p.to.view(p.leaf, lambda places: p.read(p.split(places)[1], ()))
    axes = p.array.leaf.axes
    leaf = Leaf(p.leaf.entry, axes[: p.at] + axes[p.at + len(p.dom) :])
    total = p.to.total(leaf, p.dom, p.read)
    return total if not p.cod else p.to.view(p.leaf, lambda places: total.at(p.split(places)[1]))


def _masked(p: Reduced, form: Partial[Any]) -> Array:
    """The entries that are kept; 0 elsewhere."""
    keep = p.to.constant(np.reshape(form.keep.array, p.cod))
    zero = p.to.number(0.0, p.array.dtype)
    pool = p.to.pool
    return p.to.each(p.leaf, lambda at: pool.select(pool.load(keep, p.split(at)[0]), p.array.at(at), zero))


def _running(p: Reduced, form: Order[Any]) -> Array:
    """Sums that run along the flat order, or against it."""
    to, n, dtype = p.to, math.prod(p.dom), p.array.dtype
    made = to.buffer(p.leaf.shape, dtype)
    rest = tuple(m for k, m in enumerate(p.array.shape) if not p.at <= k < p.at + len(p.dom))
    total = to.buffer(rest, dtype)
    to.begin(total)

    def put(t: Place) -> None:
        x = along(t * -1 + (n - 1) if form.reverse else t, p.dom)

        def add(others: Places) -> tuple[Places, Value]:
            return others, p.read(others, x)

        def keep(others: Places) -> tuple[Places, Value]:
            return (*others[: p.at], *x, *others[p.at :]), to.pool.load(total, others)

        for at in (keep, add) if form.strict else (add, keep):
            to.put_into(made if at is keep else total, rest, at, None if at is keep else "add")

    to.rounds(n, put)
    return to.of(p.leaf, made)


def _included(p: Reduced, offset: int, stride: int) -> Array:
    """X at its places in Y, zeros elsewhere."""
    n = math.prod(p.dom)
    if n == math.prod(p.cod):
        return p.gathered(lambda y: y if stride > 0 else y * -1 + (n - 1))
    if abs(stride) > 1 and n > 1:
        return p.put((n,), lambda x: (along(x[0], p.dom), along(x[0] * stride + offset, p.cod)), None)
    if stride > 0 or n == 1:
        return _spanned(p, [Span(offset, offset + n, 1, -offset)])
    return _spanned(p, [Span(offset - n + 1, offset + 1, -1, offset)])


def _rotated(p: Reduced, by: int) -> Array:
    """X further on by some places: read modulo n, or, along several axes, in two pieces."""
    n = math.prod(p.cod)
    if len(p.cod) == 1:
        return p.gathered(lambda y: (y + (n - by)).modulo(n))
    return _spanned(p, [Span(0, by, 1, n - by), Span(by, n, 1, -by)])


def _windows(p: Reduced, form: Window[Any, Any]) -> Array:
    """The sums of windows; those of few entries are written out."""
    if form.width > NARROW:
        return _pairs(p)
    n, m = math.prod(p.dom), math.prod(p.cod)
    starts = [form.offset + form.dilation * k for k in range(form.width)]
    return _spanned(p, [Span(*_ends(start, form.stride, n, m), form.stride, start) for start in starts])


def _ends(start: int, stride: int, n: int, m: int) -> tuple[int, int]:
    """The y from 0 to m for which start + stride·y lies in 0 to n, as the first and the end."""
    first = min(max(-(start // stride), 0), m)
    return first, max(min((n - 1 - start) // stride + 1, m), first)


def _spanned(p: Reduced, spans: Sequence[Span]) -> Array:
    """The sums of what spans read, in pieces of Y in which the same ones do."""
    spans = [span for span in spans if span.first < span.end]  # those of nothing may lie anywhere
    cuts = sorted({0, math.prod(p.cod), *(end for span in spans for end in (span.first, span.end))})
    pieces: list[Piece] = []
    for low, high in itertools.pairwise(cuts):
        inside = [span for span in spans if span.first <= low and high <= span.end]
        pieces.append((low, high, partial(_total, p, inside)))
    return p.to.pieces(p.leaf, p.at, pieces, len(p.cod))


def _total(p: Reduced, spans: Sequence[Span], others: Places, y: Place) -> Value:
    reads = (p.read_flat(others, y * span.stride + span.start) for span in spans)
    return sum(reads, p.to.number(0.0, p.array.dtype))


def _agreement(p: Reduced, source: str, target: str) -> Array:
    """Labels: those of the domain alone are summed over, places where those of the codomain disagree are 0."""
    size = dict(zip(source + target, p.dom + p.cod, strict=True))
    labels = "".join(size)

    def pair(places: Places) -> tuple[Places, Places]:
        at = dict(zip(labels, places, strict=True))
        return tuple(at[c] for c in source), tuple(at[c] for c in target)

    return p.put(tuple(size[c] for c in labels), pair, "add" if set(labels) - set(target) else None)


def _pairs(p: Reduced) -> Array:
    """Every pair, put from its x to its y: the definition."""
    x, y = p.relation.holds()
    sources, targets = p.to.table(x), p.to.table(y)
    is_once = np.bincount(y).max(initial=0) <= 1
    return p.put((x.size,), lambda k: (along(sources(k), p.dom), along(targets(k), p.cod)), None if is_once else "add")
