"""V ⊸ W ≅ W ⊗ V, and bilinear maps as linear maps on V ⊗ W (paper §2.2, §3.1).

>>> from hilbert import Fin, R
>>> V, W = R ** Fin.of(3), R ** Fin.of(2)
>>> a, b = V.vec([1.0, 2.0, 2.0]), W.vec([3.0, 4.0])
>>> f = linear(2 * b.tensor(a))
>>> print(f)
(·b) • (2 ·) • (⊙a)
  where a ∈ ℝ^3
  where b ∈ ℝ^2
>>> f(a).array.tolist()
[54.0, 72.0]
>>> print(tensor(f))
2·a⊗b (rank 1) ∈ ℝ^2 ⊗ ℝ^3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hilbert import Copower, Field, Index, SpaceError, TensorProduct, Type, Vec
from hilbert.arrays.libraries.namespace import common_namespace, freeze
from hilbert.base.sizes import held
from hilbert.errors import truth
from hilbert.index.spec import ALPHABET, Spec
from hilbert.relation import agreement
from hilbert.space.space import atom
from hilbert.space.vector import require_vector
from hilbert.tensors.rank_one_sums import Family, families, merged
from linmap import contraction
from linmap.contraction import AnyContraction, Contraction, require_contraction
from linmap.matrices.labelled.labelled_products import bonds
from linmap.matrices.labelled.placed_entries import index_of
from linmap.matrices.made.dense import dense as dense_array
from linmap.matrices.made.matrix_plans import NARROW, MatrixPlan, data_of, limit_of, plan_for, side, unrelated
from linmap.matrices.made.patterns import Pair, TensorPattern
from linmap.matrices.structure.structure import body_of, standing
from linmap.term import wire
from linmap.term.linear_map import AnyLinMap, LinMap
from linmap.term.net import Arc, Net
from linmap.term.nodes import Compose, Identity, Scaled, Section, Sum, ZeroMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.leaf import Leaf
    from linmap.matrices.labelled.columns import Labels
    from linmap.matrices.labelled.labelled_products import NetworkFactor, NetworkProduct
    from linmap.matrices.network.network import Network

FEW = 4
"""The most families of terms that are composed one by one; more are merged into one family."""
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


# --- W ⊗ V to V ⊸ W ---


def linear(t: Vec[TensorProduct[W, V]]) -> LinMap[V, W]:
    """The linear map v ↦ t ∗ v of t ∈ W ⊗ V: u⊗w is v ↦ (w ⊙ v)·u.

    A sum of r terms is a composition through ℝ^r, applied in O(r (dim V + dim W)); its adjoint is linear(tᵀ). A dense
    part is the section (t∗). Raises SpaceError for other things than elements of a tensor product.
    """
    require_vector(t, "linear")
    if not isinstance(t.space, TensorProduct):
        msg = f"linear(t) takes an element of W ⊗ V, not one of {t.space}"
        raise SpaceError(msg)
    found, rest = families(t)
    parts = [_composed(f) for f in (found if len(found) <= FEW else merged(found))]
    if rest is not None:
        parts.append(Section(_on_right(rest), 0, rest))
    if not parts:
        return ZeroMap(t.space.right, t.space.left)
    return parts[0] if len(parts) == 1 else Sum(parts)


def _composed(f: Family[Any, Any]) -> AnyLinMap:
    """V ⊸ K^r ⊸ W, by way of K for one term."""
    W, V, X = f.left.space.base, f.right.space.base, f.left.space.index
    base = atom(next(leaf.entry for leaf in (*W.leaves, *V.leaves)))
    assert isinstance(base, Field)
    if f.rank == 1 and not f.left.is_formal and not f.right.is_formal:
        left, right = (Vec(w.space.base, tuple(freeze(a[0]) for a in w.leaves)) for w in (f.left, f.right))
        parts: list[AnyLinMap] = [Section(contraction.inner(V), 1, right)]
        middle: Type = base
        after: AnyLinMap = Section(contraction.scalar(W, base), 1, left)
    else:
        middle = Copower(base, X)
        parts = [Section(_rows(V, X, base), 0, f.right)]
        after = Section(_columns(W, X, base), 0, f.left)
    if not isinstance(f.k, float):
        parts.append(Section(contraction.scalar(middle, base), 0, Vec(base, (f.k,))))
    elif f.k != 1.0:
        parts.append(Scaled(f.k, Identity(middle)))
    if f.weights is not None:
        weights = f.weights if isinstance(middle, Copower) else Vec(base, (freeze(f.weights.leaves[0][0]),))
        parts.append(Section(contraction.hadamard(middle), 0, weights))
    return Compose([*parts, after])


def _rows(V: Type, X: Index, base: Field) -> AnyContraction:
    """V^X × V →₂ K^X, (w, v)_x = w_x ⊙ v."""
    terms = []
    for k, leaf in enumerate(V.leaves):
        x, v = ALPHABET[0], ALPHABET[1 : 1 + len(leaf.axes)]
        terms.append((k, k, 0, Spec.of(x + v, v, x)))
    return Contraction(Copower(V, X), V, Copower(base, X), tuple(terms))


def _columns(W: Type, X: Index, base: Field) -> AnyContraction:
    """W^X × K^X →₂ W, (u, c) ↦ Σ_x c_x·u_x."""
    terms = []
    for k, leaf in enumerate(W.leaves):
        x, w = ALPHABET[0], ALPHABET[1 : 1 + len(leaf.axes)]
        terms.append((k, 0, k, Spec.of(x + w, x, w)))
    return Contraction(Copower(W, X), Copower(base, X), W, tuple(terms))


def _on_right(t: Vec[Any]) -> AnyContraction:
    """(W ⊗ V) × V →₂ W on the leaves that are not empty."""
    W, V = t.space.left, t.space.right
    m = len(V.leaves)
    terms = []
    for place, array in enumerate(t.leaves):
        i, j = divmod(place, m)
        labels = ALPHABET[: len(t.space.leaves[place].axes)]
        w, v = labels[: len(W.leaves[i].axes)], labels[len(W.leaves[i].axes) :]
        if not hasattr(array, "rank") or array.rank or array.dense is not None:
            terms.append((place, j, i, Spec.of(labels, v, w)))
    return Contraction(t.space, V, W, tuple(terms))


# --- V ⊸ W to W ⊗ V ---


@held(NARROW)
def tensor(f: LinMap[V, W], *, dense: bool = False, limit: int | None = None) -> Vec[TensorProduct[W, V]]:
    """The t ∈ W ⊗ V with f(v) = t ∗ v, the inverse of `linear`.

    In as few rank-one terms as the term of f proves, computed in the order that a path search finds; factors that are
    data of the term already are taken as they are, and so is the datum of a section (t∗). With `dense`, what has no
    low rank becomes a dense array; `limit` is that of `matrix`. Raises SpaceError for such a map otherwise, and for one
    that is not linear or not closed.
    """
    data = data_of(f, "tensor")
    truth(dense, "tensor(f, dense=…)")
    plan = tensor_plan(body_of(f, "tensor"), limit_of(limit))
    if isinstance(plan, str):
        if dense:
            return _whole(TensorProduct(f.cod, f.dom), dense_array(f, data, limit))
        raise refusal(f, plan)
    return plan.pattern.matrix(plan.at(data))


def refusal(f: AnyLinMap, missing: str) -> SpaceError:
    """The error for a map whose term proves no low rank."""
    size = f.cod.dim * f.dom.dim
    return SpaceError(f"tensor(f): {missing}; see structure(f), or pass dense=True for an array of {size} entries")


def _whole(space: TensorProduct[Any, Any], rows: Any) -> Vec[Any]:
    """The tensor of a matrix of shape (dim W, dim V)."""
    xp = common_namespace([rows])
    leaves: list[Any] = []
    top = 0
    for a in space.left.leaves:
        start = 0
        for b in space.right.leaves:
            block = rows[top : top + a.size, start : start + b.size]
            leaves.append(freeze(xp.reshape(block, a.shape + b.shape)))
            start += b.size
        top += a.size
    return Vec(space, tuple(leaves))


def tensor_plan(body: Net, limit: int | None = None) -> MatrixPlan[TensorPattern] | str:
    """The plan of a matrix as a sum of products of factors; a text that says why there is none."""
    return plan_for(body, _tensor_plan, limit)


def _tensor_plan(n: Network) -> MatrixPlan[TensorPattern] | str:
    pairs: list[Pair] = []
    outputs: list[int] = []
    for (o, i), products in n.blocks.items():
        for p in standing(n, products):
            found = _pair(n, unrelated(n, p))
            if isinstance(found, str):
                return found
            slots, shape, k = found
            places = range(len(outputs), len(outputs) + len(slots))
            left, right, scalar = (*places, None, None)[:3]
            assert left is not None  # a product has an array
            pairs.append(Pair(o, i, left, right, shape, k, scalar))
            outputs += slots
    line = n.runner(outputs)
    space = TensorProduct(n.body.cod, n.body.dom)
    return MatrixPlan(TensorPattern(space, tuple(pairs), tuple(n.slots[k] for k in outputs)), line, line, None, ())


def _pair(n: Network, p: NetworkProduct) -> tuple[list[int], tuple[int, ...], float] | str:
    """The slots of a product's factors and of its scalar, the sizes of their common axes, its number; or why not."""
    whole = p.out + p.inp
    if len(p.factors) == 1 and not p.is_related and len(set(whole)) == len(whole):
        (only,) = p.factors
        if set(only.labels) == set(whole) and not n.is_found(only):
            return [n.scaled(p.k, n.arranged(n.in_full(only), whole))], (), 1.0
    if any(n.sizes[c] > 1 for c in set(p.out) & set(p.inp)) or p.is_related or any(n.is_found(f) for f in p.factors):
        return "the term proves no low rank: input and output share an axis or a relation"
    scalars = [f for f in p.factors if not f.labels]

    def sides(k: int) -> tuple[list[NetworkFactor], list[NetworkFactor]]:
        return [f for f in p.factors[k:] if f.labels], [f for f in p.factors[:k] if f.labels]

    cuts = sorted(bonds(p), key=lambda cut: n.size(cut[1]))
    ready = [(k, bond) for k, bond in cuts if _given(sides(k)[0], bond, p.out) and _given(sides(k)[1], bond, p.inp)]
    k, bond = (ready or cuts)[0]
    least = min(n.size(p.out), n.size(p.inp))
    if not ready and n.size(bond) >= least > 1:
        return f"the term proves no rank below {least}"
    left, right = sides(k)
    slots = [side(n, left, bond, p.out, 1.0), side(n, right, bond, p.inp, 1.0)]
    slots += [n.array(scalars, ())] if scalars else []
    return slots, tuple(n.sizes[c] for c in bond), p.k


def _given(factors: Sequence[NetworkFactor], bond: Labels, ends: Labels) -> bool:
    """Tell if one side of a cut is a datum of the term, up to scaling along its axes: there is nothing to contract."""
    labels = set(bond + ends)
    if not factors:
        return not labels
    return any(set(f.labels) == labels for f in factors) and all(set(f.labels) <= labels for f in factors)


# --- bilinear maps as linear maps ---


def universal(c: Contraction[U, V, W]) -> LinMap[TensorProduct[U, V], W]:
    """⋄̄ : U ⊗ V ⊸ W, the one linear map with u ⋄ v = ⋄̄(u ⊗ v): the universal property of ⊗ (§2.2).

    Raises SpaceError for a bilinear map on a discrete type.
    """
    require_contraction(c, "universal")
    dom = TensorProduct(c.left, c.right)
    m, n = len(c.right.leaves), len(dom.leaves)
    wires = [*dom.leaves, *c.cod.leaves]  # leaf (i, j) of U ⊗ V is wire i·m + j, leaf k of W wire n + k
    arcs = [
        Arc(_identified(spec, dom.leaves[i * m + j], c.cod.leaves[k]), i * m + j, n + k) for i, j, k, spec in c.terms
    ]
    return Net(dom, c.cod, tuple(range(n)), tuple(arcs), tuple(range(n, len(wires))), tuple(wires))


def _identified(spec: Spec, dom: Leaf, cod: Leaf) -> wire.Wire:
    """Σ over equal labels of one array; without such labels a transposition."""
    source = spec.left + spec.right
    if len(set(source)) == len(source):
        order = tuple(map(source.index, spec.out))
        return wire.Same() if order == tuple(range(len(order))) else wire.Move(order)
    return wire.Reduce(agreement(f"{source}->{spec.out}", index_of(dom.axes), index_of(cod.axes)), 0)
