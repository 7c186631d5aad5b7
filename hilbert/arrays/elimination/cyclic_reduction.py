"""Entries of the inverse of a matrix at its own places: in a narrow band, by block cyclic reduction.

The matrix in a band is cut into blocks as wide as the band, so that it is block tridiagonal. A round eliminates every
other block; the inverse is found backwards. Rounds are few, and each works on all of its blocks at once: O(n·w³) for a
band of width w.

No rows are exchanged. Where an eliminated block D is so small that what is left would grow, c is added to its diagonal:
with these unknowns in the columns of E, A + E c Eᵀ is inverted, and A⁻¹ follows from some columns and rows of itself:

    A⁻¹ = (A + E c Eᵀ)⁻¹ + Y (c⁻¹ + Eᵀ Y)⁻¹ Wᵀ,    Y = A⁻¹ E,    Wᵀ = Eᵀ A⁻¹.

>>> import numpy as np
>>> from hilbert.arrays.elimination.kept_factors import Factors
>>> a = np.diag([2.0, 3.0, 4.0]) + np.diag([1.0, 1.0], 1) + np.diag([1.0, 0.5], -1)
>>> rows, cols = np.nonzero(a)
>>> found = near_inverse(rows, cols, a[rows, cols], 3, 1, None, Factors)
>>> np.allclose(found, np.linalg.inv(a)[cols, rows])
True
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from hilbert.arrays.elimination.selected_inverse import COLUMNS, most_growth

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]

Blocks: TypeAlias = "tuple[Any, Any, Any]"
"""The blocks below the diagonal, on it, and above: block i of the first couples i to i − 1, of the last to i + 1."""

MANY, SIDES = 4, 2**26
"""At most one unknown in so many has a number added; columns of these with so many entries are few."""


def near_inverse(
    rows: Ints, cols: Ints, values: Any, size: int, width: int, order: Ints | None, made_of: Callable[[Any], Any]
) -> Any:
    """(A⁻¹)_ji for the places (i, j) of the entries of A, at most `width` diagonals from the main one in an order.

    The entries are at most 1. `made_of` makes the factors of A, if needed. Raises LinAlgError where digits are lost.
    """
    order = np.arange(size) if order is None else order
    place = np.empty_like(order)
    place[order] = np.arange(size)
    w, most = max(width, 1), most_growth(values)
    few = min(size // MANY, SIDES // size)
    for wider, growth, count in (0, most, few), (1, most, few), (0, most**1.5, size // MANY):
        added = _Added(size, w + wider, growth, count)
        with suppress(np.linalg.LinAlgError):
            found = _near(place[rows], place[cols], values, size, added)
            break
    else:
        msg = "too many blocks are small"
        raise np.linalg.LinAlgError(msg)
    if not added.numbers:
        return found
    some, solve = order[np.concatenate(added.numbers)], made_of(values).solve

    def columns(parts: Any, is_row: bool) -> Any:  # noqa: FBT001 - see `Factors`
        """Columns of the inverse that belong to the unknowns, or rows, by the parts that each of them has."""
        b = np.zeros((len(parts), size), values.dtype)
        b[:, some] = parts
        return solve(b, is_row)

    eye, made = np.eye(len(some), dtype=values.dtype), found.copy()
    pieces = [slice(k, k + COLUMNS) for k in range(0, len(some), COLUMNS)]
    y = np.concatenate([columns(eye[piece], False)[:, some] for piece in pieces])  # noqa: FBT003 - see above
    left = np.linalg.inv(np.diag(1.0 / np.concatenate(added.amounts)) + y.T)
    for piece in pieces:
        of_y, wt = columns(left[:, piece].T, False), columns(eye[piece], True)  # noqa: FBT003 - see above
        for column, row in zip(of_y, wt, strict=True):  # one by one, for room
            made += column.take(cols) * row.take(rows)
    if not np.abs(found).max() <= most * np.abs(made).max():
        msg = "A + E c Eᵀ is nearly singular"
        raise np.linalg.LinAlgError(msg)
    return made


def _near(rows: Ints, cols: Ints, values: Any, size: int, added: _Added) -> Any:
    """The entries of the inverse, of the matrix with what is added."""
    w = added.width
    count = -(-size // w)
    parts = [np.zeros((count, w, w), values.dtype) for _ in range(3)]
    beyond = np.arange(size, count * w)
    parts[1][beyond // w, beyond % w, beyond % w] = 1.0
    where = np.where(cols // w == rows // w, 1, np.where(cols < rows, 0, 2))
    for k, part in enumerate(parts):
        some = where == k
        part[rows[some] // w, rows[some] % w, cols[some] % w] = values[some]
    below, on, above = parts
    low, main, high = _inverse((below, on, above), np.arange(count), added)
    made = np.empty_like(values)
    # (A⁻¹)_ji lies in the block row of j: for an entry below the diagonal of A that is a block above, of A⁻¹
    for k, part in ((0, high), (1, main), (2, low)):
        some = where == k
        made[some] = part[cols[some] // w, cols[some] % w, rows[some] % w]
    return made


@final
class _Added:
    """At most so many unknowns on whose diagonal a number is added, of blocks where more than `growth` is taken."""

    def __init__(self, size: int, width: int, growth: float, most: int) -> None:
        self.size, self.width, self.growth, self.most = size, width, growth, most
        self.numbers, self.amounts = list[Any](), list[Any]()

    def to(self, blocks: Any, numbers: Ints, amounts: Any) -> Any:
        """Blocks with amounts added, which have numbers in the matrix; LinAlgError where they are too many."""
        unknowns = numbers[:, None] * self.width + np.arange(self.width)
        there, amounts = unknowns < self.size, np.broadcast_to(amounts[:, None], unknowns.shape)
        self.numbers.append(unknowns[there])
        self.amounts.append(amounts[there])
        if sum(map(len, self.numbers)) > self.most:
            msg = "many blocks are small"
            raise np.linalg.LinAlgError(msg)
        return blocks + (amounts * there)[:, :, None] * np.eye(self.width, dtype=blocks.dtype)


def _undone(blocks: Any) -> Any:
    """The inverses of blocks, with NaN where one is singular."""
    try:
        return np.linalg.inv(blocks)
    except np.linalg.LinAlgError:
        made, regular = np.full_like(blocks, np.nan), np.linalg.slogdet(blocks)[0] != 0
        made[regular] = np.linalg.inv(blocks[regular])
        return made


def _inverse(blocks: Blocks, numbers: Ints, added: _Added) -> Blocks:
    """The blocks of the inverse at the places of the blocks, which have numbers in the matrix."""
    below, on, above = blocks
    count = len(on)
    if count == 1:
        return below, np.linalg.inv(on), above
    odd, low, high = on[1::2], below[1::2], above[1::2]
    n, m = len(on[::2]), len(odd)
    from_even = above[: 2 * m : 2]  # of the block before an eliminated one
    back = below[2::2]  # of the block behind it
    undone = _undone(odd)
    for is_last in (False, True):
        to_low, to_high = undone @ low, undone @ high  # what an eliminated block has of the block before, and behind
        taken = (
            from_even @ to_low,
            back @ to_high[: n - 1],
            from_even[: n - 1] @ to_high[: n - 1],
            back @ to_low[: n - 1],
        )
        grown = np.zeros(m, bool)
        for part in taken:
            grown[: len(part)] |= ~(np.abs(part).max(axis=(1, 2), initial=0.0) <= added.growth)
        some = np.flatnonzero(grown)
        if not len(some):
            break
        if is_last:
            msg = "digits are lost without exchanges of rows"
            raise np.linalg.LinAlgError(msg)
        largest = np.ones(m, on.dtype)
        for part in (low, high, from_even, back):
            largest[: len(part)] = np.maximum(largest[: len(part)], np.abs(part).max(axis=(1, 2)))
        undone[some] = _undone(added.to(odd[some], numbers[1::2][some], largest[some]))
    left, mid, right = np.zeros_like(on[::2]), on[::2].copy(), np.zeros_like(on[::2])
    mid[:m] -= taken[0]
    mid[1:] -= taken[1]
    right[: n - 1] = -taken[2]
    left[1:] = -taken[3]
    s_left, s_mid, s_right = _inverse((left, mid, right), numbers[::2], added)
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
