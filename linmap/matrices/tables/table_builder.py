"""Tuples of labels under construction, with the factors read for each: joined, and summed where tuples are equal."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from hilbert import Fin, Unit
from hilbert.base.sizes import room
from hilbert.relation import Full
from linmap.matrices.labelled.columns import (
    Columns,
    Labels,
    TooManyRowsError,
    flat_positions,
    length,
    progression,
)
from linmap.matrices.labelled.distinct_tuples import distinct
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, uses
from linmap.matrices.labelled.matches import Matches
from linmap.matrices.tables.constant_tables import WORTH, summed_product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from linmap.matrices.labelled.columns import Ints
    from linmap.matrices.labelled.contractor import Contractor
    from linmap.matrices.labelled.distinct_tuples import Distinct

Part: TypeAlias = LabelTable | Link
KEYS = 4
"""The number of keys of a table that are remembered."""
FULL = 3
"""Tuples that fill a third of an array or more are one where a factor with further labels is summed over them."""
KEPT = 4 * 10**6
"""Tuples that are left when equal ones are summed are at most so many, or a third of what there could be, where nobody
has asked for a sparse matrix."""
PAIRS = 16
"""Pairs that are summed when the plan is made, and leave fewer tuples, may be so many times more."""


@final
@frozen
class Gather:
    """A factor's array with the axes of `lead` in front, read at a flat position of these for each row, or in order."""

    slot: int
    lead: Labels
    rest: Labels
    positions: Ints | None = None

    def moved(self, count: int, move: Callable[[Ints], Ints]) -> Gather:
        """The gather for the rows that `move` makes of `count` rows."""
        return evolve(self, positions=move(np.arange(count) if self.positions is None else self.positions))

    def at(self, order: Ints | None) -> Ints | None:
        """The positions for the rows in an order."""
        if order is None:
            return self.positions
        return order if self.positions is None else self.positions[order]


class TableBuilder:
    """Tuples of labels under construction, each once, and the factors that are read for each of them.

    `keys` are sets of labels of which no two tuples have the same values. In how many `ways` each comes about is
    counted where that is asked for.
    """

    def __init__(
        self, n: Contractor, columns: Columns, keys: Iterable[frozenset[int]] = (), *, ways: bool = True
    ) -> None:
        self.n = n
        self.ways = ways
        self.columns = columns
        self.count = length(columns)
        self.keys = [*keys]
        self.gathers: list[Gather] = []
        self.multiplicity: Ints | None = None  # how often each tuple counts, where that is not once

    @staticmethod
    def of(n: Contractor, part: Part | Columns, most: int | None, *, ways: bool = True) -> TableBuilder:
        """The tuples of a relation or a table, those only that agree where a label stands twice."""
        if isinstance(part, dict):
            return TableBuilder(n, part, [frozenset(part)], ways=ways)
        sizes = n.sizes
        if isinstance(part, LabelTable):
            columns = [(part.row, np.arange(part.count)), *zip(part.labels, part.columns, strict=True)]
            keys = [frozenset((part.row,)), frozenset(part.labels)]
        else:
            if most is not None and part.relation.size > most:
                raise TooManyRowsError
            room(2 * part.relation.size, "a list of pairs")
            sides = part.x, part.y
            listed = n.pairs_of(part.relation, *([sizes[c] for c in side] for side in sides))
            columns = [*zip(part.labels, listed.columns, strict=True)]
            once = [frozenset(side) for side, alone in zip(sides, listed.once, strict=True) if alone]
            keys = once or [frozenset(part.labels)]
        made: Columns = {}
        keep: Any = None
        for c, column in columns:
            if c in made:
                same = made[c] == column
                keep = same if keep is None else keep & same
            made[c] = column
        made = made if keep is None or keep.all() else {c: column[keep] for c, column in made.items()}
        return TableBuilder(n, made, keys, ways=ways)

    @property
    def labels(self) -> set[int]:
        """The labels of the tuples, and the further labels of the factors that are read for them."""
        return {*self.columns, *(c for g in self.gathers for c in g.rest)}

    def pairs_with(self, other: TableBuilder) -> float:
        """An estimate of the number of tuples joined with those of another: bounded where a key is shared."""
        shared = self.columns.keys() & other.columns.keys()
        guess = self.count * other.count / max(self.n.size(shared), 1)
        for keys, count in ((self.keys, other.count), (other.keys, self.count)):
            if any(key <= shared for key in keys):
                guess = min(guess, count)
        return guess

    def join(self, other: TableBuilder, live: set[int], order: Sequence[int], most: int | None) -> None:
        """The tuples that agree with those of another, on the labels that are live; equal ones are summed."""
        shared = self.columns.keys() & other.columns.keys()
        kept = _arranged((self.columns.keys() | other.columns.keys()) & live, order)
        mine, others = self.keys, other.keys
        alone = [
            *(mine if any(b <= shared for b in others) else ()),
            *(others if any(a <= shared for a in mine) else ()),
        ]
        self.keys = alone or [a | b for a in mine for b in others]
        decided = not kept or self._decided_by(kept)  # what has no labels is summed by `all`
        summed = not decided and self.is_known and other.is_known
        if summed and self.pairs_with(other) >= WORTH and self._multiplied_with(other, kept, most):
            return
        found = Matches(self.columns, other.columns, self.n.sizes, once=bool(alone))
        total = found.total
        self.n.rows += total
        if most is not None and total > (PAIRS * most if summed else most):
            raise TooManyRowsError
        sides = (self, found.on_left), (other, found.on_right)
        for side, _ in sides:
            if len(side.gathers) > 1 and total > side.count:
                side.multiply()
        if found.aligned:
            self.gathers = [*self.gathers, *other.gathers]
        else:
            self.gathers = [g.moved(side.count, move) for side, move in sides for g in side.gathers]
        many = [move(side.multiplicity) for side, move in sides if side.multiplicity is not None]
        self.multiplicity = reduce(mul, many) if many else None
        self.count = total
        if decided:
            self.columns = found.columns(kept)
        else:
            self._unite(kept, found.distinct(kept), live)
        self._check(kept, most)

    def _check(self, kept: Labels, most: int | None) -> None:
        if most is not None and self.count > min(most, max(KEPT, self.n.size(kept) // FULL)):
            raise TooManyRowsError

    def _multiplied_with(self, other: TableBuilder, kept: Labels, most: int | None) -> bool:
        """Multiply the tables as scipy's matrices, which lists no pairs; False, with nothing done, where that fails."""
        n = self.n
        sides = (self.columns, self._numbers()), (other.columns, other._numbers())
        made = summed_product(*sides, kept, n.sizes, None if most is None else PAIRS * most)
        if made is None:
            return False
        self.columns, values = made
        self.count, self.keys = len(values), [frozenset(kept)]
        n.rows += self.count
        self._check(kept, most)
        plain = not self.gathers and not other.gathers
        self.gathers, self.multiplicity = [], values.astype(np.int64) if plain and self.ways else None
        if not plain:
            row = n.label(Fin.of(self.count))
            self.gathers = [Gather(n.constant(values, (row,)).slot, (row,), ())]
        return True

    @property
    def is_known(self) -> bool:
        """True if the factors read are numbers, one for each tuple, that the plan has worked out."""
        arrays = [self.n.known(g.slot) for g in self.gathers]
        return all(a is not None and a.ndim == len(g.lead) for a, g in zip(arrays, self.gathers, strict=True))

    def _numbers(self) -> npt.NDArray[Any]:
        """For each tuple the product of the numbers that are read, times how often the tuple counts."""
        read = [_entries(self.n.known(g.slot), g.positions) for g in self.gathers]
        many = [] if self.multiplicity is None else [self.multiplicity]
        return reduce(mul, read + many) if read or many else np.ones(self.count)

    def _decided_by(self, kept: Labels) -> bool:
        """Tell if no two tuples have the same values of some labels; then keep only the keys among these labels."""
        keys = [key for key in self.keys if key <= {*kept}]
        self.keys = keys[:KEYS] or self.keys
        return bool(keys)

    def absorb(self, f: NetworkFactor) -> None:
        """Read a factor at the labels that the tuples have."""
        lead = tuple(c for c in f.labels if c in self.columns)
        rest = tuple(c for c in f.labels if c not in self.columns)
        slot = self.n.arranged(f, lead + rest)
        self.gathers.append(Gather(slot, lead, rest, flat_positions(lead, self.columns, self.n.sizes)))

    def multiply(self, keep: set[int] | None = None, order: Ints | None = None) -> NetworkFactor | None:
        """Multiply the factors that are read into one, for rows in an order, and read this one from then on."""
        n = self.n
        if not self.gathers:
            return None
        gathers = [(g, g.at(order), n.known(g.slot)) for g in self.gathers]
        known = [(g, where, a) for g, where, a in gathers if a is not None and a.ndim == len(g.lead)]
        left = [(g, where) for g, where, a in gathers if a is None or a.ndim != len(g.lead)]
        row = n.label(_row_axis(n, left, self.count))
        factors: list[NetworkFactor] = []
        if known:  # numbers are multiplied at once
            numbers = [_entries(a, where) for _, where, a in known]
            held = [_entries(a, where) for g, where, _ in known if (a := n.held(g.slot)) is not None]
            factors.append(n.constant(reduce(mul, numbers), (row,), reduce(np.logical_and, held) if held else None))
        for g, where in left:
            slot = n.taken(g.slot, n.index(g.lead), where, n.axes[row]) if g.lead else g.slot
            factors.append(NetworkFactor(slot, (row, *g.rest) if g.lead else g.rest))
        rest = dict.fromkeys(c for g in self.gathers for c in g.rest if keep is None or c in keep)
        value = multiplied(n, factors, (row, *rest))
        self.gathers = [Gather(value.slot, (row,), value.labels[1:])]
        return value

    def drop(self, live: set[int], order: Sequence[int]) -> None:
        """Sum over the labels that are not live: tuples that are equal then are one. Some label must be live."""
        kept = _arranged(self.columns.keys() & live, order)
        if self._decided_by(kept):
            self.columns = {c: self.columns[c] for c in kept}
        else:
            self._unite(kept, distinct(kept, [self.columns], self.n.sizes), live)

    def _unite(self, kept: Labels, found: Distinct, live: set[int]) -> None:
        """Keep each of the distinct tuples once, with the sum of what was read for those that are equal to it."""
        if found.repeats or found.ranks is not None:
            self._sum(live, found)
        elif found.order is not None:
            self._select(found.order)
        self.columns, self.count = dict(zip(kept, found.columns, strict=True)), found.count
        self.keys = [frozenset(kept)]

    def _select(self, order: Ints) -> None:
        if self.multiplicity is not None:
            self.multiplicity = self.multiplicity[order]
        self.gathers = [evolve(g, positions=g.at(order)) for g in self.gathers]

    def _sum(self, live: set[int], found: Distinct) -> None:
        n, many = self.n, self.multiplicity
        self.multiplicity = None
        if not self.gathers and not self.ways:
            return
        if not self.gathers:
            self.multiplicity = found.summed(np.ones(found.given, np.int64) if many is None else many).astype(np.int64)
            return
        if many is not None:
            self._weigh(many)
        to = n.label(Fin.of(found.count))
        whole = self._contracted(live, found, to)
        if whole is not None:
            self.gathers = [whole]
            return
        value = self.multiply(live, found.order)
        assert value is not None  # there are gathers
        slot = n.summed(value.slot, n.axes[value.labels[0]], found.places, n.axes[to])
        self.gathers = [Gather(slot, (to,), value.labels[1:])]

    def _contracted(self, live: set[int], found: Distinct, to: int) -> Gather | None:
        """The sum as a contraction with the tuples as an array, where they fill a third of it.

        Only where one factor has further labels: it would be repeated for each tuple, and then summed.
        """
        n = self.n
        wide = [g for g in self.gathers if g.rest]
        if len(wide) != 1 or len(wide[0].lead) == 0 or self.count <= n.size(wide[0].lead):
            return None
        (g,) = wide
        size = n.size(g.lead)
        if found.count * size > FULL * self.count:
            return None
        where = g.at(found.order)
        narrow = [other for other in self.gathers if other is not g]
        self.gathers = narrow
        value = self.multiply(None, found.order) or n.ones((n.label(Fin.of(self.count)),))
        places = found.places * np.int64(size) + (np.arange(size) if where is None else where)
        slot = n.summed(value.slot, n.axes[value.labels[0]], places, n.index((to, *g.lead)))
        kept = (to, *(c for c in g.rest if c in live))
        made = n.contract((NetworkFactor(slot, (to, *g.lead)), NetworkFactor(g.slot, g.lead + g.rest)), kept)
        assert made is not None  # of two factors
        return Gather(n.arranged(made, kept), (to,), kept[1:])

    def all(self, live: set[int]) -> tuple[float, NetworkFactor | None]:
        """The sum over all tuples, as a number or as a factor; no tuples are left."""
        n, many = self.n, self.multiplicity
        count = self.count
        k, value = float(count > 0), None
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
        self.gathers.append(Gather(f.slot, (row,), ()))

    def finish(self, labels: Labels, keep: set[int], *, full: bool) -> tuple[LabelTable | None, NetworkFactor | None]:
        """The table of the tuples in the order of `labels`, which are all labels, and the product of the factors read.

        Unless `full`, no table is made if every tuple of the labels is there: the factor has the labels itself.
        """
        n = self.n
        self._unite(labels, distinct(labels, [self.columns], n.sizes), keep)
        if self.multiplicity is not None:
            self._weigh(self.multiplicity)
            self.multiplicity = None
        value = self.multiply(keep)
        columns = tuple(self.columns.values())
        if self.count == n.size(labels) and not full:
            if value is None:
                return None, None
            slot = n.taken(value.slot, n.axes[value.labels[0]], None, n.index(labels))
            return None, NetworkFactor(slot, labels + value.labels[1:])
        row = value.labels[0] if value is not None else n.label(Fin.of(self.count))
        return LabelTable(row, labels, columns), value


def _entries(array: Any, positions: Ints | None) -> Any:
    """The entries at some flat positions, or all, in order."""
    flat = array.reshape(-1)
    return flat if positions is None else flat[positions]


def _arranged(labels: Iterable[int], order: Sequence[int]) -> Labels:
    """Labels in some order, those that it has not at the end."""
    here = set(labels)
    return tuple([c for c in order if c in here] + sorted(here.difference(order)))


def _row_axis(n: Contractor, gathers: Sequence[tuple[Gather, Ints | None]], count: int) -> Fin:  # type: ignore[type-arg]
    """The axis of so many rows: that of a factor that is read whole and in order, if there is one."""
    for g, where in gathers:
        if len(g.lead) == 1 and n.sizes[g.lead[0]] == count and (where is None or progression(where) == (0, 1)):
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
