"""The linear functions and unitary operators of the paper (§2.1, §3.2, §3.3), as typed constructors.

>>> from hilbert import Fin, R, direct_sum
>>> V = direct_sum(R ** Fin.of(3), R)
>>> print(fork(project(V, 1), project(V, 0)))
⟨π₂, π₁⟩
>>> total(R, Fin.of(3))((R ** Fin.of(3)).vec([1.0, 2.0, 4.0])).array.item()
7.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, TypeVarTuple, overload

from hilbert import (
    Copower,
    Coproduct,
    DirectSum,
    Field,
    Index,
    Map,
    Product,
    R,
    Relation,
    Space,
    SpaceError,
    TensorProduct,
    Type,
    Unit,
    Vec,
)
from hilbert.errors import shown
from hilbert.index import require_index
from hilbert.map import factor, highest, require_map
from hilbert.relation import full, geq, leq, run
from hilbert.space import Elements, require_space
from hilbert.vector import require_vector, span
from linmap import contraction
from linmap.term.nodes import (
    Cast,
    Fork,
    Identity,
    Inject,
    Join,
    LinMap,
    Project,
    Reduce,
    Scaled,
    Section,
    Unitary,
    Zero,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linmap.contraction import Contraction

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
S = TypeVar("S", bound=Space)
A1 = TypeVar("A1", bound=Type)
B1 = TypeVar("B1", bound=Type)
C1 = TypeVar("C1", bound=Type)
Row = TypeVar("Row", bound="DirectSum[*tuple[Any, ...]]")
Rest = TypeVarTuple("Rest")
Many = TypeVar("Many", bound="DirectSum[Any, Any, Any, Any, *tuple[Any, ...]]")
"""Four parts or more, where a position may be a variable: of two or three, one that does not exist is a type error."""


def identity(V: U) -> LinMap[U, U]:
    """id : V ⊸ V."""
    return Identity(V)


def zero(dom: V, cod: W) -> LinMap[V, W]:
    """0 : V ⊸ W."""
    return Zero(dom, cod)


def scale(k: float, V: U) -> LinMap[U, U]:
    """(k ·) : V ⊸ V for a number k."""
    return Scaled(factor(k), identity(V))


@overload
def project(s: DirectSum[A, *Rest], i: Literal[0]) -> LinMap[DirectSum[A, *Rest], A]: ...
@overload
def project(s: DirectSum[A, B, *Rest], i: Literal[1]) -> LinMap[DirectSum[A, B, *Rest], B]: ...
@overload
def project(s: DirectSum[A, B, C, *Rest], i: Literal[2]) -> LinMap[DirectSum[A, B, C, *Rest], C]: ...
@overload
def project(s: Copower[V, I], i: Any) -> LinMap[Copower[V, I], V]: ...
@overload
def project(s: Many, i: int) -> LinMap[Many, Any]: ...
def project(s: Any, i: Any) -> Any:
    """π_i : ⊕ V ⊸ V_i, counted from 0; π_x : V^X ⊸ V for an element x. SpaceError for one that does not exist."""
    require_space(s, "π_i")
    if isinstance(s, Copower):
        return Reduce(run(Unit(), s.index, s.index.position(i)).T, s.base)
    span(s, i)
    return Project(s, int(i))


@overload
def inject(s: DirectSum[A, *Rest], i: Literal[0]) -> LinMap[A, DirectSum[A, *Rest]]: ...
@overload
def inject(s: DirectSum[A, B, *Rest], i: Literal[1]) -> LinMap[B, DirectSum[A, B, *Rest]]: ...
@overload
def inject(s: DirectSum[A, B, C, *Rest], i: Literal[2]) -> LinMap[C, DirectSum[A, B, C, *Rest]]: ...
@overload
def inject(s: Copower[V, I], i: Any) -> LinMap[V, Copower[V, I]]: ...
@overload
def inject(s: Many, i: int) -> LinMap[Any, Many]: ...
def inject(s: Any, i: Any) -> Any:
    """ι_i : V_i ⊸ ⊕ V, counted from 0; ι_x : V ⊸ V^X for an element x. SpaceError for one that does not exist."""
    require_space(s, "ι_i")
    if isinstance(s, Copower):
        return Reduce(run(Unit(), s.index, s.index.position(i)), s.base)
    span(s, i)
    return Inject(s, int(i))


@overload
def fork(f: LinMap[U, A], g: LinMap[U, B], /) -> LinMap[U, DirectSum[A, B]]: ...
@overload
def fork(f: LinMap[U, A], g: LinMap[U, B], h: LinMap[U, C], /) -> LinMap[U, DirectSum[A, B, C]]: ...
@overload
def fork(f: Map[U, A], g: Map[U, B], /) -> Map[U, DirectSum[A, B]]: ...
@overload
def fork(f: Map[U, A], g: Map[U, B], h: Map[U, C], /) -> Map[U, DirectSum[A, B, C]]: ...
@overload
def fork(
    f: LinMap[U, Any], g: LinMap[U, Any], h: LinMap[U, Any], k: LinMap[U, Any], /, *more: LinMap[U, Any]
) -> LinMap[U, Any]: ...
@overload
def fork(f: Map[U, Any], g: Map[U, Any], h: Map[U, Any], k: Map[U, Any], /, *more: Map[U, Any]) -> Map[U, Any]: ...
def fork(*parts: Any) -> Any:
    """⟨f₁, …, fₙ⟩ : U → ⊕ V_y, linear if every fᵢ is; raises SpaceError unless all have one domain."""
    return highest(parts)._fork(parts)


@overload
def join(f: LinMap[A, W], g: LinMap[B, W], /) -> LinMap[DirectSum[A, B], W]: ...
@overload
def join(f: LinMap[A, W], g: LinMap[B, W], h: LinMap[C, W], /) -> LinMap[DirectSum[A, B, C], W]: ...
@overload
def join(
    f: LinMap[Any, W], g: LinMap[Any, W], h: LinMap[Any, W], k: LinMap[Any, W], /, *more: LinMap[Any, W]
) -> LinMap[Any, W]: ...
def join(*parts: Any) -> Any:
    """[g₁, …, gₙ] : ⊕ V_x ⊸ W, v ↦ Σ gᵢ(vᵢ); raises SpaceError unless all have one codomain."""
    return Join(parts)


@overload
def parallel(f: LinMap[A, A1], g: LinMap[B, B1], /) -> LinMap[DirectSum[A, B], DirectSum[A1, B1]]: ...
@overload
def parallel(
    f: LinMap[A, A1], g: LinMap[B, B1], h: LinMap[C, C1], /
) -> LinMap[DirectSum[A, B, C], DirectSum[A1, B1, C1]]: ...
@overload
def parallel(f: Map[A, A1], g: Map[B, B1], /) -> Map[DirectSum[A, B], DirectSum[A1, B1]]: ...
@overload
def parallel(f: Map[A, A1], g: Map[B, B1], h: Map[C, C1], /) -> Map[DirectSum[A, B, C], DirectSum[A1, B1, C1]]: ...
@overload
def parallel(
    f: LinMap[Any, Any], g: LinMap[Any, Any], h: LinMap[Any, Any], k: LinMap[Any, Any], /, *more: LinMap[Any, Any]
) -> LinMap[Any, Any]: ...
@overload
def parallel(
    f: Map[Any, Any], g: Map[Any, Any], h: Map[Any, Any], k: Map[Any, Any], /, *more: Map[Any, Any]
) -> Map[Any, Any]: ...
def parallel(*parts: Any) -> Any:
    """f₁ × … × fₙ : ⊕ V_x → ⊕ W_x (also Π f_x, and Δ of linear maps), linear if every fᵢ is."""
    return highest(parts)._parallel(parts)


@overload
def compose(g: LinMap[V, W], f: LinMap[U, V], /) -> LinMap[U, W]: ...
@overload
def compose(h: LinMap[W, A], g: LinMap[V, W], f: LinMap[U, V], /) -> LinMap[U, A]: ...
@overload
def compose(g: Map[V, W], f: Map[U, V], /) -> Map[U, W]: ...
@overload
def compose(h: Map[W, A], g: Map[V, W], f: Map[U, V], /) -> Map[U, A]: ...
@overload
def compose(fs: Sequence[LinMap[V, V]], /) -> LinMap[V, V]: ...
@overload
def compose(fs: Sequence[Map[V, V]], /) -> Map[V, V]: ...
@overload
def compose(
    k: LinMap[Any, W], h: LinMap[Any, Any], g: LinMap[Any, Any], f: LinMap[Any, Any], /, *more: LinMap[Any, Any]
) -> LinMap[Any, W]: ...
@overload
def compose(
    k: Map[Any, W], h: Map[Any, Any], g: Map[Any, Any], f: Map[Any, Any], /, *more: Map[Any, Any]
) -> Map[Any, W]: ...
def compose(*fs: Any) -> Any:
    """fₙ ∘ … ∘ f₁ of maps given outermost first (or of one sequence of them), linear if every one is."""
    maps = fs[0] if len(fs) == 1 and not isinstance(fs[0], Map) else fs
    try:
        maps = tuple(maps)
    except TypeError:  # no sequence
        require_map(maps, "compose")
    highest(maps)
    result = maps[-1]
    for f in reversed(maps[:-1]):
        result = f @ result
    return result


def red(relation: Relation[I, J], V: W) -> LinMap[Copower[W, I], Copower[W, J]]:
    """red_R : V^X ⊸ V^Y, (red_R v)_y = Σ_{(x,y)∈R} v_x (§2.2.3)."""
    if not isinstance(relation, Relation):
        msg = f"red_R takes a relation, not {shown(relation)}: see hilbert.relation"
        raise SpaceError(msg)
    return Reduce(relation, V)


def total(V: W, X: I) -> LinMap[Copower[W, I], W]:
    """Σ_X : V^X ⊸ V (§2.1)."""
    return Reduce(full(X, Unit()), V)


def rep(V: W, X: I) -> LinMap[W, Copower[W, I]]:
    """rep_X : V ⊸ V^X, the constant family (§2.1); a view, no copies."""
    return Reduce(full(Unit(), X), V)


def scan(V: W, X: I) -> LinMap[Copower[W, I], Copower[W, I]]:
    """scan : V^𝐧 ⊸ V^𝐧, prefix sums, red of ≤ (§2.1)."""
    return Reduce(leq(X), V)


def suffix(V: W, X: I) -> LinMap[Copower[W, I], Copower[W, I]]:
    """scan* : V^𝐧 ⊸ V^𝐧, suffix sums, red of ≥ (§6)."""
    return Reduce(geq(X), V)


def dup(V: W) -> LinMap[W, DirectSum[W, W]]:
    """dup : V ⊸ V ⊕ V."""
    return Fork((identity(V), identity(V)))


def add(V: W) -> LinMap[DirectSum[W, W], W]:
    """(+) : V ⊕ V ⊸ V."""
    return Join((identity(V), identity(V)))


@overload
def section(bilinear: Contraction[U, V, W], side: Literal[0], v: Vec[U]) -> LinMap[V, W]: ...
@overload
def section(bilinear: Contraction[U, V, W], side: Literal[1], v: Vec[V]) -> LinMap[U, W]: ...
def section(bilinear: Any, side: Any, v: Any) -> Any:
    """(u⋄) for side 0, (⋄v) for side 1: a bilinear map with one operand fixed (§3.3)."""
    return Section(bilinear, side, v)


@overload
def delta(
    bilinear: Contraction[U, V, W], side: Literal[0], family: Vec[Copower[U, I]], X: I
) -> LinMap[Copower[V, I], Copower[W, I]]: ...
@overload
def delta(
    bilinear: Contraction[U, V, W], side: Literal[1], family: Vec[Copower[V, I]], X: I
) -> LinMap[Copower[U, I], Copower[W, I]]: ...
def delta(bilinear: Any, side: Any, family: Any, X: Any) -> Any:
    """Δ of the family of sections (u_x⋄) : V^X ⊸ W^X, given as data u ∈ U^X (§2.2, Thm 4.1 (5))."""
    contraction.require_contraction(bilinear, "Δ")
    require_index(X, "Δ")
    return Section(bilinear.lifted(X), side, family)


def times(k: Vec[Field], V: W) -> LinMap[W, W]:
    """(k ·) : V ⊸ V for a scalar k ∈ K."""
    return Section(contraction.scalar(V), 0, k)


def dot(v: Vec[V]) -> LinMap[V, Field]:
    """(⊙v) : V ⊸ K; the dual of v (Riesz, §6)."""
    require_vector(v, "(⊙v)")
    return Section(contraction.inner(v.space), 1, v)


def at(V: W, X: I, x: Vec[Elements[I]]) -> LinMap[Copower[W, I], W]:
    """π_x : V^X ⊸ V at an element x that is found at the point; lift it with delta(pick(V, X), 1, xs, Y)."""
    return Section(contraction.pick(V, X), 1, x)


def cast(V: S, field: Field) -> LinMap[S, S]:
    """The same numbers in another field, which is no part of the static type; the adjoint casts back."""
    require_space(V, "cast")
    if not isinstance(field, Field):
        msg = f"cast({V}, field) takes R or R32, not {shown(field)}"
        raise SpaceError(msg)
    return Cast(V, _in_field(V, field))


def _in_field(space: Type, field: Field) -> Type:
    match space:
        case Field():
            return field
        case Copower(base, index):
            return Copower(_in_field(base, field), index)
        case TensorProduct(left, right):
            return TensorProduct(_in_field(left, field), _in_field(right, field))
        case DirectSum():
            return DirectSum(tuple(_in_field(part, field) for part in space.parts))
        case _:
            return space


# --- unitary operators (§3.2): the inverse is the adjoint ---


def _rename(name: str, dom: Type, cod: Type) -> Unitary:
    """The leaves are the same: nothing moves."""
    order = tuple(tuple(range(len(leaf.axes))) for leaf in dom.leaves)
    return Unitary(name, dom, cod, tuple(range(len(dom.leaves))), order)


def _want(ok: bool, name: str, space: Any, due: str) -> None:  # noqa: FBT001 - a guard
    if not ok:
        msg = f"{name} applies to {due}, not to {shown(space)}"
        raise SpaceError(msg)


def transpose(V: TensorProduct[A, B]) -> LinMap[TensorProduct[A, B], TensorProduct[B, A]]:
    """_ᵀ : V ⊗ W ⊸ W ⊗ V, (v⊗w)ᵀ = w⊗v."""
    _want(isinstance(V, TensorProduct), "_ᵀ", V, "V ⊗ W")
    n, m = len(V.left.leaves), len(V.right.leaves)
    source = tuple(i * m + j for j in range(m) for i in range(n))
    order = []
    for b in V.right.leaves:
        for a in V.left.leaves:
            p, q = len(a.axes), len(b.axes)
            order.append((*range(p, p + q), *range(p)))
    return Unitary("transpose", V, TensorProduct(V.right, V.left), source, tuple(order))


def transpose_matrix(Y: I, X: J, V: W) -> LinMap[Copower[W, Product[I, J]], Copower[W, Product[J, I]]]:
    """_ᵀ : V^{Y×X} ⊸ V^{X×Y}."""
    require_index(Y, "_ᵀ")
    require_index(X, "_ᵀ")
    require_space(V, "_ᵀ")
    p, q = len(Y.axes), len(X.axes)
    order = tuple((*range(p, p + q), *range(p), *range(p + q, len(leaf.axes) + p + q)) for leaf in V.leaves)
    dom, cod = Copower(V, Y * X), Copower(V, X * Y)
    return Unitary("transpose", dom, cod, tuple(range(len(V.leaves))), order)


def bra(V: U) -> LinMap[U, TensorProduct[Field, U]]:
    """⟨_ : V ⊸ ℝ ⊗ V, v ↦ 1⊗v; its inverse is `bars`."""
    return _rename("bra", V, TensorProduct(_scalars(V), V))


def ket(V: U) -> LinMap[U, TensorProduct[U, Field]]:
    """_⟩ : V ⊸ V ⊗ ℝ, v ↦ v⊗1; its inverse is `bars`."""
    return _rename("ket", V, TensorProduct(V, _scalars(V)))


def _scalars(V: Type) -> Field:
    require_space(V, "1⊗v")
    base = V.leaves[0].base if V.leaves else R
    return base if isinstance(base, Field) else R


@overload  # at U = ℝ both signatures give ℝ ⊗ ℝ ⊸ ℝ
def bars(V: TensorProduct[Field, U]) -> LinMap[TensorProduct[Field, U], U]: ...  # type: ignore[overload-overlap]
@overload
def bars(V: TensorProduct[U, Field]) -> LinMap[TensorProduct[U, Field], U]: ...
def bars(V: Any) -> Any:
    """|_| : ℝ ⊗ V ⊸ V or V ⊗ ℝ ⊸ V, |k⊗v| = k·v = |v⊗k|."""
    fields = isinstance(V, TensorProduct) and (isinstance(V.left, Field) or isinstance(V.right, Field))
    _want(fields, "|_|", V, "ℝ ⊗ V or V ⊗ ℝ")
    left = isinstance(V.left, Field)
    return _rename("unbra" if left else "unket", V, V.right if left else V.left)


def assoc(
    V: TensorProduct[TensorProduct[A, B], C],
) -> LinMap[TensorProduct[TensorProduct[A, B], C], TensorProduct[A, TensorProduct[B, C]]]:
    """assoc : (U⊗V)⊗W ⊸ U⊗(V⊗W)."""
    _want(isinstance(V, TensorProduct) and isinstance(V.left, TensorProduct), "assoc", V, "(U⊗V)⊗W")
    return _rename("assoc", V, TensorProduct(V.left.left, TensorProduct(V.left.right, V.right)))


def unassoc(
    V: TensorProduct[A, TensorProduct[B, C]],
) -> LinMap[TensorProduct[A, TensorProduct[B, C]], TensorProduct[TensorProduct[A, B], C]]:
    """unassoc : U⊗(V⊗W) ⊸ (U⊗V)⊗W."""
    _want(isinstance(V, TensorProduct) and isinstance(V.right, TensorProduct), "unassoc", V, "U⊗(V⊗W)")
    return _rename("unassoc", V, TensorProduct(TensorProduct(V.left, V.right.left), V.right.right))


@overload
def distrib(
    V: TensorProduct[Copower[A, I], W],
) -> LinMap[TensorProduct[Copower[A, I], W], Copower[TensorProduct[A, W], I]]: ...
@overload
def distrib(
    V: TensorProduct[DirectSum[A, B], W],
) -> LinMap[TensorProduct[DirectSum[A, B], W], DirectSum[TensorProduct[A, W], TensorProduct[B, W]]]: ...
@overload
def distrib(V: TensorProduct[DirectSum[*Rest], W]) -> LinMap[TensorProduct[DirectSum[*Rest], W], Any]: ...
def distrib(V: Any) -> Any:
    """distrib : (⊕ V_x)⊗W ⊸ ⊕ (V_x⊗W), or V^X⊗W ⊸ (V⊗W)^X; moves nothing."""
    ok = isinstance(V, TensorProduct) and isinstance(V.left, (DirectSum, Copower))
    _want(ok, "distrib", V, "(⊕ V_x)⊗W or V^X⊗W")
    if isinstance(V.left, Copower):
        return _rename("distrib", V, Copower(TensorProduct(V.left.base, V.right), V.left.index))
    return _rename("distrib", V, DirectSum(tuple(TensorProduct(part, V.right) for part in V.left.parts)))


@overload
def undistrib(
    V: Copower[TensorProduct[A, W], I],
) -> LinMap[Copower[TensorProduct[A, W], I], TensorProduct[Copower[A, I], W]]: ...
@overload
def undistrib(
    V: DirectSum[TensorProduct[A, W], TensorProduct[B, W]],
) -> LinMap[DirectSum[TensorProduct[A, W], TensorProduct[B, W]], TensorProduct[DirectSum[A, B], W]]: ...
@overload
def undistrib(V: DirectSum[*Rest]) -> LinMap[DirectSum[*Rest], TensorProduct[Any, Any]]: ...
def undistrib(V: Any) -> Any:
    """undistrib : ⊕ (V_x⊗W) ⊸ (⊕ V_x)⊗W, or (V⊗W)^X ⊸ V^X⊗W; the inverse of distrib."""
    if isinstance(V, Copower) and isinstance(V.base, TensorProduct):
        return _rename("undistrib", V, TensorProduct(Copower(V.base.left, V.index), V.base.right))
    parts: tuple[Any, ...] = V.parts if isinstance(V, DirectSum) else ()
    ok = bool(parts) and all(isinstance(p, TensorProduct) and p.right == parts[0].right for p in parts)
    _want(ok, "undistrib", V, "⊕ (V_x⊗W) or (V⊗W)^X")
    return _rename("undistrib", V, TensorProduct(DirectSum(tuple(p.left for p in parts)), parts[0].right))


@overload
def zip_(
    V: DirectSum[Copower[A, I], Copower[B, I]],
) -> LinMap[DirectSum[Copower[A, I], Copower[B, I]], Copower[DirectSum[A, B], I]]: ...
@overload
def zip_(
    V: DirectSum[Copower[A, I], Copower[B, I], Copower[C, I]],
) -> LinMap[DirectSum[Copower[A, I], Copower[B, I], Copower[C, I]], Copower[DirectSum[A, B, C], I]]: ...
@overload
def zip_(
    V: DirectSum[Copower[A, I], Copower[B, I], Copower[C, I], Copower[D, I], *Rest],
) -> LinMap[DirectSum[Copower[A, I], Copower[B, I], Copower[C, I], Copower[D, I], *Rest], Copower[Any, I]]: ...
@overload
def zip_(
    V: DirectSum[DirectSum[A, B], DirectSum[C, D]],
) -> LinMap[DirectSum[DirectSum[A, B], DirectSum[C, D]], DirectSum[DirectSum[A, C], DirectSum[B, D]]]: ...
@overload
def zip_(V: DirectSum[Row, *Rest]) -> LinMap[DirectSum[Row, *Rest], DirectSum[*tuple[Any, ...]]]: ...
def zip_(V: Any) -> Any:
    """zip : V^X ⊕ W^X ⊸ (V⊕W)^X, or (⊕V_x)⊕(⊕W_x) ⊸ ⊕(V_x⊕W_x); a tuple copower is a tuple of arrays."""
    parts: tuple[Any, ...] = V.parts if isinstance(V, DirectSum) else ()
    if parts and all(isinstance(p, Copower) and p.index == parts[0].index for p in parts):
        return _rename("zip", V, Copower(DirectSum(tuple(p.base for p in parts)), parts[0].index))
    ok = bool(parts) and all(isinstance(p, DirectSum) and len(p.parts) == len(parts[0].parts) for p in parts)
    _want(ok, "zip", V, "V^X ⊕ W^X or (⊕V_x)⊕(⊕W_x)")
    return _swap("zip", V)


@overload
def unzip(
    V: Copower[DirectSum[A, B], I],
) -> LinMap[Copower[DirectSum[A, B], I], DirectSum[Copower[A, I], Copower[B, I]]]: ...
@overload
def unzip(V: U) -> LinMap[U, Any]: ...
def unzip(V: Any) -> Any:
    """unzip : (V⊕W)^X ⊸ V^X ⊕ W^X, the inverse of zip."""
    if isinstance(V, Copower) and isinstance(V.base, DirectSum):
        return _rename("unzip", V, DirectSum(tuple(Copower(p, V.index) for p in V.base.parts)))
    parts: tuple[Any, ...] = V.parts if isinstance(V, DirectSum) else ()
    ok = bool(parts) and all(isinstance(p, DirectSum) and len(p.parts) == len(parts[0].parts) for p in parts)
    _want(ok, "unzip", V, "(V⊕W)^X or ⊕(V_x⊕W_x)")
    return _swap("unzip", V)


def _swap(name: str, V: Any) -> Unitary:
    rows = [part.parts for part in V.parts]
    cod = DirectSum(tuple(DirectSum(tuple(row[x] for row in rows)) for x in range(len(rows[0]))))
    starts: dict[tuple[int, int], int] = {}
    count = 0
    for r, row in enumerate(rows):
        for x, part in enumerate(row):
            starts[r, x] = count
            count += len(part.leaves)
    source = [
        starts[r, x] + k for x in range(len(rows[0])) for r in range(len(rows)) for k in range(len(rows[r][x].leaves))
    ]
    order = tuple(tuple(range(len(V.leaves[s].axes))) for s in source)
    return Unitary(name, V, cod, tuple(source), order)


def curry(V: Copower[A, Product[I, J]]) -> LinMap[Copower[A, Product[I, J]], Copower[Copower[A, J], I]]:
    """curry : V^{X×Y} ⊸ (V^Y)^X; moves nothing."""
    _want(isinstance(V, Copower) and isinstance(V.index, Product), "curry", V, "V^{X×Y}")
    return _rename("curry", V, Copower(Copower(V.base, V.index.right), V.index.left))


def uncurry(V: Copower[Copower[A, J], I]) -> LinMap[Copower[Copower[A, J], I], Copower[A, Product[I, J]]]:
    """uncurry : (V^Y)^X ⊸ V^{X×Y}; moves nothing."""
    _want(isinstance(V, Copower) and isinstance(V.base, Copower), "uncurry", V, "(V^Y)^X")
    return _rename("uncurry", V, Copower(V.base.base, V.index * V.base.index))


def tensor_copower(
    V: TensorProduct[Copower[A, I], Copower[B, J]],
) -> LinMap[TensorProduct[Copower[A, I], Copower[B, J]], Copower[TensorProduct[A, B], Product[I, J]]]:
    """V^X ⊗ W^Y ⊸ (V⊗W)^{X×Y}: a transposition of axes, none if V = K."""
    ok = isinstance(V, TensorProduct) and isinstance(V.left, Copower) and isinstance(V.right, Copower)
    _want(ok, "tensor_copower", V, "V^X ⊗ W^Y")
    X, Y = V.left.index, V.right.index
    n, m = len(X.axes), len(Y.axes)
    order = []
    for a in V.left.base.leaves:
        p = len(a.axes)
        for b in V.right.base.leaves:
            q = len(b.axes)
            order.append((*range(n), *range(n + p, n + p + m), *range(n, n + p), *range(n + p + m, n + p + m + q)))
    cod = Copower(TensorProduct(V.left.base, V.right.base), X * Y)
    return Unitary("copower", V, cod, tuple(range(len(V.leaves))), tuple(order))


def tensor_matrix(
    V: TensorProduct[Copower[Field, I], Copower[Field, J]],
) -> LinMap[TensorProduct[Copower[Field, I], Copower[Field, J]], Copower[Field, Product[I, J]]]:
    """ℝ^X ⊗ ℝ^Y ⊸ ℝ^{X×Y}; moves nothing."""
    ok = isinstance(V, TensorProduct) and all(
        isinstance(s, Copower) and isinstance(s.base, Field) for s in (V.left, V.right)
    )
    _want(ok, "tensor_matrix", V, "ℝ^X ⊗ ℝ^Y")
    return _rename("matrix", V, Copower(V.left.base, V.left.index * V.right.index))


def stack(V: W, X: I) -> LinMap[Any, Copower[W, I]]:
    """stack : V ⊕ … ⊕ V ⊸ V^X, one summand for each x ∈ X; unitary, its inverse is `unstack`."""
    _summands(V, X, "stack")
    return Join(tuple(Reduce(run(Unit(), X, k), V) for k in range(X.size)))


def unstack(V: W, X: I) -> LinMap[Copower[W, I], Any]:
    """unstack : V^X ⊸ V ⊕ … ⊕ V, the inverse of `stack`."""
    _summands(V, X, "unstack")
    return Fork(tuple(Reduce(run(Unit(), X, k).T, V) for k in range(X.size)))


def _summands(V: Any, X: Any, name: str) -> None:
    require_space(V, name)
    require_index(X, name)
    if not X.size:
        msg = f"{name} needs one summand {V} at least, but {X} has no elements"
        raise SpaceError(msg)


def split(
    V: Copower[W, Coproduct[I, J]],
) -> LinMap[Copower[W, Coproduct[I, J]], DirectSum[Copower[W, I], Copower[W, J]]]:
    """split : V^{X+Y} ⊸ V^X ⊕ V^Y, two slices; unitary, its inverse is `concat`."""
    _want(isinstance(V, Copower) and isinstance(V.index, Coproduct), "split", V, "V^{X+Y}")
    X, Y = V.index.left, V.index.right
    return Fork((Reduce(run(X, V.index, 0).T, V.base), Reduce(run(Y, V.index, X.size).T, V.base)))


def concat(
    V: DirectSum[Copower[W, I], Copower[W, J]],
) -> LinMap[DirectSum[Copower[W, I], Copower[W, J]], Copower[W, Coproduct[I, J]]]:
    """concat : V^X ⊕ V^Y ⊸ V^{X+Y}, the inverse of `split`."""
    parts: tuple[Any, ...] = V.parts if isinstance(V, DirectSum) else ()
    ok = len(parts) == 2 and all(isinstance(p, Copower) and p.base == parts[0].base for p in parts)
    _want(ok, "concat", V, "V^X ⊕ V^Y")
    X, Y = parts[0].index, parts[1].index
    base = parts[0].base
    return Join((Reduce(run(X, X + Y, 0), base), Reduce(run(Y, X + Y, X.size), base)))
