"""Kernels of labelled contractions: opt_einsum says which ones BLAS can do, and the calls are chosen once.

Operands may also be discrete: see `hilbert.arrays.kernels.discrete_contract`.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from opt_einsum.blas import can_blas

from hilbert.arrays.kernels.block_products import by_blocks
from hilbert.arrays.kernels.discrete_contract import hot, select
from hilbert.arrays.kernels.kernel import Kernel, after, chained, flipped, inline
from hilbert.arrays.kernels.labelled_axes import arrange, permuted, reordering, reshaped
from hilbert.arrays.kernels.segments import NumpySegments, Segments

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec

SMALL = 256
"""Entries of a batched matrix up to which numpy's own loop is quicker than one call of BLAS for each (measured)."""
NARROW = 8
"""Entries of the last axis up to which numpy's einsum multiplies quicker than a broadcast product (measured)."""
MANY = 1000
"""Multiplications from which on the cost of starting einsum does not count (measured)."""
DOT = inline("{0}.dot({1})")


class Contractions(Segments):
    """Contractions by `matmul`, `vecdot` and `*`."""

    def contract(self, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
        """out[o] = Σ left[l]·right[r]."""
        for side, leaf in enumerate((left, right)):
            if leaf.entry.index is not None:
                return hot(self, spec, side, leaf, right if side == 0 else left)
            if leaf.kind == "b":
                return self.select(spec, side)
        if not spec.contracted:
            return self.multiply() if spec.is_pointwise else self.broadcast(spec, left, right)
        if len(spec.left) == len(spec.right) == len(spec.out) == 2 and not spec.shared:
            return _of_matrices(self.xp, self.product, spec)
        size = dict(zip(spec.left + spec.right, left.shape + right.shape, strict=True))
        if _is_product(spec):
            return _in_the_middle(self.xp, spec, size) or self.matmul(spec, size)
        return self.batched(spec, size, spec.shared)

    def select(self, spec: Spec, side: int) -> Kernel:
        """A contraction with truth values: the other operand's entries where the condition holds, 0 elsewhere."""
        return select(self, spec, side)

    def matmul(self, spec: Spec, size: dict[str, int]) -> Kernel:
        """One matrix product."""
        return _matmul(self.xp, self.dot, self.product, spec, size)

    @property
    def dot(self) -> Callable[[Any, Any], Any]:
        """The inner product of two lines."""
        call: Callable[[Any, Any], Any] = self.xp.vecdot
        return call

    @property
    def product(self) -> Callable[[Any, Any], Any]:
        """The product of two matrices, or of a matrix and a vector."""
        call: Callable[[Any, Any], Any] = self.xp.matmul
        return call

    def broadcast(self, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
        """Multiply with broadcasting: no label is summed."""

        def spread(have: str, leaf: Leaf) -> Callable[[Any], Any] | None:
            want = "".join(c for c in spec.out if c in have)
            size = dict(zip(have, leaf.shape, strict=True))
            full = tuple(size.get(c, 1) for c in spec.out)
            padded = spec.out[len(spec.out) - len(want) :] == want  # broadcasting pads in front by itself
            return arrange(self.xp, have, want, None if padded else full)

        return _prepared(self.multiply().call, spread(spec.left, left), spread(spec.right, right))

    def batched(self, spec: Spec, size: dict[str, int], shared: str) -> Kernel:
        """Some labels stand in all three lists: inner products or matrix products for each of their values."""
        return _batched(self.xp, spec, size, shared)


class NumpyContractions(NumpySegments, Contractions):
    """Contractions by `dot` and in place; small batches and narrow products by einsum."""

    def select(self, spec: Spec, side: int) -> Kernel:
        """As for any library; one condition for many entries returns the array itself if all of the condition holds."""
        run, conditions = select(self, spec, side).call, (spec.left, spec.right)[side]
        if (spec.right, spec.left)[side] != spec.out or len(conditions) == len(spec.out):
            return Kernel(run)
        if side == 0:
            return Kernel(lambda m, x: x if m.all() else run(m, x), fresh=False)
        return Kernel(lambda x, m: x if m.all() else run(x, m), fresh=False)

    @property
    def dot(self) -> Callable[[Any, Any], Any]:
        """numpy's inner product, which takes arrays without axes too."""
        return np.dot

    @property
    def product(self) -> Callable[[Any, Any], Any]:
        """numpy's `dot`, which is quicker to call than matmul, and as a method quicker than as a function."""
        return DOT

    def broadcast(self, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
        """Multiply into an operand that has the result's axes, if nobody reads the operand later."""
        whole = [have == spec.out for have in (spec.left, spec.right)]
        if not any(whole) and _narrow(spec, left, right):
            return _einsum(spec)
        # a transposed operand makes numpy lay the product out like that operand: the result is put in row-major order
        reuse = tuple(f if w else None for f, w in zip(_inplace(spec, left, right), whole, strict=True))
        return Kernel(super().broadcast(spec, left, right).call, reuse)

    def matmul(self, spec: Spec, size: dict[str, int]) -> Kernel:
        """Multiply block by block, where a large array would have to be copied."""
        return _matmul(np, self.dot, self.product, spec, size, by_blocks)

    def batched(self, spec: Spec, size: dict[str, int], shared: str) -> Kernel:
        """Contract many small matrices in one loop of einsum."""
        inside = all(have.endswith(shared) for have in (spec.left, spec.right, spec.out))
        if (inside and math.prod(size[c] for c in shared) >= SMALL) or _small(spec, size, shared):
            return _einsum(spec)
        return super().batched(spec, size, shared)


@cache
def _of_matrices(xp: ModuleType, product: Callable[[Any, Any], Any], spec: Spec) -> Kernel:
    """The product of two matrices, one axis of each of which is summed: the same for all sizes."""
    return _matmul(xp, product, product, spec, dict.fromkeys(spec.left + spec.right, 1))


@cache
def _is_product(spec: Spec) -> bool:
    """Tell if one call of BLAS contracts: the product of two matrices, of a matrix and a vector, of two lines."""
    return bool(can_blas([spec.left, spec.right], spec.out, frozenset(spec.contracted))) and not spec.shared


def _small(spec: Spec, size: dict[str, int], shared: str) -> bool:
    """True if every matrix of a batch is small, and multiplied by a vector only."""
    rows, cols = (any(c in have and c not in shared for c in spec.out) for have in (spec.left, spec.right))
    alone = math.prod(n for c, n in size.items() if c not in shared)
    return not (rows and cols) and alone <= SMALL and math.prod(size.values()) >= MANY


def _einsum(spec: Spec) -> Kernel:
    """numpy's own loop over all labels, in its own order: in a given order it takes up to five times as long."""
    call = partial(np.einsum, f"{spec.left},{spec.right}->{spec.out}")
    return Kernel(chained(call, None, None, _in_rows) if len(spec.out) > 1 else call)


def _in_rows(x: Any) -> Any:
    """The array in row-major order."""
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def _in_the_middle(xp: ModuleType, spec: Spec, size: dict[str, int]) -> Kernel | None:
    """X[b, i, j] with A[k, i] to Y[b, k, j]: a product A•X[b] for each b moves nothing; None for other contractions."""
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
    matrix = arrange(xp, a, rows + inner, None if len(rows) == len(inner) == 1 else shape(rows, inner))
    alone = len(before) == len(inner) == len(after) == 1
    grouped = arrange(xp, x, x, None if alone else shape(before, inner, after))
    finish = None if len(spec.out) == 3 else reshaped(xp, whole)
    kernel = _prepared(xp.matmul, matrix, grouped, finish)
    return _flip(kernel) if x is spec.left else kernel


def _prepared(
    call: Callable[[Any, Any], Any],
    left: Callable[[Any], Any] | None,
    right: Callable[[Any], Any] | None,
    finish: Callable[[Any], Any] | None = None,
) -> Kernel:
    """Prepare both operands, call, finish; nothing that is not needed is called."""
    if left is None and right is None and finish is None:
        return Kernel(call)
    return Kernel(chained(call, left, right, finish))


def _narrow(spec: Spec, left: Leaf, right: Leaf) -> bool:
    """True if a broadcast product would run along a short axis only."""
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


def _matmul(
    xp: ModuleType,
    dot: Callable[[Any, Any], Any],
    product: Callable[[Any, Any], Any],
    spec: Spec,
    size: dict[str, int],
    blocks: Callable[..., Callable[[Any, Any], Any] | None] = lambda *_: None,
) -> Kernel:
    """One matrix product (or inner product): groups of labels become single axes."""
    if not spec.out:
        right = arrange(xp, spec.right, spec.left, None)
        if len(spec.left) == 1:
            return _prepared(dot, None, right)
        n = math.prod(size[c] for c in spec.left)
        flat = arrange(xp, spec.left, spec.left, (n,))
        return _prepared(dot, flat, arrange(xp, spec.right, spec.left, (n,)))
    both = {*spec.out} & {*spec.left} and {*spec.out} & {*spec.right}
    left_first = spec.out[-1] in spec.right if both else spec.out[0] in spec.left  # the last axis stays in runs
    a, b = (spec.left, spec.right) if left_first else (spec.right, spec.left)
    rows = "".join(c for c in spec.out if c in a)
    cols = "".join(c for c in spec.out if c in b)
    inner = "".join(c for c in a if c in spec.contracted)

    def grouped(*groups: str) -> tuple[int, ...] | None:
        """The shape with each group as one axis; None where every group is one axis already."""
        if all(len(g) <= 1 for g in groups):
            return None
        return tuple(math.prod(size[c] for c in g) for g in groups if g)

    first = _rows(xp, a, rows, inner, grouped(rows, inner))
    second = _rows(xp, b, inner, cols, grouped(inner, cols))
    made = rows + cols
    shape = tuple(size[c] for c in made)
    regroup = len(rows) > 1 or len(cols) > 1
    order = reordering(made, spec.out)
    finish = permuted(xp, order, reshaped(xp, shape if regroup else None))
    own = blocks(a, b, rows, inner, cols, size)
    kernel = _prepared(own, None, None, finish) if own else _prepared(product, first, second, finish)
    return kernel if left_first else _flip(kernel)


def _rows(
    xp: ModuleType, have: str, rows: str, cols: str, shape: tuple[int, ...] | None
) -> Callable[[Any], Any] | None:
    """The axes as a matrix; where they must be copied, the last of them stays so, and BLAS reads the matrix transposed.

    A copy that leaves the last axis in its place moves runs of entries, not single ones.
    """
    last = have[-1:]
    if shape is None or len(shape) < 2 or have in {rows + cols, cols + rows} or last not in rows:
        return arrange(xp, have, rows + cols, shape)
    turned = arrange(xp, have, cols + rows, shape[::-1])
    assert turned is not None  # the axes are grouped
    return after(inline("{0}.T"), turned)


def _flip(kernel: Kernel) -> Kernel:
    return Kernel(flipped(kernel.call))


def _batched(xp: ModuleType, spec: Spec, size: dict[str, int], shared: str) -> Kernel:
    rows = "".join(c for c in spec.out if c in spec.left and c not in shared)
    cols = "".join(c for c in spec.out if c in spec.right and c not in shared)
    inner = spec.contracted

    def shape(*groups: str) -> tuple[int, ...]:
        return tuple(size[c] for c in shared) + tuple(math.prod(size[c] for c in g) for g in groups)

    order = reordering(shared + rows + cols, spec.out)
    made = tuple(size[c] for c in shared + rows + cols)

    finish = permuted(xp, order, reshaped(xp, made))
    if not rows and not cols:
        left = arrange(xp, spec.left, shared + inner, shape(inner))
        right = arrange(xp, spec.right, shared + inner, shape(inner))
        return _prepared(xp.vecdot, left, right, finish if order is not None else None)
    left = arrange(xp, spec.left, shared + rows + inner, shape(rows, inner))
    right = arrange(xp, spec.right, shared + inner + cols, shape(inner, cols))
    return _prepared(xp.matmul, left, right, finish)
