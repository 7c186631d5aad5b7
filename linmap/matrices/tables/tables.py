"""Tables: relations and factors joined on the labels that they share, summed over what nothing else has.

The integers (which tuples there are, where each value comes from, where it is added) are worked out when a plan is
made; what is left for a point are gathers, products and segment sums, which are steps of the plan's line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hilbert import SpaceError
from linmap.matrices.labelled.columns import Columns
from linmap.matrices.labelled.labelled_products import LabelTable, NetworkFactor, NetworkProduct, uses
from linmap.matrices.tables.table_builder import Part, TableBuilder, multiplied

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from linmap.matrices.labelled.contractor import Contractor

LISTED, LONGEST = 2 * 10**6, 10**7
"""Tables with at most so many rows are made where nobody has asked for a sparse matrix; up to the second number where
they have at most twice as many as their block has entries, and that could be made whole."""
HUGE = 10**8
"""A block with more entries than this is not made whole where a table can be made instead."""


def most_rows(n: Contractor, p: NetworkProduct) -> int:
    """How many rows a table of a product may have where nobody has asked for a sparse matrix."""
    size = n.size(p.open)
    return max(LISTED, min(2 * size, LONGEST)) if size <= HUGE else LISTED


def condensed(
    n: Contractor,
    parts: Iterable[Part | Columns],
    factors: Iterable[NetworkFactor],
    live: set[int],
    order: Sequence[int],
    most: int | None,
    *,
    full: bool = False,
    ways: bool = True,
) -> tuple[float, LabelTable | None, NetworkFactor | None]:
    """Relations, tables and factors as a number, one table and one factor, over the labels that are live.

    `order` is the order of the table's labels. A table of all tuples is made only if `full`. In how many `ways` a tuple
    comes about is a factor, too, unless only the tuples are asked for. Raises TooManyRowsError.
    """
    tables, left = [TableBuilder.of(n, part, most, ways=ways) for part in parts], list(factors)
    changed, k = tables, 1.0
    while tables:
        for f in list(left):
            labels = {*f.labels}
            near = [t for t in tables if not labels.isdisjoint(t.columns)]
            whole = [t for t in near if labels <= t.columns.keys()]
            if len(near) == 1 or whole:
                left.remove(f)
                t = min(whole or near, key=lambda t: t.count)
                t.absorb(f)
                changed = [*changed, t]
        if len(tables) == 1 and not live.isdisjoint(tables[0].columns):
            break  # tuples are sorted and summed at once below
        for t in dict.fromkeys(changed):
            needed = live.union(uses(left), *[other.labels for other in tables if other is not t])
            if not needed.isdisjoint(t.columns):
                t.drop(needed, order)
                continue
            tables = [other for other in tables if other is not t]
            number, value = t.all(needed)
            k *= number
            left += [] if value is None else [value]
        changed = []
        if len(tables) > 1:
            a, b = _nearest(tables)
            tables = [t for t in tables if t is not b]
            a.join(b, live.union(uses(left), *[t.labels for t in tables if t is not a]), order, most)
            changed = [] if a.columns else [a]
    rows = tables[0] if tables else TableBuilder(n, {}, ways=ways)
    for f in left:
        rows.absorb(f)
    keep = live & {c for g in rows.gathers for c in g.rest}
    if not rows.columns:
        number, value = rows.all(keep)
        return k * number, None, value
    return k, *rows.finish(tuple(c for c in order if c in rows.columns), keep, full=full)


def _nearest(tables: Sequence[TableBuilder]) -> tuple[TableBuilder, TableBuilder]:
    """The two tables of which the fewest pairs agree, of those that share labels; the larger gives the order."""
    near: dict[tuple[int, int], None] = {}
    having: dict[int, list[int]] = {}
    for k, t in enumerate(tables):
        for c in t.columns:
            others = having.setdefault(c, [])
            near.update(dict.fromkeys([(j, k) for j in others]))
            others.append(k)
    pairs = [(tables[j], tables[k]) for j, k in near] or [(tables[0], tables[1])]
    a, b = min(pairs, key=lambda both: both[0].pairs_with(both[1])) if len(pairs) > 1 else pairs[0]
    return (b, a) if b.count > a.count else (a, b)


def tabled(
    n: Contractor,
    p: NetworkProduct,
    held: Iterable[int],
    most: int | None = None,
    *,
    full: bool = False,
    ways: bool = True,
) -> NetworkProduct:
    """The product with one table, which has at least the open labels `held`, and at most one factor; no links.

    Labels that the table does not have are axes of the factor, or free. `full` and `ways` are those of `condensed`.
    Raises TooManyRowsError, and SpaceError where labels are dynamic.
    """
    if _is_tabled(n, p, held, full=full):
        return p
    if any(n.is_found(f) for f in p.factors):
        msg = "a relation is dynamic: which entries there are is known at a point only"
        raise SpaceError(msg)
    covered = uses(p.links, p.tables)
    ranges: list[Part | Columns] = [{c: np.arange(n.sizes[c])} for c in dict.fromkeys(held) if c not in covered]
    parts = [*p.links, *p.tables, *ranges]
    if not parts:
        if not p.factors:
            return p
        return p.but(factors=(multiplied(n, p.factors, tuple(c for c in p.open if c in uses(p.factors))),))
    k, table, value = condensed(n, parts, p.factors, set(p.open), p.open, most, full=full, ways=ways)
    if table is not None and not table.count:
        return NetworkProduct(0.0, (), (), p.out, p.inp)
    factors = () if value is None else (value,)
    return NetworkProduct(p.k * k, factors, (), p.out, p.inp, () if table is None else (table,))


def _is_tabled(n: Contractor, p: NetworkProduct, held: Iterable[int], *, full: bool) -> bool:
    """Whether a product is as `tabled` leaves it."""
    if p.links or len(p.tables) != 1 or len(p.factors) > 1:
        return False
    (table,) = p.tables
    rest = {c for f in p.factors for c in f.labels} - {table.row}
    return (
        all(f.labels[:1] == (table.row,) and n.slots[f.slot].is_field for f in p.factors)
        and table.labels == tuple(c for c in p.open if c in table.labels)
        and set(held) <= set(table.labels)
        and rest <= set(p.open) - set(table.labels)
        and (full or table.count < n.size(table.labels))
    )
