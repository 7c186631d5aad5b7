"""Products as one factor over their open labels, relations applied and tables written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linmap.matrices.labelled.columns import TooManyRowsError, flat_positions
from linmap.matrices.labelled.contractor import WideRelationError
from linmap.matrices.labelled.labelled_products import LabelTable, NetworkFactor, NetworkProduct, uses
from linmap.matrices.tables.tables import HUGE, Wanted, condensed, most_rows, tabled

if TYPE_CHECKING:
    from linmap.matrices.labelled.columns import Columns
    from linmap.matrices.labelled.contractor import Contractor


def flat(n: Contractor, p: NetworkProduct) -> NetworkFactor | None:
    """The product without its number as one factor, whose labels are open; None where it is that number everywhere."""
    used = uses(p.factors, p.links)
    keep = tuple(c for c in p.open if c in used)
    if not p.tables:
        most = max([n.size(p.open), *map(n.entries, p.factors)])
        try:
            return n.contract(p.factors, keep, p.links, None if any(map(n.is_found, p.factors)) else most)
        except WideRelationError:  # then pairs are listed
            pass
    p = p.but(factors=tuple(map(n.in_full, p.factors)))  # pairs that are known at a point only are not
    try:
        q = tabled(n, p, (), most_rows(n, p) if n.size(p.open) <= HUGE else None)
    except TooManyRowsError:
        return by_scattered(n, p)
    factor = q.factors[0] if q.factors else None
    if q.tables:
        (table,) = q.tables
        factor = scattered(n, table, factor or n.ones((table.row,)))
    if p.k and not q.k:  # no rows are left: 0 by structure, whatever the factors are
        return n.constant(0.0, (), np.zeros((), bool))
    if q.k != p.k and p.k:
        factor = factor or n.ones(())
        factor = NetworkFactor(n.scaled(q.k / p.k, factor.slot), factor.labels)
    return factor


def scattered(n: Contractor, table: LabelTable, value: NetworkFactor) -> NetworkFactor:
    """A factor by rows as one over the labels of a table, 0 where there is no row."""
    columns: Columns = dict(zip(table.labels, table.columns, strict=True))
    places = flat_positions(table.labels, columns, n.sizes)
    slot = n.summed(value.slot, n.axes[table.row], places, n.index(table.labels))
    return NetworkFactor(slot, table.labels + value.labels[1:])


def by_scattered(n: Contractor, p: NetworkProduct) -> NetworkFactor | None:
    """Tables as arrays, and then relations applied: where a table of all would be too long."""
    factors = list(p.factors)
    for t in p.tables:
        users = [f for f in factors if t.row in f.labels]
        live = {*t.labels, *uses(users)} - {t.row}
        _, table, value = condensed(n, [t], users, Wanted(live, t.labels, None, full=True))
        assert table is not None  # its labels are live
        factors = [f for f in factors if f not in users]
        factors.append(scattered(n, table, value or n.ones((table.row,))))
    used = uses(factors, p.links)
    return n.contract(factors, tuple(c for c in p.open if c in used), p.links)
