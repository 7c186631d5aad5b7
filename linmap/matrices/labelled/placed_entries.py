"""Arrays put at their places in one array, as steps: side by side, and then in the order of a sparse matrix."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from hilbert import Fin, Unit
from hilbert.index.leaf import Entry, Leaf
from hilbert.relation import Inclusion
from linmap.matrices.labelled.columns import Ints
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Index, Type
    from hilbert.program.line.builder import Builder
    from linmap.matrices.labelled.contractor import Contractor

FEW = 64
"""The most pieces that are looked at for even places."""
Places: TypeAlias = tuple[Ints, Ints]
"""The row and the column of each entry of a part."""


@final
@frozen
class Layout:
    """CSR pointers for the entries of all parts in their order; `starts` where entries coincide and are added."""

    indptr: npt.NDArray[np.signedinteger[Any]]
    indices: npt.NDArray[np.signedinteger[Any]]
    order: Ints | None
    starts: Ints | None


@final
@frozen
class Piece:
    """An array whose first axes are those of `source`, or the number `k` in its place, from `start` on by a stride."""

    source: Index
    start: int
    slot: int | None = None
    k: float = 1.0
    stride: int = 1

    @property
    def places(self) -> slice:
        """The places of its entries."""
        return slice(self.start, self.start + self.source.size * self.stride, self.stride)

    def moved(self, places: Ints) -> Piece | None:
        """The piece where all places are moved; None where its own are not evenly spaced, and ascending, then."""
        found = places[self.places]
        start, stride = (int(found[0]), int(found[1] - found[0])) if len(found) > 1 else (int(found.sum()), 1)
        even = stride > 0 and np.array_equal(found, np.arange(start, start + len(found) * stride, stride))
        return evolve(self, start=start, stride=stride) if even else None


def starts_of(places: Sequence[Places]) -> tuple[list[int], Ints, Ints]:
    """The start of each part where all stand side by side, and the rows and columns there.

    Parts with the same places have one start: they are added before anything is put in order.
    """
    starts: list[int] = []
    rows: list[Ints] = []
    cols: list[Ints] = []
    total = 0
    first: dict[tuple[int, bytes, bytes], list[int]] = {}
    for k, (row, col) in enumerate(places):
        step = len(row) // 16 + 1
        alike = first.setdefault((len(row), row[::step].tobytes(), col[::step].tobytes()), [])
        same = [j for j in alike if np.array_equal(row, places[j][0]) and np.array_equal(col, places[j][1])]
        starts.append(starts[same[0]] if same else total)
        if not same:
            alike.append(k)
            rows.append(row)
            cols.append(col)
            total += len(row)
    return starts, _joined(rows), _joined(cols)


def _joined(places: Sequence[Ints]) -> Ints:
    """Arrays one after the other; one alone is not copied."""
    return places[0] if len(places) == 1 else np.concatenate([np.zeros(0, np.int32), *places])


def side_by_side(n: Contractor, pieces: Sequence[Piece], whole: Index, inner: tuple[Index, ...]) -> int:
    """The slot of all pieces in one array along first axes, those at the same places added; 0 between them."""
    axes = (*whole.axes, *inner)
    arrays = [None if piece.slot is None else n.known(piece.slot) for piece in pieces]
    known = [(p, array) for p, array in zip(pieces, arrays, strict=True) if p.slot is None or array is not None]
    total = None
    if known or not pieces:
        base = np.zeros([axis.size for axis in (whole, *inner)], n.base.dtype)
        for piece, array in known:
            part = base[piece.places]
            part += piece.k if array is None else array.reshape(part.shape)
        total = n.constant(base, tuple(map(n.label, axes))).slot
    for piece, array in zip(pieces, arrays, strict=True):
        if piece.slot is not None and array is None:
            slot = placed(n, piece.slot, piece, whole, 0)
            total = slot if total is None else n.added(total, slot)
    assert total is not None  # without pieces there are zeros
    return total


def placed(n: Contractor, slot: int, piece: Piece, whole: Index, at: int) -> int:
    """The slot of an array's entries at the places of a piece along the axes from `at` on."""
    if piece.source == whole and not piece.start:
        return slot
    operation = wire.Reduce(Inclusion(piece.source, whole, piece.start, piece.stride), at)
    return n.emit(operation, (slot,), operation.image(n.slots[slot]))


def in_order(n: Contractor, pieces: Sequence[Piece], layout: Layout, total: int, inner: tuple[Index, ...]) -> int:
    """The slot of the entries of all pieces in the order of a sparse matrix, those that coincide added."""
    whole = Fin.of(total)
    if layout.starts is None and layout.order is None:
        return side_by_side(n, pieces, whole, inner)
    count = total if layout.starts is None else len(layout.starts)
    places = np.arange(total)
    if layout.starts is not None:
        places = np.repeat(np.arange(count), np.diff(layout.starts, append=total))
    if layout.order is not None:
        sorted_, places = places, np.empty_like(places)
        places[layout.order] = sorted_
    moved = [piece.moved(places) for piece in pieces] if len(pieces) <= FEW else [None]
    even = [piece for piece in moved if piece is not None]
    if len(even) == len(pieces):  # each is added at its own places, and nothing is put in order
        return side_by_side(n, even, Fin.of(count), inner)
    slot = side_by_side(n, pieces, whole, inner)
    if layout.starts is None:
        return n.taken(slot, whole, layout.order, whole)
    return n.summed(slot, whole, places, Fin.of(count))


def together(b: Builder, grid: Sequence[Sequence[int | None]], cod: Type, dom: Type, dtype: str) -> int:
    """The slot of a matrix from those of its blocks, which have the axes of a leaf of the codomain, then the domain's.

    None stands for a block of zeros.
    """
    rows, cols = Fin.of(cod.dim), Fin.of(dom.dim)
    whole, entry, down = None, Entry(dtype), 0
    for out, row in zip(cod.leaves, grid, strict=True):
        line, right = None, 0
        for inp, slot in zip(dom.leaves, row, strict=True):
            if slot is not None:
                placed_ = b.apply(wire.Reduce(Inclusion(index_of(inp.axes), cols, right), len(out.axes)), slot)
                line = placed_ if line is None else b.add(line, placed_)
            right += inp.size
        if line is not None:
            line = b.apply(wire.Reduce(Inclusion(index_of(out.axes), rows, down), 0), line)
            whole = line if whole is None else b.add(whole, line)
        down += out.size
    return b.number(0.0, Leaf(entry, (rows, cols))) if whole is None else whole


def index_of(axes: Sequence[Index]) -> Index:
    """The index set of some axes together."""
    return reduce(mul, axes) if axes else Unit()
