"""Contractions by loops: Σ over the labels that the result has not; elements of index sets are places."""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from attrs import frozen

from hilbert.compiled.tree.arrays import Array
from hilbert.compiled.tree.places import Place, along
from hilbert.compiled.tree.statements import Product
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
    """A call of BLAS, where the contraction is a product of two matrices that is worth it; otherwise None.

    The rows and columns of a matrix may be several axes that lie side by side.
    """
    first, second = (_laid(to, array, labels) for array, labels in ((left, spec.left), (right, spec.right)))
    summed = "".join(c for c in first.labels if c in spec.contracted)
    for a, b in ((first, second), (second, first)):
        rows, columns = ("".join(c for c in spec.out if c in operand.labels) for operand in (a, b))
        m, n, k = (math.prod(size[c] for c in labels) for labels in (rows, columns, summed))
        if rows + columns == spec.out and min(m, n) >= SIDE and k >= SUMMED and m * n * k >= WORK:
            made = to.buffer(result.shape, result.dtype)
            to_left, is_left = a.matrix(to, rows, summed)
            to_right, is_right = b.matrix(to, summed, columns)
            for buffer in (to_left, to_right, made):
                buffer.is_whole = True
            to.statements.append(
                Product(to_left, to_right, made, (is_left, is_right), (m, n, k), len(rows), a.factor * b.factor)
            )
            return to.of(result, made)
    return None


@frozen
class _Laid:
    """An operand of a product: a factor times a buffer whose axes have these labels, in some order."""

    array: Array
    own: str
    labels: str
    buffer: Buffer | None = None
    factor: float = 1.0

    def matrix(self, to: Loops, rows: str, columns: str) -> tuple[Buffer, bool]:
        """The matrix with these rows and columns, stored so or transposed; a copy if it is stored otherwise."""
        if self.buffer is not None and self.labels in {rows + columns, columns + rows}:
            return self.buffer, self.labels != rows + columns
        order = [self.own.index(c) for c in rows + columns]
        leaf = Leaf(self.array.leaf.entry, tuple(self.array.leaf.axes[k] for k in order))
        back = [order.index(k) for k in range(len(order))]
        return to.stored(Array(leaf, lambda places: self.array.at(tuple(places[k] for k in back)))), False


def _laid(to: Loops, array: Array, labels: str) -> _Laid:
    """How an operand lies in memory: views that only move axes, or scale, are read through."""
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
