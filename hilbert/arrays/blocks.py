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
    from collections.abc import Callable

BLOCK = 1 << 17
"""Entries of a block (measured: 2¹⁵ to 2¹⁹ differ little)."""


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

    def some_rows(x: Any, y: Any) -> Any:
        x, y = x.transpose(order), y if second is None else second(y)
        out = np.empty((m, width), x.dtype)
        for i in range(0, n, step):
            block = x[i : i + step]
            np.matmul(block.reshape(-1, k), y, out=out[i * m // n : (i + len(block)) * m // n])
        return out

    def some_terms(x: Any, y: Any) -> Any:
        x, y = x.transpose(order), y if second is None else second(y)
        out = np.zeros((m, width), x.dtype)
        for i in range(0, n, step):
            block = x[i : i + step]
            out += block.reshape(-1, m).T @ y[i * k // n : (i + len(block)) * k // n]
        return out

    if a[0] == rows[:1]:
        return some_rows
    return some_terms if a[0] == inner[:1] and a[-1] in rows else None


def _count(labels: str, size: dict[str, int]) -> int:
    return math.prod(size[c] for c in labels)
