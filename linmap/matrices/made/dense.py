"""Dense matrices, by the quickest of three plans: elimination, or the map or its adjoint applied to all basis vectors.

Elimination makes the fewest operations, and one step for each of many small products; the lifted passes make one step
for each arc, on the columns or on the rows of the matrix all at once. Which is run is decided by a predicted time that
counts steps as well as operations and bytes (`linmap.matrices.made.predicted_work`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never

import numpy as np
from attrs import frozen

from hilbert import Fin
from hilbert.arrays.formal.formal_kernels import dense as multiplied_out
from hilbert.arrays.libraries.libraries import common_library
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.base.once import once
from hilbert.base.sizes import addressable
from hilbert.index.leaf import Bundle
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const
from hilbert.program.run.fuse import fused
from hilbert.program.run.run import Runner
from linmap.matrices.made.matrix_plans import plan_for
from linmap.matrices.made.predicted_work import STEP, seconds
from linmap.matrices.network.arcs import most_vectors
from linmap.matrices.network.network import loop_pattern
from linmap.matrices.network.to_arrays import contracted, whole_block
from linmap.matrices.structure.structure import body_of
from linmap.net.apply import apply_net
from linmap.net.loop_masks import known_mask, may_break
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.net import Net, refs, turned
from linmap.term.nodes import Lifted
from linmap.term.wire import datum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line
    from linmap.matrices.labelled.accumulation_order import Accumulation
    from linmap.matrices.labelled.deferred_lines import Deferred
    from linmap.matrices.labelled.labelled_products import NetworkProduct
    from linmap.matrices.network.network import Network
    from linmap.net.loop_masks import Masks
    from linmap.term.linear_map import AnyLinMap

SURE = 75
"""If a lifted pass is predicted to take less than SURE · STEP · (number of arcs), no elimination is planned.

The search takes some four times as long (measured, 0.35 ms for an arc), and saves a part of a pass.
"""
THROUGH = 50
"""A factor on SURE for maps that go through a loop or an inverse.

Loops and inverses are dense blocks to elimination: where relations meet them, tables are long, and the search takes
seconds.
"""


# --- the map, or its adjoint, on all basis vectors ---


@once
def line_on_basis(body: Net) -> Line:
    """The map on as many vectors as its domain has dimensions: the inputs are these vectors, and then the data."""
    found, index = refs(body), Fin.of(body.dom.dim)
    lifted = net(Lifted(body, index))
    n = len(lifted.inputs)
    b = Builder([*(lifted.wires[w] for w in lifted.inputs), *(ref.leaf for ref in found)])
    where = {ref.slot: n + k for k, ref in enumerate(found)}
    masks: Masks = {}
    if may_break(body):  # nothing of a basis vector but its one place meets what may be infinite
        for k, part in enumerate(_basis(body)):
            masks[k] = known_mask(part != 0.0, b.slots[k].axes)
    return fused(b.line(apply_net(b, lifted, range(n), where, masks)))


@once
def _lifted(body: Net) -> Runner:
    return Runner(line_on_basis(body))


def on_basis(body: Net, data: Sequence[Any]) -> Any:
    """The images of all basis vectors as the rows of an array of numpy."""
    rows = [np.reshape(a, (body.dom.dim, -1)) for a in _lifted(body).run([*_basis(body), *data])]
    return np.concatenate(rows, axis=1) if len(rows) > 1 else np.array(rows[0])


def _basis(body: Net) -> Iterator[Any]:
    """All basis vectors of the domain, leaf by leaf."""
    leaves, dim = body.dom.leaves, body.dom.dim
    starts = itertools.accumulate((leaf.size for leaf in leaves), initial=0)
    for leaf, start in zip(leaves, starts, strict=False):
        part = np.zeros((dim, leaf.size), leaf.dtype)
        np.fill_diagonal(part[start:], 1.0)
        yield part.reshape(leaf.under((Fin.of(dim),)).stored().shape)


@once
def _time(body: Net, name: str) -> float:
    """The predicted time of a lifted pass."""
    return seconds(line_on_basis(body if name == "forward" else turned(body)))


def predicted(body: Net) -> tuple[tuple[str, float], ...]:
    """The predicted times of the plans; of elimination where no loop is run on more vectors than in a pass."""
    passes = [(name, _time(body, name)) for name in ("forward", "adjoint")] if _is_plain(body) else []
    if passes and most_vectors(body, loop_pattern) > min(body.dom.dim, body.cod.dim):
        return tuple(passes)
    return (("elimination", seconds(dense_plan(body).runner.line)), *passes)


@once
def _is_plain(body: Net) -> bool:
    """Tell if a lifted pass can be run: there are basis vectors, wires have one precision, constants are numpy's."""
    if not (body.dom.dim and body.cod.dim) or len({leaf.entry for leaf in _opened(body.wires)}) > 1:
        return False
    constants = [d.array for arc in body.arcs if isinstance(d := datum_of(arc.map), Const)]
    return all(isinstance(array, (np.ndarray, np.generic)) for array in constants)


def _opened(leaves: Iterable[Leaf]) -> Iterator[Leaf]:
    """The leaves, and in the place of a bundle those in it."""
    for leaf in leaves:
        yield from _opened(leaf.leaves) if isinstance(leaf, Bundle) else (leaf,)


Plan: TypeAlias = Literal["forward", "adjoint", "elimination"]
"""The ways to make a dense matrix: by the map, or its adjoint, on basis vectors, or by eliminating wires."""


@once
def chosen(body: Net) -> Plan:
    """The plan with the least predicted time.

    Elimination is not planned where a lifted pass is quick anyway, or a loop would be run on more vectors than in one.
    """
    through = any(isinstance(arc.map, (wire.Recur, wire.Inverse)) for arc in body.arcs)
    if not _is_plain(body):
        return "elimination"
    name: Plan = "forward" if body.dom.dim <= body.cod.dim else "adjoint"  # on fewer vectors, through the same arcs
    if most_vectors(body, loop_pattern) > min(body.dom.dim, body.cod.dim):
        return name
    if may_break(body):
        return "elimination"  # on basis vectors, supports are as large as the matrix at each arc
    time = _time(body, name)
    if time <= SURE * STEP * len(body.arcs) * (THROUGH if through else 1):
        return name
    return name if time <= seconds(dense_plan(body).runner.line) else "elimination"


# --- elimination ---


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
    runner: Deferred
    orders: tuple[Accumulation, ...]


def dense_plan(body: Net, limit: int | None = None) -> DensePlan:
    """The plan of a dense matrix."""
    return plan_for(body, _dense_plan, limit)


def _dense_plan(n: Network) -> DensePlan:
    before = len(n.orders)
    entries: list[Summand] = []
    outputs: list[int] = []
    for (o, i), products in n.blocks.items():
        for p in products:
            q = contracted(n, p)
            place = len(outputs) if q.factors else None
            outputs += [f.slot for f in q.factors]
            entries.append(Summand(o, i, q, place))
    return DensePlan(n, tuple(entries), n.runner(outputs), tuple(n.orders[before:]))


def dense(f: AnyLinMap, data: list[Any], limit: int | None = None) -> Any:
    """The dense array; one product over disjoint axes is the contraction's result itself."""
    addressable(f.cod.dim * f.dom.dim, "the array of a linear map")
    body = body_of(f, "matrix")
    if limit is None and _are_numpys(data):
        match chosen(body):
            case "forward":
                return np.ascontiguousarray(on_basis(body, data).T)
            case "adjoint":
                return on_basis(turned(body), data)
            case "elimination":
                pass
            case never:
                assert_never(never)
    plan = dense_plan(body, limit)
    arrays = [multiplied_out(a) for a in plan.runner.run(data)]
    lib = common_library([*data, *arrays])
    shape = (f.cod.dim, f.dom.dim)
    if len(plan.entries) == 1 and len(f.dom.leaves) == len(f.cod.leaves) == 1:
        (entry,) = plan.entries
        p = entry.product
        if p.factors and p.factors[0].labels == p.out + p.inp:
            return _fresh(lib.xp.reshape(arrays[0], shape), data)
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


def _are_numpys(data: Any) -> bool:
    """Tell if all arrays are numpy's, those in bundles too."""
    return all(
        _are_numpys(a) if isinstance(a, (tuple, list)) else isinstance(a, (np.ndarray, np.generic)) for a in data
    )


def _fresh(array: Any, data: Sequence[Any]) -> Any:
    """The array; a copy if it may share memory with the data or with a constant of the plan."""
    if isinstance(array, np.ndarray):
        shared = (np.may_share_memory(array, d) for d in data if isinstance(d, np.ndarray))
        return array.copy() if not array.flags.writeable or any(shared) else array
    return array


@frozen
class SpreadPlan:
    """The slot of every block as a whole array, where it is not 0."""

    places: tuple[tuple[int | None, ...], ...]
    runner: Deferred


def _spread_plan(n: Network) -> SpreadPlan:
    outputs: list[int] = []
    places: list[tuple[int | None, ...]] = []
    for o in range(len(n.body.outputs)):
        row: list[int | None] = []
        for i in range(len(n.body.inputs)):
            total: int | None = None
            for p in n.blocks.get((o, i), ()):
                slot = whole_block(n, p)
                total = slot if total is None else n.added(total, slot)
            row.append(None if total is None else len(outputs))
            outputs += [] if total is None else [total]
        places.append(tuple(row))
    return SpreadPlan(tuple(places), n.runner(outputs))


def _assembled(f: AnyLinMap, data: list[Any], xp: Any, limit: int | None) -> Any:
    """The dense array in a namespace without writeable views: blocks are made whole and put side by side."""
    plan = plan_for(body_of(f, "matrix"), _spread_plan, limit)
    arrays = [multiplied_out(a) for a in plan.runner.run(data)]
    device = next((getattr(a, "device", None) for a in arrays), None)
    rows = []
    for out, places in zip(f.cod.leaves, plan.places, strict=True):
        row = []
        for inp, place in zip(f.dom.leaves, places, strict=True):
            shape = (out.size, inp.size)
            zero = xp.zeros(shape, dtype=getattr(xp, out.dtype), device=device) if place is None else None
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
    if has:
        array = array.transpose([has.index(c) for c in p.open if c in has])
        array = array[tuple(slice(None) if c in has else None for c in p.open)]
    view += array
