"""Products as arrays: one factor over the open labels, a whole block, and many products as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hilbert import Fin
from linmap.matrices.labelled.columns import Labels, TooManyRowsError, length
from linmap.matrices.labelled.distinct_tuples import distinct, union_count
from linmap.matrices.labelled.labelled_products import LabelTable, NetworkFactor, NetworkProduct, uses
from linmap.matrices.tables.diagonal_sides import diagonal_sides
from linmap.matrices.tables.flat_products import flat
from linmap.matrices.tables.tables import HUGE, most_of_sum, most_rows, tabled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from linmap.matrices.labelled.columns import Columns, Ints
    from linmap.matrices.labelled.contractor import Contractor
    from linmap.matrices.labelled.distinct_tuples import Distinct

NOTHING: Mapping[int, bool] = {}


# --- one product ---


def contracted(n: Contractor, p: NetworkProduct) -> NetworkProduct:
    """The product with all its factors as one, whose labels are open, and no number beside it."""
    if len(p.factors) == 1 and p.k == 1.0 and not p.is_related:
        (only,) = p.factors
        if n.slots[only.slot].is_field and only.labels == tuple(c for c in p.open if c in only.labels):
            return p
    factor = flat(n, p)
    if factor is None:
        return NetworkProduct(p.k, (), (), p.out, p.inp)
    return NetworkProduct(1.0, (NetworkFactor(n.scaled(p.k, factor.slot), factor.labels),), (), p.out, p.inp)


def whole_block(n: Contractor, p: NetworkProduct, same: Mapping[int, bool] = NOTHING) -> int:
    """The array of a product with the axes of the output, then those of the input: 0 beside diagonals.

    The labels of an identity that stays one (`same`) are axes of the output only, and only where the array varies.
    """
    factor = flat(n, p) or n.ones(())
    out = tuple(c for c in p.out if same.get(c, True))
    shared = tuple(c for c in p.out if c in p.inp and c not in same)
    twins = {c: n.twin(c) for c in shared}
    if shared:
        rest = tuple(c for c in factor.labels if c not in shared)
        slot = n.spread(factor, shared + rest)
        both = shared + tuple(twins.values())
        size = n.size(shared)
        slot = n.summed(slot, n.index(shared), np.arange(size) * (size + 1), n.index(both))
        factor = NetworkFactor(slot, both + rest)
    return n.scaled(p.k, n.spread(factor, out + tuple(twins.get(c, c) for c in p.inp if c not in same)))


# --- many products ---


def whole(n: Contractor, products: Sequence[NetworkProduct], same: Same | None = None) -> NetworkProduct:
    """The sum of products as one array, beside an identity that all of them have; in a pattern, all of a huge block."""
    same = same or {}
    out, inp = _fresh(n, products[0], same)
    if n.patterns and n.size(out) * n.size(inp) > HUGE:
        every = tuple(dict.fromkeys(out + inp))
        return NetworkProduct(1.0, (NetworkFactor(n.spread(n.ones(()), every), every),), (), out, inp)
    varies = {i: any(p.out[i] in uses(p.factors) for p in products) for i in same.values()}
    total: int | None = None
    for p in products:
        slot = whole_block(n, p, {p.out[i]: found for i, found in varies.items()})
        total = slot if total is None else n.added(total, slot)
    assert total is not None  # of at least one product
    labels = tuple(dict.fromkeys(c for k, c in enumerate(out) if varies.get(k, True)))
    labels += tuple(c for c in inp if c not in out)
    return NetworkProduct(1.0, (NetworkFactor(total, labels),), (), out, inp)


Same: TypeAlias = dict[int, int]
"""The places of the input's labels that are those of the output's at other places."""


def same_labels(products: Sequence[NetworkProduct]) -> Same:
    """The identities that all products have, and that nothing else restricts."""
    first, *others = products
    related = [uses(p.links, p.tables) for p in products]
    return {
        j: first.out.index(c)
        for j, c in enumerate(first.inp)
        if c in first.out
        and all(p.out[first.out.index(c)] == p.inp[j] for p in others)
        and not any(p.inp[j] in used for p, used in zip(products, related, strict=True))
    }


def _held(products: Sequence[NetworkProduct]) -> tuple[Same, list[int]]:
    """The identities that stay, and the positions of the labels that a table of all products has."""
    same, cut = same_labels(products), len(products[0].out)
    every = {k for p in products for k in restricted(p)}
    held = sorted(every - set(same.values()) - {cut + j for j in same})
    return (same, held) if held else ({}, sorted(every))


def _fresh(n: Contractor, p: NetworkProduct, same: Same) -> tuple[Labels, Labels]:
    """New labels of the output and of the input."""
    out = tuple(n.twin(c) for c in p.out)
    return out, tuple(out[same[j]] if j in same else n.twin(c) for j, c in enumerate(p.inp))


def merged(n: Contractor, products: Sequence[NetworkProduct]) -> NetworkProduct:
    """The sum as one product, on the union of the patterns; a whole block if that is over a third full.

    An identity that all of them have stays one.
    """
    try:
        return _on_union(n, products)
    except TooManyRowsError:
        return whole(n, products, _held(products)[0])


def merged_but_long(n: Contractor, products: Sequence[NetworkProduct], most: int) -> list[NetworkProduct]:
    """The sum as one product and, beside it, at most so many of more tuples than are listed, which stay relations."""
    try:
        return [_on_union(n, products)]
    except TooManyRowsError:
        long = [p for p in products if _is_long(n, p)]
    if not 0 < len(long) <= most:
        return [merged(n, products)]
    short = [p for p in products if not any(p is q for q in long)]
    return [merged(n, short), *long] if short else long


def _is_long(n: Contractor, p: NetworkProduct) -> bool:
    """Tell if a product has more tuples than are listed."""
    try:
        tabled(n, p, [(p.out + p.inp)[k] for k in restricted(p)], most_rows(n, p), full=True)
    except TooManyRowsError:
        return True
    return False


def _on_union(n: Contractor, products: Sequence[NetworkProduct]) -> NetworkProduct:
    """The sum as `merged` has it. Raises TooManyRowsError where a block could be made whole instead."""
    if len(products) == 1:
        return products[0]
    first = products[0]
    if any(n.is_found(f) for p in products for f in p.factors):
        return whole(n, products)
    same, held = _held(products)
    if any(_fills(p, held) for p in products):
        return whole(n, products, same)
    out, inp = _fresh(n, first, same)
    fresh = out + inp
    rows = tuple(fresh[k] for k in held)
    parts, columns = tables(n, products, held, rows, most_of_sum(n, first))
    if not parts:
        return NetworkProduct(0.0, (), (), first.out, first.inp)
    named = [_names(p, held, fresh) for p in parts]
    varying = {names[c] for p, names in zip(parts, named, strict=True) for c in uses(p.factors) if c in names}
    free = tuple(c for c in dict.fromkeys(fresh) if c in varying)
    is_long = not n.is_exact and 3 * sum(map(length, columns)) > n.size(rows)
    if is_long and 3 * union_count(rows, columns, n.sizes) > n.size(rows):
        return whole(n, parts, same)
    found = distinct(rows, columns, n.sizes)
    del columns
    row = n.label(Fin.of(found.count))
    values = None if free else _constants(n, parts)
    if values is not None:
        total = n.constant(found.summed(values), (row,), found.summed(_read(n, parts)) > 0.0).slot
    else:
        added = [_value(n, p, names, free) for p, names in zip(parts, named, strict=True)]
        total = _added(n, parts, _places(found), added, row)
    factor = NetworkFactor(total, (row, *free))
    return diagonal_sides(n, NetworkProduct(1.0, (factor,), (), out, inp, (LabelTable(row, rows, found.columns),)))


def merged_by_axes(n: Contractor, products: Sequence[NetworkProduct]) -> list[NetworkProduct]:
    """Products that restrict the same axes made one, group by group, so that none lists axes that only others restrict.

    An identity is written into the table of the group that restricts the same axes but for its own, if that stays as
    long. All stay as they are where one restricts nothing, all restrict the same, or a relation is known at the point
    only.
    """
    groups: dict[tuple[int, ...], list[NetworkProduct]] = {}
    for p in products:
        groups.setdefault(tuple(restricted(p)), []).append(p)
    if () in groups or len(groups) == 1 or any(n.is_found(f) for p in products for f in p.factors):
        return list(products)
    made = {key: merged(n, group) for key, group in groups.items()}
    for key, p in list(made.items()):
        shared = set(p.out) & set(p.inp) - uses(p.links, p.tables)
        due = tuple(k for k in key if (p.out + p.inp)[k] not in shared)
        others = made.get(due)
        if shared and others is not None and others.tables:
            both = merged(n, [others, in_blocks(n, p, shared)])
            if [t.count for t in both.tables] == [t.count for t in others.tables]:
                made[due] = both
                del made[key]
    return [p for p in made.values() if p.k]


def in_blocks(n: Contractor, p: NetworkProduct, shared: Collection[int]) -> NetworkProduct:
    """The product with its identities along some labels as arrays."""
    twins = {c: n.twin(c) for c in p.out if c in shared}
    factors = (*p.factors, *(n.identity(c, twin) for c, twin in twins.items()))
    return p.but(factors=factors, inp=tuple(twins.get(c, c) for c in p.inp))


def _constants(n: Contractor, parts: Sequence[NetworkProduct]) -> Any:
    """The numbers by rows of all parts, one after the other; None where the plan does not know all of them."""
    arrays = [n.known(p.factors[0].slot) if p.factors else np.ones(p.tables[0].count) for p in parts]
    if any(array is None for array in arrays):
        return None
    return np.concatenate([array if p.k == 1.0 else p.k * array for p, array in zip(parts, arrays, strict=True)])


def _read(n: Contractor, parts: Sequence[NetworkProduct]) -> Any:
    """By rows of all parts, 1 where the numbers are not 0 by structure, 0 elsewhere."""
    held = [n.held(p.factors[0].slot) if p.factors else None for p in parts]
    counts = [np.ones(p.tables[0].count) for p in parts]
    return np.concatenate([ones if one is None else one * ones for one, ones in zip(held, counts, strict=True)])


def _places(found: Distinct) -> Ints:
    """The place among the distinct tuples of each tuple, in the order in which these were given."""
    if found.order is None:
        return found.places
    made = np.empty_like(found.order)
    made[found.order] = found.places
    return made


def _added(n: Contractor, parts: Sequence[NetworkProduct], places: Ints, values: Sequence[int], row: int) -> int:
    """The slot of the sum of arrays by the rows of some parts, each row added to its place."""
    total: int | None = None
    start = 0
    for p, value in zip(parts, values, strict=True):
        (table,) = p.tables
        slot = n.summed(value, n.axes[table.row], places[start : start + table.count], n.axes[row])
        total = slot if total is None else n.added(total, slot)
        start += table.count
    assert total is not None  # there are parts
    return total


def tables(
    n: Contractor,
    products: Sequence[NetworkProduct],
    held: Sequence[int],
    rows: Labels,
    most: int | None,
    *,
    ways: bool = True,
) -> tuple[list[NetworkProduct], list[Columns]]:
    """The products that are not 0, each with a table of the labels at some positions, and its columns by new labels."""
    parts = [tabled(n, p, [(p.out + p.inp)[k] for k in held], most, full=True, ways=ways) for p in products]
    parts = [p for p in parts if p.k]
    return parts, [_columns(p, held, rows) for p in parts]


def restricted(p: NetworkProduct) -> list[int]:
    """The positions of the open labels that a relation, a table or an identity restricts."""
    found = uses(p.links, p.tables) | (set(p.out) & set(p.inp))
    return [k for k, c in enumerate(p.out + p.inp) if c in found]


def _fills(p: NetworkProduct, held: Sequence[int]) -> bool:
    """Tell if a product restricts none of the labels at these positions."""
    return not set(restricted(p)) & set(held)


def _columns(p: NetworkProduct, held: Sequence[int], rows: Labels) -> Columns:
    """The columns of a product's table at these positions, by new labels."""
    (table,) = p.tables
    place = dict(zip(table.labels, table.columns, strict=True))
    return {c: place[(p.out + p.inp)[k]] for k, c in zip(held, rows, strict=True)}


def _names(p: NetworkProduct, held: Sequence[int], fresh: Labels) -> dict[int, int]:
    """The new labels of those that no table has."""
    return {c: fresh[k] for k, c in enumerate(p.out + p.inp) if k not in held}


def _value(n: Contractor, p: NetworkProduct, names: Mapping[int, int], free: Labels) -> int:
    """The array of a product by the rows of its table and the free labels."""
    (table,) = p.tables
    value = p.factors[0] if p.factors else n.ones((table.row,))
    f = NetworkFactor(value.slot, tuple(names.get(c, c) for c in value.labels))
    return n.scaled(p.k, n.spread(f, (table.row, *free)))
