"""Pairs of factors of one product, contracted where that makes no larger array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linmap.matrices.labelled.labelled_products import NetworkFactor, NetworkProduct, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from linmap.matrices.labelled.contractor import Contractor


def contracted_pairs(n: Contractor, p: NetworkProduct, *, long: bool) -> NetworkProduct:
    """Pairs of factors are contracted where the result is no larger than the larger of them."""
    factors = list(p.factors)
    while (pair := _first_pair(n, p, factors, long=long)) is not None:
        i, j, product = pair
        factors[i : j + 1] = [*factors[i + 1 : j], product]
    return p if len(factors) == len(p.factors) else p.but(factors=tuple(factors))


def _first_pair(
    n: Contractor, p: NetworkProduct, factors: list[NetworkFactor], *, long: bool
) -> tuple[int, int, NetworkFactor] | None:
    """The places of the first two factors that can be contracted, the nearest to the second, and their contraction."""
    fits = _fitting(n, p, factors) if len(factors) > 1 else None
    for j in range(1, len(factors)):
        for i in range(j - 1, -1, -1):
            product = _pair(n, p, factors, i, j, long=long) if fits is not None and fits(i, j) else None
            if product is not None:
                return i, j, product
    return None


def _fitting(n: Contractor, p: NetworkProduct, factors: Sequence[NetworkFactor]) -> Callable[[int, int], bool]:
    """Tell if two factors may have a contraction no larger than the larger one, by facts that are found once for all.

    One has all long labels of the other, or there is a label that nothing else has.
    """
    read = set(p.open) | uses(p.links, p.tables) | {t.row for t in p.tables}
    users: dict[int, list[int]] = {}
    for k, f in enumerate(factors):
        for c in set(f.labels) - read:
            users.setdefault(c, []).append(k)
    alone = {k for some in users.values() if len(some) == 1 for k in some}
    alone |= {k for k, f in enumerate(factors) if len(set(f.labels)) < len(f.labels)}
    both = {tuple(some) for some in users.values() if len(some) == 2}
    long = [frozenset([c for c in f.labels if n.sizes[c] > 1]) for f in factors]

    def fits(i: int, j: int) -> bool:
        return long[i] <= long[j] or long[j] <= long[i] or i in alone or j in alone or (i, j) in both

    return fits


def _pair(
    n: Contractor, p: NetworkProduct, factors: list[NetworkFactor], i: int, j: int, *, long: bool
) -> NetworkFactor | None:
    a, b = factors[i], factors[j]
    if a.labels == b.labels == p.open and n.slots[a.slot].is_field and n.slots[b.slot].is_field:
        return n.pair(a, b, a.labels)  # entry by entry, most often
    if n.is_found(a) or n.is_found(b) or (a.labels and b.labels and not set(a.labels) & set(b.labels)):
        return None
    if not (n.slots[a.slot].is_field or n.slots[b.slot].is_field):
        if not long:
            return None
        a = n.in_full(a)
    used = set(p.open) | uses(p.links, p.tables) | {t.row for t in p.tables}
    used |= {c for k, f in enumerate(factors) if k not in (i, j) for c in f.labels}
    out = tuple(c for c in dict.fromkeys(a.labels + b.labels) if c in used)
    if n.size(out) > max(n.entries(a), n.entries(b)):
        return None
    alone = [[c for c in f.labels if c not in out and c not in g.labels] for f, g in ((a, b), (b, a))]
    a, b = (n.without(n.in_full(f) if drop else f, drop) for f, drop in zip((a, b), alone, strict=True))
    if not (n.slots[a.slot].is_field or n.slots[b.slot].is_field):
        return None
    return n.pair(a, b, out)
