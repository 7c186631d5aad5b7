"""Sums of products on one wire: tidied, added where alike, a common factor taken out, merged where there are many.

No product makes an array that is larger than the larger of those that it is made of, so that what is of low rank, a
Kronecker product or a diagonal stays one. More than `MOST` products become one, on the union of their patterns; beside
it are those that are relations of too many tuples to be listed, at most as many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import evolve

from linmap.matrices.labelled.columns import Labels, TooManyRowsError
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct, uses
from linmap.matrices.network.factor_pairs import contracted_pairs
from linmap.matrices.network.to_arrays import merged, merged_but_long, merged_by_axes, restricted, same_labels, whole
from linmap.matrices.tables.diagonal_products import in_forms, patterns
from linmap.matrices.tables.diagonal_sides import diagonal_sides
from linmap.matrices.tables.low_rank_terms import in_two, is_low, joined, low_rank_cut, rank
from linmap.matrices.tables.tables import Wanted, condensed, most_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linmap.matrices.labelled.contractor import Contractor

Part: TypeAlias = LabelTable | Link
MOST = 6
"""The most products of a sum; more are merged into one, but for long relations."""
SHORT = 8
"""Axes of at most so many elements are short."""
FILLED = 6
"""Products that are blocks of at most so many entries, for each place on long axes, are added (measured)."""
MANY = 12
"""A product with more parts than this is tidied where it stands."""


def settled(
    n: Contractor, products: Sequence[NetworkProduct], *, one: bool = False, beside: bool = True
) -> list[NetworkProduct]:
    """Simplify a sum: tidy each product, add like ones, merge if more than MOST are left (`one`: merge all).

    Terms of low rank are one product beside those that are merged, unless `one` is asked for, and nothing `beside` it.
    A single product of at most MANY parts is returned unchanged.
    """
    if len(products) == 1 and products[0].length <= MANY:
        return list(products)
    before = len(n.slots)
    low: list[NetworkProduct] = []
    if n.patterns:
        found = patterns(n, products, 1 if one else MOST)
        if found is None and (beside or not one):
            low, others = _apart(n, [*map(in_forms, products)])
            found = patterns(n, others, 1 if one else MOST) if low and others else None
        if found is not None:
            return found + low
        products = [*map(in_forms, products)]
    made = [tidied(n, p, long=p.length > MANY) for p in products]
    made = [p for p in made if p.k]
    if len(made) > 1:
        made = _tables_merged(n, added(n, made))
    if len(made) > 1 and _are_small(n, made):
        made = [whole(n, made, same_labels(made))]
    if len(made) > MOST and not one:
        low, made = _apart(n, made)
        made = merged_by_axes(n, made) if len(made) > MOST else made
        made = (merged_but_long(n, made, MOST) if len(made) > MOST else made) + low
    if one and len(made) > 1:
        low, made = _apart(n, made) if beside else ([], made)
        made = [*([merged(n, made)] if made else []), *low]
    n.release(before, [f.slot for p in made for f in p.factors])
    return made


def _apart(n: Contractor, products: Sequence[NetworkProduct]) -> tuple[list[NetworkProduct], list[NetworkProduct]]:
    """The products of low rank as one, if its rank is low, and the others; if one of these is dense, all of them."""
    cuts = [low_rank_cut(n, p) for p in products]
    others = [p for p, cut in zip(products, cuts, strict=True) if cut is None]
    if len(others) == len(products) or not all(map(restricted, others)):
        return [], list(products)
    low = added(n, [in_two(n, cut) for cut in cuts if cut is not None])
    total = sum(rank(n, p) for p in low)
    if not is_low(total, (n.size(products[0].out), n.size(products[0].inp))):
        return [], list(products)
    return [joined(n, low)] if len(low) > 1 else low, others


def _tables_merged(n: Contractor, products: Sequence[NetworkProduct]) -> list[NetworkProduct]:
    """Merge products with tables that restrict the same axes; nothing is lost, as the tables are listed already."""
    groups: dict[tuple[int, ...], list[NetworkProduct]] = {}
    for p in products:
        plain = not p.links and not any(n.is_found(f) for f in p.factors)
        groups.setdefault(tuple(restricted(p)) if plain else (-1,), []).append(p)
    made: list[NetworkProduct] = []
    for key, group in groups.items():
        listed_ = key != (-1,) and len(group) > 1 and any(p.tables for p in group)
        made += [merged(n, group)] if listed_ else group
    return [p for p in made if p.k]


def _are_small(n: Contractor, products: Sequence[NetworkProduct]) -> bool:
    """Tell if products are small blocks of short axes for each place on long ones, which all of them leave alone."""
    same = same_labels(products)
    for p in products:
        kept = {p.inp[j] for j in same}
        rest = [c for c in p.open if c not in kept]
        if not kept or len(p.open) != len(p.out) + len(p.inp) - len(same) or n.size(rest) > FILLED:
            return False
        if p.is_related or any(map(n.is_found, p.factors)) or any((n.sizes[c] > SHORT) != (c in kept) for c in p.open):
            return False
    return True


# --- one product ---


def tidied(n: Contractor, p: NetworkProduct, *, long: bool = False) -> NetworkProduct:
    """Tidy a product into fewer parts: join tables, apply relations, contract factors where no array gets larger.

    A `long` product has its relations listed, too, and its truth values multiplied.
    """
    if p.tables or (long and p.links):
        p = _joined(n, p, long=long)
    if p.links:
        p = _applied(n, p)
    return contracted_pairs(n, p, long=long)


def _parts(p: NetworkProduct) -> list[Part]:
    """The tables and the relations of a product."""
    return [*p.tables, *p.links]


def listed(n: Contractor, p: NetworkProduct) -> NetworkProduct:
    """The product with relations that meet joined into tables, as far as these are not too long."""
    return _joined(n, p, long=True) if p.is_related else p


def _joined(n: Contractor, p: NetworkProduct, *, long: bool) -> NetworkProduct:
    """Tables that share a summed label with others, or with relations, are joined; factors are read into them."""
    done: set[int] = set()
    while True:
        start = next((t for t in (_parts(p) if long else p.tables) if id(t) not in done), None)
        if start is None:
            return p
        parts = _component(p, start)
        inside = _inside(n, p, parts)
        done |= {id(part) for part in parts}
        if len(parts) == 1 and _is_clean(p, start, inside):
            continue
        rest = [part for part in _parts(p) if not any(part is x for x in parts)]
        others = [f for f in p.factors if f not in inside]
        live = set(p.open) | uses(rest, others) | {t.row for t in rest if isinstance(t, LabelTable)}
        order = (*p.open, *sorted(live - set(p.open)))
        try:
            k, table, value = condensed(n, parts, inside, Wanted(live, order, most_rows(n, p)))
        except TooManyRowsError:
            continue
        if table is not None:
            done.add(id(table))
        p = p.but(
            k=p.k * k,
            factors=_replaced(p.factors, inside, value),
            links=tuple(x for x in rest if isinstance(x, Link)),
            tables=(*(x for x in rest if isinstance(x, LabelTable)), *(() if table is None else (table,))),
        )
        p = diagonal_sides(n, p)


def _replaced(
    factors: tuple[NetworkFactor, ...], gone: Sequence[NetworkFactor], value: NetworkFactor | None
) -> tuple[NetworkFactor, ...]:
    """The factors with one in place of some, where the first of them stood."""
    if value is None:
        return tuple(f for f in factors if f not in gone)
    at = next((k for k, f in enumerate(factors) if f in gone), len(factors))
    return (*(f for f in factors[:at] if f not in gone), value, *(f for f in factors[at:] if f not in gone))


def _component(p: NetworkProduct, start: Part) -> list[Part]:
    """The tables and relations that are connected with one by labels that are summed."""
    opened = set(p.open)
    found, todo = [start], [start]
    while todo:
        here = set(todo.pop().labels) - opened
        for part in _parts(p):
            if not any(part is x for x in found) and here & set(part.labels):
                found.append(part)
                todo.append(part)
    return found


def _inside(n: Contractor, p: NetworkProduct, parts: Sequence[Part]) -> list[NetworkFactor]:
    """The factors to be read into some tables: those with no other labels, and those that they sum away."""
    labels = uses(parts) | {t.row for t in parts if isinstance(t, LabelTable)}
    real = [f for f in p.factors if f.labels and not n.is_found(f)]
    inside = [f for f in real if set(f.labels) <= labels]
    rows = {t.row for t in parts if isinstance(t, LabelTable)}
    inside += [f for f in real if set(f.labels) & rows and f not in inside]
    elsewhere = set(p.open) | uses([x for x in _parts(p) if not any(x is y for y in parts)])
    for f in real:
        if f in inside or not set(f.labels) & labels:
            continue
        others = elsewhere | uses([g for g in p.factors if g is not f and g not in inside])
        if set(f.labels) & labels and not set(f.labels) & labels & others:
            inside.append(f)
    return inside


def _is_clean(p: NetworkProduct, table: Part, inside: Sequence[NetworkFactor]) -> bool:
    """Tell if nothing is to be done for a table: all its labels are used, and its factor is its value."""
    if isinstance(table, Link):
        return not inside and set(table.labels) <= set(p.open) | uses(p.factors)
    used = set(p.open) | uses([f for f in p.factors if f not in inside], p.links)
    used |= uses([t for t in p.tables if t is not table])
    return set(table.labels) <= used and len(inside) <= 1 and all(f.labels[0] == table.row for f in inside)


def _applied(n: Contractor, p: NetworkProduct) -> NetworkProduct:
    """Relations applied to the one factor at one of their sides, where that is no larger then, and loses no zeros."""
    opened = set(p.open)
    for link in p.links:
        others = opened | uses([x for x in p.links if x is not link], p.tables)
        for back in (False, True):
            here, there = (link.y, link.x) if back else (link.x, link.y)
            users = [f for f in p.factors if set(f.labels) & set(here)]
            if len(users) != 1 or set(here) & others or set(here) & set(there) or n.is_found(users[0]):
                continue
            (f,) = users
            fits = set(here) <= set(f.labels) and not set(there) & set(f.labels) and n.size(there) <= n.size(here)
            if not fits or not n.slots[f.slot].is_field or not n.covers(link.relation, back=back):
                continue
            made = n.applied(f, here, there, link.relation.T if back else link.relation)
            rest = p.but(factors=_replaced(p.factors, [f], made), links=tuple(x for x in p.links if x is not link))
            return _applied(n, rest)
    return p


# --- sums ---


def added(n: Contractor, products: Sequence[NetworkProduct]) -> list[NetworkProduct]:
    """Add products that are equal but for one factor; then make the factors of each one, where small, and add again."""
    todo = _added_where_alike(n, list(products))
    if len(todo) > 1:
        made = _with_one_factor(n, todo)
        if any(a is not b for a, b in zip(made, todo, strict=True)):
            todo = _added_where_alike(n, made)
    return todo


def _added_where_alike(n: Contractor, products: list[NetworkProduct]) -> list[NetworkProduct]:
    """The products, added until no two differ in one factor only."""
    while len(products) > 1:
        sums = _sums(n, products)
        is_last = len(sums) == len(products)
        products = [p for p in sums if p.k]
        if is_last:
            break
    return products


def _sums(n: Contractor, products: Sequence[NetworkProduct]) -> list[NetworkProduct]:
    """Each product, added to one before it that is alike, if there is one; a number 0 in front where they cancel."""
    sums: list[NetworkProduct] = []
    known: dict[Any, tuple[int, NetworkProduct]] = {}  # where a product is, or was before it was added to
    for p in products:
        keys = _keys(n, p)
        alike = next((key for key in keys if key in known and _stands(known[key], sums)), None)
        if alike is None:
            at = len(sums)
            sums.append(p)
        else:
            at, _ = known[alike]
            total = _sum(n, sums[at], p, alike[-1])
            sums[at] = evolve(sums[at], k=0.0) if total is None else total
            keys = [] if total is None else _keys(n, total)
        for key in keys:
            if key not in known or not _stands(known[key], sums):
                known[key] = at, sums[at]
    return sums


def _stands(known: tuple[int, NetworkProduct], done: Sequence[NetworkProduct]) -> bool:
    """Tell if the product is still the one at its place."""
    at, p = known
    return done[at] is p


def _keys(n: Contractor, p: NetworkProduct) -> list[Any]:
    """Keys of products that may be added: all factors, or all but one and its labels; the last says which."""
    shape, labels = p.pattern.shape, p.pattern.labels
    parts = [(f.slot, names) for f, names in zip(p.factors, labels, strict=True)]
    keys: list[Any] = [(shape, tuple(parts), -1)]
    for j, f in enumerate(p.factors):
        if not n.is_found(f):
            alike = tuple(sorted([(name, n.sizes[c]) for name, c in zip(labels[j], f.labels, strict=True)]))
            keys.append((shape, tuple(parts[:j]), alike, tuple(parts[j + 1 :]), j))
    return keys


def _sum(n: Contractor, p: NetworkProduct, q: NetworkProduct, j: int) -> NetworkProduct | None:
    """The sum of two products that differ in factor j only, or not at all (−1); None if it is 0."""
    if j < 0:
        return p.but(k=p.k + q.k) if p.k + q.k else None
    names = q.pattern.names
    here = {name: c for c, name in p.pattern.names.items()}
    a, b = n.in_full(p.factors[j]), n.in_full(q.factors[j])
    moved = NetworkFactor(b.slot, tuple(here[names[c]] for c in b.labels))
    left, right, k = a.slot, n.arranged(moved, a.labels), p.k
    if q.k == -p.k:
        right = n.scaled(-1.0, right)
    elif q.k != p.k:
        left, right, k = n.scaled(p.k, left), n.scaled(q.k, right), 1.0
    right = _on_axes_of(n, left, right)
    f = NetworkFactor(n.added(left, right), a.labels)
    return p.but(k=k, factors=(*p.factors[:j], f, *p.factors[j + 1 :]))


def _on_axes_of(n: Contractor, a: int, b: int) -> int:
    """An array on the axes of another: those of the rows of equal tables may have other names."""
    have, due = n.slots[b], n.slots[a]
    if have.axes == due.axes:
        return b
    front = n.label(have.axes[0])
    return n.taken(b, n.axes[front], np.arange(have.axes[0].size), due.axes[0])


def _with_one_factor(n: Contractor, products: Sequence[NetworkProduct]) -> list[NetworkProduct]:
    """The products, with the factors of one as one where no array gets larger than the sides or the largest factor.

    Related products that differ in their factors only are made so if their sum takes no more memory than they do.
    """
    keys, kept = [], []
    memory: dict[Any, int] = {}
    for p in products:
        real = [f for f in p.factors if not n.is_found(f)]
        keep = tuple(c for c in _named(n, p) if any(c in f.labels for f in real))
        names = p.pattern.names
        key = (p.pattern.shape, frozenset(names[c] for c in keep))
        memory[key] = memory.get(key, 0) + sum(n.entries(f) for f in real)
        keys.append(key)
        kept.append(keep)
    made = []
    for p, key, keep in zip(products, keys, kept, strict=True):
        largest = memory[key] if p.is_related else max((n.entries(f) for f in p.factors), default=1)
        small = n.size(keep) <= max(n.size(p.out), n.size(p.inp), largest)
        made.append(_one_factor(n, p, keep) if keep and small else p)
    return made


def _one_factor(n: Contractor, p: NetworkProduct, keep: Labels) -> NetworkProduct:
    """The product with its factors as one."""
    real = [f for f in p.factors if not n.is_found(f)]
    if len(real) == 1 and set(real[0].labels) == set(keep) and n.slots[real[0].slot].is_field:
        return p
    orders = len(n.orders)
    factor = n.contract(real, keep)
    del n.orders[orders:]
    assert factor is not None  # of at least one factor
    return p.but(factors=(*(f for f in p.factors if n.is_found(f)), factor))


def _named(n: Contractor, p: NetworkProduct) -> Labels:
    """The labels that a product's meaning depends on: open, of links and tables, and of dynamic elements."""
    related = [c for part in _parts(p) for c in part.labels] + [t.row for t in p.tables]
    found = [c for f in p.factors if n.is_found(f) for c in f.labels]
    return tuple(dict.fromkeys((*p.open, *related, *found)))
