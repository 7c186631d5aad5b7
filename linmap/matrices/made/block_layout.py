"""Block layout: between two leaves, the trailing axes that no relation restricts make dense blocks of one size.

An identity along these axes, such as a ridge, is written into the blocks that others have.

The pattern has one place for a whole block: it is shorter than the pattern of the entries by the size of a block. The
values of a block lie in one row, as the contraction leaves them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert.arrays.libraries.namespace import to_numpy
from linmap.matrices.labelled.columns import Labels, flat_positions, length
from linmap.matrices.made.sparse_pattern import Layout, TabledProduct, entry_type, laid_out, parts_of, scipy, spread
from linmap.matrices.network.to_arrays import in_blocks
from linmap.matrices.tables.table_builder import multiplied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type
    from linmap.matrices.labelled.columns import Columns, Ints
    from linmap.matrices.network.network import Network

Shape: TypeAlias = tuple[int, int]
FULL = 3
"""Larger blocks are taken where they are over a third full."""


@final
@frozen
class Cell:
    """All products between two leaves; `rows` and `cols` count the axes of a block, `size` is what they hold."""

    parts: tuple[TabledProduct, ...]
    rows: int
    cols: int
    shape: Shape
    size: Shape
    columns: tuple[Columns, ...] = field(eq=False)
    layout: Layout = field(eq=False)


@final
@frozen
class BlockPattern:
    """The cells of a matrix by output leaf and input leaf, where it is not 0."""

    network: Network
    dtype: str
    shape: Shape
    cells: dict[Shape, Cell]

    @property
    def entries(self) -> int:
        """The number of entries in all blocks."""
        return sum(map(_entries, self.cells.values()))

    def arrays(self, outputs: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        """A scipy BSR array for each cell, for the arrays that the line computed."""
        rows: list[list[Any]] = [[None] * self.shape[1] for _ in range(self.shape[0])]
        for (o, i), cell in self.cells.items():
            rows[o][i] = _bsr(self.network, cell, self.dtype, outputs)
        return tuple(map(tuple, rows))


def block_pattern(n: Network, cod: Type, dom: Type) -> tuple[BlockPattern, list[int]]:
    """The block layout of a net's matrix, and the slots that a line has to give for it."""
    parts, outputs = parts_of(n)
    places: dict[Shape, list[TabledProduct]] = {}
    for part in parts:
        places.setdefault((part.out, part.inp), []).append(part)
    cells = {}
    for (o, i), here in places.items():
        shape = cod.leaves[o].size, dom.leaves[i].size
        if all(shape):
            cells[o, i] = _cell(n, tuple(here), shape, outputs)
    return BlockPattern(n, entry_type(cod, dom), (len(cod.leaves), len(dom.leaves)), cells), outputs


def _cell(n: Network, parts: tuple[TabledProduct, ...], shape: Shape, outputs: list[int]) -> Cell:
    """The blocks of the largest size that one part has; of the size that all have where those are mostly empty."""
    rows, cols = (min(_free(part, side(part)) for part in parts) for side in (_out, _inp))
    high, wide = (max(_free(part, side(part)) for part in parts) for side in (_out, _inp))
    cell = _cell_of(n, parts, shape, rows, cols)
    if (high, wide) == (rows, cols):
        return cell
    before = len(outputs)
    made = [p if _fits(p, high, wide) else _identity_blocks(n, p, high, wide, outputs) for p in parts]
    whole = tuple(part for part in made if part is not None)
    if len(whole) == len(parts):
        larger = _cell_of(n, whole, shape, high, wide)
        if _entries(larger) <= FULL * _entries(cell):
            return larger
    del outputs[before:]
    return cell


def _cell_of(n: Network, parts: tuple[TabledProduct, ...], shape: Shape, rows: int, cols: int) -> Cell:
    """The cell with blocks of so many row axes and column axes."""
    columns, places = zip(*(_blocks_of(n, part, rows, cols) for part in parts), strict=True)
    size = n.size(_last(_out(parts[0]), rows)), n.size(_last(_inp(parts[0]), cols))
    grid = shape[0] // size[0], shape[1] // size[1]
    row, col = (np.concatenate(side) for side in zip(*places, strict=True))
    return Cell(parts, rows, cols, shape, size, columns, laid_out(row, col, grid))


def _out(part: TabledProduct) -> Labels:
    return part.product.out


def _inp(part: TabledProduct) -> Labels:
    return part.product.inp


def _fits(part: TabledProduct, rows: int, cols: int) -> bool:
    """Tell if the last `rows` labels of the output and the last `cols` of the input are free."""
    return _free(part, _out(part)) >= rows and _free(part, _inp(part)) >= cols


def _blocks_of(n: Network, part: TabledProduct, rows: int, cols: int) -> tuple[Columns, tuple[Ints, Ints]]:
    """The labels of the blocks of one product, and their places in the grid."""
    out, inp = _first(_out(part), rows), _first(_inp(part), cols)
    held = part.table.labels if part.table else ()
    here = spread(n, part.table, tuple(c for c in dict.fromkeys(out + inp) if c not in held))
    if part.table:
        here[part.table.row] = np.arange(part.table.count).repeat(length(here) // max(part.table.count, 1))
    return here, (flat_positions(out, here, n.sizes), flat_positions(inp, here, n.sizes))


def _identity_blocks(n: Network, part: TabledProduct, rows: int, cols: int, outputs: list[int]) -> TabledProduct | None:
    """The part with its identity along the last axes as an array; None where something else restricts these axes."""
    p = part.product
    held = part.table.labels if part.table else ()
    tails = _last(p.out, rows), _last(p.inp, cols)
    shared = tuple(c for c in p.out if c in p.inp and c in tails[0] + tails[1])
    if any(c in held for c in tails[0] + tails[1]) or not all(c in tails[0] and c in tails[1] for c in shared):
        return None
    p = in_blocks(n, p, shared)
    value = multiplied(n, p.factors, tuple(dict.fromkeys(c for f in p.factors for c in f.labels)))
    outputs.append(value.slot)
    return TabledProduct(p.but(factors=(value,)), part.out, part.inp, len(outputs) - 1)


def _free(part: TabledProduct, labels: Labels) -> int:
    """The number of last labels that nothing restricts: no table, and not the other side of the matrix."""
    p = part.product
    held = {*(part.table.labels if part.table else ()), *(set(p.out) & set(p.inp))}
    count = 0
    while count < len(labels) and labels[-1 - count] not in held:
        count += 1
    return count


def _first(labels: Labels, count: int) -> Labels:
    """All labels but the last `count`."""
    return labels[: len(labels) - count]


def _last(labels: Labels, count: int) -> Labels:
    return labels[len(labels) - count :]


def _bsr(n: Network, cell: Cell, dtype: str, outputs: Sequence[Any]) -> Any:
    layout = cell.layout
    parts = [_values(n, cell, part, here, outputs) for part, here in zip(cell.parts, cell.columns, strict=True)]
    data = np.concatenate(parts) if len(parts) > 1 else parts[0]
    data = data if layout.order is None else data[layout.order]
    data = data if layout.starts is None else np.add.reduceat(data, layout.starts)
    made = scipy("sparse").bsr_array(
        (data.astype(dtype, copy=False), layout.indices, layout.indptr), shape=cell.shape, blocksize=cell.size
    )
    made.has_sorted_indices = made.has_canonical_format = True
    return made


def _values(n: Network, cell: Cell, part: TabledProduct, columns: Columns, outputs: Sequence[Any]) -> Any:
    """The blocks in the order of the enumeration, of shape (blocks, rows, columns)."""
    p = part.product
    inner = (*_last(p.out, cell.rows), *_last(p.inp, cell.cols))
    count = length(columns)
    full = (count, *(n.sizes[c] for c in inner))
    if part.values is None:
        return np.full((count, *cell.size), p.k)
    (f,) = p.factors
    array = to_numpy(outputs[part.values])
    lead = tuple(c for c in f.labels if c not in inner)
    kept = tuple(c for c in inner if c in f.labels)
    array = np.transpose(array, [f.labels.index(c) for c in lead + kept])
    where = flat_positions(lead, columns, n.sizes) if lead else np.zeros(count, np.int64)
    flat = array.reshape(n.size(lead), *array.shape[len(lead) :])
    if not (count == len(flat) and np.array_equal(where, np.arange(count))):
        flat = flat[where]
    aligned = flat[(slice(None), *(slice(None) if c in kept else None for c in inner))]
    block = np.broadcast_to(aligned, full).reshape(count, *cell.size)
    return block if p.k == 1.0 else block * p.k


def _entries(cell: Cell) -> int:
    return len(cell.layout.indices) * math.prod(cell.size)
