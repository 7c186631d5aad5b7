"""Contractions by loops: Σ over the labels that the result has not; elements of index sets are places."""

from __future__ import annotations

import itertools
import math
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from attrs import frozen

from hilbert.compiled.tree.arrays import Array
from hilbert.compiled.tree.places import Place, along
from hilbert.compiled.tree.statements import For, Product
from hilbert.index.leaf import Leaf

if TYPE_CHECKING:
    from hilbert.compiled.tree.arrays import Loops, Places
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.values import Value
    from hilbert.index.spec import Spec

SIDE, SUMMED = 16, 16
"""Products of matrices with fewer rows or columns, or sums over fewer entries, are loops."""
WORK = 1 << 15
"""Matrix products of fewer multiplications are loops (measured)."""


def contracted(to: Loops, spec: Spec, left: Array, right: Array, result: Leaf) -> Array:
    """Σ left·right over the labels that are not the result's."""
    if not left.leaf.is_field and left.leaf.entry.index is not None:
        return _hot(to, spec.left, left, spec.right, right, spec.out, result)
    if not right.leaf.is_field and right.leaf.entry.index is not None:
        return _hot(to, spec.right, right, spec.left, left, spec.out, result)
    size = dict(zip(spec.left + spec.right, left.shape + right.shape, strict=True))
    summed = spec.contracted

    def at(places: Places, inner: Places) -> Value:
        found = dict(zip(spec.out + summed, places + inner, strict=True))
        return _times(
            left.at(tuple(found[c] for c in spec.left)), right.at(tuple(found[c] for c in spec.right)), result.dtype
        )

    if not summed:
        return to.each(result, lambda places: at(places, ()))
    if left.leaf.is_field and right.leaf.is_field and _has_blas():
        made = _product(to, spec, size, left, right, result)
        if made is not None:
            return made
    return to.total(result, [size[c] for c in summed], at)


def _times(a: Value, b: Value, dtype: str) -> Value:
    """The product; a truth value chooses between the other one and 0."""
    zero = a.pool.number(0.0, dtype)
    if a.dtype == "bool":
        return a.pool.select(a, b, zero)
    return a.pool.select(b, a, zero) if b.dtype == "bool" else a * b


def _hot(to: Loops, own: str, element: Array, labels: str, other: Array, out: str, result: Leaf) -> Array:
    """The contraction with basis vectors: their labels stand for one place."""
    index = element.leaf.entry.index
    assert index is not None
    free, hot = own[: len(element.shape)], own[len(element.shape) :]
    size = dict(zip(free + labels, element.shape + other.shape, strict=True))
    loops = "".join(dict.fromkeys(c for c in free + labels if c not in hot))

    def at(found: dict[str, Place]) -> Value:
        value = element.at(tuple(found[c] for c in free))
        found |= dict(zip(hot, along(to.place(value), index.shape), strict=True))
        return other.at(tuple(found[c] for c in labels))

    if not set(hot) & set(out):
        summed = "".join(c for c in loops if c not in out)

        def read(places: Places, inner: Places) -> Value:
            return at(dict(zip(out + summed, places + inner, strict=True)))

        return to.total(result, [size[c] for c in summed], read)

    def put(places: Places) -> tuple[Places, Value]:
        found = dict(zip(loops, places, strict=True))
        value = at(found)
        return tuple(found[c] for c in out), value

    missed = [c for c in loops if c not in out]
    return to.put(result, [size[c] for c in loops], put, "add" if missed else None)


def _product(to: Loops, spec: Spec, size: dict[str, int], left: Array, right: Array, result: Leaf) -> Array | None:
    """Calls of BLAS, where the contraction is products of matrices that are worth it; otherwise None.

    The rows and columns of a matrix may be several axes that lie side by side. For labels that both operands and the
    result have, there is a product for each place.
    """
    first, second = (_laid(to, array, labels) for array, labels in ((left, spec.left), (right, spec.right)))
    batch = spec.shared
    summed = "".join(c for c in first.labels if c in spec.contracted)
    operands = (first, second) if spec.out.removeprefix(batch)[:1] in first.labels else (second, first)
    rows, columns = ("".join(c for c in spec.out if c in operand.labels and c not in batch) for operand in operands)
    count, m, n, k = (math.prod(size[c] for c in labels) for labels in (batch, rows, columns, summed))
    if min(m, n) < SIDE or k < SUMMED or m * n * k < WORK or not count:
        return None
    own = batch + rows + columns
    plain = to.of(result, to.buffer(result.shape, result.dtype))
    made = _Laid(plain, spec.out, spec.out).matrices(batch, rows, columns)
    if made is None or made.is_turned:
        to.wanted = None  # for which the result is copied
        leaf = Leaf(result.entry, tuple(result.axes[spec.out.index(c)] for c in own))
        made = _Laid(to.of(leaf, to.buffer(leaf.shape, leaf.dtype)), own, own).matrices(batch, rows, columns)
        assert made is not None
    found = operands[0].stored(to, batch, rows, summed), operands[1].stored(to, batch, summed, columns), made
    along = tuple(one.labels.index(batch) for one in found) if len(batch) == 1 else ()
    if any(one.buffer.shape[k] != count for one, k in zip(found, along, strict=False)):
        along = ()  # a corner of an array
    for one in found:
        one.buffer.is_whole |= not (along and one.buffer.is_ordered)
    a, b, c = (one.buffer for one in found)
    turned = found[0].is_turned, found[1].is_turned
    at = to.variable(count)
    first_at, second_at, made_at = (Place.of(at) * one.apart for one in found)
    starts, leads = (first_at, second_at, made_at), (found[0].lead, found[1].lead, made.lead)
    factor = first.factor * second.factor
    product = Product(a, b, c, turned, (m, n, k), leads, len(rows), factor, starts, batch=along)
    to.statements.append(For(at, [product], rounds=not along) if batch else product)
    if made.labels == spec.out:
        return to.of(result, c)
    order = [spec.out.index(c) for c in own]
    return to.view(result, lambda places: to.pool.load(c, tuple(places[k] for k in order)))


@frozen
class _Matrices:
    """Matrices in a buffer with these labels: rows lie `lead` apart, matrices `apart`; columns do if `is_turned`."""

    buffer: Buffer
    labels: str
    lead: int
    apart: int
    is_turned: bool


@frozen
class _Laid:
    """An operand of a product: a factor times a corner of a buffer whose axes have these labels, in some order."""

    array: Array
    own: str
    labels: str
    buffer: Buffer | None = None
    factor: float = 1.0

    def matrices(self, batch: str, rows: str, columns: str) -> _Matrices | None:
        """The matrices as they are stored; None where rows or columns are no single axis with one step."""
        buffer = self.buffer or self.array.buffer
        if buffer is None:
            return None
        size = dict(zip(self.own, self.array.shape, strict=True))
        if len(batch) == 1 and buffer.kind == "work" and not buffer.is_whole and not buffer.is_ordered:
            order = sorted(range(len(self.labels)), key=lambda k: self.labels[k] != batch)
            buffer.order, buffer.is_ordered = tuple(order), True
        step = dict(zip(self.labels, buffer.strides, strict=True))
        if any(step[c] != step[d] * size[d] for group in (batch, rows, columns) for c, d in itertools.pairwise(group)):
            return None
        by_row, by_column = step[rows[-1]], step[columns[-1]]
        apart = step[batch[-1]] if batch else 0
        if by_column == 1 and by_row >= math.prod(size[c] for c in columns):
            return _Matrices(buffer, self.labels, by_row, apart, is_turned=False)
        if by_row == 1 and by_column >= math.prod(size[c] for c in rows):
            return _Matrices(buffer, self.labels, by_column, apart, is_turned=True)
        return None

    def stored(self, to: Loops, batch: str, rows: str, columns: str) -> _Matrices:
        """The matrices as they are stored, or as they are copied."""
        made = self.matrices(batch, rows, columns) if self.buffer is not None else None
        if made is not None:
            return made
        own = batch + rows + columns
        order = [self.own.index(c) for c in own]
        leaf = Leaf(self.array.leaf.entry, tuple(self.array.leaf.axes[k] for k in order))
        back = [order.index(k) for k in range(len(order))]
        copy = to.stored(Array(leaf, lambda places: self.array.at(tuple(places[k] for k in back))))
        made = _Laid(to.of(leaf, copy), own, own).matrices(batch, rows, columns)
        assert made is not None
        return made


def _laid(to: Loops, array: Array, labels: str) -> _Laid:
    """The operand as it lies in memory: views that only move axes, or scale, are read through."""
    variables = [to.variable(n) for n in array.shape]
    value, factor = array.at(tuple(map(Place.of, variables))), 1.0
    while (value.name == "neg") or (value.name == "mul" and value.args[1].number is not None):
        factor *= -1.0 if value.name == "neg" else value.args[1].number
        value = value.args[0]
    if value.name == "load" and len(value.args[1]) == len(variables):
        found = [place.variable for place in value.args[1]]
        if set(found) == set(variables):
            return _Laid(array, labels, "".join(labels[variables.index(v)] for v in found), value.args[0], factor)
    return _Laid(array, labels, labels)


@cache
def _has_blas() -> bool:
    return find_spec("scipy") is not None
