"""Dense matrices, by the quickest of three plans: elimination, or the map or its adjoint applied to all basis vectors.

Elimination makes the fewest operations, and one step for each of many small products; the lifted passes make one step
for each arc, on the columns or on the rows of the matrix all at once. Which is run is decided by a predicted time that
counts steps as well as operations and bytes (`linmap.matrices.made.predicted_work`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never

import numpy as np

from hilbert import Fin, R
from hilbert.base.once import once
from hilbert.base.sizes import addressable
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const
from hilbert.program.run.fuse import fused
from hilbert.relation import Inclusion
from linmap.matrices.labelled.deferred_lines import Deferred
from linmap.matrices.labelled.placed_entries import index_of, together
from linmap.matrices.made.matrix_plans import MatrixPlan, plan_for
from linmap.matrices.made.patterns import DensePattern, entry_type
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
    from collections.abc import Iterable, Iterator

    from hilbert.program.line.line import Line
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
        for k, place in enumerate(_basis(body)):
            mask = np.zeros(place.cod.size, bool)
            mask[place.holds()[1]] = True
            leaf = b.slots[k]
            masks[k] = known_mask(mask.reshape(leaf.shape), leaf.axes)
    return b.line(apply_net(b, lifted, range(n), where, masks))


def _basis(body: Net) -> Iterator[Inclusion[Any, Any]]:
    """The places of the ones in all basis vectors of the domain, leaf by leaf."""
    dim, start = Fin.of(body.dom.dim), 0
    for leaf in body.dom.leaves:
        X = index_of(leaf.axes)
        yield Inclusion(X, dim * X if leaf.axes else dim, start * X.size, X.size + 1)
        start += leaf.size


@once
def on_basis(body: Net) -> MatrixPlan[DensePattern]:
    """The plan of the transposed matrix: the images of all basis vectors as its rows."""
    line, dim = line_on_basis(body), R ** Fin.of(body.dom.dim)
    b = Builder([ref.leaf for ref in refs(body)])
    basis = []
    for place, leaf in zip(_basis(body), line.slots, strict=False):
        ones = b.number(1.0, Leaf(leaf.entry, leaf.axes[1:]))
        basis.append(b.apply(wire.Reduce(place, 0), ones))
    where = b.inline(line, [*basis, *range(b.arity)])
    return _plan(b, together(b, [[where[k] for k in line.outputs]], dim, body.cod, entry_type(dim, body.cod)))


@once
def _forward(body: Net) -> MatrixPlan[DensePattern]:
    """The plan by the map on all basis vectors, whose images are the columns."""
    line = on_basis(body).runner.written
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    (rows,) = line.outputs
    return _plan(b, b.apply(wire.Move((1, 0)), b.inline(line, range(b.arity))[rows]))


def _plan(b: Builder, slot: int) -> MatrixPlan[DensePattern]:
    line = Deferred(b.line([slot]))
    return MatrixPlan(DensePattern(b.slots[slot]), line, line, None, ())


@once
def _time(body: Net, name: str) -> float:
    """The predicted time of a lifted pass."""
    return seconds(fused(line_on_basis(body if name == "forward" else turned(body))))


def predicted(body: Net) -> tuple[tuple[str, float], ...]:
    """The predicted times of the plans; of elimination where no loop is run on more vectors than in a pass."""
    passes = [(name, _time(body, name)) for name in ("forward", "adjoint")] if _is_plain(body) else []
    if passes and most_vectors(body, loop_pattern) > min(body.dom.dim, body.cod.dim):
        return tuple(passes)
    return (("elimination", seconds(dense_plan(body).parts.line)), *passes)


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
    return name if time <= seconds(dense_plan(body).parts.line) else "elimination"


# --- elimination ---


def dense_plan(body: Net, limit: int | None = None) -> MatrixPlan[DensePattern]:
    """The plan of a dense matrix by elimination."""
    return plan_for(body, _dense_plan, limit)


def _dense_plan(n: Network) -> MatrixPlan[DensePattern]:
    before, body, entry = len(n.orders), n.body, Entry(entry_type(n.body.cod, n.body.dom))
    found = {at: [contracted(n, p) for p in products] for at, products in n.blocks.items()}
    n.fix()
    orders = tuple(n.orders[before:])
    parts = [f.slot for products in found.values() for p in products for f in p.factors]
    grid: list[list[int | None]] = [[None] * len(body.inputs) for _ in body.outputs]
    for (o, i), products in found.items():
        for p in products:
            slot, total = whole_block(n, p), grid[o][i]
            grid[o][i] = slot if total is None else n.added(total, slot)
    cells = [[None if slot is None else n.cast(slot, entry) for slot in row] for row in grid]
    slot = together(n.builder, cells, body.cod, body.dom, entry.dtype)
    return MatrixPlan.of(n, DensePattern(n.slots[slot]), parts, [slot], orders)


def array_plan(body: Net, limit: int | None = None, *, passes: bool = True) -> MatrixPlan[DensePattern]:
    """The plan of a dense matrix, the quickest of three; `passes` may leave elimination only, as a limit does."""
    room(body)
    match chosen(body) if passes and limit is None else "elimination":
        case "forward":
            return _forward(body)
        case "adjoint":
            return on_basis(turned(body))
        case "elimination":
            return dense_plan(body, limit)
        case never:
            assert_never(never)


def room(body: Net) -> None:
    """Ask for the memory of the matrix and give it back, so that an error comes before the work and not after it."""
    addressable(body.cod.dim * body.dom.dim, "the array of a linear map")
    np.empty((body.cod.dim, body.dom.dim), entry_type(body.cod, body.dom))


def dense(f: AnyLinMap, data: list[Any], limit: int | None = None) -> Any:
    """The dense array; a pass on basis vectors is for arrays of numpy."""
    plan = array_plan(body_of(f, "matrix"), limit, passes=_are_numpys(data))
    return plan.pattern.matrix(plan.at(data))


def _are_numpys(data: Any) -> bool:
    """Tell if all arrays are numpy's, those in bundles too."""
    return all(
        _are_numpys(a) if isinstance(a, (tuple, list)) else isinstance(a, (np.ndarray, np.generic)) for a in data
    )
