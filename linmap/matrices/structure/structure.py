"""The form of a linear map's matrix that its term proves (theory §9): users assert nothing, no entry is probed.

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
from typing import TYPE_CHECKING, Any, assert_never, cast

import numpy as np
from attrs import evolve

from hilbert import SpaceError
from hilbert.base.once import once
from hilbert.base.sizes import held
from hilbert.base.two_sided import parts
from hilbert.errors import shown
from hilbert.relation import (
    Agreement,
    Composite,
    Converse,
    Equality,
    Full,
    Graph,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
)
from linmap.matrices.labelled.columns import flat_positions
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkProduct, bonds
from linmap.matrices.network.network import Network, pattern_network
from linmap.matrices.network.sum_simplification import listed
from linmap.matrices.network.to_arrays import same_labels
from linmap.matrices.structure.entry_counts import Component, components, counted, union
from linmap.matrices.structure.inverse_forms import inverse_form, inverse_in
from linmap.matrices.structure.matrix_shapes import (
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
    stored,
)
from linmap.matrices.structure.positive_maps import is_positive, nothing_known, sign_of
from linmap.matrices.tables.banded_relations import Diagonals
from linmap.matrices.tables.diagonal_products import along_diagonals, in_forms, is_met
from linmap.matrices.tables.low_rank_terms import narrow_cut
from linmap.matrices.tables.pair_sets import PairRelation
from linmap.net.lower import net
from linmap.term.linear_map import LinMap
from linmap.term.net import Closed, Net, refs
from linmap.term.protocols import Simplifiable

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
    from collections.abc import Iterable, Mapping, Sequence

    from hilbert.relation import Form as RelationForm
    from hilbert.relation.relation import AnyRelation


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


@held("pairs that are on no diagonals are listed; the structure of the same map on smaller sets shows what it is like")
def structure(f: Any) -> Form:
    """The form that a linear map, or a derivative in the point, has by its term, as a matrix in the standard bases.

    Raises SpaceError for a function that is not linear: take its derivative first.
    """
    body = body_of(f, "structure")
    undone = inverse_in(body)
    by_formula = inverse_form(structure(undone.body)) if undone and not undone.lanes else None
    found: Form = evolve(by_formula or _whole(body), is_positive=positive(f))
    return evolve(found, body=body) if isinstance(found, (Blocks, SparseForm)) else found


def positive(f: LinMap[Any, Any] | Simplifiable) -> bool:
    """Tell if a linear map is proved to be symmetric and positive; of one in the point, wherever that is.

    Of a map at a point it is proved for all points, unless its data are constants.
    """
    body = body_of(f, "structure")
    undone = inverse_in(body)
    if undone:
        return undone.positive
    if not isinstance(f, Closed):
        return _is_positive(body, f.program if isinstance(f, Simplifiable) else None)
    program = f.data.program(refs(body))
    if program is not None:
        return _is_positive(body, program)
    constants = dict(zip(refs(body), f.data, strict=True))
    return is_positive(body, lambda ref: sign_of(constants[ref]))


@once
def _is_positive(body: Net, program: Any) -> bool:
    return is_positive(body, nothing_known) if program is None else program.proves_positive(body)


@once
def _whole(body: Net) -> Form:
    n = pattern_network(body)
    shape = len(body.outputs), len(body.inputs)
    with n.lock:
        made = [(place, form(n, products)) for place, products in sorted(n.blocks.items())]
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
    return _diagonal(size, sum(map(_stored, parts))) if all(isinstance(p, PLAIN) for p in parts) else None


def _stored(p: Form) -> int:
    """The number of entries of a plain form that may differ from 0."""
    assert isinstance(p, PLAIN)
    return p.stored if isinstance(p, DiagonalForm) else p.size


def _diagonal(size: int, entries: int | None) -> DiagonalForm:
    """A diagonal matrix with so many entries; with any if they are not counted."""
    return DiagonalForm(size, None if entries == size else entries)


PLAIN = (IdentityForm, ScaledForm, DiagonalForm)
THIN = (*PLAIN, Permutation, SparseForm)


def form(n: Network, products: Iterable[NetworkProduct]) -> Form:
    """The form of one block: a sum of products, those of low rank as one."""
    found = [(p, product_form(n, p)) for p in (_read(n, p) for p in products) if p.k]
    found = [(p, part) for p, part in found if not isinstance(part, ZeroForm)]
    if len(found) < 2:
        return found[0][1] if found else ZeroForm()
    shape = n.size(found[0][0].out), n.size(found[0][0].inp)
    rank = sum(part.rank for _, part in found if isinstance(part, LowRank))
    others = [(p, part) for p, part in found if not isinstance(part, LowRank)]
    rest = _sum(n, [p for p, _ in others], [part for _, part in others])
    if rank >= min(shape) or isinstance(rest, DenseForm):
        return DenseForm(shape)
    if not rank or isinstance(rest, ZeroForm):
        return LowRank(rank, shape) if rank else rest
    return SumForm((*(rest.parts if isinstance(rest, SumForm) else (rest,)), LowRank(rank, shape)))


def _sum(n: Network, read: Sequence[NetworkProduct], parts: Sequence[Form]) -> Form:
    """The form of a sum of products with these forms, none of which is of low rank."""
    if len(parts) < 2:
        return parts[0] if parts else ZeroForm()
    if all(isinstance(p, PLAIN) for p in parts):
        size = n.size(read[0].inp)
        return _diagonal(size, size if size in map(_stored, parts) else union(n, read))
    shared = math.prod([n.size((read[0].inp[j],)) for j in same_labels(read)])
    for p in parts:
        if isinstance(p, DenseForm) or p == _in_full(n, read[0], shared):
            return p
    are_sparse = all(isinstance(p, THIN) for p in parts) and any(isinstance(p, SparseForm) for p in parts)
    made = _together(n, read) if are_sparse or (n.is_united and all(map(is_met, read))) else None
    shape = n.size(read[0].out), n.size(read[0].inp)
    if made is None and are_sparse and sum(map(stored, parts)) >= math.prod(shape):
        return DenseForm(shape)
    return made or SumForm(tuple(parts))


def _in_full(n: Network, p: NetworkProduct, count: int) -> Form | None:
    """Dense blocks, so many, that a sum of products like one fills; None for one block."""
    if count <= 1:
        return None
    return BlockDiagonal(count, DenseForm((n.size(p.out) // count, n.size(p.inp) // count)))


def _read(n: Network, p: NetworkProduct) -> NetworkProduct:
    """The product with relations that meet made one, along diagonals where they lie on such; otherwise listed."""
    if not p.links or p.tables:
        return listed(n, in_forms(p))
    q = along_diagonals(n, p)
    return q if is_met(q) else listed(n, in_forms(p))


def _together(n: Network, products: Sequence[NetworkProduct]) -> Form | None:
    """Sparse matrices on the union of their pairs; None where these are not listed."""
    if any(n.is_found(f) for p in products for f in p.factors):
        return None
    entries = union(n, products)
    if entries is None:
        return None
    shape = (n.size(products[0].out), n.size(products[0].inp))
    return SparseForm(entries, shape) if entries < shape[0] * shape[1] else DenseForm(shape)


def standing(n: Network, products: Iterable[NetworkProduct]) -> list[NetworkProduct]:
    """The products that do not vanish: those whose relations and tables meet in some pair."""
    read = [listed(n, p) for p in products]
    return [p for p in read if not isinstance(product_form(n, p), ZeroForm)]


def product_form(n: Network, p: NetworkProduct) -> Form:
    """The form of one product: of low rank, if two factors have fewer entries than its relations leave."""
    found = _by_components(n, p)
    cut = narrow_cut(n, p) if p.is_related and isinstance(found, (SparseForm, DenseForm, Kronecker)) else None
    shape = n.size(p.out), n.size(p.inp)
    if cut is None or n.size(cut.bond) * sum(shape) >= stored(found) or n.size(cut.bond) >= min(shape):
        return found
    return LowRank(n.size(cut.bond), shape)


def _by_components(n: Network, p: NetworkProduct) -> Form:
    """The Kronecker product of the forms of a product's components."""
    if not p.k:
        return ZeroForm()
    scaled = p.k != 1.0 or any(not f.labels for f in p.factors)
    parts: list[Form] = []
    twins = {o: i for o, i in zip(p.out, p.inp, strict=False) if n.axes[o] == n.axes[i]}
    alike = set[int]()  # the output labels that have the values of input labels
    rows = cols = 1
    split = False
    for c in components(p):
        if not c.outs and not c.inps and not c.both:
            scaled = True  # a contracted number
        elif c.links or c.tables or any(n.is_found(p.factors[k]) for k in c.factors):
            made = _sparse(n, p, c, twins)
            if isinstance(made, PLAIN):
                alike.update(c.outs)
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
    made = _kronecker(_outer(parts), scaled=scaled)
    if isinstance(made, PLAIN) and p.inp != tuple(twins.get(c) if c in alike else c for c in p.out):
        if isinstance(made, DiagonalForm) and made.entries is not None:
            return SparseForm(made.entries, (made.size, made.size))
        return Permutation(made.size, weighted=not isinstance(made, IdentityForm))
    return made


def _outer(parts: list[Form]) -> list[Form]:
    """The parts with sparse columns and rows made one, where the first of these stands."""
    thin = {k: p for k, p in enumerate(parts) if isinstance(p, SparseForm) and 1 in p.shape}
    if len(thin) < 2:
        return parts
    some = thin.values()
    shape = math.prod(p.shape[0] for p in some), math.prod(p.shape[1] for p in some)
    one = SparseForm(math.prod(p.entries for p in some), shape, all(p.exact for p in some))
    first, *others = thin
    return [one if k == first else p for k, p in enumerate(parts) if k not in others]


def _coupled(n: Network, p: NetworkProduct, c: Component) -> Form:
    shape = (n.size(c.outs), n.size(c.inps))
    inside = set(c.labels) - set(c.both)
    rank = min(n.size(set(bond) & inside) for _, bond in bonds(p))
    block: Form = LowRank(rank, shape) if rank < min(shape) else DenseForm(shape)
    return BlockDiagonal(n.size(c.both), block) if c.both else block


def _sparse(n: Network, p: NetworkProduct, c: Component, twins: Mapping[int, int]) -> Form:
    """The form of a component with relations; `twins` are output and input labels at the same places."""
    shape = (n.size(c.outs + c.both), n.size(c.inps + c.both))
    entries, exact, single = counted(n, p, c)
    if entries == shape[0] * shape[1]:
        return DenseForm(shape)
    if single is not None and entries and shape[0] == shape[1]:
        if all(twins.get(o) in c.inps for o in c.outs) and _is_on(single, c, twins):
            return IdentityForm(entries) if entries == shape[0] and not c.factors else _diagonal(shape[0], entries)
        if entries == shape[0] and _is_bijection(n, single, c):
            return Permutation(entries, weighted=bool(c.factors))
    return SparseForm(entries, shape, exact) if entries else ZeroForm()


def _is_on(part: Link | LabelTable, c: Component, twins: Mapping[int, int]) -> bool:
    """Tell if each output label of a relation always has the value of the input label at its place."""
    if isinstance(part, Link):
        pairs = {*zip(part.x, part.y, strict=False), *zip(part.y, part.x, strict=False)}
        return all((o, twins[o]) in pairs for o in c.outs) and _is_partial_identity(part.relation)
    place = dict(zip(part.labels, part.columns, strict=True))
    return all(np.array_equal(place[o], place[twins[o]]) for o in c.outs)


def _is_partial_identity(relation: AnyRelation) -> bool:
    """Tell if the form of a relation shows that it has pairs (x, x) alone."""
    form = cast("RelationForm | Diagonals | PairRelation", relation)
    match form:
        case Diagonals():
            return form.is_on_diagonal
        case Partial() | Equality():
            return True
        case ProductRelation() | SumRelation() | Composite():
            return all(map(_is_partial_identity, parts(form, ProductRelation, SumRelation, Composite)))
        case Pairs():
            return form.dom == form.cod and np.array_equal(*form.holds())
        case Full() | Order() | Agreement() | Graph() | Inclusion() | Window() | Sliding() | Rotation() | Converse():
            return False  # what these relate is not looked at
        case PairRelation():
            return False
        case _:
            assert_never(form)


def _is_bijection(n: Network, part: Link | LabelTable, c: Component) -> bool:
    """Tell if a relation between all outputs and all inputs of a component has one pair for each."""
    if isinstance(part, Link):
        return part.relation.is_function and part.relation.T.is_function
    place = dict(zip(part.labels, part.columns, strict=True))
    both = tuple(x for x in c.both if x in place)
    return all(
        len(np.unique(flat_positions(side, place, n.sizes))) == part.count for side in (c.outs + both, c.inps + both)
    )


def _kronecker(parts: list[Form], *, scaled: bool) -> Form:
    if any(isinstance(p, ZeroForm) for p in parts):
        return ZeroForm()
    plain = [p for p in parts if isinstance(p, (IdentityForm, DiagonalForm))]
    if len(plain) == len(parts):
        size = math.prod(p.size for p in plain)
        if any(isinstance(p, DiagonalForm) for p in plain):
            return _diagonal(size, math.prod(map(_stored, plain)))
        return ScaledForm(size) if scaled else IdentityForm(size)
    if scaled and all(isinstance(p, (IdentityForm, Permutation)) for p in parts):  # none of them has the number
        at, turned = next((k, p) for k, p in enumerate(parts) if isinstance(p, Permutation))
        parts = [*parts[:at], Permutation(turned.size, weighted=True), *parts[at + 1 :]]
    merged: list[Form] = []
    for p in parts:
        last = merged[-1] if merged else None
        if isinstance(p, IdentityForm) and isinstance(last, IdentityForm):
            merged[-1] = IdentityForm(p.size * last.size)
        elif not (isinstance(p, IdentityForm) and p.size == 1):
            merged.append(p)
    return merged[0] if len(merged) == 1 else Kronecker(tuple(merged))
