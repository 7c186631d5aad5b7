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
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert import SpaceError
from hilbert.errors import shown
from hilbert.once import once
from linmap.laws.simplify import Simplifiable
from linmap.matrices.network import Labels, Network, NetworkProduct, bonds, network
from linmap.net.lower import net
from linmap.term.base import LinMap
from linmap.term.nets import Closed, Net

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
@frozen
class ZeroForm:
    """Every entry is 0."""

    def __str__(self) -> str:
        return "zero"


@final
@frozen
class IdentityForm:
    """The identity matrix of a size."""

    size: int

    def __str__(self) -> str:
        return "identity"


@final
@frozen
class ScaledForm:
    """A number times the identity matrix."""

    size: int

    def __str__(self) -> str:
        return "scaled"


@final
@frozen
class DiagonalForm:
    """A diagonal matrix."""

    size: int

    def __str__(self) -> str:
        return "diagonal"


@final
@frozen
class Permutation:
    """One entry in each row and column: axes in another order, with weights if `weighted`."""

    size: int
    weighted: bool

    def __str__(self) -> str:
        return "weighted permutation" if self.weighted else "permutation"


@final
@frozen
class LowRank:
    """A matrix of at most this rank, as two factors."""

    rank: int
    shape: tuple[int, int]

    def __str__(self) -> str:
        return f"rank {self.rank}"


@final
@frozen
class SparseForm:
    """A matrix whose entries lie on the pairs of relations; `entries` is how many there are at most."""

    entries: int
    shape: tuple[int, int]

    def __str__(self) -> str:
        return f"sparse, {self.entries} of {self.shape[0]}·{self.shape[1]} entries"


@final
@frozen
class DenseForm:
    """Nothing is known."""

    shape: tuple[int, int]

    def __str__(self) -> str:
        return f"dense {self.shape[0]}×{self.shape[1]}"


@final
@frozen
class Kronecker:
    """A ⊗ B ⊗ …, up to the order of axes; with an identity it is a matrix of equal blocks on a diagonal."""

    parts: tuple[Form, ...]

    def __str__(self) -> str:
        return " ⊗ ".join(f"({p})" if isinstance(p, (SumForm, SparseForm)) else str(p) for p in self.parts)


@final
@frozen
class BlockDiagonal:
    """One block of a form for each of `count` values that input and output share."""

    count: int
    block: Form

    def __str__(self) -> str:
        return f"{self.count} blocks, each {self.block}"


@final
@frozen
class SumForm:
    """A sum of matrices of these forms."""

    parts: tuple[Form, ...]

    def __str__(self) -> str:
        return " + ".join(map(str, self.parts))


@final
@frozen
class Blocks:
    """A matrix of blocks, one for each leaf of the codomain and of the domain."""

    rows: tuple[tuple[Form, ...], ...]

    def __str__(self) -> str:
        return "[" + "; ".join(", ".join(map(str, row)) for row in self.rows) + "]"


Form: TypeAlias = (
    ZeroForm
    | IdentityForm
    | ScaledForm
    | DiagonalForm
    | Permutation
    | LowRank
    | SparseForm
    | DenseForm
    | Kronecker
    | BlockDiagonal
    | SumForm
    | Blocks
)


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
    rows = tuple(tuple(form(n, n.blocks[i][o]) for i in range(len(body.inputs))) for o in range(len(body.outputs)))
    flat = [entry for row in rows for entry in row]
    if all(isinstance(entry, ZeroForm) for entry in flat):
        return ZeroForm()
    if len(flat) == 1:
        return flat[0]
    if len(rows) == len(body.inputs) and _off_diagonal_zero(rows):
        return _direct_sum(rows) or Blocks(rows)
    return Blocks(rows)


def _off_diagonal_zero(rows: tuple[tuple[Form, ...], ...]) -> bool:
    return all(isinstance(e, ZeroForm) for r, row in enumerate(rows) for c, e in enumerate(row) if r != c)


def _direct_sum(rows: tuple[tuple[Form, ...], ...]) -> Form | None:
    """Blocks on a diagonal that make one form together."""
    parts = [rows[k][k] for k in range(len(rows))]
    size = sum(p.size for p in parts if isinstance(p, (IdentityForm, ScaledForm, DiagonalForm)))
    if all(isinstance(p, IdentityForm) for p in parts):
        return IdentityForm(size)
    if all(isinstance(p, (IdentityForm, ScaledForm, DiagonalForm)) for p in parts):
        return DiagonalForm(size)
    return None


def form(n: Network, products: Iterable[NetworkProduct]) -> Form:
    """The form of one block: a sum of products."""
    parts = [product_form(n, p) for p in products]
    parts = [p for p in parts if not isinstance(p, ZeroForm)]
    if not parts:
        return ZeroForm()
    if len(parts) == 1:
        return parts[0]
    plain = [p for p in parts if isinstance(p, (IdentityForm, ScaledForm, DiagonalForm))]
    if len(plain) == len(parts):
        return DiagonalForm(plain[0].size)
    for p in parts:
        if isinstance(p, DenseForm):
            return p
    thin = [p for p in parts if isinstance(p, LowRank)]
    if len(thin) == len(parts):
        rank, shape = sum(p.rank for p in thin), thin[0].shape
        return LowRank(rank, shape) if rank < min(shape) else DenseForm(shape)
    return SumForm(tuple(parts))


@frozen
class Component:
    """The labels that factors and links connect, and which of them are open."""

    labels: Labels
    both: Labels
    outs: Labels
    inps: Labels
    factors: tuple[int, ...]
    links: tuple[int, ...]


def components(p: NetworkProduct) -> list[Component]:
    """The connected parts of a product's network, in the order of the open labels."""
    parent: dict[int, int] = {c: c for c in p.open}

    def root(c: int) -> int:
        while parent.setdefault(c, c) != c:
            c = parent[c]
        return c

    groups = [f.labels for f in p.factors] + [link.x + link.y for link in p.links]
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
                tuple(k for k, link in enumerate(p.links) if (link.x + link.y)[0] in inside),
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
        elif c.links or any(n.is_found(p.factors[k]) for k in c.factors):
            parts.append(_sparse(n, p, c))
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
    entries = enumerated(n, p, c)
    return SparseForm(entries, shape) if entries < shape[0] * shape[1] else DenseForm(shape)


def enumerated(n: Network, p: NetworkProduct, c: Component) -> int:
    """How many pairs of open labels the links of a component allow; an upper bound where links meet inside."""
    labels = set(c.outs + c.inps + c.both)
    count = 1
    seen: set[int] = set()
    for k in c.factors:
        f = p.factors[k]
        if n.is_found(f):  # one element for each place: the graph of a function
            free = set(f.labels[: len(n.slots[f.slot].axes)])
            count *= n.size(free - seen)
            seen |= set(f.labels)
    for k in c.links:
        link = p.links[k]
        pairs = len(link.relation.holds()[0])
        known = (set(link.x) <= seen, set(link.y) <= seen)
        if any(known):  # extend along the link, by its largest degree
            there = link.y if known[0] else link.x
            count *= 1 if all(known) else _degree(link.relation, forward=known[0])
            seen |= set(there)
        else:
            count *= pairs
            seen |= set(link.x) | set(link.y)
    return count * n.size(labels - seen)


def _degree(relation: Any, *, forward: bool) -> int:
    here = relation.holds()[0 if forward else 1]
    return int(np.bincount(here).max()) if len(here) else 0


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
