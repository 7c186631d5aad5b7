"""Diagonals, traces and Gram maps of linear maps, from their networks: no matrix is made (theory §9).

>>> from hilbert import Fin, R
>>> from linmap import scale
>>> diagonal(scale(3.0, R ** Fin.of(2))).array.tolist(), trace(scale(3.0, R ** Fin.of(2)))
([3.0, 3.0], 6.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from attrs import frozen

from hilbert import SpaceError, Type, Vec
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.namespace import added, freeze, namespace
from hilbert.base.sizes import held
from hilbert.errors import shown
from hilbert.index.leaf import Leaf
from hilbert.program.line.constant import filled
from hilbert.program.line.step_operation import Operation
from hilbert.relation import Order
from linmap.matrices.labelled.columns import Labels, flat_positions, split
from linmap.matrices.labelled.deferred_lines import Deferred
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct
from linmap.matrices.made.matrix_plans import NARROW, data_of, limit_of, plan_at
from linmap.matrices.structure.inverse_forms import inverse_in
from linmap.matrices.structure.structure import body_of
from linmap.matrices.tables.flat_products import flat
from linmap.matrices.tables.tables import tabled
from linmap.net.lower import transposed
from linmap.term.linear_map import LinMap
from linmap.term.nodes import Compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.library import Library
    from linmap.matrices.network.network import Network
    from linmap.term.net import Net

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
@frozen
class DiagonalAxes(Operation):
    """An array's diagonal along two of its axes, which go, while the diagonal's axis comes last."""

    first: int
    second: int

    def image(self, *operands: Leaf) -> Leaf:
        """The axes that are left, then the diagonal's."""
        (leaf,) = operands
        rest = [axis for k, axis in enumerate(leaf.axes) if k not in {self.first, self.second}]
        return Leaf(leaf.entry, (*rest, leaf.axes[self.first]))

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A view in numpy, a gather elsewhere."""
        return lib.diagonal(self.first, self.second, operands[0])


@final
@frozen
class DiagonalPlan:
    """The slots of the diagonal of each leaf, and the line that computes them."""

    runner: Deferred


def _plan(n: Network) -> DiagonalPlan:
    outputs = []
    for k, leaf in enumerate(n.body.dom.leaves):
        total: int | None = None
        for p in n.blocks.get((k, k), ()):
            slot = _product_diagonal(n, p, leaf)
            total = slot if total is None else n.added(total, slot)
        if total is None:
            total = n.datum(filled(0.0, leaf))
        outputs.append(total)
    return DiagonalPlan(n.runner(outputs))


def diagonal_plan(body: Net, data: Sequence[Any] | None = None, limit: int | None = None) -> DiagonalPlan:
    """The plan of the diagonal of a square net; the data matter where elements of index sets are among them."""
    return plan_at(body, _plan, data, limit)


def _product_diagonal(n: Network, p: NetworkProduct, leaf: Leaf) -> int:
    """The slot of one product's diagonal: its input and output labels become the same labels."""
    fresh = tuple(n.label(axis) for axis in leaf.axes)
    parent: dict[int, int] = {}

    def root(c: int) -> int:
        while c in parent:
            c = parent[c]
        return c

    def named(labels: Labels) -> Labels:
        return tuple(map(root, labels))

    for c, a, b in zip(fresh, p.out, p.inp, strict=True):
        for other in (a, b):
            r = root(other)
            if r != root(c):
                parent[r] = root(c)
    roots = named(fresh)
    each = tuple(dict.fromkeys(roots))
    factors = tuple(_distinct(n, NetworkFactor(f.slot, named(f.labels))) for f in p.factors)
    tables = tuple(LabelTable(t.row, named(t.labels), t.columns) for t in p.tables)
    links = [Link(link.relation, named(link.x), named(link.y)) for link in p.links]
    kept = []
    for link in links:
        if not (isinstance(link.relation, Order) and link.x == link.y):
            kept.append(link)
        elif link.relation.strict:  # x ≤ x holds for all, x < x for none
            return n.array((), roots, 0.0)
    q = NetworkProduct(p.k, factors, tuple(kept), each, (), tables)
    if q.links:
        q = tabled(n, q, ())
    f = flat(n, q) or n.ones(())
    if len(each) == len(roots):
        return n.scaled(q.k, n.spread(f, roots))
    # two axes became one: entries off their diagonal are 0
    columns = dict(split(each, np.arange(n.size(each)), n.sizes))
    places = flat_positions(roots, columns, n.sizes)
    return n.scaled(q.k, n.summed(n.spread(f, each), n.index(each), places, n.index(fresh)))


def _distinct(n: Network, f: NetworkFactor) -> NetworkFactor:
    """The factor without repeated labels: its diagonal along them."""
    slot, labels = f.slot, f.labels
    while len(set(labels)) < len(labels):
        again = next(k for k, c in enumerate(labels) if c in labels[:k])
        first = labels.index(labels[again])
        leaf = n.slots[slot]
        of = DiagonalAxes(first, again)
        slot = n.emit(of, (slot,), of.image(leaf))
        labels = (*[c for k, c in enumerate(labels) if k not in {first, again}], labels[first])
    return NetworkFactor(slot, labels)


@held(NARROW)
def diagonal(f: LinMap[V, V], *, limit: int | None = None) -> Vec[V]:
    """The diagonal of the matrix of f : V ⊸ V, as a vector of V; of an inverse by the method that solves with it.

    `limit` bounds the entries of intermediate arrays, as that of `matrix` does. Raises SpaceError if f is open, or not
    square, and for a limit that no order keeps.
    """
    _square(f, "the diagonal")
    data = data_of(f, "diagonal")
    body = body_of(f, "diagonal")
    undone = inverse_in(body)
    found = None if undone is None else undone.diagonal([part for array in data for part in _parts(array)])
    if found is not None:
        ends = np.cumsum([leaf.size for leaf in body.dom.leaves])[:-1]
        parts = zip(np.split(found, ends), body.dom.leaves, strict=True)
        return Vec(f.dom, tuple(freeze(part.reshape(leaf.shape)) for part, leaf in parts))
    arrays = diagonal_plan(body, data, limit_of(limit)).runner.run(data)
    return Vec(f.dom, tuple(map(freeze, arrays)))


def _parts(array: Any) -> tuple[Any, ...]:
    return array.parts if isinstance(array, Arrays) else (array,)


def trace(f: LinMap[V, V], *, limit: int | None = None) -> float:
    """The sum of the diagonal of f : V ⊸ V. `limit` is that of `diagonal`; raises SpaceError as it does."""
    _square(f, "the trace")
    return added(map(_total, diagonal(f, limit=limit).dense().leaves))


def _total(array: Any) -> float:
    """The sum of the entries; what numpy repeats without storing it is added once, and multiplied."""
    if isinstance(array, np.ndarray) and array.size and 0 in array.strides:
        once = array[tuple([slice(0, 1) if stride == 0 else slice(None) for stride in array.strides])]
        return float(np.sum(once)) * (array.size // once.size)
    return float(namespace(array).sum(array))


def gram(f: LinMap[V, W]) -> LinMap[V, V]:
    """f* • f : V ⊸ V, whose structure shows what it costs; its matrix is AᵀA.

    It is a term, and no array is made for it: a limit is that of what reads it, matrix(gram(f), limit=…).
    """
    if not isinstance(f, LinMap):
        remedy = ": f.at(x) is one" if hasattr(f, "at") else ""
        msg = f"gram takes a linear map, not {shown(f)}{remedy}"
        raise SpaceError(msg)
    return Compose([f, transposed(f)])


def _square(f: Any, what: str) -> None:
    if not isinstance(f, LinMap):
        written = {"the diagonal": "A.diagonal()", "the trace": "A.trace()"}[what]
        msg = f"{what} is of a linear map, not of {shown(f)}: of a matrix A ∈ ℝ^{{X×X}} write {written}"
        raise SpaceError(msg)
    if f.dom != f.cod:
        msg = f"{what} is of a map V ⊸ V, not of one from {f.dom} to {f.cod}"
        raise SpaceError(msg)
