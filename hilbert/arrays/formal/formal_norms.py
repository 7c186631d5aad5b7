"""The norm of a formal array, to rounding: by orthonormal factors, never by a difference of large Gram matrices.

With QR of each factor a block is an isometry applied to a small core, so that cancellation between terms is seen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from hilbert.arrays.formal.factors import product, real
from hilbert.arrays.formal.formal_array import Block, Formal, Memo, block, concatenated, same
from hilbert.arrays.formal.formal_kernels import RANKS, dense, inner
from hilbert.arrays.kernels.library import library
from hilbert.arrays.libraries.namespace import namespace, to_numpy
from hilbert.index.spec import ALPHABET

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hilbert.arrays.kernels.library import Library

CORE = 1 << 20
"""The largest core that is made; above it the norm comes from Gram matrices, to half the digits."""
CHUNK = 1 << 16
"""Entries of a piece of the whole array, where it has a dense part."""
ROUNDING = 64
"""Units in the last place, of the sum of the norms of all terms, that equal tensors may differ by."""


def norm(a: Formal) -> float:
    """‖a‖: the root of the sum of the squares of all entries."""
    if a.dense is not None:
        return math.sqrt(sum(_square(piece) for piece in _pieces(a)))
    blocks = _alike([b for b in a.blocks if b.rank])
    if not blocks:
        return 0.0
    whole = concatenated(blocks, Memo())
    lib = library(whole.arrays[0])
    cores = [_triangle(lib, array) if axes else array for array, axes in zip(whole.arrays, whole.axes, strict=True)]
    letters = iter(ALPHABET)
    labels = [RANKS[0] + (next(letters) if axes else "") for axes in whole.axes]
    out = "".join(text[1:] for text in labels)
    if math.prod(core.shape[1] for core in cores if core.ndim == 2) > CORE:
        return math.sqrt(max(inner(a, a), 0.0))
    core = product(lib, [real(c, text) for c, text in zip(cores, labels, strict=True)], out)
    return abs(float(whole.k)) * math.sqrt(_square(core))


def _square(array: Any) -> float:
    xp = namespace(array)
    flat = xp.reshape(array, (-1,))
    return float(xp.vecdot(flat, flat))


def _triangle(lib: Library, array: Any) -> Any:
    """An array (r, m) with the Gram matrix of a factor: its own entries, or the triangle of a QR decomposition."""
    rows = lib.xp.reshape(array, (array.shape[0], -1))
    return rows if rows.shape[1] <= rows.shape[0] else lib.triangle(rows.T).T


def _alike(blocks: list[Block]) -> list[Block]:
    """The blocks with one grouping, the finest that all of them refine: factors within a group are multiplied out."""
    if len({b.grouping for b in blocks}) <= 1:
        return blocks
    groups: list[set[int]] = []
    for axes in (set(axes) for b in blocks for axes in b.axes if axes):
        touching = [g for g in groups if g & axes]
        groups = [g for g in groups if not g & axes] + [axes.union(*touching)]
    return [_coarser(b, groups) for b in blocks]


def _coarser(b: Block, groups: Sequence[set[int]]) -> Block:
    lib = library(b.arrays[0])
    labels = [RANKS[0] + "".join(ALPHABET[k] for k in axes) for axes in b.axes]
    factors: list[tuple[Any, tuple[int, ...]]] = [(b.weights, ())] if b.weights is not None else []
    for group in groups:
        members = zip(b.arrays, labels, b.axes, strict=True)
        inside = [real(array, text) for array, text, axes in members if axes and set(axes) <= group]
        places = tuple(sorted(group))
        out = RANKS[0] + "".join(ALPHABET[k] for k in places)
        same_order = len(inside) == 1 and inside[0].labels == out
        factors.append((inside[0].array if same_order else product(lib, inside, out), places))
    return block(b.k, factors)


def _pieces(a: Formal) -> Iterator[Any]:
    """The whole array, in pieces along its longest axis."""
    if 0 in a.shape or not a.shape:
        yield dense(a)
        return
    at = max(range(len(a.shape)), key=a.shape.__getitem__)
    n = a.shape[at]
    step = max(1, CHUNK * n // math.prod(a.shape))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))

        def cut(array: Any, place: int, rows: slice = rows) -> Any:
            return array[(slice(None),) * place + (rows,)]

        blocks = tuple(
            block(b.k, [(cut(x, 1 + axes.index(at)) if at in axes else x, axes) for x, axes in _factors(b)])
            for b in a.blocks
        )
        yield dense(evolve(a, blocks=blocks, dense=cut(a.dense, at)))


def _factors(b: Block) -> Iterator[tuple[Any, tuple[int, ...]]]:
    return zip(b.arrays, b.axes, strict=True)


def terms_norm(a: Any) -> float:
    """The sum of the norms of all terms: the scale of rounding errors."""
    if not isinstance(a, Formal):
        return math.sqrt(_square(a))
    total = 0.0 if a.dense is None else math.sqrt(_square(a.dense))
    for b in a.blocks:
        lengths = np.ones(b.rank)
        for array in b.arrays:
            xp = namespace(array)
            rows = xp.reshape(array, (b.rank, -1 if array.size else 0))
            lengths = lengths * np.sqrt(to_numpy(xp.vecdot(rows, rows)))
        total += abs(float(b.k)) * float(lengths.sum())
    return total


def identical(a: Any, b: Any) -> bool:
    """Tell if two formal arrays are made of the same parts, entry by entry."""
    if not isinstance(a, Formal) or not isinstance(b, Formal) or len(a.blocks) != len(b.blocks):
        return False
    if any(x.axes != y.axes or float(x.k) != float(y.k) for x, y in zip(a.blocks, b.blocks, strict=True)):
        return False
    pairs = list(zip(a.parts, b.parts, strict=False))
    return len(a.parts) == len(b.parts) and all(same(x, y) or _entries(x, y) for x, y in pairs)


def _entries(x: Any, y: Any) -> bool:
    return x.shape == y.shape and bool(np.array_equal(to_numpy(x), to_numpy(y), equal_nan=True))
