"""Tables: relations and factors joined on the labels that they share, summed over what nothing else has.

The integers (which tuples there are, where each value comes from, where it is added) are worked out when a plan is
made; what is left for a point are gathers, products and segment sums, which are steps of the plan's line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
from attrs import frozen

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
PATTERN, LINEAR = 4 * 10**7, 32
"""The most rows of a table that is made for the pattern alone of a huge block, and for each element of a side."""


def most_rows(n: Contractor, p: NetworkProduct) -> int:
    """The most rows that a table of a product may have where nobody has asked for a sparse matrix."""
    size = n.size(p.open)
    return max(LISTED, min(2 * size, LONGEST)) if size <= HUGE else LISTED


def most_of_sum(n: Contractor, p: NetworkProduct) -> int | None:
    """The most rows of the table of a sum with a product like one; None where a sparse matrix is asked for.

    Where only patterns are asked for, a block that is too large is all pairs, which takes no array.
    """
    if n.size(p.out) * n.size(p.inp) <= HUGE:
        return most_rows(n, p)
    return max(PATTERN, LINEAR * max(n.size(p.out), n.size(p.inp))) if n.patterns else None


@final
@frozen
class Wanted:
    """A table that is wanted: over the labels that are `live`, in an `order`, of at most so many rows.

    A table of all tuples is made only if `full`. In how many `ways` a tuple comes about is a factor, too, unless only
    the tuples are asked for.
    """

    live: set[int]
    order: Sequence[int]
    most: int | None
    full: bool = False
    ways: bool = True


def condensed(
    n: Contractor, parts: Iterable[Part | Columns], factors: Iterable[NetworkFactor], wanted: Wanted
) -> tuple[float, LabelTable | None, NetworkFactor | None]:
    """Relations, tables and factors as a number, one table and one factor. Raises TooManyRowsError."""
    return _Joining(n, parts, factors, wanted).result()


@final
class _Joining:
    """Tables that are joined two by two until one is left, and the factors that are not read into one of them yet."""

    def __init__(
        self, n: Contractor, parts: Iterable[Part | Columns], factors: Iterable[NetworkFactor], wanted: Wanted
    ) -> None:
        self.n, self.wanted = n, wanted
        self.tables = [TableBuilder.of(n, part, wanted.most, ways=wanted.ways) for part in parts]
        self.factors = list(factors)
        self.number = 1.0

    def result(self) -> tuple[float, LabelTable | None, NetworkFactor | None]:
        """The number, the table and the factor."""
        changed = self.tables
        while self.tables:
            changed = [*changed, *self._read()]
            if len(self.tables) == 1 and not self.wanted.live.isdisjoint(self.tables[0].columns):
                break  # tuples are sorted and summed at once below
            for t in dict.fromkeys(changed):
                self._sum(t)
            changed = self._join()
        rows = self.tables[0] if self.tables else TableBuilder(self.n, {}, ways=self.wanted.ways)
        for f in self.factors:
            rows.absorb(f)
        keep = self.wanted.live & {c for g in rows.gathers for c in g.rest}
        if not rows.columns:
            number, value = rows.all(keep)
            return self.number * number, None, value
        labels = tuple(c for c in self.wanted.order if c in rows.columns)
        return self.number, *rows.finish(labels, keep, full=self.wanted.full)

    def _read(self) -> list[TableBuilder]:
        """Read factors into the smallest table that has their labels, or the only one that has some; those tables."""
        changed: list[TableBuilder] = []
        for f in list(self.factors):
            labels = {*f.labels}
            near = [t for t in self.tables if not labels.isdisjoint(t.columns)]
            whole = [t for t in near if labels <= t.columns.keys()]
            if len(near) == 1 or whole:
                self.factors.remove(f)
                changed.append(min(whole or near, key=lambda t: t.count))
                changed[-1].absorb(f)
        return changed

    def _needed(self, t: TableBuilder) -> set[int]:
        """The labels that are live, or that anything but a table has."""
        others = [other.labels for other in self.tables if other is not t]
        return self.wanted.live.union(uses(self.factors), *others)

    def _sum(self, t: TableBuilder) -> None:
        """Sum a table over the labels that nothing else has; of one that keeps none, a number and a factor are left."""
        needed = self._needed(t)
        if not needed.isdisjoint(t.columns):
            t.drop(needed, self.wanted.order)
            return
        self.tables = [other for other in self.tables if other is not t]
        number, value = t.all(needed)
        self.number *= number
        self.factors += [] if value is None else [value]

    def _join(self) -> list[TableBuilder]:
        """Join the two nearest tables; a list of the result where it has no labels, and is to be summed."""
        if len(self.tables) < 2:
            return []
        a, b = _nearest(self.tables)
        self.tables = [t for t in self.tables if t is not b]
        a.join(b, self._needed(a), self.wanted.order, self.wanted.most)
        return [] if a.columns else [a]


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

    Labels that the table does not have are axes of the factor, or free. `full` and `ways` are those of `Wanted`.
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
    wanted = Wanted(set(p.open), p.open, most, full, ways)
    k, table, value = condensed(n, parts, p.factors, wanted)
    if table is not None and not table.count:
        return NetworkProduct(0.0, (), (), p.out, p.inp)
    factors = () if value is None else (value,)
    return NetworkProduct(p.k * k, factors, (), p.out, p.inp, () if table is None else (table,))


def _is_tabled(n: Contractor, p: NetworkProduct, held: Iterable[int], *, full: bool) -> bool:
    """Tell if a product is as `tabled` leaves it."""
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
