"""Tables: relations and factors joined on the labels that they share, summed over what nothing else has.

The integers (which tuples there are, where each value comes from, where it is added) are worked out when a plan is
made; what is left for a point are gathers, products and segment sums, which are steps of the plan's line.
"""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from hilbert import Fin, SpaceError, Unit
from hilbert.relation import Full
from hilbert.sizes import addressable
from linmap.matrices.products import (
    Columns,
    Labels,
    LabelTable,
    Link,
    Matches,
    NetworkFactor,
    NetworkProduct,
    distinct,
    flat_positions,
    length,
    uses,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from linmap.matrices.contractor import Contractor
    from linmap.matrices.products import Ints

Part: TypeAlias = LabelTable | Link
LISTED = 2 * 10**6
"""Tables with at most so many rows are made where nobody has asked for a sparse matrix."""


class TooManyRowsError(Exception):
    """A table would have more rows than are allowed."""


@final
@frozen
class Gather:
    """A factor's array with the axes of `lead` in front, read at a flat position of these for each row."""

    slot: int
    lead: Labels
    rest: Labels
    positions: Ints


class TableBuilder:
    """Tuples of labels under construction, and the factors that are read for each of them."""

    def __init__(self, n: Contractor, most: int | None) -> None:
        self.n = n
        self.most = most
        self.columns: Columns = {}
        self.gathers: list[Gather] = []
        self.multiplicity: Ints | None = None  # how often each tuple counts, where that is not once

    @property
    def count(self) -> int:
        """How many tuples there are."""
        return length(self.columns)

    def columns_of(self, part: Part | Columns) -> Columns:
        """The tuples of a relation or a table, those only that agree where a label stands twice."""
        if isinstance(part, dict):
            return part
        sizes = self.n.sizes
        if isinstance(part, LabelTable):
            columns = [(part.row, np.arange(part.count)), *zip(part.labels, part.columns, strict=True)]
        else:
            if self.most is not None and part.relation.size > self.most:
                raise TooManyRowsError
            addressable(part.relation.size, "a list of pairs")
            x, y = (np.asarray(side) for side in part.relation.holds())
            columns = [*_columns(part.x, x, sizes), *_columns(part.y, y, sizes)]
        made: Columns = {}
        keep = np.ones(len(columns[0][1]), bool)
        for c, column in columns:
            if c in made:
                keep &= made[c] == column
            made[c] = column
        return made if keep.all() else {c: column[keep] for c, column in made.items()}

    def join(self, part: Part | Columns) -> None:
        """The tuples that agree with those of a relation, a table or some columns."""
        right = self.columns_of(part)
        if not self.columns:
            self.columns = right
            return
        found = Matches(self.columns, right, self.n.sizes)
        if not set(right) - set(self.columns):  # its tuples are distinct: those that it has are kept
            if not found.counts.all():
                here = np.flatnonzero(found.counts)
                self.columns = {c: column[here] for c, column in self.columns.items()}
                self._select(here)
            return
        total = found.total
        self.n.rows += total
        if self.most is not None and total > self.most:
            raise TooManyRowsError
        if len(self.gathers) > 1 and total > self.count:
            self.multiply()
        self.columns, where = found.joined()
        if where is not None:
            self._select(where)

    def _select(self, here: Ints) -> None:
        if self.multiplicity is not None:
            self.multiplicity = self.multiplicity[here]
        self.gathers = [evolve(g, positions=g.positions[here]) for g in self.gathers]

    def absorb(self, f: NetworkFactor) -> None:
        """Read a factor at the labels that the tuples have."""
        lead = tuple(c for c in f.labels if c in self.columns)
        rest = tuple(c for c in f.labels if c not in self.columns)
        slot = self.n.arranged(f, lead + rest)
        self.gathers.append(Gather(slot, lead, rest, flat_positions(lead, self.columns, self.n.sizes)))

    def multiply(self, keep: set[int] | None = None, order: Ints | None = None) -> NetworkFactor | None:
        """What is read, multiplied into one factor for the rows in an order, which is read from then on."""
        n = self.n
        if not self.gathers:
            return None
        positions = [g.positions if order is None else g.positions[order] for g in self.gathers]
        arrays = [n.known(g.slot) for g in self.gathers]
        if not any(a is None or a.ndim != len(g.lead) for a, g in zip(arrays, self.gathers, strict=True)):
            picked = (a.reshape(-1)[where] for a, where in zip(arrays, positions, strict=True))
            row = n.label(Fin.of(self.count))
            value = n.constant(reduce(mul, picked), (row,))
            self.gathers = [Gather(value.slot, (row,), (), np.arange(self.count))]
            return value
        row = n.label(_row_axis(n, self.gathers, positions))
        factors = []
        for g, where in zip(self.gathers, positions, strict=True):
            slot = n.taken(g.slot, n.index(g.lead), where, n.axes[row]) if g.lead else g.slot
            factors.append(NetworkFactor(slot, (row, *g.rest) if g.lead else g.rest))
        rest = dict.fromkeys(c for g in self.gathers for c in g.rest if keep is None or c in keep)
        value = multiplied(n, factors, (row, *rest))
        self.gathers = [Gather(value.slot, (row,), value.labels[1:], np.arange(self.count))]
        return value

    def drop(self, live: set[int]) -> None:
        """Sum over the labels that are not live: tuples that are equal then are one. Some label must be live."""
        kept = [c for c in self.columns if c in live]
        if len(kept) == len(self.columns):
            return
        columns, order, targets = distinct(kept, self.columns, self.n.sizes)
        if targets is None:
            self.columns = {c: self.columns[c] for c in kept}
            return
        self._sum(live, order, targets, len(columns[0]))
        self.columns = dict(zip(kept, columns, strict=True))

    def _sum(self, live: set[int], order: Ints | None, targets: Ints, count: int) -> None:
        n, many = self.n, self.multiplicity
        self.multiplicity = None
        if not self.gathers:
            weights = None if many is None else many if order is None else many[order]
            self.multiplicity = np.bincount(targets, weights=weights, minlength=count).astype(np.int64)
            return
        if many is not None:
            self._weigh(many)
        value = self.multiply(live, order)
        assert value is not None  # there are gathers
        to = n.label(Fin.of(count))
        slot = n.summed(value.slot, n.axes[value.labels[0]], targets, n.axes[to])
        self.gathers = [Gather(slot, (to,), value.labels[1:], np.arange(count))]

    def all(self, live: set[int]) -> tuple[float, NetworkFactor | None]:
        """The sum over all tuples, as a number or as a factor; no tuples are left."""
        n, many = self.n, self.multiplicity
        count = self.count
        k, value = 1.0, None
        if not self.gathers:
            k = float(count if many is None else many.sum())
        else:
            if many is not None:
                self._weigh(many)
            found = self.multiply(live)
            assert found is not None  # there are gathers
            total = n.reduced(found.slot, Full(n.axes[found.labels[0]], Unit()))
            value = NetworkFactor(total, found.labels[1:])
        self.columns, self.gathers, self.multiplicity = {}, [], None
        return k, value

    def _weigh(self, many: Ints) -> None:
        """Read the number of times that each tuple counts as a factor."""
        row = self.n.label(Fin.of(len(many)))
        f = self.n.constant(many.astype(float), (row,))
        self.gathers.append(Gather(f.slot, (row,), (), np.arange(len(many))))

    def finish(self, labels: Labels, keep: set[int], *, full: bool) -> tuple[LabelTable | None, NetworkFactor | None]:
        """The table of the tuples in the order of `labels`, which are all that there are, and what is read as a factor.

        Where every tuple of the labels is there, there is no table, unless it is asked for; the factor has its labels.
        """
        n = self.n
        columns, order, targets = distinct(labels, self.columns, n.sizes)
        if targets is not None:
            self._sum(keep, order, targets, len(columns[0]))
            order = None
        if self.multiplicity is not None:
            self._weigh(self.multiplicity)
            self.multiplicity = None
        self.columns = dict(zip(labels, columns, strict=True))
        value = self.multiply(keep, order)
        if len(columns[0]) == n.size(labels) and not full:
            if value is None:
                return None, None
            slot = n.taken(value.slot, n.axes[value.labels[0]], np.arange(n.size(labels)), n.index(labels))
            return None, NetworkFactor(slot, labels + value.labels[1:])
        row = value.labels[0] if value is not None else n.label(Fin.of(len(columns[0])))
        return LabelTable(row, labels, columns), value


def _is_range(here: Ints) -> bool:
    return bool(len(here) == 0 or (here[0] == 0 and np.all(here[1:] - here[:-1] == 1)))


def _columns(labels: Labels, flat: Ints, sizes: Sequence[int]) -> list[tuple[int, Ints]]:
    columns = []
    for c in reversed(labels):
        if sizes[c]:
            flat, column = np.divmod(flat, sizes[c])
        else:
            column = flat
        columns.append((c, column))
    return columns[::-1]


def _row_axis(n: Contractor, gathers: Sequence[Gather], positions: Sequence[Ints]) -> Fin:  # type: ignore[type-arg]
    """The axis of the rows: that of a factor that is read whole and in order, if there is one."""
    count = len(positions[0])
    for g, where in zip(gathers, positions, strict=True):
        if len(g.lead) == 1 and n.sizes[g.lead[0]] == count and _is_range(where):
            axis: Fin = n.axes[g.lead[0]]  # type: ignore[type-arg,assignment]
            return axis
    return Fin.of(count)


def multiplied(n: Contractor, factors: Sequence[NetworkFactor], keep: Labels) -> NetworkFactor:
    """The product of some factors, summed over the labels that are not kept; vectors along one label are multiplied."""
    if len(factors) == 1 and set(factors[0].labels) == set(keep) and n.slots[factors[0].slot].is_field:
        return NetworkFactor(n.arranged(factors[0], keep), keep)
    if all(f.labels == keep and n.slots[f.slot].is_field for f in factors):
        made = factors[0]
        for f in factors[1:]:
            made = n.pair(made, f, keep)
        return made
    orders = len(n.orders)
    value = n.contract(factors, tuple(c for c in keep if c in uses(factors)))
    del n.orders[orders:]  # the product of entries has no order worth telling
    assert value is not None  # of at least one factor
    return NetworkFactor(n.spread(value, keep), keep)


def condensed(
    n: Contractor,
    parts: Iterable[Part | Columns],
    factors: Iterable[NetworkFactor],
    live: set[int],
    order: Sequence[int],
    most: int | None,
    *,
    full: bool = False,
) -> tuple[float, LabelTable | None, NetworkFactor | None]:
    """Relations, tables and factors as a number, one table and one factor, over the labels that are live.

    `order` is the order of the table's labels. A table of all tuples is made only if `full`. Raises TooManyRowsError.
    """
    rows = TableBuilder(n, most)
    todo, left = list(parts), list(factors)
    k = 1.0

    def labels_of(part: Part | Columns) -> set[int]:
        if isinstance(part, dict):
            return set(part)
        return {*part.labels, *((part.row,) if isinstance(part, LabelTable) else ())}

    def weight(part: Part | Columns) -> int:
        if isinstance(part, dict):
            return length(part)
        return part.count if isinstance(part, LabelTable) else part.relation.size

    while todo:
        near = [p for p in todo if labels_of(p) & set(rows.columns)] or todo
        part = min(near, key=weight)
        todo = [p for p in todo if p is not part]
        rows.join(part)
        later = set[int]().union(*map(labels_of, todo))
        for f in [f for f in left if not set(f.labels) & later and set(f.labels) & set(rows.columns)]:
            left.remove(f)
            rows.absorb(f)
        for f in [f for f in left if set(f.labels) <= set(rows.columns)]:
            left.remove(f)
            rows.absorb(f)
        needed = live | later | uses(left)
        if needed & set(rows.columns):
            if todo:  # at the end, tuples are sorted and summed at once
                rows.drop(needed)
        else:
            number, value = rows.all(needed)
            k *= number
            left += [] if value is None else [value]
    for f in left:
        rows.absorb(f)
    keep = live & {c for g in rows.gathers for c in g.rest}
    if not rows.columns:
        number, value = rows.all(keep)
        return k * number, None, value
    return k, *rows.finish(tuple(c for c in order if c in rows.columns), keep, full=full)


def tabled(
    n: Contractor, p: NetworkProduct, held: Iterable[int], most: int | None = None, *, full: bool = False
) -> NetworkProduct:
    """The product with one table, which has at least the open labels `held`, and at most one factor; no links.

    Labels that the table does not have are axes of the factor, or free. A table of all tuples is made only if `full`.
    Raises TooManyRowsError, and SpaceError where labels are found at the point only.
    """
    if any(n.is_found(f) for f in p.factors):
        msg = "a relation is dynamic: which entries there are is known at a point only"
        raise SpaceError(msg)
    covered = uses(p.links, p.tables)
    ranges: list[Part | Columns] = [{c: np.arange(n.sizes[c])} for c in dict.fromkeys(held) if c not in covered]
    parts = [*p.links, *p.tables, *ranges]
    if not parts:
        if not p.factors:
            return p
        return evolve(p, factors=(multiplied(n, p.factors, tuple(c for c in p.open if c in uses(p.factors))),))
    k, table, value = condensed(n, parts, p.factors, set(p.open), p.open, most, full=full)
    if table is not None and not table.count:
        return NetworkProduct(0.0, (), (), p.out, p.inp)
    factors = () if value is None else (value,)
    return NetworkProduct(p.k * k, factors, (), p.out, p.inp, () if table is None else (table,))


def diagonal_sides(n: Contractor, p: NetworkProduct) -> NetworkProduct:
    """Sides of a table that coincide are one label: a diagonal."""
    for t in p.tables:
        place = dict(zip(t.labels, t.columns, strict=True))
        for a in p.out:
            for b in p.inp:
                if a == b or a not in place or b not in place or n.axes[a] != n.axes[b]:
                    continue
                if np.array_equal(place[a], place[b]):
                    return diagonal_sides(n, _identified(n, p, t, a, b))
    return p


def _identified(n: Contractor, p: NetworkProduct, t: LabelTable, a: int, b: int) -> NetworkProduct:
    """The product with label a for b, which a table says are equal."""

    def name(labels: Labels) -> Labels:
        return tuple(a if c == b else c for c in labels)

    kept = [(c, column) for c, column in zip(t.labels, t.columns, strict=True) if c != b]
    labels = tuple(c for c, _ in kept)
    table = LabelTable(t.row, labels, tuple(column for _, column in kept))
    factors = tuple(NetworkFactor(f.slot, name(f.labels)) for f in p.factors)
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
