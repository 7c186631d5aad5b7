"""Block layout: between two leaves, the trailing axes that no relation restricts make dense blocks of one size.

The pattern has one place for a whole block: it is shorter than the pattern of the entries by the size of a block. The
values of a block lie in one row, as the contraction leaves them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import evolve, field, frozen

from hilbert.arrays.namespace import to_numpy
from linmap.matrices.network import Labels, Network, NetworkProduct
from linmap.matrices.sparse import (
    Layout,
    Part,
    entry_type,
    enumerate_pairs,
    flat_positions,
    laid_out,
    length,
    parts_of,
    scipy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type
    from linmap.matrices.sparse import Columns

Shape: TypeAlias = tuple[int, int]


@final
@frozen
class Cell:
    """All products between two leaves; `rows` and `cols` count the axes of a block, `size` is what they hold."""

    parts: tuple[Part, ...]
    rows: int
    cols: int
    shape: Shape
    size: Shape
    static: tuple[tuple[Columns, ...], Layout] | None = field(eq=False)


@final
@frozen
class BlockPattern:
    """The cells of a matrix by output leaf and input leaf, None where it is 0."""

    network: Network
    dtype: str
    cells: tuple[tuple[Cell | None, ...], ...]

    @property
    def entries(self) -> int:
        """How many entries there are; for dynamic relations, an upper bound."""
        return sum(_entries(self.network, cell) for row in self.cells for cell in row if cell is not None)

    def arrays(self, outputs: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        """A scipy BSR array for each cell, for the arrays that the line computed."""
        return tuple(
            tuple(None if cell is None else _bsr(self.network, cell, self.dtype, outputs) for cell in row)
            for row in self.cells
        )


def block_pattern(n: Network, cod: Type, dom: Type) -> tuple[BlockPattern, list[int]]:
    """The block layout of a net's matrix, and the slots that a line has to give for it."""
    parts, outputs = parts_of(n)
    cells = []
    for o, out in enumerate(cod.leaves):
        row: list[Cell | None] = []
        for i, inp in enumerate(dom.leaves):
            here = tuple(part for part in parts if (part.out, part.inp) == (o, i))
            row.append(_cell(n, here, (out.size, inp.size)) if here and out.size and inp.size else None)
        cells.append(tuple(row))
    return BlockPattern(n, entry_type(cod, dom), tuple(cells)), outputs


def _cell(n: Network, parts: tuple[Part, ...], shape: Shape) -> Cell:
    rows = min(_free(part, part.product.out) for part in parts)
    cols = min(_free(part, part.product.inp) for part in parts)
    p = parts[0].product
    size = n.size(_last(p.out, rows)), n.size(_last(p.inp, cols))
    cell = Cell(parts, rows, cols, shape, size, None)
    return cell if any(part.found for part in parts) else evolve(cell, static=_places(n, cell, ()))


def _free(part: Part, labels: Labels) -> int:
    """How many of the last labels nothing restricts: no relation, no index found, no other side of the matrix."""
    p = part.product
    held = {c for link in p.links for c in link.x + link.y} | {c for f, _ in part.found for c in f.labels}
    held |= set(p.out) & set(p.inp)
    held |= {c for side in (p.out, p.inp) for c in side if side.count(c) > 1}
    count = 0
    while count < len(labels) and labels[-1 - count] not in held:
        count += 1
    return count


def _first(labels: Labels, count: int) -> Labels:
    """All but the last."""
    return labels[: len(labels) - count]


def _last(labels: Labels, count: int) -> Labels:
    return labels[len(labels) - count :]


def _outer(p: NetworkProduct, cell: Cell) -> NetworkProduct:
    """The product without the axes of a block."""
    return evolve(p, out=_first(p.out, cell.rows), inp=_first(p.inp, cell.cols))


def _places(n: Network, cell: Cell, outputs: Sequence[Any]) -> tuple[tuple[Columns, ...], Layout]:
    """The place of each block."""
    columns = []
    rows, cols = [], []
    for part in cell.parts:
        p = _outer(part.product, cell)
        here = enumerate_pairs(n, p, {f: to_numpy(outputs[k]) for f, k in part.found})
        columns.append(here)
        rows.append(flat_positions(n, p.out, here))
        cols.append(flat_positions(n, p.inp, here))
    grid = cell.shape[0] // cell.size[0], cell.shape[1] // cell.size[1]
    return tuple(columns), laid_out(np.concatenate(rows), np.concatenate(cols), grid)


def _bsr(n: Network, cell: Cell, dtype: str, outputs: Sequence[Any]) -> Any:
    columns, layout = cell.static or _places(n, cell, outputs)
    parts = [_values(n, cell, part, here, outputs) for part, here in zip(cell.parts, columns, strict=True)]
    data = np.concatenate(parts) if len(parts) > 1 else parts[0]
    data = data if layout.order is None else data[layout.order]
    data = data if layout.starts is None else np.add.reduceat(data, layout.starts)
    made = scipy("sparse").bsr_array(
        (data.astype(dtype, copy=False), layout.indices, layout.indptr), shape=cell.shape, blocksize=cell.size
    )
    made.has_sorted_indices = made.has_canonical_format = True
    return made


def _values(n: Network, cell: Cell, part: Part, columns: Columns, outputs: Sequence[Any]) -> Any:
    """The blocks in the order of the enumeration, of shape (blocks, rows, columns)."""
    p = part.product
    inner = (*_last(p.out, cell.rows), *_last(p.inp, cell.cols))
    count = length(columns)
    full = (count, *(n.sizes[c] for c in inner))
    if part.values is None:
        return np.full((count, *cell.size), p.k)
    array = to_numpy(outputs[part.values])
    lead = tuple(c for c in part.labels if c not in inner)
    kept = tuple(c for c in inner if c in part.labels)
    array = np.transpose(array, [part.labels.index(c) for c in lead + kept])
    where = flat_positions(n, lead, {c: columns[c] for c in lead}) if lead else np.zeros(count, np.int64)
    flat = array.reshape(n.size(lead), *array.shape[len(lead) :])
    if not (count == len(flat) and np.array_equal(where, np.arange(count))):
        flat = flat[where]
    aligned = flat[(slice(None), *(slice(None) if c in kept else None for c in inner))]
    block = np.broadcast_to(aligned, full).reshape(count, *cell.size)
    block = block.astype(np.float64) if block.dtype == bool else block
    return block if p.k == 1.0 else block * p.k


def _entries(n: Network, cell: Cell) -> int:
    if cell.static:
        return len(cell.static[1].indices) * math.prod(cell.size)
    return sum(n.size(part.product.open) for part in cell.parts)
