"""Matrix products of views that BLAS cannot read, such as overlapping windows: copied and multiplied block by block.

A block fits into the cache, so that it is read from there, and its memory is used again for the next one: a copy of
the whole would be written to fresh memory and read back (a third of the time of a convolution, measured).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.kernels.labelled_axes import arrange, reordering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 1 << 17
"""Entries of a block (measured: 2¹⁵ to 2¹⁹ differ little)."""
SHORT, MANY = 32, 10**6
"""A block is cut into equal products of at most MANY multiplications, large ones, each of SHORT rows or more.

OpenBLAS copies no operands of so small products where it has AVX-512 (measured: a third of the time saved in double
precision, a fifth in single). Elsewhere it copies the matrix for each of them (measured with AVX2: up to 3 % lost).
"""


def by_blocks(
    a: str, b: str, rows: str, inner: str, cols: str, size: dict[str, int]
) -> Callable[[Any, Any], Any] | None:
    """The product of a large array with labels a and a matrix, rows by columns; None where a is small or BLAS reads it.

    Blocks are cut along the first axis of a: each gives some of the rows, or adds to all of them.
    """
    n, entries = size[a[0]], math.prod(size[c] for c in a)
    step = max(1, BLOCK * n // max(entries, 1))
    transposed = a == inner + rows and len(a) == 2
    if step >= n or a == rows + inner or transposed or not cols:
        return None
    in_rows = a[0] in rows
    m, k, width = _count(rows, size), _count(inner, size), _count(cols, size)
    each = (m if in_rows else k) // n

    def products(entries: int) -> tuple[int, int]:
        """How many rows each product of a block of so many entries of the first axis has, and what it multiplies."""
        return _cut(entries * each, k * width) if in_rows else _cut(m, entries * each * width)

    step = max(range(max(step // 2, step - 7, 1), step + 1), key=lambda entries: (products(entries)[1], entries))
    high, last = (products(entries)[0] for entries in (step, n % step or step))
    order = reordering(a, rows + inner if a[0] == rows[:1] else inner + rows) or tuple(range(len(a)))
    second = arrange(np, b, inner + cols, (k, width))

    def blocks(x: Any) -> Iterator[tuple[Any, int, int]]:
        """Each block in order, in the memory of the one before, and where it begins and ends."""
        x = x.transpose(order)
        own = np.empty((step, *x.shape[1:]), x.dtype)
        for i in range(0, n, step):
            j = min(i + step, n)
            block = own[: j - i]
            block[...] = x[i:j]
            yield block, i, j

    def some_rows(x: Any, y: Any) -> Any:
        y = y if second is None else second(y)
        out = np.empty((n, each, width), x.dtype)
        for block, i, j in blocks(x):
            part = high if j - i == step else last
            shape = ((j - i) * each // part, part)
            np.matmul(block.reshape(*shape, k), y, out=out[i:j].reshape(*shape, width))
        return out.reshape(m, width)

    def some_terms(x: Any, y: Any) -> Any:
        y = (y if second is None else second(y)).reshape(n, each, width)
        out = np.zeros((m // high, high, width), x.dtype)
        for block, i, j in blocks(x):
            terms = (j - i) * each
            out += np.matmul(block.reshape(terms, *out.shape[:2]).transpose(1, 2, 0), y[i:j].reshape(terms, width))
        return out.reshape(m, width)

    if a[0] == rows[:1]:
        return some_rows
    return some_terms if a[0] == inner[:1] and a[-1] in rows else None


def _cut(rows: int, cost: int) -> tuple[int, int]:
    """The rows of each of several equal products of at most MANY multiplications, and the multiplications of each.

    `cost` is the multiplications of one row. All rows and 0 if no cut is found: 0 loses the comparison in `by_blocks`.
    """
    fewest = -(-rows * cost // MANY) or 1  # rounded up
    for count in range(fewest, 2 * fewest + 1):  # more would be products of less than half of MANY
        part = rows // count
        if part * count == rows and (count == 1 or part >= SHORT) and part * cost <= MANY:
            return part, part * cost
    return rows, 0


def _count(labels: str, size: dict[str, int]) -> int:
    return math.prod(size[c] for c in labels)
