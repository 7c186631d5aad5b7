"""Sides of a table that coincide: an input and an output that have one value in every row are a diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linmap.matrices.labelled.columns import Labels
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct

if TYPE_CHECKING:
    from linmap.matrices.labelled.contractor import Contractor


def diagonal_sides(n: Contractor, p: NetworkProduct) -> NetworkProduct:
    """Sides of a table that coincide are one label: a diagonal."""
    for t in p.tables:
        place = dict(zip(t.labels, t.columns, strict=True))
        for a in p.out:
            for b in p.inp:
                if a not in place or b not in place or n.axes[a] != n.axes[b]:
                    continue
                if a in p.inp or b in p.out:
                    continue  # a label stands once on each side
                others = [{*x.labels} for x in p.tables if x is not t] + [{*x.labels} for x in p.links]
                if any({a, b} <= labels for labels in others):
                    continue  # they are joined first
                if np.array_equal(place[a][:9], place[b][:9]) and np.array_equal(place[a], place[b]):
                    return diagonal_sides(n, _identified(n, p, t, a, b))
    return p


def _identified(n: Contractor, p: NetworkProduct, t: LabelTable, a: int, b: int) -> NetworkProduct:
    """The product with label a for b, which a table says are equal; of a factor with both, its diagonal."""

    def name(labels: Labels) -> Labels:
        return tuple(a if c == b else c for c in labels)

    kept = [(c, column) for c, column in zip(t.labels, t.columns, strict=True) if c != b]
    labels = tuple(c for c, _ in kept)
    table = LabelTable(t.row, labels, tuple(column for _, column in kept))
    factors = tuple(
        _diagonal(n, f, a, b) if {a, b} <= {*f.labels} else NetworkFactor(f.slot, name(f.labels)) for f in p.factors
    )
    tables = tuple(table if x is t else LabelTable(x.row, name(x.labels), x.columns) for x in p.tables)
    if table.count == n.size(labels):  # nothing is restricted
        tables = tuple(x for x in tables if x is not table)
        factors = tuple(
            NetworkFactor(
                n.taken(f.slot, n.axes[t.row], np.arange(table.count), n.index(labels)), labels + f.labels[1:]
            )
            if t.row in f.labels
            else f
            for f in factors
        )
    links = tuple(Link(x.relation, name(x.x), name(x.y)) for x in p.links)
    return NetworkProduct(p.k, factors, links, name(p.out), name(p.inp), tables)


def _diagonal(n: Contractor, f: NetworkFactor, a: int, b: int) -> NetworkFactor:
    """The entries of a factor where labels a and b are equal."""
    rest = tuple(c for c in f.labels if c not in (a, b))
    slot = n.arranged(n.in_full(f), (a, b, *rest))
    size = n.sizes[a]
    return NetworkFactor(n.taken(slot, n.index((a, b)), np.arange(size) * (size + 1), n.axes[a]), (a, *rest))
