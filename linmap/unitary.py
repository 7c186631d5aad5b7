"""The unitary operators of the paper (§3.2), as typed constructors: the inverse is the adjoint, most move nothing.

They take the whole space that they act on; `stack` and `unstack` one summand of it. The front names of `linmap` have
those that models need every day.

>>> from hilbert import Fin, R
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(transpose(R ** (Y * X)).cod, curry(R ** (Y * X)).cod, distrib((R ** X) * (R ** Y)).cod)
ℝ^{3×2} (ℝ^3)^2 (ℝ ⊗ ℝ^2)^3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hilbert import (
    Copower,
    Coproduct,
    DirectSum,
    Field,
    Index,
    Product,
    R,
    Record,
    SpaceError,
    TensorProduct,
    Type,
    Unit,
    Vec,
)
from hilbert.base.attach import overloaded
from hilbert.base.notarray import Applicable, NotArray
from hilbert.errors import shown, written
from hilbert.index.index import require_index
from hilbert.relation import run
from hilbert.space.direct_sum import Biproduct
from hilbert.space.space import atom, require_space
from linmap.term.linear_map import LinMap
from linmap.term.maps import in_order
from linmap.term.nodes import Fork, Join, Reduce, Unitary

if TYPE_CHECKING:
    from linmap import _calls

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
U = TypeVar("U", bound=Type)
W = TypeVar("W", bound=Type)
A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
MANY = 10**5
"""`stack` and `unstack` are terms of one part for each element: of more elements none is made."""
Rec = TypeVar("Rec", bound=Record)

__all__ = [
    "assoc",
    "bars",
    "bra",
    "curry",
    "distrib",
    "ket",
    "pack",
    "split",
    "stack",
    "tensor_copower",
    "tensor_matrix",
    "transpose",
    "unassoc",
    "uncurry",
    "undistrib",
    "unpack",
    "unstack",
    "unzip_parts",
    "zip_parts",
]


def _rename(name: str, dom: Type, cod: Type) -> Unitary:
    """The leaves are the same: nothing moves."""
    order = tuple(tuple(range(len(leaf.axes))) for leaf in dom.leaves)
    return Unitary(name, dom, cod, tuple(range(len(dom.leaves))), order)


def _want(ok: bool, name: str, space: Any, due: str) -> None:  # noqa: FBT001 - a guard
    if not ok:
        hint = f": give it the space, as in {name}(V)(v)" if isinstance(space, (Vec, Applicable)) else ""
        msg = f"{name} applies to {due}, not to {shown(space)}{hint}"
        raise SpaceError(msg)


def pack(P: Rec) -> LinMap[DirectSum[*tuple[Any, ...]], Rec]:
    """pack : V₁ ⊕ … ⊕ Vₙ ⊸ P for a record P of these parts, or their sum over labels; its adjoint is `unpack`."""
    _want(_has_names(P), "pack", P, "a record P")
    return _rename("pack", DirectSum(P.parts), P)


def unpack(P: Rec) -> LinMap[Rec, DirectSum[*tuple[Any, ...]]]:
    """unpack : P ⊸ V₁ ⊕ … ⊕ Vₙ, the parts of a record without their names; its adjoint is `pack`."""
    _want(_has_names(P), "unpack", P, "a record P")
    return _rename("unpack", P, DirectSum(P.parts))


def _has_names(P: Any) -> bool:
    return isinstance(P, Record) or (isinstance(P, DirectSum) and P._index_set is not None)


@overloaded(lambda: _calls.transpose)
def transpose(V: Any) -> Any:
    """_ᵀ : V ⊗ W ⊸ W ⊗ V, (v⊗w)ᵀ = w⊗v; or V^{Y×X} ⊸ V^{X×Y}."""
    if isinstance(V, Copower) and isinstance(V.index, Product):
        Y, X = V.index.left, V.index.right
        p, q = len(Y.axes), len(X.axes)
        order = [(*range(p, p + q), *range(p), *range(p + q, len(leaf.axes))) for leaf in V.leaves]
        return Unitary("transpose", V, Copower(V.base, X * Y), tuple(range(len(V.leaves))), tuple(order))
    return _transposed(V)


def _transposed(V: Any) -> Unitary:
    _want(isinstance(V, TensorProduct), "_ᵀ", V, "V ⊗ W or V^{Y×X}")
    n, m = len(V.left.leaves), len(V.right.leaves)
    source = tuple(i * m + j for j in range(m) for i in range(n))
    order = []
    for b in V.right.leaves:
        for a in V.left.leaves:
            p, q = len(a.axes), len(b.axes)
            order.append((*range(p, p + q), *range(p)))
    return Unitary("transpose", V, TensorProduct(V.right, V.left), source, tuple(order))


def bra(V: U) -> LinMap[U, TensorProduct[Field, U]]:
    """⟨_ : V ⊸ ℝ ⊗ V, v ↦ 1⊗v; its inverse is `bars`."""
    return _rename("bra", V, TensorProduct(_scalars(V), V))


def ket(V: U) -> LinMap[U, TensorProduct[U, Field]]:
    """_⟩ : V ⊸ V ⊗ ℝ, v ↦ v⊗1; its inverse is `bars`."""
    return _rename("ket", V, TensorProduct(V, _scalars(V)))


def _scalars(V: Type) -> Field:
    require_space(V, "1⊗v")
    base = atom(V.leaves[0].entry) if V.leaves else R
    return base if isinstance(base, Field) else R


@overloaded(lambda: _calls.bars)
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


@overloaded(lambda: _calls.distrib)
def distrib(V: Any) -> Any:
    """distrib : (⊕ V_x)⊗W ⊸ ⊕ (V_x⊗W), or V^X⊗W ⊸ (V⊗W)^X; moves nothing."""
    ok = isinstance(V, TensorProduct) and isinstance(V.left, (Biproduct, Copower))
    _want(ok, "distrib", V, "(⊕ V_x)⊗W or V^X⊗W")
    if isinstance(V.left, Copower):
        return _rename("distrib", V, Copower(TensorProduct(V.left.base, V.right), V.left.index))
    return _rename("distrib", V, DirectSum(tuple(TensorProduct(part, V.right) for part in V.left.parts)))


@overloaded(lambda: _calls.undistrib)
def undistrib(V: Any) -> Any:
    """undistrib : ⊕ (V_x⊗W) ⊸ (⊕ V_x)⊗W, or (V⊗W)^X ⊸ V^X⊗W; the inverse of distrib."""
    if isinstance(V, Copower) and isinstance(V.base, TensorProduct):
        return _rename("undistrib", V, TensorProduct(Copower(V.base.left, V.index), V.base.right))
    parts: tuple[Any, ...] = V.parts if isinstance(V, Biproduct) else ()
    ok = bool(parts) and all(isinstance(p, TensorProduct) and p.right == parts[0].right for p in parts)
    _want(ok, "undistrib", V, "⊕ (V_x⊗W) or (V⊗W)^X")
    return _rename("undistrib", V, TensorProduct(DirectSum(tuple(p.left for p in parts)), parts[0].right))


@overloaded(lambda: _calls.zip_parts)
@written("zip_parts(direct_sum(x.space, y.space))(x, y)")
def zip_parts(V: Any) -> Any:
    """zip : V^X ⊕ W^X ⊸ (V⊕W)^X, or (⊕V_x)⊕(⊕W_x) ⊸ ⊕(V_x⊕W_x); a tuple copower is a tuple of arrays."""
    parts: tuple[Any, ...] = V.parts if isinstance(V, Biproduct) else ()
    if parts and all(isinstance(p, Copower) and p.index == parts[0].index for p in parts):
        return _rename("zip", V, Copower(DirectSum(tuple(p.base for p in parts)), parts[0].index))
    ok = bool(parts) and all(isinstance(p, Biproduct) and len(p.parts) == len(parts[0].parts) for p in parts)
    _want(ok, "zip_parts", V, "V^X ⊕ W^X or (⊕V_x)⊕(⊕W_x)")
    return _swap("zip", V)


@overloaded(lambda: _calls.unzip_parts)
def unzip_parts(V: Any) -> Any:
    """unzip : (V⊕W)^X ⊸ V^X ⊕ W^X, the inverse of zip."""
    if isinstance(V, Copower) and isinstance(V.base, Biproduct):
        return _rename("unzip", V, DirectSum(tuple(Copower(p, V.index) for p in V.base.parts)))
    parts: tuple[Any, ...] = V.parts if isinstance(V, Biproduct) else ()
    ok = bool(parts) and all(isinstance(p, Biproduct) and len(p.parts) == len(parts[0].parts) for p in parts)
    _want(ok, "unzip_parts", V, "(V⊕W)^X or ⊕(V_x⊕W_x)")
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


@overloaded(lambda: _calls.stack)
def stack(X: Any, V: Any = R) -> Any:
    """stack : V ⊕ … ⊕ V ⊸ V^X, one summand for each x ∈ X; unitary, its inverse is `unstack`."""
    _summands("stack", X, V)
    return Join(tuple(Reduce(run(Unit(), X, k), V) for k in range(X.size)))


@overloaded(lambda: _calls.unstack)
def unstack(X: Any, V: Any = R) -> Any:
    """unstack : V^X ⊸ V ⊕ … ⊕ V, the inverse of `stack`."""
    _summands("unstack", X, V)
    return Fork(tuple(Reduce(run(Unit(), X, k).T, V) for k in range(X.size)))


def _summands(name: str, X: Any, V: Any) -> None:
    if name == "stack" and all(isinstance(x, NotArray) for x in (X, V)):
        msg = f"stack(X, V) takes an index set and a space, not {shown(X)}: write stack(X, V)(x, y) for x and y in V"
        raise SpaceError(msg)
    if isinstance(X, (list, tuple)) and X and all(isinstance(x, NotArray) and hasattr(x, "space") for x in X):
        given, space = {1: "(x,)", 2: "x, y", 3: "x, y, z"}.get(len(X), "*xs"), X[0].space
        over = f"Fin.of({len(X)})" if isinstance(space, Field) else f"Fin.of({len(X)}), V"
        where = "" if isinstance(space, Field) else f" for vectors of V = {space}"
        msg = f"{name} takes an index set and a space, not {shown(X)}: write stack({over})({given}){where}"
        raise SpaceError(msg)
    in_order(f"{name}(X, V)", V, X)
    require_index(X, name)
    require_space(V, name)
    if not X.size:
        msg = f"{name} needs one summand {V} at least, but {X} has no elements"
        raise SpaceError(msg)
    if X.size > MANY:
        msg = f"{name} is a term with a part for each of the {X.size} elements of {X}: it takes {MANY} at most"
        raise SpaceError(msg)


def split(
    V: Copower[W, Coproduct[I, J]],
) -> LinMap[Copower[W, Coproduct[I, J]], DirectSum[Copower[W, I], Copower[W, J]]]:
    """split : V^{X+Y} ⊸ V^X ⊕ V^Y, two slices; unitary, its inverse is `concatenate`."""
    _want(isinstance(V, Copower) and isinstance(V.index, Coproduct), "split", V, "V^{X+Y}")
    X, Y = V.index.left, V.index.right
    return Fork((Reduce(run(X, V.index, 0).T, V.base), Reduce(run(Y, V.index, X.size).T, V.base)))
