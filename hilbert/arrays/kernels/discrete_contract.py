"""Kernels of contractions with a discrete operand.

A Boolean operand selects (never a multiplication by 0 or 1, so that a NaN in a lane that is not selected does not
pass), and an element of an index set stands for its basis vector e_x ∈ ℝ^X, which is never built: the contraction
becomes a gather or a scatter.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.labelled_axes import aligned, arrange, reordering, same
from hilbert.arrays.kernels.library import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.kernels.library import Library
    from hilbert.arrays.kernels.segments import Segments
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec


def select(lib: Library, spec: Spec, side: int) -> Kernel:
    """Contract with a Boolean operand: keep entries where it is true, 0 elsewhere, then sum over contracted labels."""
    xp = lib.xp
    whole = spec.out + spec.contracted
    mask_labels, labels = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
    mask, value = aligned(xp, mask_labels, whole), aligned(xp, labels, whole)
    axes = tuple(range(len(spec.out), len(whole)))

    def run(m: Any, x: Any) -> Any:
        x = value(xp.asarray(x))
        kept = xp.where(mask(xp.asarray(m)), x, lib.zeros((), x))
        return xp.sum(kept, axis=axes) if axes else kept

    return Kernel(run) if side == 0 else Kernel(lambda x, m: run(m, x))


def hot(lib: Segments, spec: Spec, side: int, leaf: Leaf, other: Leaf) -> Kernel:
    """An element of X as its basis vector: gather along the other operand's axes of X, scatter along the result's."""
    hot_labels, labels = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
    assert leaf.entry.index is not None  # by dispatch
    width = len(leaf.entry.shape)
    free, hot = hot_labels[: len(leaf.axes)], hot_labels[len(leaf.axes) :]
    assert len(hot) == width  # the spec was checked against the leaves
    size = dict(zip(free + hot, leaf.shape + leaf.entry.shape, strict=True))
    size |= dict(zip(labels, other.shape, strict=True))
    read, put = ("".join(c for c in hot if c in list_) for list_ in (labels, spec.out))
    run: Callable[[Any, Any], Any]
    if not put:
        run = _gather(lib, spec.out, free, hot, labels, size)
    elif not read:
        run = _scatter(lib, spec.out, free, hot, labels, size)
    else:
        made = free + "".join(c for c in labels if c not in free + read)
        gather, scatter = _gather(lib, made, free, read, labels, size), _scatter(lib, spec.out, free, put, made, size)
        first, second = _coordinates(hot, read, size), _coordinates(hot, put, size)

        def both(i: Any, x: Any) -> Any:
            i = lib.xp.asarray(i)
            return scatter(second(i), gather(first(i), x))

        run = both

    return Kernel(run if side == 0 else lambda x, i: run(i, x), fresh=bool(put))


def _coordinates(hot: str, some: str, size: dict[str, int]) -> Callable[[Any], Any]:
    """Flat positions in X₁×…×Xₙ to flat positions in the product of some of the factors."""
    if some == hot:
        return same
    n = [size[c] for c in hot]
    factors = [(size[c], math.prod(n[k + 1 :])) for k, c in enumerate(hot) if c in some]

    def run(i: Any) -> Any:
        place = i * 0
        for count, stride in factors:
            place = place * count + i // stride % count
        return place

    return run


def _gather(
    lib: Segments, out: str, free: str, hot: str, labels: str, size: dict[str, int]
) -> Callable[[Any, Any], Any]:
    """out[…] = x[…, i, …]."""
    xp = lib.xp
    zipped = "".join(c for c in free if c in labels)
    alone = "".join(c for c in free if c not in labels)
    rest = "".join(c for c in labels if c not in zipped + hot)
    count = math.prod(size[c] for c in hot)
    source = arrange(xp, labels, zipped + hot + rest, (*(size[c] for c in zipped), count, *(size[c] for c in rest)))
    index_of = arrange(xp, free, zipped + alone, None)
    made = zipped + alone + rest
    dropped = tuple(k for k, c in enumerate(made) if c not in out)
    order = reordering("".join(c for c in made if c in out), out)
    n = len(zipped + alone)
    grid = [Rows(lib, np.arange(size[c]).reshape((-1,) + (1,) * (n - k - 1))) for k, c in enumerate(zipped)]
    shape = tuple(size[c] for c in made)

    def taken(x: Any, i: Any) -> Any:
        if zipped:
            return x[(*(axis.like(x) for axis in grid), i, *(slice(None) for _ in rest))]
        return lib.rows_at(x, i, shape)

    def run(i: Any, x: Any) -> Any:
        x = source(xp.asarray(x)) if source else x
        i = xp.asarray(i)
        y = taken(x, index_of(i) if index_of else i)
        y = xp.sum(y, axis=dropped) if dropped else y
        return y if order is None else xp.permute_dims(y, order)

    return run


def _scatter(
    lib: Segments, out: str, free: str, hot: str, labels: str, size: dict[str, int]
) -> Callable[[Any, Any], Any]:
    """out[…, i, …] += x, through one segment sum over (kept labels of i) × X."""
    xp = lib.xp
    kept = "".join(c for c in free if c in out)
    summed = "".join(c for c in free if c not in out)
    rest = "".join(c for c in out if c not in kept + hot)
    rows, cells = math.prod(size[c] for c in kept + summed), math.prod(size[c] for c in kept)
    spread = aligned(xp, labels, kept + summed + rest)
    full = tuple(size[c] for c in kept + summed + rest)
    index_of = arrange(xp, free, kept + summed, None)
    width, count = (math.prod(size[c] for c in group) for group in (rest, hot))
    base = Rows(lib, np.arange(cells).repeat(math.prod(size[c] for c in summed)) * count) if cells != 1 else None
    whole = labels == kept + summed + rest
    made = kept + hot + rest
    order = reordering(made, out)
    shape = tuple(size[c] for c in made)

    def run(i: Any, x: Any) -> Any:
        x = xp.asarray(x)
        i = xp.asarray(i)
        values = xp.reshape(x if whole else xp.broadcast_to(spread(x), full), (rows, width))
        where = xp.reshape(index_of(i) if index_of else i, (-1,))
        where = where + base.like(i) if base else where
        y = xp.reshape(lib.segment_sum(values, where, cells * count), shape)
        return y if order is None else xp.permute_dims(y, order)

    return run
