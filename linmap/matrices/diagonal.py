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
from hilbert.arrays.namespace import added, freeze, namespace
from hilbert.leaf import Leaf
from hilbert.program.constant import filled
from hilbert.program.operation import Add, Operation
from linmap.matrices.forms import data_of, planned
from linmap.matrices.network import Network, NetworkFactor, NetworkProduct, network
from linmap.matrices.sparse import enumerate_pairs
from linmap.matrices.structure import body_of
from linmap.net.reverse import transposed
from linmap.term.base import LinMap
from linmap.term.nodes import Compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernel import Kernel
    from hilbert.arrays.library import Library
    from hilbert.program.run import Runner

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
@frozen
class DiagonalAxes(Operation):
    """An array's diagonal along two of its axes, which go, while the diagonal's axis comes last."""

    first: int
    second: int

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A view in numpy, a gather elsewhere."""
        return lib.diagonal(self.first, self.second, operands[0])


@frozen
class DiagonalPlan:
    """The slots of the diagonal of each leaf, and the line that computes them."""

    runner: Runner


def _plan(n: Network) -> DiagonalPlan:
    outputs = []
    for k, leaf in enumerate(n.body.dom.leaves):
        total: int | None = None
        for p in n.blocks[k][k]:
            slot = _product_diagonal(n, p, leaf)
            total = slot if total is None else n.emit(Add(), (total, slot), leaf)
        if total is None:
            total = n.datum(filled(0.0, leaf))
        outputs.append(total)
    return DiagonalPlan(n.runner(outputs))


def _product_diagonal(n: Network, p: NetworkProduct, leaf: Leaf) -> int:
    """The slot of one product's diagonal: its input and output labels become the same labels."""
    fresh = tuple(n.label(axis) for axis in leaf.axes)
    parent: dict[int, int] = {}

    def root(c: int) -> int:
        while c in parent:
            c = parent[c]
        return c

    for c, a, b in zip(fresh, p.out, p.inp, strict=True):
        for other in (a, b):
            r = root(other)
            if r != root(c):
                parent[r] = root(c)
    factors = [NetworkFactor(f.slot, tuple(root(c) for c in f.labels)) for f in p.factors]
    if p.links:
        factors.append(_linked(n, p, root))
    factors = [_distinct(n, f) for f in factors]
    roots = tuple(root(c) for c in fresh)
    if len(set(roots)) < len(roots):  # two axes became one: entries off their diagonal are 0
        twins: list[NetworkFactor] = []
        seen: dict[int, int] = {}
        labels = []
        for c in roots:
            if c in seen:
                twin = n.label(n.axes[c])
                twins.append(n.identity(c, twin))
                labels.append(twin)
            else:
                seen[c] = c
                labels.append(c)
        return n.array((*factors, *twins), tuple(labels), p.k)
    return n.array(factors, roots, p.k)


def _linked(n: Network, p: NetworkProduct, root: Any) -> NetworkFactor:
    """The links of a product as one array over the labels that it has left: 1 where a pair is allowed."""
    known = NetworkProduct(1.0, (), p.links, (), ())
    columns = enumerate_pairs(n, known, {})
    labels = tuple(dict.fromkeys(root(c) for c in columns))
    keep = np.ones(len(next(iter(columns.values()))), bool)
    place: dict[int, Any] = {}
    for c, column in columns.items():
        if root(c) in place:
            keep &= place[root(c)] == column
        else:
            place[root(c)] = column
    return n.counted(labels, [place[c][keep] for c in labels], p.links)


def _distinct(n: Network, f: NetworkFactor) -> NetworkFactor:
    """The factor without repeated labels: its diagonal along them."""
    slot, labels = f.slot, f.labels
    while len(set(labels)) < len(labels):
        again = next(k for k, c in enumerate(labels) if c in labels[:k])
        first = labels.index(labels[again])
        leaf = n.slots[slot]
        rest = [k for k in range(len(labels)) if k not in (first, again)]
        made = Leaf(leaf.entry, tuple(leaf.axes[k] for k in (*rest, first)))
        slot = n.emit(DiagonalAxes(first, again), (slot,), made)
        labels = tuple(labels[k] for k in (*rest, first))
    return NetworkFactor(slot, labels)


def diagonal(f: LinMap[V, V]) -> Vec[V]:
    """The diagonal of the matrix of f : V ⊸ V, as a vector of V. Raises SpaceError if f is open, or not square."""
    _square(f, "the diagonal")
    data = data_of(f, "diagonal")
    body = body_of(f, "diagonal")
    n = network(body)
    on_diagonal = [p for k in range(len(body.inputs)) for p in n.blocks[k][k]]
    if any(n.is_found(x) for p in on_diagonal for x in p.factors):
        msg = "no cheap diagonal: a relation is dynamic; take matrix(f, as_='sparse').diagonal()"
        raise SpaceError(msg)
    plan = planned(body, _plan)
    arrays = plan.runner.run(data)
    return Vec(f.dom, tuple(map(freeze, arrays)))


def trace(f: LinMap[V, V]) -> float:
    """The sum of the diagonal of f : V ⊸ V. Raises SpaceError as `diagonal` does."""
    return added(float(namespace(leaf).sum(leaf)) for leaf in diagonal(f).dense().leaves)


def gram(f: LinMap[V, W]) -> LinMap[V, V]:
    """f* • f : V ⊸ V, whose structure shows what it costs; its matrix is AᵀA."""
    if not isinstance(f, LinMap):
        msg = f"gram takes a linear map, not {type(f).__name__}"
        raise SpaceError(msg)
    return Compose([f, transposed(f)])


def _square(f: Any, what: str) -> None:
    if not isinstance(f, LinMap):
        msg = f"{what} is of a linear map, not of {type(f).__name__}"
        raise SpaceError(msg)
    if f.dom != f.cod:
        msg = f"{what} is of a map V ⊸ V, not of one from {f.dom} to {f.cod}"
        raise SpaceError(msg)
