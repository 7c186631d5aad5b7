"""Matrix products of views that BLAS cannot read, such as overlapping windows: copied and multiplied block by block.

A block fits into the cache, so that it is read from there, and its memory is used again for the next one: a copy of
the whole would be written to fresh memory and read back (a third of the time of a convolution, measured).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.by_labels import arrange, reordering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 1 << 17
"""Entries of a block (measured: 2¹⁵ to 2¹⁹ differ little)."""
FEW, MANY = 1 << 16, 1 << 20
"""A block is a product for each entry of its first axis, if that takes so many multiplications, and not one for all.

OpenBLAS copies no operands of products up to the second number where it has AVX-512 (measured: a third of the time
saved in double precision, a fifth in single; on older processors 6 % are lost). A call takes as long as the first.
"""


def by_blocks(
    a: str, b: str, rows: str, inner: str, cols: str, size: dict[str, int]
) -> Callable[[Any, Any], Any] | None:
    """The product of a large array with labels a and a matrix, rows by columns; None where a is small or in order.

    Blocks are cut along the first axis of a: each gives some of the rows, or adds to all of them.
    """
    n, entries = size[a[0]], math.prod(size[c] for c in a)
    step = max(1, BLOCK * n // max(entries, 1))
    if step >= n or a == rows + inner or not cols:
        return None
    order = reordering(a, rows + inner if a[0] == rows[:1] else inner + rows) or tuple(range(len(a)))
    second = arrange(np, b, inner + cols, (_count(inner, size), _count(cols, size)))
    m, k, width = _count(rows, size), _count(inner, size), _count(cols, size)

    def blocks(x: Any) -> Iterator[tuple[Any, int, int]]:
        """Each block in order, in the memory of the one before, and where it begins and ends."""
        x = x.transpose(order)
        own = np.empty((step, *x.shape[1:]), x.dtype)
        for i in range(0, n, step):
            j = min(i + step, n)
            block = own[: j - i]
            block[...] = x[i:j]
            yield block, i, j

    each = (m if a[0] in rows else k) // n
    shape = (-1, each) if FEW <= m * k * width // n <= MANY else (-1,)

    def some_rows(x: Any, y: Any) -> Any:
        y = y if second is None else second(y)
        out = np.empty((n, each, width), x.dtype)
        for block, i, j in blocks(x):
            np.matmul(block.reshape(*shape, k), y, out=out[i:j].reshape(*shape, width))
        return out

    def some_terms(x: Any, y: Any) -> Any:
        y = (y if second is None else second(y)).reshape(n, each, width)
        out = np.zeros((m, width), x.dtype)
        for block, i, j in blocks(x):
            terms = np.matmul(np.swapaxes(block.reshape(*shape, m), -1, -2), y[i:j].reshape(*shape, width))
            out += terms if len(shape) == 1 else terms.sum(0)
        return out

    if a[0] == rows[:1]:
        return some_rows
    return some_terms if a[0] == inner[:1] and a[-1] in rows else None


def _count(labels: str, size: dict[str, int]) -> int:
    return math.prod(size[c] for c in labels)
