"""The pattern of a matrix, enumerated from its products: no entry that the term does not prove possible is visited.

Relations are joined on the labels that they share; the remaining open labels run freely. Where no relation is found
only at the point, the pattern (CSR pointers, sorted order, entries that coincide) is worked out once for each term.
"""

from __future__ import annotations

import importlib
import itertools
import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import evolve, field, frozen

from hilbert import SpaceError
from hilbert.arrays.namespace import to_numpy
from linmap.matrices.network import Labels, Network, NetworkFactor, NetworkProduct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type

Ints: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = dict[int, Ints]


def scipy(module: str) -> Any:
    """A module of scipy; SpaceError if scipy is not installed."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError as error:
        msg = "sparse matrices and operators need scipy, an extra: pip install hilbert[sparse]"
        raise SpaceError(msg) from error


@final
@frozen
class Part:
    """One product, from input leaf `inp` to output leaf `out`; where its values come from among the line's outputs."""

    product: NetworkProduct
    out: int
    inp: int
    values: int | None
    labels: Labels
    found: tuple[tuple[NetworkFactor, int], ...]


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
class Pattern:
    """The parts of a matrix and, if it does not depend on the point, their layout."""

    network: Network
    rows: tuple[int, ...]
    cols: tuple[int, ...]
    dtype: str
    parts: tuple[Part, ...]
    static: tuple[tuple[Columns | None, ...], Layout] | None = field(eq=False)

    @property
    def shape(self) -> tuple[int, int]:
        """(dim W, dim V)."""
        return self.rows[-1], self.cols[-1]

    @property
    def entries(self) -> int:
        """How many entries there are; for dynamic relations, an upper bound."""
        if self.static:
            return len(self.static[1].indices)
        return sum(self.network.size(part.product.open) for part in self.parts)

    def csr(self, arrays: Sequence[Any]) -> Any:
        """The CSR array for the values that the line computed."""
        columns, layout = self.static or _laid_out(self, arrays)
        flat = [_values(self.network, part, c, arrays) for part, c in zip(self.parts, columns, strict=True)]
        data = np.concatenate(flat) if len(flat) > 1 else flat[0] if flat else np.zeros(0, self.dtype)
        data = data if layout.order is None else data[layout.order]
        data = data if layout.starts is None else np.add.reduceat(data, layout.starts)
        made = scipy("sparse").csr_array((data, layout.indices, layout.indptr), shape=self.shape)
        made.has_sorted_indices = made.has_canonical_format = True
        return made


def parts_of(n: Network) -> tuple[tuple[Part, ...], list[int]]:
    """All products of a net, with the slots that a line has to give for them."""
    outputs: list[int] = []
    parts: list[Part] = []
    for i, column in enumerate(n.blocks):
        for o, products in enumerate(column):
            for p in products:
                found = tuple(f for f in p.factors if n.is_found(f))
                real = [f for f in p.factors if not n.is_found(f)]
                linked = {c for link in p.links for c in link.x + link.y} | {c for f in found for c in f.labels}
                used = {c for f in real for c in f.labels}
                keep = tuple(c for c in dict.fromkeys((*p.open, *sorted(linked))) if c in used)
                factor = n.contract(real, keep) if real else None
                place = None
                if factor is not None:
                    place = len(outputs)
                    outputs.append(factor.slot)
                places = []
                for f in found:
                    places.append((f, len(outputs)))
                    outputs.append(f.slot)
                parts.append(Part(p, o, i, place, factor.labels if factor else (), tuple(places)))
    return tuple(parts), outputs


def pattern(n: Network, cod: Type, dom: Type) -> tuple[Pattern, list[int]]:
    """The pattern of a net's matrix, and the slots that a line has to give for it."""
    parts, outputs = parts_of(n)
    made = Pattern(n, offsets(cod), offsets(dom), entry_type(cod, dom), parts, None)
    if not any(part.found for part in parts):
        made = evolve(made, static=_laid_out(made, ()))
    return made, outputs


def entry_type(cod: Type, dom: Type) -> str:
    """The type of a matrix's entries."""
    dtypes = [leaf.dtype for leaf in (*cod.leaves, *dom.leaves)]
    return str(np.result_type(*dtypes)) if dtypes else "float64"


def offsets(space: Type) -> tuple[int, ...]:
    """Where each leaf starts in a flat array, and where the last one ends."""
    return tuple(itertools.accumulate((leaf.size for leaf in space.leaves), initial=0))


def _laid_out(made: Pattern, arrays: Sequence[Any]) -> tuple[tuple[Columns | None, ...], Layout]:
    columns: list[Columns | None] = []
    rows: list[Ints] = [np.zeros(0, np.int64)]
    cols: list[Ints] = [np.zeros(0, np.int64)]
    n = made.network
    for part in made.parts:
        found = {f: to_numpy(arrays[k]) for f, k in part.found}
        here = enumerate_pairs(n, part.product, found)
        free = not part.product.links and not part.found
        columns.append(None if free else here)
        rows.append(flat_positions(n, part.product.out, here) + made.rows[part.out])
        cols.append(flat_positions(n, part.product.inp, here) + made.cols[part.inp])
    row, col = np.concatenate(rows), np.concatenate(cols)
    return tuple(columns), laid_out(row, col, made.shape)


def laid_out(row: Ints, col: Ints, shape: tuple[int, int]) -> Layout:
    """The layout of entries at these places, in this order."""
    code = row * max(shape[1], 1) + col
    order: Ints | None = None
    if code.size and np.any(code[1:] < code[:-1]):
        order = np.argsort(code, kind="stable")
        code = code[order]
    starts: Ints | None = None
    first = np.ones(code.size, bool)
    first[1:] = code[1:] != code[:-1]
    if not first.all():
        starts = np.flatnonzero(first)
        code = code[starts]
    rows, cols = np.divmod(code, max(shape[1], 1))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int64)
    small = max(shape[1], int(indptr[-1])) < np.iinfo(np.int32).max
    kind: type[np.signedinteger[Any]] = np.int32 if small else np.int64
    return Layout(indptr.astype(kind), cols.astype(kind), order, starts)


def flat_positions(n: Network, labels: Labels, columns: Columns) -> Ints:
    """The flat position that some labels' values make together."""
    flat = np.zeros(length(columns), np.int64)
    for c in labels:
        flat = flat * n.sizes[c] + columns[c]
    return flat


def _values(n: Network, part: Part, columns: Columns | None, arrays: Sequence[Any]) -> Any:
    """The value of each entry, in the order of the enumeration."""
    p = part.product
    if columns is None:  # every combination of the open labels, in order
        shape = tuple(n.sizes[c] for c in p.open)
        if part.values is None:
            return np.full(math.prod(shape), p.k)
        array = arrays[part.values]
        aligned = array[tuple(slice(None) if c in part.labels else None for c in p.open)] if part.labels else array
        flat = np.broadcast_to(aligned, shape).reshape(-1)
    elif part.values is None:
        return np.full(length(columns), p.k)
    else:
        array = to_numpy(arrays[part.values])
        flat = array[tuple(columns[c] for c in part.labels)]
        if not part.labels:
            flat = np.broadcast_to(flat, (length(columns),))
    if flat.dtype == bool:
        flat = flat.astype(np.float64)
    return flat if p.k == 1.0 else flat * p.k


def enumerate_pairs(n: Network, p: NetworkProduct, found: dict[NetworkFactor, Any]) -> Columns:
    """Columns of the values of all labels that the links allow together; the other open labels run freely."""
    table: Columns = {}
    started = False
    for f, array in found.items():
        lead = f.labels[: len(n.slots[f.slot].axes)]
        hot = f.labels[len(lead) :]
        places = np.arange(array.size)
        pair = {**_split(n, lead, places), **_split(n, hot, array.reshape(-1))}
        table = _join(n, table, pair) if started else pair
        started = True
    for link in p.links:
        x, y = link.relation.holds()
        pair = {**_split(n, link.x, np.asarray(x)), **_split(n, link.y, np.asarray(y))}
        table = _join(n, table, pair) if started else pair
        started = True
    free = [c for c in p.open if c not in table]
    rows = length(table)
    size = n.size(free)
    table = {c: column.repeat(size) for c, column in table.items()}
    position = np.tile(np.arange(size), rows)
    for c in reversed(free):
        position, table[c] = np.divmod(position, n.sizes[c])
    return table


def _split(n: Network, labels: Labels, flat: Ints) -> Columns:
    """A column for each of some labels from their flat position together."""
    columns: Columns = {}
    for c in reversed(labels):
        flat, columns[c] = np.divmod(flat, n.sizes[c])
    return columns


def _join(n: Network, left: Columns, right: Columns) -> Columns:
    """The rows of both tables that agree on the labels they share."""
    shared = tuple(c for c in right if c in left)
    a, b = flat_positions(n, shared, left), flat_positions(n, shared, right)
    if not shared:
        a, b = np.zeros(length(left), np.int64), np.zeros(length(right), np.int64)
    order = np.argsort(b, kind="stable")
    low, high = np.searchsorted(b[order], a, "left"), np.searchsorted(b[order], a, "right")
    counts = high - low
    here = np.arange(len(a)).repeat(counts)
    step = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    there = order[low.repeat(counts) + step]
    joined = {c: column[here] for c, column in left.items()}
    return joined | {c: column[there] for c, column in right.items() if c not in joined}


def length(columns: Columns) -> int:
    """How many rows there are; one where there is no label to hold it."""
    return next((len(c) for c in columns.values()), 1)
