"""Block layout: between two leaves, the trailing axes that no relation restricts make dense blocks of one size.

An identity along these axes, such as a ridge, is written into the blocks that others have.

The pattern has one place for a whole block: it is shorter than the pattern of the entries by the size of a block. The
values of a block lie in one row, as the contraction leaves them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert import Fin
from hilbert.index.leaf import Entry
from hilbert.space.space import type_of
from linmap.matrices.labelled.columns import Labels, flat_positions, length
from linmap.matrices.labelled.labelled_products import NetworkFactor
from linmap.matrices.labelled.placed_entries import Layout, Piece, in_order, starts_of
from linmap.matrices.made.patterns import BlockCell, BlocksPattern, entry_type
from linmap.matrices.made.sparse_pattern import TabledProduct, laid_out, parts_of, spread
from linmap.matrices.network.to_arrays import in_blocks
from linmap.matrices.tables.table_builder import multiplied

if TYPE_CHECKING:
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
    size: Shape
    columns: tuple[Columns, ...] = field(eq=False)
    starts: tuple[int, ...]
    total: int
    layout: Layout = field(eq=False)

    @property
    def entries(self) -> int:
        """The number of entries in all blocks."""
        return len(self.layout.indices) * math.prod(self.size)


def block_pattern(n: Network, cod: Type, dom: Type) -> tuple[BlocksPattern, list[int], list[int]]:
    """The block layout of a net's matrix, the slots of the values of its parts, and those of its cells' blocks."""
    before = len(n.slots)
    places: dict[Shape, list[TabledProduct]] = {}
    for part in parts_of(n):
        places.setdefault((part.out, part.inp), []).append(part)
    entry = Entry(entry_type(cod, dom))
    cells, values, outputs = [], list[int](), list[int]()
    for at, here in places.items():
        shape = cod.leaves[at[0]].size, dom.leaves[at[1]].size
        if all(shape):
            cell = _cell(n, tuple(here), shape)
            values += [f.slot for part in cell.parts for f in part.product.factors]
            outputs.append(n.cast(_blocks(n, cell), entry))
            space = type_of(n.slots[outputs[-1]])
            cells.append(BlockCell(at, space, shape, cell.size, cell.layout.indptr, cell.layout.indices))
    n.release(before, outputs)
    return BlocksPattern((len(cod.leaves), len(dom.leaves)), tuple(cells)), values, outputs


def _cell(n: Network, parts: tuple[TabledProduct, ...], shape: Shape) -> Cell:
    """The blocks of the largest size that one part has; of the size that all have where those are mostly empty."""
    rows, cols = (min(_free(part, side(part)) for part in parts) for side in (_out, _inp))
    high, wide = (max(_free(part, side(part)) for part in parts) for side in (_out, _inp))
    cell = _cell_of(n, parts, shape, rows, cols)
    if (high, wide) == (rows, cols):
        return cell
    made = [p if _fits(p, high, wide) else _identity_blocks(n, p, high, wide) for p in parts]
    whole = tuple(part for part in made if part is not None)
    if len(whole) == len(parts):
        larger = _cell_of(n, whole, shape, high, wide)
        if larger.entries <= FULL * cell.entries:
            return larger
    return cell


def _cell_of(n: Network, parts: tuple[TabledProduct, ...], shape: Shape, rows: int, cols: int) -> Cell:
    """The cell with blocks of so many row axes and column axes."""
    columns, places = zip(*(_blocks_of(n, part, rows, cols) for part in parts), strict=True)
    size = n.size(_last(_out(parts[0]), rows)), n.size(_last(_inp(parts[0]), cols))
    grid = shape[0] // size[0], shape[1] // size[1]
    starts, row, col = starts_of(places)
    return Cell(parts, rows, cols, size, columns, tuple(starts), len(row), laid_out(row, col, grid))


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


def _identity_blocks(n: Network, part: TabledProduct, rows: int, cols: int) -> TabledProduct | None:
    """The part with its identity along the last axes as an array; None where something else restricts these axes."""
    p = part.product
    held = part.table.labels if part.table else ()
    tails = _last(p.out, rows), _last(p.inp, cols)
    shared = tuple(c for c in p.out if c in p.inp and c in tails[0] + tails[1])
    if any(c in held for c in tails[0] + tails[1]) or not all(c in tails[0] and c in tails[1] for c in shared):
        return None
    p = in_blocks(n, p, shared)
    value = multiplied(n, p.factors, tuple(dict.fromkeys(c for f in p.factors for c in f.labels)))
    return TabledProduct(p.but(factors=(value,)), part.out, part.inp)


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


def _blocks(n: Network, cell: Cell) -> int:
    """The slot of all blocks of a cell, in the order of the layout."""
    p = cell.parts[0].product
    inner = tuple([n.axes[c] for c in (*_last(p.out, cell.rows), *_last(p.inp, cell.cols))])
    each = zip(cell.parts, cell.columns, cell.starts, strict=True)
    return in_order(n, [_piece(n, cell, *one) for one in each], cell.layout, cell.total, inner)


def _piece(n: Network, cell: Cell, part: TabledProduct, columns: Columns, start: int) -> Piece:
    """The blocks of a part in the order of the enumeration, along the axes of a block."""
    p, index = part.product, Fin.of(length(columns))
    if not p.factors:
        return Piece(index, start, k=p.k)
    (f,) = p.factors
    inner = (*_last(p.out, cell.rows), *_last(p.inp, cell.cols))
    lead, kept = tuple(c for c in f.labels if c not in inner), tuple(c for c in inner if c in f.labels)
    row, slot = n.label(index), n.arranged(f, lead + kept)
    if lead:
        slot = n.taken(slot, n.index(lead), flat_positions(lead, columns, n.sizes), index)
    value = NetworkFactor(slot, ((row, *kept) if lead else kept))
    return Piece(index, start, n.scaled(p.k, n.spread(value, (row, *inner))))
