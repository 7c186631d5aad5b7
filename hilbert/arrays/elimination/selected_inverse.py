"""Entries of the inverse of a matrix at its own places: in a narrow band by block cyclic reduction, or by all columns.

The matrix in a band is cut into blocks as wide as the band, so that it is block tridiagonal. A round eliminates every
other block; the inverse is found backwards. Rounds are few, and each works on all of its blocks at once: O(n·w³) for a
band of width w.

>>> import numpy as np
>>> a = np.diag([2.0, 3.0, 4.0]) + np.diag([1.0, 1.0], 1) + np.diag([1.0, 0.5], -1)
>>> rows, cols = np.nonzero(a)
>>> found = near_inverse(rows, cols, a[rows, cols], 3, 1)
>>> np.allclose(found, np.linalg.inv(a)[cols, rows])
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]

Blocks: TypeAlias = "tuple[Any, Any, Any]"
"""The blocks below the diagonal, on it, and above: block i of the first couples i to i − 1, of the last to i + 1."""

COLUMNS = 64
"""The columns that are solved for at once."""
ROW, ENTRY = 1e-8, 6e-10
"""Seconds for each row of a column, and for each entry of the factors."""


def seconds_by_columns(size: int, entries: int) -> float:
    """The predicted time by columns, for factors with so many entries."""
    return size * (ROW * size + ENTRY * entries)


def by_columns(solve: Callable[[Any], Any], rows: Ints, cols: Ints, values: Any, size: int) -> Any:
    """(A⁻¹)_ji for the places (i, j) of the entries of A, by the function that solves for rows."""
    made, order = np.empty_like(values), np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(0, size + COLUMNS, COLUMNS))
    for k, start in enumerate(range(0, size, COLUMNS)):
        some = order[ends[k] : ends[k + 1]]
        eye = np.zeros((min(COLUMNS, size - start), size), values.dtype)
        eye[np.arange(len(eye)), start + np.arange(len(eye))] = 1.0
        made[some] = solve(eye)[rows[some] - start, cols[some]]
    return made


def near_inverse(rows: Ints, cols: Ints, values: Any, size: int, width: int) -> Any:
    """(A⁻¹)_ji for the places (i, j) of the entries of A, which are at most `width` diagonals from the main one.

    Raises LinAlgError where a block that is to be eliminated is singular, though A need not be.
    """
    w = max(width, 1)
    count = -(-size // w)
    parts = [np.zeros((count, w, w), values.dtype) for _ in range(3)]
    beyond = np.arange(size, count * w)
    parts[1][beyond // w, beyond % w, beyond % w] = 1.0
    where = np.where(cols // w == rows // w, 1, np.where(cols < rows, 0, 2))
    for k, part in enumerate(parts):
        some = where == k
        part[rows[some] // w, rows[some] % w, cols[some] % w] = values[some]
    below, on, above = parts
    low, main, high = _inverse((below, on, above))
    made = np.empty_like(values)
    # (A⁻¹)_ji lies in the block row of j: for an entry below the diagonal of A that is a block above, of A⁻¹
    for k, part in ((0, high), (1, main), (2, low)):
        some = where == k
        made[some] = part[cols[some] // w, cols[some] % w, rows[some] % w]
    return made


def _inverse(blocks: Blocks) -> Blocks:
    """The blocks of the inverse at the places of the blocks."""
    below, on, above = blocks
    count = len(on)
    if count == 1:
        return below, np.linalg.inv(on), above
    odd, low, high = on[1::2], below[1::2], above[1::2]
    undone = np.linalg.inv(odd)
    to_low, to_high = undone @ low, undone @ high  # what an eliminated block has of the block before, and behind
    n, m = len(on[::2]), len(odd)
    from_even = above[: 2 * m : 2]  # of the block before an eliminated one
    back = below[2::2]  # of the block behind it
    left, mid, right = np.zeros_like(on[::2]), on[::2].copy(), np.zeros_like(on[::2])
    mid[:m] -= from_even @ to_low
    mid[1:] -= back @ to_high[: n - 1]
    right[: n - 1] = -from_even[: n - 1] @ to_high[: n - 1]
    left[1:] = -back @ to_low[: n - 1]
    s_left, s_mid, s_right = _inverse((left, mid, right))
    return _put_back(count, (s_left, s_mid, s_right), (to_low, to_high, undone, from_even, back))


def _put_back(count: int, kept: Blocks, gone: tuple[Any, ...]) -> Blocks:
    """The blocks of the inverse from those of every other block, and what was eliminated."""
    s_left, s_mid, s_right = kept
    to_low, to_high, undone, from_even, back = gone
    n, m = len(s_mid), len(undone)
    shape = (count, *s_mid.shape[1:])
    below, on, above = (np.zeros(shape, s_mid.dtype) for _ in range(3))
    behind = n - 1 if n <= m else m  # eliminated blocks with a block behind them
    by_low, by_high = from_even @ undone, back @ undone[: len(back)]
    # rows of the eliminated blocks, at the block before and at that behind
    row_low = -(to_low @ s_mid[:m])
    row_low[:behind] -= to_high[:behind] @ s_left[1 : behind + 1]
    row_high = -(to_low[:behind] @ s_right[:behind]) - to_high[:behind] @ s_mid[1 : behind + 1]
    # and columns
    col_low = -(s_mid[:m] @ by_low)
    col_low[:behind] -= s_right[:behind] @ by_high[:behind]
    col_high = -(s_left[1 : behind + 1] @ by_low[:behind]) - s_mid[1 : behind + 1] @ by_high[:behind]
    main = undone - row_low @ by_low
    main[:behind] -= row_high @ by_high[:behind]
    on[::2], on[1::2] = s_mid, main
    below[1::2], above[: 2 * m : 2] = row_low, col_low
    above[1 : 2 * behind : 2], below[2 : 2 * behind + 1 : 2] = row_high, col_high
    return below, on, above
