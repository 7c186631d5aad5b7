"""Contractions by loops: Σ over the labels that the result has not; elements of index sets are places."""

from __future__ import annotations

import itertools
import math
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from attrs import frozen

from hilbert.compiled.tree.places import Place, along
from hilbert.compiled.tree.statements import For, Product
from hilbert.index.leaf import Leaf

if TYPE_CHECKING:
    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.values import Value
    from hilbert.index.spec import Spec

SIDE, SUMMED = 16, 16
"""Products of matrices with fewer rows or columns, or sums over fewer entries, are loops."""
WORK = 1 << 15
"""Matrix products of fewer multiplications are loops (measured)."""


def contracted(to: Loops, spec: Spec, left: Array, right: Array, result: Leaf) -> Array:
    """Σ left·right over the labels that are not the result's."""
    for own, one, labels, other in ((spec.left, left, spec.right, right), (spec.right, right, spec.left, left)):
        if not one.leaf.is_field and one.leaf.entry.index is not None:
            return _hot(to, own, one, labels, other, spec.out, result)
    size = dict(zip(spec.left + spec.right, left.shape + right.shape, strict=True))
    summed = spec.contracted

    def at(places: Places, inner: Places) -> Value:
        found = dict(zip(spec.out + summed, places + inner, strict=True))
        a, b = left.at(tuple(found[c] for c in spec.left)), right.at(tuple(found[c] for c in spec.right))
        return _times(a, b, result.dtype)

    if not summed:
        return to.each(result, lambda places: at(places, ()))
    if to.has_products and left.leaf.is_field and right.leaf.is_field and has_scipy():
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
    first, second = _Operand.of(to, left, spec.left), _Operand.of(to, right, spec.right)
    batch = spec.shared
    summed = "".join(c for c in first.labels if c in spec.contracted)
    operands = (first, second) if spec.out.removeprefix(batch)[:1] in first.labels else (second, first)
    rows, columns = ("".join(c for c in spec.out if c in operand.labels and c not in batch) for operand in operands)
    count, m, n, k = (math.prod(size[c] for c in labels) for labels in (batch, rows, columns, summed))
    if min(m, n) < SIDE or k < SUMMED or m * n * k < WORK or not count:
        return None
    own = batch + rows + columns
    made = _matrices(to.buffer(result.shape, result.dtype), spec.out, size, (batch, rows, columns))
    if made is None or made.is_turned:
        to.wanted = None  # for which the result is copied
        made = _matrices(to.buffer(tuple(size[c] for c in own), result.dtype), own, size, (batch, rows, columns))
        assert made is not None
    a, b = operands
    found = a.stored(to, size, (batch, rows, summed)), b.stored(to, size, (batch, summed, columns)), made
    is_batch = len(batch) == 1 and all(one.buffer.shape[one.labels.index(batch)] == count for one in found)
    for one in found:
        one.buffer.is_whole |= not (is_batch and one.buffer.is_ordered)
    variable, (x, y, z) = to.variable(count), found
    at = dict(zip(batch, along(Place.of(variable), tuple(size[c] for c in batch)), strict=True))
    starts = tuple(tuple(at.get(c, Place(0)) for c in one.labels) if batch else () for one in found)
    turned, leads = (x.is_turned, y.is_turned), (x.lead, y.lead, z.lead)
    product = Product(x.buffer, y.buffer, z.buffer, turned, (m, n, k), leads, len(rows), starts)
    to.statements.append(For(variable, [product], rounds=not is_batch) if batch else product)
    if made.labels == spec.out:
        return to.of(result, z.buffer)
    order = [spec.out.index(c) for c in own]
    return to.view(result, lambda places: to.pool.load(z.buffer, tuple(places[k] for k in order)))


@frozen
class _Matrices:
    """Matrices in a buffer with these labels: rows lie `lead` apart, or columns if `is_turned`."""

    buffer: Buffer
    labels: str
    lead: int
    is_turned: bool


def _matrices(buffer: Buffer, labels: str, size: dict[str, int], groups: tuple[str, str, str]) -> _Matrices | None:
    """The matrices as they lie in a buffer whose axes have these labels: those of the batch, of rows and of columns.

    None where rows or columns are no single axis with one step. Such buffers of the program are ordered by the batch.
    """
    batch, rows, columns = groups
    if len(batch) == 1 and buffer.kind == "work" and not buffer.is_whole and not buffer.is_ordered:
        order = sorted(range(len(labels)), key=lambda k: labels[k] != batch)
        buffer.order, buffer.is_ordered = tuple(order), True
    step = dict(zip(labels, buffer.strides, strict=True))
    if any(step[c] != step[d] * size[d] for group in groups for c, d in itertools.pairwise(group)):
        return None
    by_row, by_column = step[rows[-1]], step[columns[-1]]
    if by_column == 1 and by_row >= math.prod(size[c] for c in columns):
        return _Matrices(buffer, labels, by_row, is_turned=False)
    if by_row == 1 and by_column >= math.prod(size[c] for c in rows):
        return _Matrices(buffer, labels, by_column, is_turned=True)
    return None


@frozen
class _Operand:
    """An operand of a product, its labels, and those of the buffer that stores its entries, if one does."""

    array: Array
    own: str
    labels: str
    buffer: Buffer | None

    @staticmethod
    def of(to: Loops, array: Array, own: str) -> _Operand:
        """The operand as it lies in memory: views that only move axes are read through."""
        buffer, axes = to.lying(array) or (None, range(len(own)))
        return _Operand(array, own, "".join(own[k] for k in axes), buffer)

    def stored(self, to: Loops, size: dict[str, int], groups: tuple[str, str, str]) -> _Matrices:
        """The matrices as they are stored, or as they are copied."""
        made = None if self.buffer is None else _matrices(self.buffer, self.labels, size, groups)
        if made is None:
            labels, leaf = "".join(groups), self.array.leaf
            turned = Leaf(leaf.entry, tuple(leaf.axes[self.own.index(c)] for c in labels))
            at = lambda places: self.array.at(tuple(places[labels.index(c)] for c in self.own))  # noqa: E731
            made = _matrices(to.stored(to.view(turned, at)), labels, size, groups)
            assert made is not None
        return made


@cache
def has_scipy() -> bool:
    """Tell if scipy is there, which has BLAS and LAPACK."""
    return find_spec("scipy") is not None
