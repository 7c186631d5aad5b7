"""The plans of a matrix in each form, and the matrices that they make: dense, sparse, in blocks, of low rank.

A plan holds a line that is built once for each term: a new point pays for arithmetic only.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from attrs import frozen

from hilbert import Copower, Fin, SpaceError, Vec
from hilbert.arrays.libraries import common_library
from hilbert.arrays.namespace import common_namespace, freeze, to_numpy
from hilbert.errors import shown
from hilbert.formal.kernels import dense as multiplied_out
from hilbert.once import once
from hilbert.program.operation import Add
from linmap.matrices.blocks import BlockPattern, block_pattern
from linmap.matrices.network import Network, NetworkFactor, NetworkProduct, bonds, network
from linmap.matrices.order import Accumulation
from linmap.matrices.sparse import Pattern, pattern, scipy
from linmap.matrices.structure import (
    body_of,
)
from linmap.net.reverse import transposed
from linmap.term.base import AnyLinMap, LinMap
from linmap.term.nets import Closed, Net, refs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert import Type
    from hilbert.program.run import Runner
    from linmap.matrices.network import Labels

P = TypeVar("P")


def data_of(f: Any, what: str) -> list[Any]:
    """The arrays that a closed map's references point to; raises SpaceError for an open map."""
    if isinstance(f, Closed):
        return list(f.data.arrays)
    if isinstance(f, LinMap) and not refs(body_of(f, what)):
        return []
    given = "" if isinstance(f, LinMap) else f", not {shown(f)}"
    given = "" if isinstance(f, LinMap) else f", not {shown(f)}"
    msg = f"{what} needs a linear map at a point{given}: that of a function f is derivative(f).at(x)"
    raise SpaceError(msg)


@once
def planned(body: Net, build: Callable[[Network], P], limit: int | None = None) -> P:
    """What a form needs, built once for each term and limit; the orders of its contractions are kept with it."""
    return build(network(body, limit))


def limit_of(limit: Any) -> int | None:
    """A limit on intermediate arrays; raises SpaceError unless it is a whole number, from 1 on."""
    if limit is None or (isinstance(limit, int) and not isinstance(limit, bool) and limit > 0):
        return limit
    msg = f"limit is the number of entries that an intermediate array may have, from 1 on, not {shown(limit)}"
    raise SpaceError(msg)


# --- dense ---


@frozen
class Summand:
    """A contracted product of one block; `place` is its array among the line's outputs, if it has one."""

    out: int
    inp: int
    product: NetworkProduct
    place: int | None


@frozen
class DensePlan:
    """The entries of a matrix, and the line that computes their arrays."""

    network: Network
    entries: tuple[Summand, ...]
    runner: Runner
    orders: tuple[Accumulation, ...]


def dense_plan(body: Net, limit: int | None = None) -> DensePlan:
    """The plan of a dense matrix."""
    return planned(body, _dense_plan, limit)


def _dense_plan(n: Network) -> DensePlan:
    before = len(n.orders)
    entries: list[Summand] = []
    outputs: list[int] = []
    for i, column in enumerate(n.blocks):
        for o, products in enumerate(column):
            for p in products:
                q = n.contracted(p)
                place = len(outputs) if q.factors else None
                outputs += [f.slot for f in q.factors]
                entries.append(Summand(o, i, q, place))
    return DensePlan(n, tuple(entries), n.runner(outputs), tuple(n.orders[before:]))


def dense(f: AnyLinMap, data: list[Any], limit: int | None = None) -> Any:
    """The dense array; one product over disjoint axes is the contraction's result itself."""
    plan = dense_plan(body_of(f, "matrix"), limit)
    arrays = [multiplied_out(a) for a in plan.runner.run(data)]
    lib = common_library([*data, *arrays])
    shape = (f.cod.dim, f.dom.dim)
    if len(plan.entries) == 1 and len(f.dom.leaves) == len(f.cod.leaves) == 1:
        (entry,) = plan.entries
        p = entry.product
        if p.factors and p.factors[0].labels == p.out + p.inp:
            return lib.xp.reshape(arrays[0], shape)
    if not lib.is_host:
        return _assembled(f, data, lib.xp, limit)
    dtype = np.result_type(*(leaf.dtype for leaf in (*f.dom.leaves, *f.cod.leaves))) if f.dom.leaves else np.float64
    whole = np.zeros(shape, dtype)
    rows = list(itertools.accumulate((leaf.size for leaf in f.cod.leaves), initial=0))
    cols = list(itertools.accumulate((leaf.size for leaf in f.dom.leaves), initial=0))
    for entry in plan.entries:
        out, inp = f.cod.leaves[entry.out], f.dom.leaves[entry.inp]
        block = whole[rows[entry.out] : rows[entry.out] + out.size, cols[entry.inp] : cols[entry.inp] + inp.size]
        _add(plan.network, block, entry.product, None if entry.place is None else to_numpy(arrays[entry.place]))
    return whole


@frozen
class SpreadPlan:
    """The slot of every block as a whole array, where it is not 0."""

    places: tuple[tuple[int | None, ...], ...]
    runner: Runner


def _spread_plan(n: Network) -> SpreadPlan:
    outputs: list[int] = []
    places: list[tuple[int | None, ...]] = []
    for o in range(len(n.body.outputs)):
        row: list[int | None] = []
        for i in range(len(n.body.inputs)):
            total: int | None = None
            for p in n.blocks[i][o]:
                slot = _spread(n, p)
                total = slot if total is None else n.emit(Add(), (total, slot), n.slots[slot])
            row.append(None if total is None else len(outputs))
            outputs += [] if total is None else [total]
        places.append(tuple(row))
    return SpreadPlan(tuple(places), n.runner(outputs))


def _spread(n: Network, p: NetworkProduct) -> int:
    """The whole block of a product: what is open on both sides is multiplied by an identity."""
    q = n.contracted(p)
    twins = {c: n.label(n.axes[c]) for c in q.inp if c in q.out}
    identities = tuple(n.identity(c, twin) for c, twin in twins.items())
    return n.array((*q.factors, *identities), q.out + tuple(twins.get(c, c) for c in q.inp), q.k)


def _assembled(f: AnyLinMap, data: list[Any], xp: Any, limit: int | None) -> Any:
    """The dense array in a namespace without writeable views: blocks are made whole and put side by side."""
    plan = planned(body_of(f, "matrix"), _spread_plan, limit)
    arrays = [multiplied_out(a) for a in plan.runner.run(data)]
    rows = []
    for out, places in zip(f.cod.leaves, plan.places, strict=True):
        row = []
        for inp, place in zip(f.dom.leaves, places, strict=True):
            shape = (out.size, inp.size)
            zero = xp.zeros(shape, dtype=getattr(xp, out.dtype)) if place is None else None
            row.append(zero if place is None else xp.reshape(arrays[place], shape))
        rows.append(row[0] if len(row) == 1 else xp.concat(row, axis=1))
    return rows[0] if len(rows) == 1 else xp.concat(rows, axis=0)


def _add(n: Network, block: Any, p: NetworkProduct, array: Any) -> None:
    """Add a contracted product into its block: labels that are open on both sides walk along diagonals."""
    if not block.size:
        return
    strides = dict.fromkeys(p.open, 0)
    for labels, step in ((p.out, block.strides[0]), (p.inp, block.strides[1])):
        stride = step
        for c in reversed(labels):
            strides[c] += stride
            stride *= n.sizes[c]
    view = np.lib.stride_tricks.as_strided(block, tuple(n.sizes[c] for c in p.open), tuple(strides.values()))
    if array is None:
        view += p.k
        return
    has = p.factors[0].labels
    aligned = array[tuple(slice(None) if c in has else None for c in p.open)] if has else array
    view += aligned


# --- sparse ---


@frozen
class SparsePlan:
    """The pattern of a matrix and the line that computes the values on it."""

    pattern: Pattern
    runner: Runner
    orders: tuple[Accumulation, ...]


def sparse_plan(body: Net, limit: int | None = None) -> SparsePlan:
    """The plan of a sparse matrix."""
    return planned(body, _sparse_plan, limit)


def _sparse_plan(n: Network) -> SparsePlan:
    before = len(n.orders)
    made, outputs = pattern(n, n.body.cod, n.body.dom)
    return SparsePlan(made, n.runner(outputs), tuple(n.orders[before:]))


def sparse(f: AnyLinMap, data: list[Any], limit: int | None = None) -> Any:
    """A scipy.sparse CSR array with exactly the entries of the proven pattern."""
    plan = sparse_plan(body_of(f, "matrix"), limit)
    arrays = [to_numpy(multiplied_out(a)) for a in plan.runner.run(data)]
    return plan.pattern.csr(arrays)


@frozen
class BlocksPlan:
    """The block layout of a matrix and the line that computes the blocks."""

    pattern: BlockPattern
    runner: Runner
    orders: tuple[Accumulation, ...]


def blocks_plan(body: Net, limit: int | None = None) -> BlocksPlan:
    """The plan of a matrix in block layout."""
    return planned(body, _blocks_plan, limit)


def _blocks_plan(n: Network) -> BlocksPlan:
    before = len(n.orders)
    made, outputs = block_pattern(n, n.body.cod, n.body.dom)
    return BlocksPlan(made, n.runner(outputs), tuple(n.orders[before:]))


def blocks(f: AnyLinMap, data: list[Any], limit: int | None = None) -> tuple[tuple[Any, ...], ...]:
    """A scipy.sparse BSR array for each pair of leaves, None where the term proves 0."""
    plan = blocks_plan(body_of(f, "matrix"), limit)
    return plan.pattern.arrays([to_numpy(multiplied_out(a)) for a in plan.runner.run(data)])


# --- low rank ---


@frozen
class Split:
    """A product as factors (r, out) and (r, in): the places of both among the line's outputs."""

    out: int
    inp: int
    rank: int
    left: int
    right: int


@frozen
class FactorPlan:
    """The splits of a matrix, and the line that computes their factors."""

    splits: tuple[Split, ...]
    runner: Runner
    orders: tuple[Accumulation, ...]


def factor_plan(body: Net, limit: int | None = None) -> FactorPlan:
    """The plan of a matrix as a sum of rank-one terms."""
    return planned(body, _factor_plan, limit)


def _factor_plan(n: Network) -> FactorPlan:
    before = len(n.orders)
    splits: list[Split] = []
    outputs: list[int] = []
    for i, column in enumerate(n.blocks):
        for o, products in enumerate(column):
            for p in products:
                left, right, rank = split(n, p)
                splits.append(Split(o, i, rank, len(outputs), len(outputs) + 1))
                outputs += [left, right]
    return FactorPlan(tuple(splits), n.runner(outputs), tuple(n.orders[before:]))


def split(n: Network, p: NetworkProduct) -> tuple[int, int, int]:
    """Slots of the factors of a product at its narrowest cut, bond axes first, and the size of the bond.

    Raises SpaceError where input and output share an axis: such a map is no short sum of rank-one terms.
    """
    if any(n.sizes[c] > 1 for c in set(p.out) & set(p.inp)) or p.links or any(n.is_found(f) for f in p.factors):
        msg = "the term proves no low rank: input and output share an axis or a relation; see structure(f)"
        raise SpaceError(msg)
    k, bond = min(bonds(p), key=lambda cut: n.size(cut[1]))
    return side(n, p.factors[k:], bond, p.out, p.k), side(n, p.factors[:k], bond, p.inp, 1.0), n.size(bond)


def side(n: Network, factors: Sequence[NetworkFactor], bond: Labels, ends: Labels, k: float) -> int:
    """The array with axes (bond, ends) of one side of a cut; a label in both is an identity."""
    twins = {c: n.label(n.axes[c]) for c in ends if c in bond}
    identities = tuple(n.identity(c, twin) for c, twin in twins.items())
    return n.array((*factors, *identities), bond + tuple(twins.get(c, c) for c in ends), k)


def factors(f: AnyLinMap, data: list[Any] | None = None) -> tuple[Vec[Any], Vec[Any]]:
    """A ∈ W^r and B ∈ V^r with f(v) = Σ_k (B_k ⊙ v)·A_k, for the least r that the term proves.

    Raises SpaceError for an open map, and where input and output share an axis.
    """
    data = data_of(f, "factors") if data is None else data
    plan = factor_plan(body_of(f, "factors"))
    arrays = [multiplied_out(a) for a in plan.runner.run(data)]
    xp = common_namespace([*data, *arrays])
    index = Fin.of(sum(s.rank for s in plan.splits))
    left = _family(xp, f.cod, [(s.out, arrays[s.left], s.rank) for s in plan.splits])
    right = _family(xp, f.dom, [(s.inp, arrays[s.right], s.rank) for s in plan.splits])
    return Vec(Copower(f.cod, index), left), Vec(Copower(f.dom, index), right)


def _family(xp: Any, space: Type, parts: list[tuple[int, Any, int]]) -> tuple[Any, ...]:
    """The leaves of an element of V^r from arrays that each fill some rows of one leaf."""
    leaves = []
    for k, leaf in enumerate(space.leaves):
        dtype = getattr(xp, leaf.dtype)
        rows = [
            xp.reshape(array, (r, *leaf.shape)) if at == k else xp.zeros((r, *leaf.shape), dtype=dtype)
            for at, array, r in parts
        ]
        whole = rows[0] if len(rows) == 1 else xp.concat(rows) if rows else xp.zeros((0, *leaf.shape), dtype=dtype)
        leaves.append(freeze(whole))
    return tuple(leaves)


# --- operator ---


def operator(f: AnyLinMap) -> Any:
    """A scipy LinearOperator that applies the map to flat arrays; its spaces are `dom` and `cod`."""
    linalg = scipy("sparse.linalg")
    star = transposed(f)

    def image(g: AnyLinMap, x: Any) -> Any:
        return g(g.dom.unflat(np.ascontiguousarray(np.reshape(x, -1), g.dom.leaves[0].dtype))).flat()

    made = linalg.LinearOperator(
        (f.cod.dim, f.dom.dim), matvec=lambda x: image(f, x), rmatvec=lambda y: image(star, y), dtype=np.float64
    )
    made.dom, made.cod = f.dom, f.cod
    return made
