"""Products of low rank: those that are cut in two at labels with few values, and sums of them as one product.

A product C • B, with B from the input to few values and C from there to the output, has no more rank than there are
values. Relations stand on either side; a sum C₁ • B₁ + C₂ • B₂ is [C₁, C₂] • [B₁; B₂], whose rank is that of both
together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert import Fin
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct, uses
from linmap.matrices.tables.flat_products import flat

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from linmap.matrices.labelled.columns import Labels
    from linmap.matrices.labelled.contractor import Contractor

Part: TypeAlias = NetworkFactor | Link | LabelTable
PART = 4
"""A rank is low if it is at most one part in so many of the rows, and of the columns."""


@final
@frozen
class NarrowCut:
    """A product as k·C • B: `outer` is C, from the labels of the `bond` to the output, `inner` is B."""

    k: float
    outer: NetworkProduct
    inner: NetworkProduct

    @property
    def bond(self) -> Labels:
        """The labels between both."""
        return self.outer.inp


def narrow_cut(n: Contractor, p: NetworkProduct) -> NarrowCut | None:
    """A product, cut where the labels between input and output have the fewest values; None where both share a label.

    The cut is at summed labels of at most so many values, for the least such number that parts input and output. A
    product with elements that are found at the point is not cut.
    """
    if {*p.out} & {*p.inp} or any(map(n.is_found, p.factors)):
        return None
    parts: list[Part] = [*p.factors, *p.links, *p.tables]
    rows = {t.row for t in p.tables}
    summed = uses(parts) - {*p.open} - rows
    for most in sorted({0, *[n.sizes[c] for c in summed]}):
        narrow = {c for c in summed if n.sizes[c] <= most}
        outer = _reached(parts, p.out, narrow)
        if not {*p.inp} & uses(outer):
            inner = [part for part in parts if not any(part is x for x in outer)]
            bond = tuple(sorted(uses(outer) & uses(inner)))
            last = max([k for k, f in enumerate(p.factors) if f.labels and any(f is x for x in inner)], default=-1)
            outer += [f for f in p.factors[last + 1 :] if not f.labels]  # numbers stand where they are multiplied
            inner = [part for part in parts if not any(part is x for x in outer)]
            return NarrowCut(p.k, _of(p, outer, p.out, bond), _of(p, inner, bond, p.inp))
    return None


def low_rank_cut(n: Contractor, p: NetworkProduct) -> NarrowCut | None:
    """The cut of a product of low rank; None for others, and where no more entries differ from 0 than a side has."""
    found = narrow_cut(n, p)
    sides = n.size(p.out), n.size(p.inp)
    if found is None or not is_low(n.size(found.bond), sides):
        return None
    entries = _reach(n, found.outer, p.out) * _reach(n, found.inner, p.inp)
    return found if entries > sum(sides) else None


def is_low(rank: int, shape: tuple[int, int]) -> bool:
    """Tell if a rank is low for a matrix of a shape."""
    return PART * rank <= min(shape)


def in_two(n: Contractor, cut: NarrowCut) -> NetworkProduct:
    """The product of a cut with one factor for each side."""
    out, inp = cut.outer.out, cut.inner.inp
    first = NetworkFactor(side(n, cut.inner, cut.bond + inp), cut.bond + inp)
    then = NetworkFactor(side(n, cut.outer, cut.bond + out), cut.bond + out)
    return NetworkProduct(cut.k, (first, then), (), out, inp)


def side(n: Contractor, p: NetworkProduct, labels: Labels) -> int:
    """The array of one side of a cut, with these labels."""
    held = {*p.open, *uses(p.factors, p.tables)}
    ones = tuple([n.ones((c,)) for c in sorted(uses(p.links) - held)])
    made = flat(n, p.but(factors=(*map(n.in_full, p.factors), *ones)))
    return n.spread(made or n.ones(()), labels)


def rank(n: Contractor, p: NetworkProduct) -> int:
    """The values of the labels between the two factors of a product that `in_two` has made."""
    return n.size(set(uses(p.factors)) - {*p.open})


def joined(n: Contractor, products: Sequence[NetworkProduct]) -> NetworkProduct:
    """The sum of products of two factors as one, with a label between its factors for the values of all."""
    first, total = products[0], sum(rank(n, p) for p in products)
    bond = n.label(Fin.of(total))
    factors: list[NetworkFactor] = []
    for k, ends in enumerate((first.inp, first.out)):
        slot: int | None = None
        start = 0
        for p in products:
            between = tuple(sorted(set(p.factors[k].labels) - {*p.open}))
            mine = n.scaled(p.k if k else 1.0, n.arranged(p.factors[k], between + (p.out if k else p.inp)))
            size = n.size(between)
            put = n.summed(mine, n.index(between), np.arange(start, start + size), n.index((bond,)))
            slot = put if slot is None else n.added(slot, put)
            start += size
        assert slot is not None  # there are products
        factors.append(NetworkFactor(slot, (bond, *ends)))
    return NetworkProduct(1.0, tuple(factors), (), first.out, first.inp)


def _reached(parts: Sequence[Part], ends: Labels, narrow: Collection[int]) -> list[Part]:
    """The parts that are connected with some labels by labels that are not narrow."""
    seen, found, todo = {*ends}, list[Part](), [*parts]
    while near := [part for part in todo if not seen.isdisjoint(_labels(part))]:
        found += near
        todo = [part for part in todo if not any(part is x for x in near)]
        seen.update(*map(_labels, near))
        seen.difference_update(narrow)
    return found


def _labels(part: Part) -> Labels:
    """The labels of a part, with that of the rows of a table."""
    return (part.row, *part.labels) if isinstance(part, LabelTable) else part.labels


def _of(p: NetworkProduct, parts: Sequence[Part], out: Labels, inp: Labels) -> NetworkProduct:
    """Some parts of a product as a product of their own, without its number."""

    def mine(some: Sequence[Part]) -> tuple[Part, ...]:
        return tuple([part for part in some if any(part is x for x in parts)])

    return NetworkProduct(1.0, mine(p.factors), mine(p.links), out, inp, mine(p.tables))  # type: ignore[arg-type]


def _reach(n: Contractor, p: NetworkProduct, ends: Labels) -> int:
    """A bound on the tuples of some labels of a product that differ from 0, by the pairs of each of its relations."""
    count, free = 1, {*ends}
    for labels, pairs in [(x.labels, x.relation.size) for x in p.links] + [(t.labels, t.count) for t in p.tables]:
        mine = free & {*labels}
        count *= min(n.size(mine), pairs) if mine else 1
        free -= mine
    return count * n.size(free)
