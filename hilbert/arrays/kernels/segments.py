"""Sums of segments and of explicit pairs: the reductions that have a table, with the data prepared from it once.

A segment sum in numpy is the fastest of these as measured (`benchmarks/relations.py`): `reduceat` for long segments in
order; else scipy's conversion of a sparse matrix whose duplicate entries add up, or a sparse product for wide rows,
where scipy can be imported; else `bincount`, or `add.at` in single precision. `bincount` takes up to 1.6 times as long
as scipy's conversion, but scipy takes 100 ms to import: so it is not asked for few numbers.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from attrs import frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Library, Rows
from hilbert.arrays.kernels.reduced_axes import SMALL, lent
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.kernels.reduced_axes import ReducedAxes
    from hilbert.index.leaf import Leaf
    from hilbert.relation import Pairs, Table
    from hilbert.relation.function_forms import AnyGraph

Ints = npt.NDArray[Any]
LONG = 32
"""Segments of this mean length are summed one after the other."""
WIDE = 4
"""Rows of this many entries are added as rows."""
ROWS = 16
"""Rows of this many entries are written as rows."""
SCARCE = 3
"""Pairs of fewer to a row, many in all, are gathered in the order of the rows and added by `bincount`."""
CACHED = 1 << 22
"""Pairs from which on the gathered numbers do not stay in the cache, and the sparse product is quicker (measured)."""
COUNTED = 1 << 18
"""So many numbers in double precision are added by `bincount`: scipy is imported for more."""
FEW = 3
"""A sparse matrix with so many entries in a row is applied as a whole."""


class Segments(Library):
    """Segment sums by the scatter of a library that has one.

    `p` says along which axes: p.n sources along X become p.m targets along Y, and `p.whole` gives Y its axes back.
    """

    def graph(self, p: ReducedAxes, r: AnyGraph) -> Kernel:
        """(red v)_y = Σ over f(x) = y of v_x."""
        if not p.n:
            return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
        return Kernel(self._by_segments(p, Rows(self, r.positions.array), None))

    def pairs(self, p: ReducedAxes, r: Pairs[Any, Any]) -> Kernel:
        """(red v)_y = Σ over the pairs (x, y) of v_x: add the row of each source x to that of its target y."""
        if not r.size:
            return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
        return Kernel(self._by_segments(p, Rows(self, r.targets.array), Rows(self, r.sources.array)))

    def _by_segments(self, p: ReducedAxes, targets: Rows, sources: Rows | None) -> Callable[[Any], Any]:
        """Rows brought to the front, gathered where pairs have sources, and added by target."""
        xp = self.xp

        def call(a: Any) -> Any:
            v = p.line(a)
            if p.before:
                v = xp.moveaxis(v, p.at, 0)
            v = xp.reshape(v, (p.n, p.rows * p.width))
            if sources is not None:
                v = xp.take(v, sources.like(a), axis=0)
            sums = self.segment_sum(v, targets.like(a), p.m)
            if not p.before:
                return xp.reshape(sums, p.out)
            return p.whole(xp.moveaxis(xp.reshape(sums, (p.m, *p.before, *p.after)), 0, p.at))

        return call

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """out[targets[k]] += rows[k] for rows of shape (n, r) and dynamic targets."""
        msg = f"segment sums have no kernel in the array namespace {self.name}: use numpy, cupy, JAX or torch"
        raise SpaceError(msg)

    def rows_at(self, x: Any, i: Any, shape: tuple[int, ...]) -> Any:
        """The rows of x at positions i, in this shape."""
        xp = self.xp
        return xp.reshape(xp.take(x, xp.reshape(i, (-1,)), axis=0), shape)


class NumpySegments(Segments):
    """Segment sums in numpy by the fastest way that was measured."""

    def graph(self, p: ReducedAxes, r: AnyGraph) -> Kernel:
        """(red v)_y = Σ over f(x) = y of v_x, in a way that the profile of the table picks."""
        if not p.n:
            return super().graph(p, r)
        known = profile(r.positions, p.m)
        if known.injective and p.n == p.m:
            inverse = r.positions.prepare("inverse", lambda: _inverse(r.positions.array))
            return Kernel(lambda a: p.whole(p.line(a).take(inverse, axis=p.at, mode="wrap")))
        if known.injective:
            return _placed(p, r)
        if known.ordered and p.width == 1 and p.n >= LONG * known.occupied:
            return _in_order(p, r)
        size = p.rows * p.n * p.width
        counted = p.width < WIDE and p.dtype == "float64"
        if size < (COUNTED if counted else SMALL) or sparse() is None:
            return _by_code(p, r)
        return _by_entries(p, r) if p.width < WIDE else _by_rows(p, r, ordered=known.ordered)

    def pairs(self, p: ReducedAxes, r: Pairs[Any, Any]) -> Kernel:
        """(red v)_y = Σ over the pairs (x, y) of v_x, as the product with a sparse matrix."""
        sp = sparse()
        if not r.size or sp is None:
            return super().pairs(p, r)

        def build() -> Any:
            bound = max(p.n, p.m, r.size)
            x, y = _narrow(r.sources.array, bound), _narrow(r.targets.array, bound)
            return sp.coo_array((np.ones(r.size, p.dtype), (y, x)), shape=(p.m, p.n)).tocsr()

        if p.rows * p.width == 1 and p.dtype == "float64" and SMALL <= r.size < min(SCARCE * p.m, CACHED):
            return _in_row_order(p, r, build)
        matrix = r.targets.prepare("sparse matrix", build, r.sources.token, p.n, p.m, p.dtype)
        if p.rows == 1:
            flat = (p.n,) if p.width == 1 else (p.n, p.width)
            return Kernel(lambda a: (matrix @ np.reshape(a, flat)).reshape(p.out))
        turned = (p.m, *p.before, *p.after)

        def call(a: Any) -> Any:
            rows = np.moveaxis(p.line(a), p.at, 0).reshape(p.n, -1)
            return p.whole(np.moveaxis((matrix @ rows).reshape(turned), 0, p.at))

        return Kernel(call)

    def weighted(self, sources: AnyGraph, targets: AnyGraph, leaf: Leaf, out: tuple[int, ...]) -> Kernel | None:
        """The weighted sums as a product with a sparse matrix, for entries in the order of its rows or columns."""
        n, m = sources.cod.size, targets.cod.size
        by_row = _in_rows(targets.positions)
        major, minor, rows = (targets, sources, m) if by_row else (sources, targets, n)

        def build() -> tuple[Ints, Ints]:
            bound = max(n, m, major.dom.size)
            counts = np.bincount(major.positions.array, minlength=rows)
            return _narrow(minor.positions.array, bound), _narrow(np.concatenate([[0], np.cumsum(counts)]), bound)

        indices, pointers = major.positions.prepare("pattern of a sparse matrix", build, minor.positions.token, n, m)
        make = sparse().csr_array if by_row else sparse().csc_array
        width = leaf.size // n
        flat = (n,) if width == 1 else (n, width)

        def call(w: Any, v: Any) -> Any:
            matrix = make((np.reshape(w, -1), indices, pointers), shape=(m, n))
            return (matrix @ np.reshape(v, flat)).reshape(out)

        return Kernel(call)

    def segment_sum(self, rows: Any, targets: Any, size: int) -> Any:
        """out[targets[k]] += rows[k], for targets known at the run only, so that nothing is prepared."""
        n, width = rows.shape
        sp = sparse() if rows.size >= SMALL else None
        if width >= WIDE and sp is not None:
            codes = _narrow(targets, max(n, size))
            matrix = sp.csc_array((np.ones(n, rows.dtype), codes, np.arange(n + 1, dtype=codes.dtype)), shape=(size, n))
            return matrix @ rows
        codes = targets if width == 1 else (targets[:, None] * width + np.arange(width)).reshape(-1)
        values = np.reshape(rows, -1)
        if sp is None:
            return flat_sum(values, codes, size * width).reshape(size, width)
        pointers = np.asarray([0, rows.size], codes.dtype)
        return sp.csr_array((values, codes, pointers), shape=(1, size * width)).toarray().reshape(size, width)

    def rows_at(self, x: Any, i: Any, shape: tuple[int, ...]) -> Any:
        """The rows of x at positions i, in this shape; a view for a single position."""
        if not i.ndim:
            return x[int(i)]
        if not i.size:
            return np.zeros(shape, x.dtype)
        return lent(x).take(lent(i), axis=0, mode="wrap").reshape(shape)  # elements of X: there is nothing to wrap


@cache
def sparse() -> Any:
    """scipy.sparse, or None: it is an extra."""
    try:
        from scipy import sparse as found  # found where it is first needed: it takes a while to load
    except ImportError:
        return None
    return found


@frozen
class TableProfile:
    """The facts about a table of positions that pick a way to sum by the table."""

    ordered: bool
    occupied: int
    injective: bool


def _profile(positions: Ints, size: int) -> TableProfile:
    """The profile by comparing neighbours where positions are in order, else by counting."""
    ordered = is_ordered(positions)
    if ordered:
        occupied = np.count_nonzero(positions[1:] != positions[:-1]) + min(len(positions), 1)
    else:
        occupied = np.count_nonzero(np.bincount(positions, minlength=size))
    return TableProfile(ordered, int(occupied), bool(occupied == len(positions)))


def profile(table: Table, size: int) -> TableProfile:
    """The profile of a table of positions below `size`."""
    return table.prepare("profile", lambda: _profile(table.array, size), size)


def _inverse(permutation: Ints) -> Ints:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation))
    return inverse


def _sources(places: Ints, size: int) -> Ints:
    """The number of the entry that stands at each place; the number of all entries where a place has none."""
    sources = np.full(size, len(places))
    sources[places] = np.arange(len(places))
    return sources


def _narrow(array: Ints, bound: int) -> Ints:
    """Indices in the integer type that scipy wants for indices below a bound."""
    return array.astype(np.int32 if bound < np.iinfo(np.int32).max else np.int64)


def _in_row_order(p: ReducedAxes, r: Pairs[Any, Any], matrix: Callable[[], Any]) -> Kernel:
    """Gather the sources of all rows one after the other, and add those of one row."""

    def build() -> tuple[Ints, Ints]:
        rows = matrix()
        return np.repeat(np.arange(p.m), np.diff(rows.indptr)), rows.indices.astype(np.intp)

    targets, sources = r.targets.prepare("in the order of rows", build, r.sources.token, p.n, p.m)

    def call(a: Any) -> Any:
        return np.bincount(targets, weights=lent(np.reshape(a, -1)).take(sources), minlength=p.m).reshape(p.out)

    return Kernel(call)


def _in_order(p: ReducedAxes, r: AnyGraph) -> Kernel:
    """Sum a table in order, one run of equal positions after the other."""
    t = r.positions.array
    starts = r.positions.prepare("starts", lambda: np.flatnonzero(np.concatenate([[True], t[1:] != t[:-1]])))
    filled = t[starts]
    every = len(filled) == p.m

    def into(a: Any, out: Any) -> None:
        sums = np.add.reduceat(p.line(a), starts, axis=p.at)
        if every:
            out[...] = sums
        else:
            out[...] = 0
            out[p.index(filled)] = sums

    def call(a: Any) -> Any:
        if every:
            return p.whole(np.add.reduceat(p.line(a), starts, axis=p.at))
        out = p.empty(a, p.m)
        into(a, out)
        return p.whole(out)

    return Kernel(call, into=into)


def _placed(p: ReducedAxes, r: AnyGraph) -> Kernel:
    """Put entries among zeros, no two at one place; long ones row by row."""
    if p.width >= ROWS and 4 * p.n >= p.m:  # rows are taken, the zeros from one more row
        sources = r.positions.prepare("rows", lambda: _sources(r.positions.array, p.m), p.m)
        inner, last = p.cut(0, p.n), p.cut(p.n, None)

        def taken(a: Any) -> Any:
            v = p.empty(a, p.n + 1)
            np.add(p.line(a), a.dtype.type(0), out=v[inner])  # a sum: 0 and −0 are 0
            v[last] = 0
            return p.whole(v.take(sources, axis=p.at, mode="wrap"))

        return Kernel(taken)
    if p.width >= ROWS:
        places = p.index(r.positions.array)

        def by_row(a: Any) -> Any:
            out = p.zeros(a, p.m)
            out[places] = p.line(a) + a.dtype.type(0)
            return p.whole(out)

        return Kernel(by_row)
    codes, length = _places(p, r), p.rows * p.m * p.width

    def by_entry(a: Any) -> Any:
        out = np.zeros(length, a.dtype)
        out[codes] = np.reshape(a, -1) + a.dtype.type(0)
        return out.reshape(p.out)

    return Kernel(by_entry)


def _codes(p: ReducedAxes, t: Ints) -> Ints:
    """The place of each entry in rows of m·width."""
    return t if p.width == 1 else (t[:, None] * p.width + np.arange(p.width)).reshape(-1)


def _by_code(p: ReducedAxes, r: AnyGraph) -> Kernel:
    """Add each entry to its place in the flat result, by numpy alone."""
    codes = _places(p, r)
    length = p.rows * p.m * p.width
    return Kernel(lambda a: flat_sum(np.reshape(a, -1), codes, length).reshape(p.out))


def _places(p: ReducedAxes, r: AnyGraph) -> Ints:
    """The place of each entry in the flat result."""

    def build() -> Ints:
        codes = _codes(p, r.positions.array)
        return codes if p.rows == 1 else (np.arange(p.rows)[:, None] * (p.m * p.width) + codes).reshape(-1)

    found: Ints = r.positions.prepare("places of all", build, p.rows, p.m, p.width)
    return found


def flat_sum(values: Any, places: Any, length: int) -> Any:
    """out[places[k]] += values[k] in numpy."""
    if values.dtype == np.float64 or values.size < SMALL:
        return np.bincount(lent(places), weights=lent(values), minlength=length).astype(values.dtype, copy=False)
    out = np.zeros(length, values.dtype)
    np.add.at(out, places, values)
    return out


def _by_entries(p: ReducedAxes, r: AnyGraph) -> Kernel:
    """Sum by a sparse matrix with a row for each of `before`, where entries of the same place add up."""
    sp = sparse()
    shape = (p.rows, p.m * p.width)

    def build() -> tuple[Ints, Ints]:
        codes = _narrow(_codes(p, r.positions.array), max(p.rows * p.n * p.width, shape[1]))
        return np.tile(codes, p.rows), np.arange(p.rows + 1, dtype=codes.dtype) * (p.n * p.width)

    codes, pointers = r.positions.prepare("places", build, p.rows, p.width)

    def call(a: Any) -> Any:
        return sp.csr_array((np.reshape(a, -1), codes, pointers), shape=shape).toarray().reshape(p.out)

    def into(a: Any, out: Any) -> None:
        if out.flags.c_contiguous:
            sp.csr_array((np.reshape(a, -1), codes, pointers), shape=shape).toarray(out=out.reshape(shape))
        else:
            out[...] = call(a).reshape(p.made)

    return Kernel(call, into=into)


def _by_rows(p: ReducedAxes, r: AnyGraph, *, ordered: bool) -> Kernel:
    """Multiply a sparse matrix of ones by rows of `width` entries."""
    sp = sparse()
    rows, cells = p.rows * p.n, p.rows * p.m
    dtype = np.dtype(p.dtype)

    def build() -> Any:
        t = r.positions.array
        codes = _narrow((np.arange(p.rows)[:, None] * p.m + t).reshape(-1), max(rows, cells))
        ones, each = np.ones(rows, dtype), np.arange(rows + 1, dtype=codes.dtype)
        matrix = sp.csc_array((ones, codes, each), shape=(cells, rows))
        return matrix.tocsr() if ordered else matrix

    matrix = r.positions.prepare("sparse matrix", build, p.rows, p.m, p.dtype)
    return Kernel(lambda a: (matrix @ np.reshape(a, (rows, p.width))).reshape(p.out))


def is_ordered(t: Ints) -> bool:
    """Tell if positions never step back."""
    return bool((t[1:] >= t[:-1]).all())


def makes_rows(sources: AnyGraph, targets: AnyGraph) -> bool:
    """True if a gather, a product and a segment sum are better done as a product with a sparse matrix.

    The product is quicker where scipy finds the entries row by row or column by column, `FEW` in each at least.
    """
    n, x, y = sources.dom.size, sources.positions, targets.positions
    if n < SMALL or n < FEW * max(sources.cod.size, targets.cod.size) or sparse() is None:
        return False
    return _in_rows(y) or _in_rows(x)


def _in_rows(positions: Table) -> bool:
    return positions.prepare("order", lambda: is_ordered(positions.array))
