"""Kernels of labelled contractions: opt_einsum says which ones BLAS can do, and the calls are chosen once.

The operands may also be discrete: a Boolean operand selects (never a multiplication by 0 or 1, so that a NaN in a lane
that is not selected does not pass), and an element of an index set stands for its basis vector e_x ∈ ℝ^X, which is
never built: the contraction becomes a gather or a scatter.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from opt_einsum.blas import can_blas

from hilbert.arrays.kernel import Kernel, Pseudo, Rows, multiply, zeros
from hilbert.arrays.reduced_axes import lent
from hilbert.arrays.segments import segment_sum

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from hilbert.leaf import Leaf
    from hilbert.spec import Spec


def contract(xp: ModuleType, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
    """The kernel of out[o] = Σ left[l]·right[r]."""
    if isinstance(xp, Pseudo):
        return xp.contract(spec, left, right)
    for side, leaf in enumerate((left, right)):
        if leaf.entry.index is not None:
            return _hot(xp, spec, side, leaf, right if side == 0 else left)
        if leaf.kind == "b":
            return _select(xp, spec, side)
    if not spec.contracted:
        return _broadcast(xp, spec, left, right)
    size = dict(zip(spec.left + spec.right, left.shape + right.shape, strict=True))
    blas = can_blas([spec.left, spec.right], spec.out, frozenset(spec.contracted))
    shared = "".join(c for c in spec.out if c in spec.left and c in spec.right)
    if blas and not shared:
        return _in_the_middle(xp, spec, size) or _matmul(xp, spec, size)
    if xp is np and _small(spec, size, shared):
        return _einsum(spec)
    return _batched(xp, spec, size, shared)


SMALL = 256
"""Entries of a batched matrix up to which numpy's own loop is quicker than one call of BLAS for each (measured)."""
NARROW = 8
"""Entries of the last axis up to which numpy's einsum multiplies quicker than a broadcast product (measured)."""
MANY = 1000
"""Multiplications from which on the cost of starting einsum does not count (measured)."""


def _small(spec: Spec, size: dict[str, int], shared: str) -> bool:
    """Whether every matrix of a batch is small, and multiplied by a vector only."""
    rows, cols = (any(c in have and c not in shared for c in spec.out) for have in (spec.left, spec.right))
    alone = math.prod(n for c, n in size.items() if c not in shared)
    return not (rows and cols) and alone <= SMALL and math.prod(size.values()) >= MANY


def _einsum(spec: Spec) -> Kernel:
    """numpy's own loop over all labels."""
    return Kernel(partial(np.einsum, f"{spec.left},{spec.right}->{spec.out}", order="C"))


def _in_the_middle(xp: ModuleType, spec: Spec, size: dict[str, int]) -> Kernel | None:
    """X[b, i, j] with A[k, i] to Y[b, k, j]: a product A•X[b] for each b moves nothing; None if it is not so."""
    for x, a in ((spec.left, spec.right), (spec.right, spec.left)):
        summed = [k for k, c in enumerate(x) if c in spec.contracted]
        first, last = summed[0], summed[-1] + 1
        before, inner, after = x[:first], x[first:last], x[last:]
        rows = "".join(c for c in spec.out if c in a)
        wide = math.prod(size[c] for c in after) > 1  # otherwise one product does for all b
        if last - first == len(summed) and before and wide and rows and spec.out == before + rows + after:
            break
    else:
        return None

    def shape(*groups: str) -> tuple[int, ...]:
        return tuple(math.prod(size[c] for c in g) for g in groups)

    whole = tuple(size[c] for c in spec.out)
    matrix = _arrange(xp, a, rows + inner, None if len(rows) == len(inner) == 1 else shape(rows, inner))
    alone = len(before) == len(inner) == len(after) == 1
    grouped = _arrange(xp, x, x, None if alone else shape(before, inner, after))
    finish = None if len(spec.out) == 3 else lambda c: xp.reshape(c, whole)
    kernel = _prepared(np.matmul if xp is np else xp.matmul, matrix, grouped, finish)
    return _flip(kernel) if x is spec.left else kernel


def _order(have: str, want: str) -> tuple[int, ...] | None:
    return None if have == want else tuple(have.index(c) for c in want)


def _arrange(xp: ModuleType, have: str, want: str, shape: tuple[int, ...] | None) -> Callable[[Any], Any] | None:
    """Axes in the wanted order, then reshaped; None where nothing is to be done."""
    order = _order(have, want)
    if order is None:
        return None if shape is None else lambda a: xp.reshape(a, shape)
    if shape is None:
        return (lambda a: a.T) if order == (1, 0) else lambda a: xp.permute_dims(a, order)
    return lambda a: xp.reshape(xp.permute_dims(a, order), shape)


def _prepared(
    call: Callable[[Any, Any], Any],
    left: Callable[[Any], Any] | None,
    right: Callable[[Any], Any] | None,
    finish: Callable[[Any], Any] | None = None,
) -> Kernel:
    """Prepare both operands, call, finish; nothing that is not needed is called."""
    if left is None and right is None and finish is None:
        return Kernel(call)
    if finish is not None:
        p, q = left or _same, right or _same
        return Kernel(lambda a, b: finish(call(p(a), q(b))))
    if left is None:
        assert right is not None  # narrowed above
        return Kernel(lambda a, b: call(a, right(b)))
    if right is None:
        return Kernel(lambda a, b: call(left(a), b))
    return Kernel(lambda a, b: call(left(a), right(b)))


def _same(a: Any) -> Any:
    return a


def _broadcast(xp: ModuleType, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
    """No label is summed: one broadcast multiplication."""
    times = multiply(xp)
    if spec.is_pointwise:
        return times
    whole = [have == spec.out for have in (spec.left, spec.right)]
    if xp is np and not any(whole) and _narrow(spec, left, right):
        return _einsum(spec)

    def spread(have: str, leaf: Leaf) -> Callable[[Any], Any] | None:
        want = "".join(c for c in spec.out if c in have)
        size = dict(zip(have, leaf.shape, strict=True))
        full = tuple(size.get(c, 1) for c in spec.out)
        padded = spec.out[len(spec.out) - len(want) :] == want  # numpy pads in front by itself
        return _arrange(xp, have, want, None if padded else full)

    prepared = _prepared(times.call, spread(spec.left, left), spread(spec.right, right))
    if xp is not np:
        return prepared
    # a transposed operand makes numpy lay the product out like that operand: the result is put in row-major order
    reuse = tuple(f if w else None for f, w in zip(_inplace(spec, left, right), whole, strict=True))
    return Kernel(prepared.call, reuse)


def _narrow(spec: Spec, left: Leaf, right: Leaf) -> bool:
    """Whether a broadcast product would run along a short axis only."""
    size = dict(zip(spec.left + spec.right, left.shape + right.shape, strict=True))
    return bool(spec.out) and size[spec.out[-1]] <= NARROW and math.prod(size.values()) >= MANY


def _inplace(spec: Spec, left: Leaf, right: Leaf) -> tuple[Callable[[Any, Any], Any], ...]:
    """Overwriting forms for an operand that has the result's axes in order while the other is broadcast."""

    def spread(have: str, leaf: Leaf) -> tuple[tuple[int, ...], tuple[int, ...]]:
        want = [c for c in spec.out if c in have]
        size = dict(zip(have, leaf.shape, strict=True))
        return tuple(have.index(c) for c in want), tuple(size.get(c, 1) for c in spec.out)

    lo, ls = spread(spec.left, left)
    ro, rs = spread(spec.right, right)
    return (
        lambda a, b: np.multiply(a, np.transpose(b, ro).reshape(rs), out=a),
        lambda a, b: np.multiply(np.transpose(a, lo).reshape(ls), b, out=b),
    )


def _matmul(xp: ModuleType, spec: Spec, size: dict[str, int]) -> Kernel:
    """One matrix product (or inner product): groups of labels become single axes."""
    if not spec.out:
        right = _arrange(xp, spec.right, spec.left, None)
        if len(spec.left) == 1:
            return _prepared(np.dot if xp is np else xp.vecdot, None, right)
        n = math.prod(size[c] for c in spec.left)
        flat = _arrange(xp, spec.left, spec.left, (n,))
        return _prepared(np.dot if xp is np else xp.vecdot, flat, _arrange(xp, spec.right, spec.left, (n,)))
    left_first = spec.out[0] in spec.left
    a, b = (spec.left, spec.right) if left_first else (spec.right, spec.left)
    rows = "".join(c for c in spec.out if c in a)
    cols = "".join(c for c in spec.out if c in b)
    inner = "".join(c for c in a if c in spec.contracted)

    def grouped(*groups: str) -> tuple[int, ...] | None:
        """The shape with each group as one axis; None where every group is one axis already."""
        if all(len(g) <= 1 for g in groups):
            return None
        return tuple(math.prod(size[c] for c in g) for g in groups if g)

    first = _arrange(xp, a, rows + inner, grouped(rows, inner))
    second = _arrange(xp, b, inner + cols, grouped(inner, cols))
    made = rows + cols
    shape = tuple(size[c] for c in made)
    regroup = len(rows) > 1 or len(cols) > 1
    order = _order(made, spec.out)
    finish: Callable[[Any], Any] | None = None
    if regroup or order is not None:

        def arranged(c: Any) -> Any:
            c = xp.reshape(c, shape) if regroup else c
            return c if order is None else xp.permute_dims(c, order)

        finish = arranged

    call = np.matmul if xp is np else xp.matmul
    return _prepared(call, first, second, finish) if left_first else _flip(_prepared(call, first, second, finish))


def _flip(kernel: Kernel) -> Kernel:
    call = kernel.call
    return Kernel(lambda a, b: call(b, a))


def _batched(xp: ModuleType, spec: Spec, size: dict[str, int], shared: str) -> Kernel:
    """Some labels stand in all three lists: inner products or matrix products for each of their values."""
    rows = "".join(c for c in spec.out if c in spec.left and c not in shared)
    cols = "".join(c for c in spec.out if c in spec.right and c not in shared)
    inner = spec.contracted

    def shape(*groups: str) -> tuple[int, ...]:
        return tuple(size[c] for c in shared) + tuple(math.prod(size[c] for c in g) for g in groups)

    order = _order(shared + rows + cols, spec.out)
    made = tuple(size[c] for c in shared + rows + cols)

    def finish(c: Any) -> Any:
        c = xp.reshape(c, made)
        return c if order is None else xp.permute_dims(c, order)

    if not rows and not cols:
        left = _arrange(xp, spec.left, shared + inner, shape(inner))
        right = _arrange(xp, spec.right, shared + inner, shape(inner))
        return _prepared(xp.vecdot, left, right, finish if order is not None else None)
    left = _arrange(xp, spec.left, shared + rows + inner, shape(rows, inner))
    right = _arrange(xp, spec.right, shared + inner + cols, shape(inner, cols))
    return _prepared(xp.matmul, left, right, finish)


def _aligned(xp: ModuleType, have: str, over: str) -> Callable[[Any], Any]:
    """An array with labels `have` made to broadcast against labels `over`."""
    want = "".join(c for c in over if c in have)
    order = tuple(have.index(c) for c in want)
    index = tuple(slice(None) if c in have else None for c in over)
    return lambda a: xp.permute_dims(a, order)[index] if have else a


def _select(xp: ModuleType, spec: Spec, side: int) -> Kernel:
    """A Boolean operand: keep where true, 0 elsewhere, then sum what is contracted."""
    whole = spec.out + spec.contracted
    mask_labels, labels = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
    mask, value = _aligned(xp, mask_labels, whole), _aligned(xp, labels, whole)
    axes = tuple(range(len(spec.out), len(whole)))

    def run(m: Any, x: Any) -> Any:
        x = value(xp.asarray(x))
        kept = xp.where(mask(xp.asarray(m)), x, zeros(xp, (), x))
        return xp.sum(kept, axis=axes) if axes else kept

    return Kernel(run) if side == 0 else Kernel(lambda x, m: run(m, x))


def _hot(xp: ModuleType, spec: Spec, side: int, leaf: Leaf, other: Leaf) -> Kernel:
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
        run = _gather(xp, spec.out, free, hot, labels, size)
    elif not read:
        run = _scatter(xp, spec.out, free, hot, labels, size)
    else:
        made = free + "".join(c for c in labels if c not in free + read)
        gather, scatter = _gather(xp, made, free, read, labels, size), _scatter(xp, spec.out, free, put, made, size)
        first, second = _coordinates(hot, read, size), _coordinates(hot, put, size)

        def both(i: Any, x: Any) -> Any:
            i = xp.asarray(i)
            return scatter(second(i), gather(first(i), x))

        run = both

    return Kernel(run if side == 0 else lambda x, i: run(i, x), fresh=bool(put))


def _coordinates(hot: str, some: str, size: dict[str, int]) -> Callable[[Any], Any]:
    """Flat positions in X₁×…×Xₙ to flat positions in the product of some of the factors."""
    if some == hot:
        return _same
    n = [size[c] for c in hot]
    factors = [(size[c], math.prod(n[k + 1 :])) for k, c in enumerate(hot) if c in some]

    def run(i: Any) -> Any:
        place = i * 0
        for count, stride in factors:
            place = place * count + i // stride % count
        return place

    return run


def _gather(
    xp: ModuleType, out: str, free: str, hot: str, labels: str, size: dict[str, int]
) -> Callable[[Any, Any], Any]:
    """out[…] = x[…, i, …], a view for a single i."""
    zipped = "".join(c for c in free if c in labels)
    alone = "".join(c for c in free if c not in labels)
    rest = "".join(c for c in labels if c not in zipped + hot)
    count = math.prod(size[c] for c in hot)
    source = _arrange(xp, labels, zipped + hot + rest, (*(size[c] for c in zipped), count, *(size[c] for c in rest)))
    index_of = _arrange(xp, free, zipped + alone, None)
    made = zipped + alone + rest
    dropped = tuple(k for k, c in enumerate(made) if c not in out)
    order = _order("".join(c for c in made if c in out), out)
    n = len(zipped + alone)
    grid = [Rows(xp, np.arange(size[c]).reshape((-1,) + (1,) * (n - k - 1))) for k, c in enumerate(zipped)]
    shape = tuple(size[c] for c in made)

    def taken(x: Any, i: Any) -> Any:
        if zipped:
            return x[(*(axis.like(x) for axis in grid), i, *(slice(None) for _ in rest))]
        if xp is not np:
            return xp.reshape(xp.take(x, xp.reshape(i, (-1,)), axis=0), shape)
        if not alone:
            return x[int(i)]
        if not i.size:
            return np.zeros(shape, x.dtype)
        return lent(x).take(lent(i), axis=0, mode="wrap").reshape(shape)  # elements of X: there is nothing to wrap

    def run(i: Any, x: Any) -> Any:
        x = source(xp.asarray(x)) if source else x
        i = xp.asarray(i)
        y = taken(x, index_of(i) if index_of else i)
        y = xp.sum(y, axis=dropped) if dropped else y
        return y if order is None else xp.permute_dims(y, order)

    return run


def _scatter(
    xp: ModuleType, out: str, free: str, hot: str, labels: str, size: dict[str, int]
) -> Callable[[Any, Any], Any]:
    """out[…, i, …] += x, through one segment sum over (kept labels of i) × X."""
    kept = "".join(c for c in free if c in out)
    summed = "".join(c for c in free if c not in out)
    rest = "".join(c for c in out if c not in kept + hot)
    rows, cells = math.prod(size[c] for c in kept + summed), math.prod(size[c] for c in kept)
    spread = _aligned(xp, labels, kept + summed + rest)
    full = tuple(size[c] for c in kept + summed + rest)
    index_of = _arrange(xp, free, kept + summed, None)
    width, count = (math.prod(size[c] for c in group) for group in (rest, hot))
    base = Rows(xp, np.arange(cells).repeat(math.prod(size[c] for c in summed)) * count) if cells != 1 else None
    whole = labels == kept + summed + rest
    made = kept + hot + rest
    order = _order(made, out)
    shape = tuple(size[c] for c in made)

    def run(i: Any, x: Any) -> Any:
        x = xp.asarray(x)
        i = xp.asarray(i)
        values = xp.reshape(x if whole else xp.broadcast_to(spread(x), full), (rows, width))
        where = xp.reshape(index_of(i) if index_of else i, (-1,))
        where = where + base.like(i) if base else where
        y = xp.reshape(segment_sum(xp, values, where, cells * count), shape)
        return y if order is None else xp.permute_dims(y, order)

    return run
