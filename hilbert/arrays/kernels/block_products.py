"""Matrix products of views that BLAS cannot read, such as overlapping windows: copied and multiplied block by block.

A block fits into the cache, so that it is read from there, and its memory is used again for the next one: a copy of
the whole would be written to fresh memory and read back (a third of the time of a convolution, measured).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.arrays.kernels.labelled_axes import arrange, reordering, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 1 << 17
"""Entries of a block (measured: 2¹⁵ to 2¹⁹ differ little)."""
SHORT, MANY = 32, 10**6
"""Limits of the equal products that a block is cut into: at least SHORT rows, at most MANY multiplications.

OpenBLAS copies no operands of so small products where it has AVX-512 (measured: a third of the time saved in double
precision, a fifth in single). Elsewhere it copies the matrix for each of them (measured with AVX2: up to 3 % lost).
"""


@final
@frozen
class _Blocks:
    """An m × k matrix times a k × width one, cut into blocks of `step` of the n entries of the first axis.

    An entry is `each` rows of the first matrix, or `each` columns of it. `parts` has the number of rows of each of the
    equal products of a block, for a block of so many entries.
    """

    n: int
    each: int
    width: int
    step: int
    parts: dict[int, int]

    def of(self, x: Any) -> Iterator[tuple[Any, int, int]]:
        """Each block of an array in order, in the memory of the one before, and where it begins and ends."""
        own = np.empty((self.step, *x.shape[1:]), x.dtype)
        for i in range(0, self.n, self.step):
            j = min(i + self.step, self.n)
            block = own[: j - i]
            block[...] = x[i:j]
            yield block, i, j

    def rows(self, x: Any, y: Any) -> Any:
        """The product, some rows by each block."""
        out = np.empty((self.n, self.each, self.width), x.dtype)
        for block, i, j in self.of(x):
            part = self.parts[j - i]
            shape = ((j - i) * self.each // part, part)
            np.matmul(block.reshape(*shape, len(y)), y, out=out[i:j].reshape(*shape, self.width))
        return out.reshape(-1, self.width)

    def terms(self, x: Any, y: Any, m: int) -> Any:
        """The product, a term of all m rows by each block."""
        y = y.reshape(self.n, self.each, self.width)
        part = self.parts[self.step]
        out = np.zeros((m // part, part, self.width), x.dtype)
        for block, i, j in self.of(x):
            terms = (j - i) * self.each
            factor = block.reshape(terms, *out.shape[:2]).transpose(1, 2, 0)
            out += np.matmul(factor, y[i:j].reshape(terms, self.width))
        return out.reshape(m, self.width)


def by_blocks(
    a: str, b: str, rows: str, inner: str, cols: str, size: dict[str, int]
) -> Callable[[Any, Any], Any] | None:
    """The product of a large array with labels a and a matrix, rows by columns; None where a is small or BLAS reads it.

    Blocks are cut along the first axis of a: each gives some of the rows, or adds to all of them.
    """
    n, entries = size[a[0]], math.prod(size[c] for c in a)
    most = max(1, BLOCK * n // max(entries, 1))
    is_matrix = a == rows + inner or (a == inner + rows and len(a) == 2)
    if most >= n or is_matrix or not cols:
        return None
    m, k, width = _count(rows, size), _count(inner, size), _count(cols, size)
    in_rows, first = a[0] in rows, a[0] == rows[:1]
    each = (m if in_rows else k) // n

    def products(entries: int) -> tuple[int, int]:
        """The number of rows of each product of a block of so many entries, and the number of its multiplications."""
        return _cut(entries * each, k * width) if in_rows else _cut(m, entries * each * width)

    step = max(range(max(most // 2, most - 7, 1), most + 1), key=lambda entries: (products(entries)[1], entries))
    parts = {entries: products(entries)[0] for entries in (step, n % step or step)}
    blocks = _Blocks(n, each, width, step, parts)
    order = reordering(a, rows + inner if first else inner + rows) or tuple(range(len(a)))
    second = arrange(np, b, inner + cols, (k, width)) or same
    if first:
        return lambda x, y: blocks.rows(x.transpose(order), second(y))
    if a[0] == inner[:1] and a[-1] in rows:
        return lambda x, y: blocks.terms(x.transpose(order), second(y), m)
    return None


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
