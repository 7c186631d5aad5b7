"""The pattern of a matrix, enumerated from its products: no entry that the term does not prove possible is visited.

Each product is brought into the form of one table, whose rows are entries, or blocks of them that run freely. The
pattern (CSR pointers, sorted order, entries that coincide) is worked out once for each term; where a relation is found
at the point, once for each table of positions in a row.
"""

from __future__ import annotations

import importlib
import itertools
import math
from functools import cache
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from hilbert import SpaceError
from hilbert.base.sizes import addressable
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
from linmap.matrices.tables.diagonal_sides import diagonal_sides
from linmap.matrices.tables.tables import tabled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type
    from linmap.matrices.network.network import Network


@cache
def scipy(module: str) -> Any:
    """A module of scipy; SpaceError if scipy is not installed."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError as error:
        msg = "sparse matrices and operators need scipy: pip install scipy, or pip install '.[sparse]' from a clone"
        raise SpaceError(msg) from error


@final
@frozen
class TabledProduct:
    """One product with one table, from input leaf `inp` to output leaf `out`; the place of its values."""

    product: NetworkProduct
    out: int
    inp: int
    values: int | None

    @property
    def table(self) -> LabelTable | None:
        """The table, if some labels are restricted."""
        return self.product.tables[0] if self.product.tables else None

    @property
    def free(self) -> Labels:
        """The open labels that nothing restricts."""
        held = self.table.labels if self.table else ()
        return tuple(c for c in self.product.open if c not in held)


@final
@frozen
class Reading:
    """The way to read the values of one part's entries off its array, in the order of the places."""

    place: int | None
    shape: tuple[int, ...]
    axes: tuple[int, ...] | None
    """The order of the array's axes; None where they stand in order."""
    spread: tuple[slice | None, ...] | None
    """An index that adds the missing axes, None in their places; None if none is missing."""
    k: float

    @staticmethod
    def of(n: Network, part: TabledProduct) -> Reading:
        """The reading of a part: the rows of its table first, then its free labels."""
        p, table = part.product, part.table
        labels = ((table.row,) if table else ()) + part.free
        shape = ((table.count,) if table else ()) + tuple(n.sizes[c] for c in part.free)
        if part.values is None:
            return Reading(None, shape, None, None, p.k)
        has = p.factors[0].labels
        axes = tuple(has.index(c) for c in labels if c in has)
        spread_ = tuple(slice(None) if c in has else None for c in labels)
        in_order = axes == tuple(range(len(axes)))
        return Reading(part.values, shape, None if in_order else axes, spread_ if None in spread_ else None, p.k)

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """The value of each entry."""
        if self.place is None:
            return np.full(math.prod(self.shape), self.k)
        array = arrays[self.place]
        if self.axes is not None:
            array = array.transpose(self.axes)
        if self.spread is not None:
            array = np.broadcast_to(array[self.spread], self.shape)
        flat = array.reshape(-1)
        return flat if self.k == 1.0 else flat * self.k


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
class MatrixPattern:
    """The readings of a matrix's parts, and the layout of their entries; `rows` and `cols` are offsets of leaves."""

    rows: tuple[int, ...]
    cols: tuple[int, ...]
    dtype: str
    readings: tuple[Reading, ...]
    layout: Layout = field(eq=False)

    @property
    def shape(self) -> tuple[int, int]:
        """(dim W, dim V)."""
        return self.rows[-1], self.cols[-1]

    @property
    def entries(self) -> int:
        """The number of entries."""
        return len(self.layout.indices)

    def values(self, arrays: Sequence[Any]) -> Any:
        """The entries row by row, for what the line computed, numpy's arrays; they may share its memory."""
        layout = self.layout
        flat = [reading(arrays) for reading in self.readings]
        data = np.concatenate(flat) if len(flat) > 1 else flat[0] if flat else np.zeros(0, self.dtype)
        data = data if layout.order is None else data[layout.order]
        return data if layout.starts is None else np.add.reduceat(data, layout.starts)

    def csr(self, arrays: Sequence[Any]) -> Any:
        """The CSR array for what the line computed, numpy's arrays; it may share them."""
        layout = self.layout
        data = self.values(arrays)
        made = scipy("sparse").csr_array((data, layout.indices, layout.indptr), shape=self.shape)
        made.has_sorted_indices = made.has_canonical_format = True
        return made


def parts_of(n: Network) -> tuple[tuple[TabledProduct, ...], list[int]]:
    """All products of a net, each with one table, and the slots that a line has to give for them."""
    outputs: list[int] = []
    parts: list[TabledProduct] = []
    before = len(n.slots)
    for (o, i), products in n.blocks.items():
        for p in products:
            q = diagonal_sides(n, tabled(n, p, ()))
            if q.k:
                parts.append(TabledProduct(q, o, i, len(outputs) if q.factors else None))
                outputs += [n.in_full(f).slot for f in q.factors]
    n.release(before, [part.product for part in parts])
    return tuple(parts), outputs


def pattern(n: Network, cod: Type, dom: Type) -> tuple[MatrixPattern, list[int]]:
    """The pattern of a net's matrix, and the slots that a line has to give for it."""
    parts, outputs = parts_of(n)
    rows, cols = offsets(cod), offsets(dom)
    places = [_places(n, part, rows, cols) for part in parts]
    readings = tuple(Reading.of(n, part) for part in parts)
    row, col = (
        (np.concatenate([np.zeros(0, np.int64), *side]) for side in zip(*places, strict=True))
        if places
        else (
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
        )
    )
    layout = laid_out(row, col, (rows[-1], cols[-1]))
    return MatrixPattern(rows, cols, entry_type(cod, dom), readings, layout), outputs


def _places(n: Network, part: TabledProduct, rows: Sequence[int], cols: Sequence[int]) -> tuple[Ints, Ints]:
    """The row and the column of each entry: for each tuple of the table every combination of the free labels."""
    columns = spread(n, part.table, part.free)
    p = part.product
    return (
        flat_positions(p.out, columns, n.sizes) + rows[part.out],
        flat_positions(p.inp, columns, n.sizes) + cols[part.inp],
    )


def spread(n: Network, table: LabelTable | None, free: Labels) -> Columns:
    """The tuples of a table, each with every combination of some other labels."""
    count, size = (table.count if table else 1), n.size(free)
    columns = {c: x.repeat(size) for c, x in zip(table.labels, table.columns, strict=True)} if table else {}
    addressable(count * size, "the pattern of a sparse matrix")
    position = np.tile(np.arange(size), count)
    for c in reversed(free):
        position, columns[c] = divided(position, n.sizes[c])
    return columns


def entry_type(cod: Type, dom: Type) -> str:
    """The type of a matrix's entries."""
    dtypes = [leaf.dtype for leaf in (*cod.leaves, *dom.leaves)]
    return str(np.result_type(*dtypes)) if dtypes else "float64"


def offsets(space: Type) -> tuple[int, ...]:
    """The starts of the leaves in a flat array, and the end of the last one."""
    return tuple(itertools.accumulate((leaf.size for leaf in space.leaves), initial=0))


def laid_out(row: Ints, col: Ints, shape: tuple[int, int]) -> Layout:
    """The layout of entries at these places, in this order."""
    for size, side in zip(shape, ("a column of a sparse matrix", "a row of a sparse matrix"), strict=True):
        addressable(size, side)
    code = codes((0, 1), [{0: row, 1: col}], shape)
    order: Ints | None = None
    if not is_ordered(code):
        order = np.argsort(code, kind="stable")
        code, row, col = code[order], row[order], col[order]
    starts: Ints | None = None
    first = first_of_equal(code)
    if not first.all():
        starts = np.flatnonzero(first)
        row, col = row[starts], col[starts]
    kind: type[np.signedinteger[Any]] = np.int32 if max(shape[1], len(row)) < NARROW else np.int64
    indptr = np.zeros(shape[0] + 1, kind)
    np.cumsum(np.bincount(row, minlength=shape[0]), out=indptr[1:])
    return Layout(indptr, col.astype(kind), order, starts)
