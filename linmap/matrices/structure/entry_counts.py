"""The number of entries of a block that may differ from 0: the pairs of open labels that relations and tables allow.

Values do not matter: a factor may differ from 0 everywhere. So relations one after the other are a product of Boolean
matrices, in which a pair counts once, however many ways lead to it.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, assert_never

from attrs import frozen

from hilbert.relation import Function, Window
from hilbert.relation.relation_operators import law
from linmap.matrices.labelled.columns import Labels, TooManyRowsError
from linmap.matrices.labelled.distinct_tuples import distinct
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct, uses
from linmap.matrices.network.to_arrays import restricted, tables
from linmap.matrices.tables.banded_relations import Diagonals
from linmap.matrices.tables.diagonal_products import united
from linmap.matrices.tables.tables import Wanted, condensed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.relation.relation import AnyRelation
    from linmap.matrices.network.network import Network

PATTERN = 4 * 10**6
"""A pattern of at most so many pairs is counted one by one, and so many steps between two labels at most 16 times."""
COUNTED = 10**9
"""The degrees of a relation of more pairs are not counted one by one."""


@frozen
class Component:
    """The labels that factors and links connect, and which of them are open."""

    labels: Labels
    both: Labels
    outs: Labels
    inps: Labels
    factors: tuple[int, ...]
    links: tuple[int, ...]
    tables: tuple[int, ...]


def components(p: NetworkProduct) -> list[Component]:
    """The connected parts of a product's network, in the order of the open labels."""
    parent: dict[int, int] = {c: c for c in p.open}

    def root(c: int) -> int:
        while parent.setdefault(c, c) != c:
            c = parent[c]
        return c

    groups = [f.labels for f in p.factors] + [link.labels for link in p.links]
    groups += [(t.row, *t.labels) for t in p.tables]
    for labels in groups:
        for c in labels[1:]:
            parent[root(c)] = root(labels[0])
        if labels:
            root(labels[0])
    members: dict[int, list[int]] = {}
    for c in list(parent):
        members.setdefault(root(c), []).append(c)
    found = []
    for group in members.values():
        labels = tuple(group)
        inside = set(labels)
        out, inp = [c for c in p.out if c in inside], [c for c in p.inp if c in inside]
        found.append(
            Component(
                labels,
                tuple(c for c in out if c in inp),
                tuple(c for c in out if c not in inp),
                tuple(c for c in inp if c not in out),
                tuple(k for k, f in enumerate(p.factors) if f.labels and f.labels[0] in inside),
                tuple(k for k, link in enumerate(p.links) if link.labels[0] in inside),
                tuple(k for k, t in enumerate(p.tables) if t.row in inside),
            )
        )
    return found


def listed_tuples(n: Network, products: Iterable[NetworkProduct]) -> float:
    """The predicted number of tuples that tables of some products list, entries and what is summed in each.

    As databases predict a join: of the tuples of two relations with a common label, one in as many as this has values.
    """
    total = 0.0
    for p in products:
        parts: list[Link | LabelTable] = [*p.links, *p.tables]
        users = Counter(c for part in parts for c in part.labels)
        made = math.prod(float(link.relation.size) for link in p.links) * math.prod(float(t.count) for t in p.tables)
        free = n.size(tuple({*p.open} - users.keys()))
        total += made * free / math.prod(float(max(n.size((c,)), 1)) ** (k - 1) for c, k in users.items())
    return total


def union(n: Network, products: Sequence[NetworkProduct]) -> int | None:
    """The number of entries that the sum of some products has; None if they are too many to be counted one by one."""
    found = united(n, products)
    if found is not None:
        return found
    first = products[0]
    held = sorted({k for p in products for k in restricted(p)})
    rows = tuple(n.twin((first.out + first.inp)[k]) for k in held)
    try:
        _, columns = tables(n, [p.but(factors=()) for p in products], held, rows, PATTERN, ways=False)
    except TooManyRowsError:
        return None
    if not columns or not rows:
        return n.size(first.out + first.inp) if columns else 0
    count = distinct(rows, columns, n.sizes).count
    return count * (n.size(first.out + first.inp) // max(n.size(rows), 1))


def counted(n: Network, p: NetworkProduct, c: Component) -> tuple[int, bool, Link | LabelTable | None]:
    """The number of pairs of open labels that a component allows, True if exact, and its one relation or table, if any.

    A group that is not listed is bounded: along relations that meet, by their largest degrees. The one relation or
    table is given where it says which pairs: where all other labels are outputs and inputs at once.
    """
    parts = [p.links[k] for k in c.links] + [p.tables[k] for k in c.tables]
    found = [p.factors[k] for k in c.factors if n.is_found(p.factors[k])]
    opened = set(c.outs + c.inps + c.both)
    groups = _groups([*parts, *found])
    entries, exact = 1, True
    seen = set[int]()
    whole: Link | LabelTable | None = None
    for some in groups:
        seen |= uses(some)
        group = _composed(some, opened)
        labels = uses(group)
        match _pattern(n, group, opened):
            case LabelTable() as table:
                entries, whole = entries * table.count, table
            case Link() as link:
                entries, whole = entries * link.relation.size, link
            case int(count):
                entries *= count
            case None:  # not counted
                entries, exact = entries * min(_bound(n, group), n.size(labels & opened)), False
            case never:
                assert_never(never)
    free = opened - seen
    return entries * n.size(free), exact, whole if len(groups) == 1 and free <= {*c.both} else None


def _pattern(n: Network, group: Sequence[Any], opened: set[int]) -> Link | LabelTable | int | None:
    """The tuples of open labels that a group allows, or their number; None if they are too many, or not known yet."""
    labels = uses(group)
    if len(group) == 1 and labels <= opened:
        (only,) = group
        if isinstance(only, NetworkFactor):  # one element for each place
            return n.size(only.labels[: len(n.slots[only.slot].axes)])
        assert isinstance(only, (Link, LabelTable))  # what is no factor
        return only
    if any(isinstance(part, NetworkFactor) for part in group):
        return None
    try:
        wanted = Wanted(opened, sorted(labels & opened), PATTERN, full=True, ways=False)
        k, table, _ = condensed(n, group, (), wanted)
    except TooManyRowsError:
        return None
    return table or int(k != 0.0)


def _composed(group: Sequence[Any], opened: set[int]) -> list[Any]:
    """The group with relations one after the other made one, where a law says which: a band after a band is a band.

    The labels between two such relations must have no other use.
    """
    left = dict(enumerate(group))
    begins = {part.x: k for k, part in left.items() if isinstance(part, Link)}
    users = Counter(c for part in group for c in part.labels)
    for k in range(len(group)):
        while isinstance(first := left.get(k), Link):
            at = begins.get(first.y, k)
            then = left.get(at)
            if at == k or then is None or any(c in opened or users[c] != 2 for c in first.y):
                break
            relation = law(then.relation, first.relation)
            if relation is None:
                break
            left[k] = Link(relation, first.x, left.pop(at).y)
    return list(left.values())


def _groups(parts: Sequence[Any]) -> list[list[Any]]:
    """Relations, tables and dynamic elements that are connected by labels."""
    groups: list[list[Any]] = []
    for part in parts:
        here = set(part.labels)
        near = [g for g in groups if uses(g) & here]
        groups = [g for g in groups if not any(g is x for x in near)]
        groups.append([x for g in near for x in g] + [part])
    return groups


def _bound(n: Network, group: Sequence[Any]) -> int:
    """A bound on the number of tuples of labels, the better one of those found from either end of the group."""
    return min(_along(n, order) for order in (group, group[::-1]))


def _along(n: Network, group: Sequence[Any]) -> int:
    """A bound on the number of tuples: those of the tables, times the largest degrees of the relations that go on."""
    count = 1
    seen: set[int] = set()
    for part in sorted(group, key=lambda x: isinstance(x, Link)):
        if isinstance(part, LabelTable):
            count *= part.count
        elif isinstance(part, Link):
            known = (set(part.x) <= seen, set(part.y) <= seen)
            if any(known):  # extend along the relation, by its largest degree
                count *= 1 if all(known) else _degree(part.relation if known[0] else part.relation.T)
            else:
                count *= part.relation.size
        else:  # one element for each place: the graph of a function
            count *= n.size(set(part.labels[: len(n.slots[part.slot].axes)]) - seen)
        seen |= set(part.labels)
    return count


def _degree(relation: AnyRelation) -> int:
    """The most elements that one element is related to; on huge sets a bound, by formula for functions and bands."""
    if isinstance(relation, Diagonals):
        return 1 if relation.is_partial_function else len(relation.runs)
    if isinstance(relation, Function):
        return 1
    if isinstance(relation, Window) and relation.stride == relation.dilation == 1 and relation.dom.size:
        return _overlap(relation.dom.size, relation.cod.size, relation.width, relation.offset)
    return int(relation.degrees().max(initial=0)) if relation.size <= COUNTED else relation.cod.size


def _overlap(n: int, m: int, width: int, offset: int) -> int:
    """The most y < m from x - offset - width + 1 to x - offset, over all x < n."""
    last = min(max(min(width, m) - 1, -offset), n - 1 - offset)
    return max(min(last, m - 1) - max(last - width + 1, 0) + 1, 0)
