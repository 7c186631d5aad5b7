"""The plans of a matrix in each form, and the matrices that they make: dense, sparse, in blocks, of low rank.

A plan holds a line that is built once for each term: a new point pays for arithmetic only.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from attrs import frozen

from hilbert import Copower, Fin, SpaceError, Vec
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.formal.formal_kernels import dense as multiplied_out
from hilbert.arrays.libraries.namespace import common_namespace, freeze, to_numpy
from hilbert.base.once import once
from hilbert.base.sizes import held
from hilbert.errors import shown
from hilbert.map.map import runner
from hilbert.program.line.constant import Const
from hilbert.space.flat_form import FlatForm
from linmap.matrices.labelled.accumulation_order import Accumulation
from linmap.matrices.labelled.deferred_lines import Deferred, behind
from linmap.matrices.labelled.labelled_products import NetworkFactor, NetworkProduct, bonds
from linmap.matrices.made.block_layout import block_pattern
from linmap.matrices.made.patterns import BlocksPattern, SparsePattern, scipy
from linmap.matrices.made.sparse_pattern import pattern
from linmap.matrices.network.network import Network, network
from linmap.matrices.network.sum_simplification import listed
from linmap.matrices.structure.entry_counts import components
from linmap.matrices.structure.matrix_shapes import stored
from linmap.matrices.structure.structure import body_of, standing
from linmap.matrices.tables.flat_products import flat
from linmap.net.lower import transposed
from linmap.term.linear_map import AnyLinMap, LinMap
from linmap.term.net import Closed, Net, elements, refs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from hilbert import Type
    from linmap.matrices.labelled.columns import Labels
    from linmap.term.datum import Datum

P = TypeVar("P")
Q = TypeVar("Q")
NARROW = "limit=N looks for an order whose intermediate arrays have at most N entries"
"""The advice in errors for intermediate arrays that memory does not hold."""


def data_of(f: Any, what: str) -> list[Any]:
    """The arrays that a closed map's references point to; raises SpaceError for an open map."""
    if isinstance(f, Closed):
        return list(f.data.arrays)
    if isinstance(f, LinMap) and not refs(body_of(f, what)):
        return []
    given = "" if isinstance(f, LinMap) else f", not {shown(f)}"
    back = ", that of an operator linear_map(name, V, W, operator)" if what == "linear_operator" else ""
    msg = f"{what} needs a linear map at a point{given}: that of a function f is derivative(f).at(x){back}"
    raise SpaceError(msg)


@once
def plan_for(body: Net, build: Callable[[Network], P], limit: int | None = None) -> P:
    """The plan of a form, built once for each term and limit; the orders of its contractions are kept with it."""
    n = network(body, limit)
    with n.lock, np.errstate(all="ignore"):
        return build(n)


def plan_at(body: Net, build: Callable[[Network], P], data: Sequence[Any] | None, limit: int | None = None) -> P:
    """The plan of a form whose pattern depends on the elements of index sets among the data.

    The plan is made for the values of these elements, and the last plan is kept, for points that have the same ones.
    Without data, as for a cost, the values are taken to be as different from each other as they can be.
    """
    unknown = [d for d in elements(body) if not isinstance(d, Const)]
    if not unknown:
        return plan_for(body, build, limit)
    place = {ref: k for k, ref in enumerate(refs(body))}
    found: dict[Datum, Any] = {}
    for d in unknown:
        if data is None:
            assert d.leaf.entry.index is not None  # that is what an element is of
            found[d] = np.arange(d.leaf.size) % max(d.leaf.entry.index.size, 1)
        else:
            found[d] = to_numpy(data[place[d]])
    key = (limit, *(np.ascontiguousarray(array).tobytes() for array in found.values()))
    last = _last_plans(body).get(build)
    if last is None or last[0] != key:
        with np.errstate(all="ignore"):
            last = _last_plans(body)[build] = (key, build(Network(body, limit, found)))
    made: P = last[1]
    return made


@once
def _last_plans(_: Net) -> dict[Any, tuple[Any, Any]]:
    """The last plan that was made for elements of index sets, for each form."""
    return {}


def limit_of(limit: Any) -> int | None:
    """A limit on intermediate arrays; raises SpaceError unless it is a whole number, from 1 on."""
    if limit is None:
        return None
    if isinstance(limit, (int, np.integer)) and not isinstance(limit, bool) and limit > 0:
        return int(limit)
    msg = f"limit is the number of entries that an intermediate array may have, from 1 on, not {shown(limit)}"
    raise SpaceError(msg)


# --- sparse ---


@frozen
class MatrixPlan(Generic[Q]):
    """The index data of a matrix, and the line that computes its arrays.

    The line is that of the `parts`, and then that which puts these in place, `placed`; formal tensors are multiplied
    out between the two.
    """

    pattern: Q
    runner: Deferred
    parts: Deferred
    placed: Deferred | None
    orders: tuple[Accumulation, ...]

    @staticmethod
    def of(
        n: Network, pattern: Q, parts: Sequence[int], outputs: Sequence[int], orders: Sequence[Accumulation]
    ) -> MatrixPlan[Q]:
        """The plan of the arrays in some slots of a network, which are made of those in others."""
        b, first = n.builder, n.runner(parts)
        return MatrixPlan(pattern, Deferred(b.line(outputs)), first, Deferred(behind(b, parts, outputs)), tuple(orders))

    def at(self, data: Sequence[Any]) -> list[Any]:
        """The arrays of the matrix for some data."""
        if self.placed is None or not (self.parts.is_formal or Formal in map(type, data)):
            return self.runner.run(data)
        return self.placed.run([multiplied_out(a) for a in self.parts.run(data)])


def sparse_plan(body: Net, limit: int | None = None, data: Sequence[Any] | None = None) -> MatrixPlan[SparsePattern]:
    """The plan of a sparse matrix."""
    return plan_at(body, _sparse_plan, data, limit)


def _sparse_plan(n: Network) -> MatrixPlan[SparsePattern]:
    before = len(n.orders)
    made, parts, entries = pattern(n, n.body.cod, n.body.dom)
    return MatrixPlan.of(n, made, parts, [entries], n.orders[before:])


DRAWN = 10**5
"""So many entries of a form are drawn one by one."""


def places(form: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """The rows and the columns of the entries of a form's net; None without one, or of more than 100,000 entries."""
    body = getattr(form, "body", None)
    if body is None or stored(form) > DRAWN:
        return None
    try:
        found = sparse_plan(body).pattern
    except SpaceError:  # found at a point alone
        return None
    return np.repeat(np.arange(found.shape[0]), np.diff(found.indptr)), np.asarray(found.indices)


def blocks_plan(body: Net, limit: int | None = None, data: Sequence[Any] | None = None) -> MatrixPlan[BlocksPattern]:
    """The plan of a matrix in block layout."""
    return plan_at(body, _blocks_plan, data, limit)


def _blocks_plan(n: Network) -> MatrixPlan[BlocksPattern]:
    before = len(n.orders)
    made, parts, cells = block_pattern(n, n.body.cod, n.body.dom)
    return MatrixPlan.of(n, made, parts, cells, n.orders[before:])


# --- low rank ---


@frozen
class Split:
    """A product as factors (r, out) and (r, in): the places of both among the line's outputs."""

    out: int
    inp: int
    rank: int
    left: int
    right: int


@frozen
class FactorPlan:
    """The splits of a matrix, and the line that computes their factors."""

    splits: tuple[Split, ...]
    runner: Deferred
    orders: tuple[Accumulation, ...]


def factor_plan(body: Net, limit: int | None = None) -> FactorPlan:
    """The plan of a matrix as a sum of rank-one terms."""
    return plan_for(body, _factor_plan, limit)


def _factor_plan(n: Network) -> FactorPlan:
    before = len(n.orders)
    splits: list[Split] = []
    outputs: list[int] = []
    for (o, i), products in n.blocks.items():
        for p in standing(n, products):
            left, right, rank = split(n, unrelated(n, p))
            splits.append(Split(o, i, rank, len(outputs), len(outputs) + 1))
            outputs += [left, right]
    return FactorPlan(tuple(splits), n.runner(outputs), tuple(n.orders[before:]))


def unrelated(n: Network, p: NetworkProduct) -> NetworkProduct:
    """The product with relations applied that only one side has: each component with some is one factor."""
    p = listed(n, p)
    for c in components(p):
        inside = [p.factors[k] for k in c.factors]
        related = c.links or c.tables or any(map(n.is_found, inside))
        if not related or c.both or bool(c.outs) == bool(c.inps):
            continue
        links, tables = [p.links[k] for k in c.links], [p.tables[k] for k in c.tables]
        ends = c.outs + c.inps
        ones = () if inside or tables else (n.ones(tuple(x for x in c.labels if x not in ends)),)
        made = flat(n, NetworkProduct(1.0, (*inside, *ones), tuple(links), ends, (), tuple(tables)))
        rest = tuple(f for f in p.factors if f not in inside)
        one = () if made is None else (n.in_full(made),)
        p = p.but(
            factors=rest + one if c.outs else one + rest,
            links=tuple(x for x in p.links if not any(x is y for y in links)),
            tables=tuple(x for x in p.tables if not any(x is y for y in tables)),
        )
        return unrelated(n, p)
    return p


def split(n: Network, p: NetworkProduct) -> tuple[int, int, int]:
    """Slots of the factors of a product at its narrowest cut, bond axes first, and the size of the bond.

    Raises SpaceError where input and output share an axis: such a map is no short sum of rank-one terms.
    """
    if any(n.sizes[c] > 1 for c in set(p.out) & set(p.inp)) or p.is_related or any(n.is_found(f) for f in p.factors):
        msg = "the term proves no low rank: input and output share an axis or a relation; see structure(f)"
        raise SpaceError(msg)
    k, bond = min(bonds(p), key=lambda cut: n.size(cut[1]))
    return side(n, p.factors[k:], bond, p.out, p.k), side(n, p.factors[:k], bond, p.inp, 1.0), n.size(bond)


def side(n: Network, factors: Sequence[NetworkFactor], bond: Labels, ends: Labels, k: float) -> int:
    """The array with axes (bond, ends) of one side of a cut; a label in both is an identity."""
    twins = {c: n.label(n.axes[c]) for c in ends if c in bond}
    identities = tuple(n.identity(c, twin) for c, twin in twins.items())
    return n.array((*factors, *identities), bond + tuple(twins.get(c, c) for c in ends), k)


@held(NARROW)
def factors(f: AnyLinMap, *, limit: int | None = None) -> tuple[Vec[Any], Vec[Any]]:
    """A ∈ W^r and B ∈ V^r with f(v) = Σ_k (B_k ⊙ v)·A_k, for the least r that the term proves.

    `limit` bounds the entries of intermediate arrays, as that of `matrix` does. Raises SpaceError for an open map,
    where input and output share an axis, and for a limit that no order keeps.
    """
    data = data_of(f, "factors")
    plan = factor_plan(body_of(f, "factors"), limit_of(limit))
    arrays = [multiplied_out(a) for a in plan.runner.run(data)]
    xp = common_namespace([*data, *arrays])
    index = Fin.of(sum(s.rank for s in plan.splits))
    left = _family(xp, f.cod, [(s.out, arrays[s.left], s.rank) for s in plan.splits])
    right = _family(xp, f.dom, [(s.inp, arrays[s.right], s.rank) for s in plan.splits])
    return Vec(Copower(f.cod, index), left), Vec(Copower(f.dom, index), right)


def _family(xp: Any, space: Type, parts: list[tuple[int, Any, int]]) -> tuple[Any, ...]:
    """The leaves of an element of V^r from arrays that each fill some rows of one leaf."""
    leaves = []
    for k, leaf in enumerate(space.leaves):
        dtype = getattr(xp, leaf.dtype)
        device = next((getattr(array, "device", None) for _, array, _ in parts), None)
        rows = [
            xp.reshape(array, (r, *leaf.shape)) if at == k else xp.zeros((r, *leaf.shape), dtype=dtype, device=device)
            for at, array, r in parts
        ]
        whole = rows[0] if len(rows) == 1 else xp.concat(rows) if rows else xp.zeros((0, *leaf.shape), dtype=dtype)
        leaves.append(freeze(whole))
    return tuple(leaves)


# --- operator ---


def linear_operator(A: LinMap[Any, Any]) -> Any:
    """A scipy LinearOperator that applies the map and its adjoint to flat arrays; its spaces are `dom` and `cod`.

    For solvers of scipy and PyLops: no matrix is made. The way back is `linear_map(name, V, W, operator)`. Raises
    SpaceError for what is no linear map at a point, and without scipy.
    """
    data_of(A, "linear_operator")
    return _operator_class()(A)


@cache
def _operator_class() -> Any:
    """The class of operators, which needs scipy. They are pickled as their maps."""
    base: Any = scipy("sparse.linalg").LinearOperator

    class MapOperator(base):  # type: ignore[misc]
        def __init__(self, A: LinMap[Any, Any]) -> None:
            super().__init__(np.float64, (A.cod.dim, A.dom.dim))
            self._map, self.dom, self.cod = A, A.dom, A.cod
            self._forms = FlatForm(A.dom), FlatForm(A.cod)
            self._ways = runner(A), runner(transposed(A))

        def _image(self, x: Any, way: int) -> Any:
            return self._forms[1 - way].joined(self._ways[way](self._forms[way].cut(np.reshape(x, -1))))

        def _matvec(self, x: Any) -> Any:
            return self._image(x, 0)

        def _rmatvec(self, y: Any) -> Any:
            return self._image(y, 1)

        def _matmat(self, columns: Any) -> Any:
            return self._images(columns, 0)

        def _rmatmat(self, columns: Any) -> Any:
            return self._images(columns, 1)

        def _images(self, columns: Any, way: int) -> Any:
            found = np.zeros((self.shape[way], columns.shape[1]))
            for k in range(columns.shape[1]):
                found[:, k] = self._image(columns[:, k], way)
            return found

        def __reduce__(self) -> tuple[Any, ...]:
            return linear_operator, (self._map,)

    return MapOperator
