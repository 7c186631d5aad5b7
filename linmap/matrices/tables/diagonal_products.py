"""Products whose relations lie on diagonals: those that meet made one, and sums counted, without a list of pairs."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import evolve

from hilbert.relation import Pairs, ProductRelation, table
from linmap.matrices.labelled.labelled_products import Link, NetworkFactor
from linmap.matrices.tables.banded_relations import (
    MOST,
    Box,
    Diagonals,
    as_form,
    composed,
    diagonals,
    met,
    together,
    volume,
)
from linmap.matrices.tables.pair_sets import PairRelation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.relation.relation import AnyRelation
    from linmap.matrices.labelled.columns import Labels
    from linmap.matrices.labelled.contractor import Contractor
    from linmap.matrices.labelled.labelled_products import NetworkProduct

Pair: TypeAlias = "tuple[tuple[Labels, Labels], Diagonals]"
FEW = 64
"""The most boxes of one offset that are united."""


def along_diagonals(n: Contractor, p: NetworkProduct) -> NetworkProduct:
    """The product in which relations on diagonals that meet are one; what is read between them is read at an end.

    Values do not matter here: a factor between two relations may differ from 0 everywhere, and so it may at an end.
    """
    links: dict[int, Link] = {
        k: _on_diagonals(part) for k, part in enumerate(part for link in p.links for part in _split(link))
    }
    factors = list(p.factors)
    opened = set(p.open)
    users: dict[int, set[int]] = defaultdict(set)
    for k, link in links.items():
        for c in link.labels:
            users[c].add(k)
    blocked = {c for t in p.tables for c in (t.row, *t.labels)}
    held: dict[int, list[int]] = defaultdict(list)
    for j, f in enumerate(factors):
        for c in f.labels:
            held[c].append(j)
    todo = list(links)
    while todo:
        k = todo.pop()
        if k not in links or not isinstance(links[k].relation, Diagonals):
            continue
        link = links[k]
        for end in (link.y, link.x):
            others = set[int]().union(*[users[c] for c in end]) - {k}
            inside = {j for c in end for j in held[c]}
            fits = len(others) == 1 and not opened.intersection(end) and not blocked.intersection(end)
            if not fits or not all(set(factors[j].labels) <= {*end} for j in inside):
                continue
            (j,) = others
            joined = _joined(link, links[j], end)
            if joined is None:
                continue
            for c in {*link.labels, *links[j].labels}:
                users[c] -= {k, j}
            del links[j]
            links[k] = joined
            for c in joined.labels:
                users[c].add(k)
            for i in inside:
                factors[i] = _moved(n, factors[i], joined.y)
                for c in joined.y:
                    held[c].append(i)
            todo.append(k)
            break
    return _settled(p.but(links=_each_once([*links.values()]), factors=_one_for_each_place(n, factors)))


def _moved(n: Contractor, f: NetworkFactor, labels: Labels) -> NetworkFactor:
    """A factor of which no more is known than that entries need not be 1, along other labels."""
    axes = tuple([n.axes[c] for c in labels])
    if n.is_found(f) or n.slots[f.slot].axes == axes:
        return NetworkFactor(f.slot, labels)
    return NetworkFactor(n.spread(n.ones(()), labels), labels)


def _settled(p: NetworkProduct) -> NetworkProduct:
    """The product without links that have no labels: one that holds nowhere makes the product 0, others say nothing.

    A relation from the place of no axis, and one back there, leave such a link where they meet.
    """
    bare = [link for link in p.links if not link.labels]
    if not bare:
        return p
    k = p.k if all(link.relation.size for link in bare) else 0.0
    return p.but(k=k, links=tuple([link for link in p.links if link.labels]))


def _one_for_each_place(n: Contractor, factors: Sequence[NetworkFactor]) -> tuple[NetworkFactor, ...]:
    """Keep one of the factors with the same labels: in a pattern, a factor only says that entries need not be 1."""
    found = {f.labels if not n.is_found(f) else (f.slot, f.labels): f for f in factors}
    return tuple(found.values())


def _split(link: Link) -> list[Link]:
    """R × S between several labels as R and S."""
    if not isinstance(link.relation, ProductRelation):
        return [link]
    found: list[Link] = []
    x, y = link.x, link.y
    for part in link.relation.run:
        i, j = len(part.dom.axes), len(part.cod.axes)
        found.append(Link(part, x[:i], y[:j]))
        x, y = x[i:], y[j:]
    return found


def _on_diagonals(link: Link) -> Link:
    found = diagonals(link.relation) if not set(link.x) & set(link.y) else None
    return link if found is None else Link(found, link.x, link.y)


def _joined(one: Link, other: Link, end: Labels) -> Link | None:
    """Two relations that meet at their ends as one; None unless both lie on diagonals and meet as a whole."""
    if not isinstance(other.relation, Diagonals) or end not in (other.x, other.y):
        return None
    first = one if end == one.y else Link(one.relation.T, one.y, one.x)
    then = other if end == other.x else Link(other.relation.T, other.y, other.x)
    if {*first.x} & {*then.y}:
        return None
    relation = composed(then.relation, first.relation)  # type: ignore[arg-type]  # both lie on diagonals
    return Link(relation, first.x, then.y) if len(relation.runs) <= MOST else None


def _each_once(links: Sequence[Link]) -> tuple[Link, ...]:
    """Relations between the same labels as one."""
    found: dict[tuple[Labels, Labels], Link] = {}
    rest: list[Link] = []
    for link in links:
        if not isinstance(link.relation, Diagonals):
            rest.append(link)
            continue
        turned = found.get((link.y, link.x))
        same = Link(turned.relation.T, link.x, link.y) if turned else found.get((link.x, link.y))
        found.pop((link.y, link.x), None)
        relation: Any = link.relation if same is None else met(link.relation, same.relation)  # type: ignore[arg-type]
        found[link.x, link.y] = Link(relation, link.x, link.y)
    return (*found.values(), *rest)


def in_forms(p: NetworkProduct) -> NetworkProduct:
    """The product with relations of forms that kernels know."""
    return p.but(links=tuple([Link(_form(link.relation), link.x, link.y) for link in p.links])) if p.links else p


def _form(relation: AnyRelation) -> AnyRelation:
    if not isinstance(relation, PairRelation):
        return as_form(relation)
    x, y = relation.holds()
    return Pairs(relation.dom, relation.cod, table(x), table(y))


def is_met(p: NetworkProduct) -> bool:
    """Tell if all relations of a product lie on diagonals, or are pairs, between open labels: none are to be joined."""
    opened = set(p.open)
    return not p.tables and all(
        isinstance(link.relation, (Diagonals, PairRelation)) and opened.issuperset(link.labels) for link in p.links
    )


def united(n: Contractor, products: Sequence[NetworkProduct]) -> int | None:
    """The number of entries of a sum of products with relations on diagonals; None unless these share axes in all."""
    keys: set[Any] = set()
    boxes: dict[tuple[int, ...], list[Box]] = defaultdict(list)
    for p in products:
        if not is_met(p) or any(n.is_found(f) for f in p.factors):
            return None
        pairs = axis_pairs(n, p)
        if pairs is None:
            return None
        keys.add(tuple(ends for ends, _ in pairs))
        for runs in product(*[relation.runs for _, relation in pairs]):
            boxes[tuple(d for d, _, _ in runs)].append(tuple((a, b) for _, a, b in runs))
    if len(keys) > 1 or max(map(len, boxes.values()), default=0) > FEW:
        return None
    (key,) = keys
    first = products[0]
    paired = {(side, k) for ends in key for side, places in zip((0, 1), ends, strict=True) for k in places}
    free = [
        c for side, labels in enumerate((first.inp, first.out)) for k, c in enumerate(labels) if (side, k) not in paired
    ]
    return math.prod(n.sizes[c] for c in free) * sum(map(volume, boxes.values()))


def axis_pairs(n: Contractor, p: NetworkProduct) -> list[Pair] | None:
    """For each relation and each label on both sides the places of the input and of the output, and its runs.

    None where a relation lies on no diagonals, or a label stands twice on a side.
    """
    found: list[Pair] = []
    places = [{c: k for k, c in enumerate(labels)} for labels in (p.inp, p.out)]
    inp, out = places
    if len(inp) < len(p.inp) or len(out) < len(p.out) or not all(isinstance(x.relation, Diagonals) for x in p.links):
        return None
    for c in inp.keys() & out.keys():
        X = n.axes[c]
        found.append((((inp[c],), (out[c],)), Diagonals(X, X, ((0, 0, X.size),) if X.size else ())))
    for link in p.links:
        relation: Any = link.relation
        forth = {*link.x} <= inp.keys() and {*link.y} <= out.keys()
        back = {*link.y} <= inp.keys() and {*link.x} <= out.keys()
        if not forth and not back:
            return None
        x, y, relation = (link.x, link.y, relation) if forth else (link.y, link.x, relation.T)
        found.append(((tuple(inp[c] for c in x), tuple(out[c] for c in y)), relation))
    return sorted(found, key=lambda pair: pair[0])


def patterns(n: Contractor, products: Sequence[NetworkProduct], most: int) -> list[NetworkProduct] | None:
    """At most `most` products with the pattern of a sum whose relations lie on diagonals; None where that fails.

    Two products that differ along one pair of axes are one with the union of their runs, and with a factor more, as
    numbers are added there.
    """
    made: list[tuple[NetworkProduct, list[Pair]]] = []
    for p in [q for p in products if (q := along_diagonals(n, p)).k]:
        opened = set(p.open)
        pairs = axis_pairs(n, p) if is_met(p) else None
        if pairs is None or any(n.is_found(f) or not opened.issuperset(f.labels) for f in p.factors):
            return None
        if sum(len(ends) for both, _ in pairs for ends in both) < len(p.out + p.inp):
            return None  # along the other axes numbers matter: a sum of products of low rank has their ranks together
        for k, (q, others) in enumerate(made):
            apart = _apart(pairs, others, one=len(products) > most)
            if apart is not None:
                n.is_united |= bool(apart)
                made[k] = _sum(n, q, p, others, pairs, apart)
                break
        else:
            made.append((p, pairs))
    return [p for p, _ in made if p.k] if len(made) <= most else None


def _apart(pairs: Sequence[Pair], others: Sequence[Pair], *, one: bool) -> list[int] | None:
    """The places of the pairs in which two products differ: none, or one if that may be; None for more."""
    if [ends for ends, _ in pairs] != [ends for ends, _ in others]:
        return None
    found = [k for k, (a, b) in enumerate(zip(pairs, others, strict=True)) if a[1].runs != b[1].runs]
    return found if len(found) <= one else None


def _sum(
    n: Contractor, q: NetworkProduct, p: NetworkProduct, others: list[Pair], pairs: list[Pair], apart: list[int]
) -> tuple[NetworkProduct, list[Pair]]:
    """The pattern of q + p, on the labels of q."""
    if not apart and not q.factors and not p.factors:
        return q.but(k=q.k + p.k), others
    out = list(q.out)
    for k in apart:
        ends, relation = others[k]
        if _is_shared(q.inp, out, ends):
            (o,) = ends[1]
            out[o] = n.twin(out[o])
        relation = Diagonals(relation.dom, relation.cod, together(relation.runs + pairs[k][1].runs))
        others = [*others[:k], (ends, relation), *others[k + 1 :]]
    links = tuple([Link(r, *_labels(q.inp, out, ends)) for ends, r in others if not _is_shared(q.inp, out, ends)])
    names = dict(zip(p.inp, q.inp, strict=True)) | dict(zip(p.out, out, strict=True))
    moved = dict(zip(q.out, out, strict=True))
    factors = [evolve(f, labels=tuple(moved.get(c, c) for c in f.labels)) for f in q.factors]
    factors += [evolve(f, labels=tuple(names[c] for c in f.labels)) for f in p.factors]
    places = [o for (_, ops), _ in others for o in ops]
    factors.append(n.ones(tuple([out[o] for o in places[:1]])))
    return q.but(k=1.0, factors=_one_for_each_place(n, factors), links=links, out=tuple(out)), others


def _labels(inp: Labels, out: Sequence[int], ends: tuple[Labels, Labels]) -> tuple[Labels, Labels]:
    """The labels at some places of the input, and at some of the output."""
    return tuple([inp[i] for i in ends[0]]), tuple([out[o] for o in ends[1]])


def _is_shared(inp: Labels, out: Sequence[int], ends: tuple[Labels, Labels]) -> bool:
    """Tell if a place of the input and one of the output have one label, which says that they are equal."""
    x, y = _labels(inp, out, ends)
    return x == y
