"""What the term of a linear map proves about its matrix (theory §9): nothing is asserted by users, nothing is probed.

>>> from hilbert import Fin, R
>>> from linmap import identity, rep, total
>>> V = R ** Fin.of(4)
>>> print(structure(3 * identity(V)))
scaled
>>> print(structure(rep(Fin.of(4)) @ total(Fin.of(4))))
rank 1
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from hilbert import SpaceError
from hilbert.errors import shown
from hilbert.once import once
from linmap.laws.simplify import Simplifiable
from linmap.matrices.columns import Labels, TooManyRowsError, flat_positions
from linmap.matrices.network import Network, network
from linmap.matrices.products import LabelTable, Link, NetworkFactor, NetworkProduct, bonds, uses
from linmap.matrices.settle import listed
from linmap.matrices.shapes import (
    BlockDiagonal,
    Blocks,
    DenseForm,
    DiagonalForm,
    Form,
    IdentityForm,
    Kronecker,
    LowRank,
    Permutation,
    ScaledForm,
    SparseForm,
    SumForm,
    ZeroForm,
)
from linmap.matrices.tables import LISTED
from linmap.matrices.whole import union
from linmap.net.lower import net
from linmap.term.base import LinMap
from linmap.term.nets import Closed, Net

__all__ = [
    "BlockDiagonal",
    "Blocks",
    "DenseForm",
    "DiagonalForm",
    "Form",
    "IdentityForm",
    "Kronecker",
    "LowRank",
    "Permutation",
    "ScaledForm",
    "SparseForm",
    "SumForm",
    "ZeroForm",
    "body_of",
    "structure",
]

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.relation.base import AnyRelation


def body_of(f: Any, what: str) -> Net:
    """The net of a linear map or of a derivative; raises SpaceError for other things."""
    if isinstance(f, Closed):
        return f.body
    if isinstance(f, LinMap):
        return net(f)
    if isinstance(f, Simplifiable):
        body: Net = f.body
        return body
    msg = f"{what} takes a linear map or a derivative, not {shown(f)}"
    raise SpaceError(msg)


def structure(f: Any) -> Form:
    """What the term of a linear map, or of a derivative in the point, proves about its matrix in the standard bases.

    Raises SpaceError for a function that is not linear: take its derivative first.
    """
    return _whole(body_of(f, "structure"))


@once
def _whole(body: Net) -> Form:
    n = network(body)
    shape = len(body.outputs), len(body.inputs)
    made = ((place, form(n, products)) for place, products in sorted(n.blocks.items()))
    found = tuple((place, f) for place, f in made if not isinstance(f, ZeroForm))
    if not found:
        return ZeroForm()
    if shape == (1, 1):
        return found[0][1]
    on_diagonal = shape[0] == shape[1] == len(found) and all(o == i for (o, i), _ in found)
    return (_direct_sum([f for _, f in found]) if on_diagonal else None) or Blocks(shape, found)


def _direct_sum(parts: Sequence[Form]) -> Form | None:
    """Blocks on a diagonal that make one form together."""
    size = sum(p.size for p in parts if isinstance(p, PLAIN))
    if all(isinstance(p, IdentityForm) for p in parts):
        return IdentityForm(size)
    return DiagonalForm(size) if all(isinstance(p, PLAIN) for p in parts) else None


COUNTED = 10**9
"""The degrees of a relation of more pairs are not counted one by one."""
PLAIN = (IdentityForm, ScaledForm, DiagonalForm)
THIN = (*PLAIN, Permutation, SparseForm)


def form(n: Network, products: Iterable[NetworkProduct]) -> Form:
    """The form of one block: a sum of products."""
    read = [listed(n, p) for p in products]
    read = [p for p in read if p.k]
    parts = [product_form(n, p) for p in read]
    parts = [p for p in parts if not isinstance(p, ZeroForm)]
    if not parts:
        return ZeroForm()
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(p, PLAIN) for p in parts):
        return DiagonalForm(n.size(read[0].inp))
    for p in parts:
        if isinstance(p, DenseForm):
            return p
    thin = [p for p in parts if isinstance(p, LowRank)]
    if len(thin) == len(parts):
        rank, shape = sum(p.rank for p in thin), thin[0].shape
        return LowRank(rank, shape) if rank < min(shape) else DenseForm(shape)
    if all(isinstance(p, THIN) for p in parts) and any(isinstance(p, SparseForm) for p in parts):
        return _together(n, read) or SumForm(tuple(parts))
    return SumForm(tuple(parts))


def _together(n: Network, products: Sequence[NetworkProduct]) -> Form | None:
    """Sparse matrices on the union of their pairs; None where these are not listed."""
    if any(n.is_found(f) for p in products for f in p.factors):
        return None
    try:
        entries = union(n, products, LISTED)
    except TooManyRowsError:
        return None
    shape = (n.size(products[0].out), n.size(products[0].inp))
    return SparseForm(entries, shape) if entries < shape[0] * shape[1] else DenseForm(shape)


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


def product_form(n: Network, p: NetworkProduct) -> Form:
    """The form of one product: the Kronecker product of its components' forms."""
    if not p.k:
        return ZeroForm()
    scaled = p.k != 1.0 or any(not f.labels for f in p.factors)
    parts: list[Form] = []
    rows = cols = 1
    split = False
    for c in components(p):
        if not c.outs and not c.inps and not c.both:
            scaled = True  # a contracted number
        elif c.links or c.tables or any(n.is_found(p.factors[k]) for k in c.factors):
            made = _sparse(n, p, c)
            if isinstance(made, DenseForm) and not c.both and not (c.outs and c.inps):
                rows, cols, split = rows * made.shape[0], cols * made.shape[1], True
            else:
                parts.append(made)
        elif not c.outs and not c.inps:
            size = n.size(c.both)
            parts.append(DiagonalForm(size) if c.factors else IdentityForm(size))
        elif not c.both and not (c.outs and c.inps):
            rows, cols, split = rows * n.size(c.outs), cols * n.size(c.inps), True
        else:
            parts.append(_coupled(n, p, c))
    if split:
        parts.append(LowRank(1, (rows, cols)) if min(rows, cols) > 1 else DenseForm((rows, cols)))
    made = _kronecker(parts, scaled=scaled)
    if p.out != p.inp and isinstance(made, (IdentityForm, ScaledForm, DiagonalForm)):
        return Permutation(made.size, weighted=not isinstance(made, IdentityForm))
    return made


def _coupled(n: Network, p: NetworkProduct, c: Component) -> Form:
    shape = (n.size(c.outs), n.size(c.inps))
    inside = set(c.labels) - set(c.both)
    rank = min(n.size(set(bond) & inside) for _, bond in bonds(p))
    block: Form = LowRank(rank, shape) if rank < min(shape) else DenseForm(shape)
    return BlockDiagonal(n.size(c.both), block) if c.both else block


def _sparse(n: Network, p: NetworkProduct, c: Component) -> Form:
    shape = (n.size(c.outs + c.both), n.size(c.inps + c.both))
    entries, exact, single = _counted(n, p, c)
    if entries == shape[0] * shape[1]:
        return DenseForm(shape)
    if single is not None and shape[0] == shape[1] == entries and _is_bijection(n, single, c):
        return Permutation(entries, weighted=bool(c.factors))
    return SparseForm(entries, shape, exact) if entries else ZeroForm()


def _is_bijection(n: Network, part: Link | LabelTable, c: Component) -> bool:
    """Whether a relation between all outputs and all inputs of a component has one pair for each."""
    if isinstance(part, Link):
        return part.relation.is_function and part.relation.T.is_function
    place = dict(zip(part.labels, part.columns, strict=True))
    return all(
        len(set(side)) == len(side) and len(np.unique(flat_positions(side, place, n.sizes))) == part.count
        for side in (c.outs + c.both, c.inps + c.both)
    )


def _counted(n: Network, p: NetworkProduct, c: Component) -> tuple[int, bool, Link | LabelTable | None]:
    """How many pairs of open labels a component allows, whether exactly, and its one relation, if that has them all.

    What is not listed is bounded: along relations that meet, by their largest degrees.
    """
    links, tables = [p.links[k] for k in c.links], [p.tables[k] for k in c.tables]
    found = [p.factors[k] for k in c.factors if n.is_found(p.factors[k])]
    opened = set(c.outs + c.inps + c.both)
    groups = _groups([*links, *tables, *found])
    entries, exact = 1, True
    seen = set[int]()
    for group in groups:
        labels = uses(group)
        seen |= labels
        only = group[0] if len(group) == 1 else None
        if isinstance(only, LabelTable) and labels <= opened:
            entries *= only.count
        elif isinstance(only, Link) and labels <= opened:
            entries *= only.relation.size
        elif isinstance(only, NetworkFactor) and labels <= opened:  # one element for each place
            entries *= n.size(only.labels[: len(n.slots[only.slot].axes)])
        else:
            at_most = _bound(n, group)
            entries, exact = entries * min(at_most, n.size(labels & opened)), False
    free = n.size(opened - seen)
    whole = groups[0][0] if len(groups) == 1 and len(groups[0]) == 1 and not opened - seen and exact else None
    return entries * free, exact, whole if isinstance(whole, (Link, LabelTable)) else None


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
    """At most so many tuples of labels."""
    count = 1
    seen: set[int] = set()
    for part in sorted(group, key=lambda x: isinstance(x, Link)):
        if isinstance(part, LabelTable):
            count, seen = count * part.count, seen | set(part.labels)
        elif isinstance(part, Link):
            known = (set(part.x) <= seen, set(part.y) <= seen)
            if any(known):  # extend along the relation, by its largest degree
                count *= 1 if all(known) else _degree(part.relation if known[0] else part.relation.T)
            else:
                count *= part.relation.size
            seen |= set(part.labels)
        else:  # one element for each place: the graph of a function
            free = set(part.labels[: len(n.slots[part.slot].axes)])
            count *= n.size(free - seen)
            seen |= set(part.labels)
    return count


def _degree(relation: AnyRelation) -> int:
    """To how many at most each is related; of huge sets nobody counts."""
    return int(relation.degrees().max(initial=0)) if relation.size <= COUNTED else relation.cod.size


def _kronecker(parts: list[Form], *, scaled: bool) -> Form:
    plain = [p for p in parts if isinstance(p, (IdentityForm, DiagonalForm))]
    if len(plain) == len(parts):
        size = math.prod(p.size for p in plain)
        if any(isinstance(p, DiagonalForm) for p in plain):
            return DiagonalForm(size)
        return ScaledForm(size) if scaled else IdentityForm(size)
    merged: list[Form] = []
    for p in parts:
        last = merged[-1] if merged else None
        if isinstance(p, IdentityForm) and isinstance(last, IdentityForm):
            merged[-1] = IdentityForm(p.size * last.size)
        elif not (isinstance(p, IdentityForm) and p.size == 1):
            merged.append(p)
    return merged[0] if len(merged) == 1 else Kronecker(tuple(merged))
