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
from linmap.matrices.columns import Columns, Labels, Matches, distinct, flat_positions, length, split
from linmap.matrices.deferred import FOLDED
from linmap.matrices.products import LabelTable, Link, NetworkFactor, NetworkProduct, uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from linmap.matrices.columns import Distinct, Ints
    from linmap.matrices.contractor import Contractor

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
        self.count = 1
        self.gathers: list[Gather] = []
        self.repeats = False  # whether a tuple may be there twice, as some of its labels were left out
        self.multiplicity: Ints | None = None  # how often each tuple counts, where that is not once

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
            columns = [*split(part.x, x, sizes), *split(part.y, y, sizes)]
        made: Columns = {}
        keep = np.ones(len(columns[0][1]), bool)
        for c, column in columns:
            if c in made:
                keep &= made[c] == column
            made[c] = column
        return made if keep.all() else {c: column[keep] for c, column in made.items()}

    def join(self, part: Part | Columns, needed: set[int]) -> None:
        """The tuples that agree with those of a relation, a table or some columns; of their labels, those needed."""
        right = self.columns_of(part)
        if not self.columns:
            self.columns, self.count = right, length(right)
            return
        if not set(right) - set(self.columns):  # its tuples are distinct: those that it has are kept
            found = Matches(self.columns, right, self.n.sizes)
            if not found.counts.all():
                kept = np.flatnonzero(found.counts)
                self.columns = {c: column[kept] for c, column in self.columns.items()}
                self._select(kept)
                self.count = len(kept)
            return
        swap = length(right) > self.count  # the larger side gives the order: it is likely to be sorted
        found = Matches(right, self.columns, self.n.sizes) if swap else Matches(self.columns, right, self.n.sizes)
        total = found.total
        self.n.rows += total
        if self.most is not None and total > self.most:
            raise TooManyRowsError
        if len(self.gathers) > 1 and total > self.count:
            self.multiply()
        self.repeats = not set(self.columns) | set(right) <= needed
        self.columns, here, there = found.joined(needed)
        self.count = total
        where = there if swap else here
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
        read = [a is not None and a.ndim == len(g.lead) for a, g in zip(arrays, self.gathers, strict=True)]
        if not all(read) and self.count > FOLDED:
            read = [False] * len(read)
        picked = [a.reshape(-1)[where] for a, where, is_read in zip(arrays, positions, read, strict=True) if is_read]
        left = [(g, where) for g, where, is_read in zip(self.gathers, positions, read, strict=True) if not is_read]
        row = n.label(_row_axis(n, left, self.count))
        factors = [n.constant(reduce(mul, picked), (row,))] if picked else []  # what is known is multiplied at once
        for g, where in left:
            slot = n.taken(g.slot, n.index(g.lead), where, n.axes[row]) if g.lead else g.slot
            factors.append(NetworkFactor(slot, (row, *g.rest) if g.lead else g.rest))
        rest = dict.fromkeys(c for g in self.gathers for c in g.rest if keep is None or c in keep)
        value = multiplied(n, factors, (row, *rest))
        self.gathers = [Gather(value.slot, (row,), value.labels[1:], np.arange(self.count))]
        return value

    def drop(self, live: set[int]) -> None:
        """Sum over the labels that are not live: tuples that are equal then are one. Some label must be live."""
        kept = [c for c in self.columns if c in live]
        if len(kept) == len(self.columns) and not self.repeats:
            return
        self.repeats = False
        found = distinct(kept, [self.columns], self.n.sizes)
        if not found.repeats:
            self.columns = {c: self.columns[c] for c in kept}
            return
        self._sum(live, found)
        self.columns, self.count = dict(zip(kept, found.columns, strict=True)), found.count

    def _sum(self, live: set[int], found: Distinct) -> None:
        n, many = self.n, self.multiplicity
        self.multiplicity = None
        if not self.gathers:
            self.multiplicity = found.summed(np.ones(found.given, np.int64) if many is None else many).astype(np.int64)
            return
        if many is not None:
            self._weigh(many)
        value = self.multiply(live, found.order)
        assert value is not None  # there are gathers
        to = n.label(Fin.of(found.count))
        slot = n.summed(value.slot, n.axes[value.labels[0]], found.places, n.axes[to])
        self.gathers = [Gather(slot, (to,), value.labels[1:], np.arange(found.count))]

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
        self.columns, self.count, self.gathers, self.multiplicity = {}, 1, [], None
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
        found = distinct(labels, [self.columns], n.sizes)
        columns, order = found.columns, found.order
        if found.repeats:
            self._sum(keep, found)
            order = None
        self.count = found.count
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


def _row_axis(n: Contractor, gathers: Sequence[tuple[Gather, Ints]], count: int) -> Fin:  # type: ignore[type-arg]
    """The axis of so many rows: that of a factor that is read whole and in order, if there is one."""
    for g, where in gathers:
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
        later = set[int]().union(*map(labels_of, todo))
        rows.join(part, live | later | uses(left))
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
        return evolve(p, factors=(multiplied(n, p.factors, tuple(c for c in p.open if c in uses(p.factors))),))
    k, table, value = condensed(n, parts, p.factors, set(p.open), p.open, most, full=full)
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
