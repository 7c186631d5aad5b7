"""The pattern of a matrix, enumerated from its products: no entry that the term does not prove possible is visited.

Each product is brought into the form of one table, whose rows are entries, or blocks of them that run freely. The
pattern (CSR pointers, sorted order, entries that coincide) is worked out once for each term; where a relation is found
at the point, once for each table of positions in a row.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.base.sizes import addressable
from hilbert.index.leaf import Entry
from linmap.matrices.labelled.columns import (
    NARROW,
    Columns,
    Ints,
    Labels,
    codes,
    divided,
    first_of_equal,
    flat_positions,
    is_ordered,
)
from linmap.matrices.labelled.labelled_products import LabelTable, NetworkProduct
from linmap.matrices.labelled.placed_entries import Layout, Piece, in_order, starts_of
from linmap.matrices.made.patterns import SparsePattern, entry_type
from linmap.matrices.tables.diagonal_sides import diagonal_sides
from linmap.matrices.tables.tables import tabled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type
    from linmap.matrices.network.network import Network


@final
@frozen
class TabledProduct:
    """One product with one table and at most one factor, from input leaf `inp` to output leaf `out`."""

    product: NetworkProduct
    out: int
    inp: int

    @property
    def table(self) -> LabelTable | None:
        """The table, if some labels are restricted."""
        return self.product.tables[0] if self.product.tables else None

    @property
    def free(self) -> Labels:
        """The open labels that nothing restricts."""
        held = self.table.labels if self.table else ()
        return tuple(c for c in self.product.open if c not in held)


def parts_of(n: Network) -> tuple[TabledProduct, ...]:
    """All products of a net that are not 0, each with one table, and the slot of its values."""
    parts: list[TabledProduct] = []
    for (o, i), products in n.blocks.items():
        for p in products:
            q = diagonal_sides(n, tabled(n, p, ()))
            if q.k:
                parts.append(TabledProduct(q.but(factors=tuple(map(n.in_full, q.factors))), o, i))
    n.fix()
    return tuple(parts)


def pattern(n: Network, cod: Type, dom: Type) -> tuple[SparsePattern, list[int], int]:
    """The pattern of a net's matrix, the slots of the values of its parts, and that of all entries in their order."""
    before = len(n.slots)
    parts, dtype = parts_of(n), entry_type(cod, dom)
    rows, cols = offsets(cod), offsets(dom)
    kind = np.int32 if max(rows[-1], cols[-1]) < NARROW else np.int64
    starts, row, col = starts_of([_places(n, part, rows, cols, kind) for part in parts])
    layout = laid_out(row, col, (rows[-1], cols[-1]))
    pieces = [_piece(n, part, start) for part, start in zip(parts, starts, strict=True)]
    slot = n.cast(in_order(n, pieces, layout, len(row), ()), Entry(dtype))
    n.release(before, [slot])
    made = SparsePattern((rows[-1], cols[-1]), layout.indptr, layout.indices, dtype)
    return made, [f.slot for part in parts for f in part.product.factors], slot


def _piece(n: Network, part: TabledProduct, start: int) -> Piece:
    """The values of a part's entries, by the rows of its table and then by its free labels."""
    labels = ((part.table.row,) if part.table else ()) + part.free
    p, source = part.product, n.index(labels)
    if not p.factors:
        return Piece(source, start, k=p.k)
    return Piece(source, start, n.scaled(p.k, n.spread(p.factors[0], labels)))


def _places(n: Network, part: TabledProduct, rows: Sequence[int], cols: Sequence[int], kind: type) -> tuple[Ints, Ints]:
    """The row and the column of each entry: for each tuple of the table every combination of the free labels."""
    columns, p = spread(n, part.table, part.free), part.product
    row, col = (flat_positions(labels, columns, n.sizes, kind) for labels in (p.out, p.inp))
    down, right = rows[part.out], cols[part.inp]
    return row + down if down else row, col + right if right else col


def spread(n: Network, table: LabelTable | None, free: Labels) -> Columns:
    """The tuples of a table, each with every combination of some other labels."""
    count, size = (table.count if table else 1), n.size(free)
    columns = dict(zip(table.labels, table.columns, strict=True)) if table else {}
    if not free:
        return columns
    columns = {c: x.repeat(size) for c, x in columns.items()}
    addressable(count * size, "the pattern of a sparse matrix")
    position = np.tile(np.arange(size), count)
    for c in reversed(free):
        position, columns[c] = divided(position, n.sizes[c])
    return columns


def offsets(space: Type) -> tuple[int, ...]:
    """The starts of the leaves in a flat array, and the end of the last one."""
    return tuple(itertools.accumulate((leaf.size for leaf in space.leaves), initial=0))


def laid_out(row: Ints, col: Ints, shape: tuple[int, int]) -> Layout:
    """The layout of entries at these places, in this order."""
    for size, side in zip(shape, ("a column of a sparse matrix", "a row of a sparse matrix"), strict=True):
        addressable(size, side)
    order: Ints | None = None
    starts: Ints | None = None
    if not _ascend(row, col):
        code = codes((0, 1), [{0: row, 1: col}], shape)
        if not is_ordered(code):
            order = np.argsort(code, kind="stable")
            code, row, col = code[order], row[order], col[order]
        first = first_of_equal(code)
        if not first.all():
            starts = np.flatnonzero(first)
            row, col = row[starts], col[starts]
    kind: type[np.signedinteger[Any]] = np.int32 if max(shape[1], len(row)) < NARROW else np.int64
    indptr = np.zeros(shape[0] + 1, kind)
    indptr[1:] = np.cumsum(_counts(row, shape[0]))
    return Layout(indptr, col.astype(kind, copy=False), order, starts)


def _ascend(row: Ints, col: Ints) -> bool:
    """Tell if places ascend strictly, row by row and then by column."""
    after = col[1:] > col[:-1]
    after &= row[1:] == row[:-1]
    after |= row[1:] > row[:-1]
    return bool(after.all())


def _counts(row: Ints, rows: int) -> Ints:
    """The number of entries in each row, of entries row by row."""
    starts = np.flatnonzero(first_of_equal(row))
    counts = np.zeros(rows, np.intp)
    counts[row[starts]] = np.diff(starts, append=len(row))
    return counts
