"""Contractions by loops: Σ over the labels that the result has not; elements of index sets are places."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hilbert.compiled.tree.places import along
from hilbert.compiled.tree.statements import Product

if TYPE_CHECKING:
    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.places import Place
    from hilbert.compiled.tree.values import Value
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec

SMALL = 8
"""Matrix products with a side below are loops."""
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
    if _is_large(spec, size) and left.leaf.is_field and right.leaf.is_field:
        return _matrices(to, spec, size, left, right, result)
    return to.total(result, [size[c] for c in summed], at)


def _times(a: Value, b: Value, dtype: str) -> Value:
    """The product; a truth value chooses between the other one and 0."""
    zero = a.pool.number(0.0, dtype)
    if a.dtype == "bool":
        return a.pool.select(a, b, zero)
    return a.pool.select(b, a, zero) if b.dtype == "bool" else a * b


def _hot(
    to: Loops, own: str, element: Array, labels: str, other: Array, out: str, result: Leaf
) -> Array:
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


def _is_large(spec: Spec, size: dict[str, int]) -> bool:
    """Tell if a contraction is a product of two matrices that is worth a call of BLAS, where scipy has it."""
    if not _has_blas() or not len(spec.left) == len(spec.right) == len(spec.out) == 2 or len(spec.contracted) != 1:
        return False
    sizes = [size[c] for c in spec.out + spec.contracted]
    return min(sizes) >= SMALL and sizes[0] * sizes[1] * sizes[2] >= WORK


@cache
def _has_blas() -> bool:
    return find_spec("scipy") is not None


def _matrices(to: Loops, spec: Spec, size: dict[str, int], left: Array, right: Array, result: Leaf) -> Array:
    """A call of BLAS on matrices in memory."""
    (k,), (i, j) = spec.contracted, spec.out
    if i in spec.left:
        a, b, labels = left, right, (spec.left, spec.right)
    else:
        a, b, labels = right, left, (spec.right, spec.left)
    made = to.buffer(result.shape, result.dtype)
    first, second = to.stored(a), to.stored(b)
    for buffer in (first, second, made):
        buffer.is_whole = True
    transposed = labels[0] != i + k, labels[1] != k + j
    to.statements.append(Product(first, second, made, transposed, (size[i], size[j], size[k])))
    return to.of(result, made)
