# Written by `make signatures` from tests/typing/rows/linmap.py: change the rows there, not this file.
# No module stands behind it: the functions are in the modules that the comments name.

from collections.abc import Sequence
from typing import Any, Literal, TypeVar, TypeVarTuple, overload

from hilbert import (
    Anonymous,
    Copower,
    Coproduct,
    DirectSum,
    Elements,
    Field,
    Fin,
    Index,
    Lens,
    Map,
    Product,
    Relation,
    TensorProduct,
    Type,
    Vec,
)
from hilbert.map.map import AnyMap, Symbol
from linmap.contraction import Contraction
from linmap.term.linear_map import AnyLinMap, LinMap

A = TypeVar("A", bound=Type)
A1 = TypeVar("A1", bound=Type)
B = TypeVar("B", bound=Type)
B1 = TypeVar("B1", bound=Type)
C = TypeVar("C", bound=Type)
C1 = TypeVar("C1", bound=Type)
D = TypeVar("D", bound=Type)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
H = TypeVar("H", bound=Index)
I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
K = TypeVar("K", bound=Index)
T = TypeVar("T")
Row = TypeVar("Row", bound=DirectSum[*tuple[Any, ...]])
Many = TypeVar("Many", bound=DirectSum[Any, Any, Any, Any, *tuple[Any, ...]])
Rest = TypeVarTuple("Rest")


# linmap.relational.axis_maps
@overload
def cumsum(X: I, *, reverse: bool = ..., exclusive: bool = ...) -> LinMap[Copower[Field, I], Copower[Field, I]]:
    """cumsum : V^X ⊸ V^X, v ↦ (Σ_{y≤x} v_y)_x; y ≥ x if `reverse`, < and > if `exclusive`. Its adjoint runs back."""
@overload
def cumsum(X: I, V: W, *, reverse: bool = ..., exclusive: bool = ...) -> LinMap[Copower[W, I], Copower[W, I]]: ...
@overload
def pad(X: I, before: int, after: int) -> LinMap[Copower[Field, I], Copower[Field, Fin[Anonymous]]]:
    """pad : V^X ⊸ V^Y, zeros before and after, |Y| = before + |X| + after; its adjoint is `crop`."""
@overload
def pad(X: I, before: int, after: int, V: W) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def pad(X: I, before: int, after: int, *, to: J) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...
@overload
def pad(X: I, before: int, after: int, V: W, *, to: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def crop(X: I, start: int | None, stop: int | None, *, step: int = ...) -> LinMap[Copower[Field, I], Copower[Field, Fin[Anonymous]]]:
    """crop : V^X ⊸ V^Y, the elements start:stop:step as Python counts them; a view. Its adjoint puts zeros around."""
@overload
def crop(X: I, start: int | None, stop: int | None, V: W, *, step: int = ...) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def crop(X: I, start: int | None, stop: int | None, *, step: int = ..., to: J) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...
@overload
def crop(X: I, start: int | None, stop: int | None, V: W, *, step: int = ..., to: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def roll(X: I, by: int) -> LinMap[Copower[Field, I], Copower[Field, I]]:
    """roll : V^X ⊸ V^X, (roll v)_{x + by mod |X|} = v_x; unitary. Raises SpaceError unless `by` is an integer."""
@overload
def roll(X: I, by: int, V: W) -> LinMap[Copower[W, I], Copower[W, I]]: ...
@overload
def flip(X: I) -> LinMap[Copower[Field, I], Copower[Field, I]]:
    """flip : V^X ⊸ V^X, the elements backwards; unitary, its own inverse."""
@overload
def flip(X: I, V: W) -> LinMap[Copower[W, I], Copower[W, I]]: ...
@overload
def reshape(X: I, Y: J) -> LinMap[Copower[Field, I], Copower[Field, J]]:
    """reshape : V^X ⊸ V^Y for |X| = |Y|, in the flat orders; unitary, moves nothing."""
@overload
def reshape(X: I, Y: J, V: W) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def concatenate(X: I, Y: J, /) -> LinMap[DirectSum[Copower[Field, I], Copower[Field, J]], Copower[Field, Coproduct[I, J]]]:
    """concatenate : V^X ⊕ … ⊕ V^Z ⊸ V^{X+…+Z}, one after the other; unitary, `split` is the inverse for two."""
@overload
def concatenate(X: I, Y: J, /, *, V: W) -> LinMap[DirectSum[Copower[W, I], Copower[W, J]], Copower[W, Coproduct[I, J]]]: ...
@overload
def concatenate(X: I, Y: J, Z: H, /) -> LinMap[DirectSum[Copower[Field, I], Copower[Field, J], Copower[Field, H]], Copower[Field, Coproduct[Coproduct[I, J], H]]]: ...
@overload
def concatenate(X: I, Y: J, Z: H, /, *, V: W) -> LinMap[DirectSum[Copower[W, I], Copower[W, J], Copower[W, H]], Copower[W, Coproduct[Coproduct[I, J], H]]]: ...
@overload
def concatenate(X: I, Y: J, /, *, to: K) -> LinMap[DirectSum[Copower[Field, I], Copower[Field, J]], Copower[Field, K]]: ...
@overload
def concatenate(X: I, Y: J, /, *, V: W, to: K) -> LinMap[DirectSum[Copower[W, I], Copower[W, J]], Copower[W, K]]: ...
@overload
def concatenate(X: I, Y: J, Z: H, /, *, to: K) -> LinMap[DirectSum[Copower[Field, I], Copower[Field, J], Copower[Field, H]], Copower[Field, K]]: ...
@overload
def concatenate(X: I, Y: J, Z: H, /, *, V: W, to: K) -> LinMap[DirectSum[Copower[W, I], Copower[W, J], Copower[W, H]], Copower[W, K]]: ...
@overload
def concatenate(*sets: Index) -> LinMap[Any, Copower[Field, Any]]: ...
@overload
def concatenate(*sets: Index, V: W) -> LinMap[Any, Copower[W, Any]]: ...
@overload
def concatenate(*sets: Index, to: K) -> LinMap[Any, Copower[Field, K]]: ...
@overload
def concatenate(*sets: Index, V: W, to: K) -> LinMap[Any, Copower[W, K]]: ...
@overload
def windows(X: I, width: int, *, stride: int = ..., dilation: int = ...) -> LinMap[Copower[Field, I], Copower[Field, Product[Fin[Anonymous], Fin[Anonymous]]]]:
    """windows : V^X ⊸ V^{Y×K}, v ↦ (v_{stride·y + dilation·k})_{y,k}: all windows in X side by side; a view in numpy."""
@overload
def windows(X: I, width: int, V: W, *, stride: int = ..., dilation: int = ...) -> LinMap[Copower[W, I], Copower[W, Product[Fin[Anonymous], Fin[Anonymous]]]]: ...
@overload
def windows(X: I, width: int, *, stride: int = ..., dilation: int = ..., to: Product[J, K]) -> LinMap[Copower[Field, I], Copower[Field, Product[J, K]]]: ...
@overload
def windows(X: I, width: int, V: W, *, stride: int = ..., dilation: int = ..., to: Product[J, K]) -> LinMap[Copower[W, I], Copower[W, Product[J, K]]]: ...
@overload
def pool(X: I, width: int, *, stride: int | None = ...) -> LinMap[Copower[Field, I], Copower[Field, Fin[Anonymous]]]:
    """pool : V^X ⊸ V^Y, v ↦ (Σ_{k<width} v_{stride·y + k})_y: sums of windows; the stride is the width unless given."""
@overload
def pool(X: I, width: int, V: W, *, stride: int | None = ...) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def pool(X: I, width: int, *, stride: int | None = ..., to: J) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...
@overload
def pool(X: I, width: int, V: W, *, stride: int | None = ..., to: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def differences(X: I) -> LinMap[Copower[Field, I], Copower[Field, Fin[Anonymous]]]:
    """differences : V^X ⊸ V^Y, v ↦ (v_{x+1} − v_x)_x, |Y| = |X| − 1, as `diff` in numpy."""
@overload
def differences(X: I, V: W) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def differences(X: I, *, to: J) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...
@overload
def differences(X: I, V: W, *, to: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...

# linmap.relational.entries
@overload
def gather(indices: Vec[Elements[I]]) -> LinMap[Copower[Field, I], Field]:
    """gather : V^X ⊸ V^Y, v ↦ (v_{x(y)})_y for a table x : Y → X; red of its converse, as `take` in numpy."""
@overload
def gather(indices: Vec[Elements[I]], V: W, /) -> LinMap[Copower[W, I], W]: ...
@overload
def gather(indices: Relation[J, I] | Vec[Copower[Elements[I], J]]) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...
@overload
def gather(indices: Relation[J, I] | Vec[Copower[Elements[I], J]], V: W, /) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def gather(indices: Relation[J, I] | Vec[Copower[Elements[I], J]], X: I) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...  # pyright: ignore[reportOverlappingOverload]  # a table of another kind may be anything
@overload
def gather(indices: Relation[J, I] | Vec[Copower[Elements[I], J]], X: I, V: W) -> LinMap[Copower[W, I], Copower[W, J]]: ...  # pyright: ignore[reportOverlappingOverload]  # a table of another kind may be anything
@overload
def gather(indices: Any, X: I) -> LinMap[Copower[Field, I], Copower[Field, Fin[Anonymous]]]: ...
@overload
def gather(indices: Any, X: I, V: W) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def gather(indices: Any, X: I, *, rows: J) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...
@overload
def gather(indices: Any, X: I, V: W, *, rows: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def segment_sum(indices: Relation[J, I] | Vec[Copower[Elements[I], J]]) -> LinMap[Copower[Field, J], Copower[Field, I]]:
    """segment_sum : V^Y ⊸ V^X, v ↦ (Σ_{x(y)=x} v_y)_x for a table x : Y → X; red of its graph, gather*."""
@overload
def segment_sum(indices: Relation[J, I] | Vec[Copower[Elements[I], J]], V: W, /) -> LinMap[Copower[W, J], Copower[W, I]]: ...
@overload
def segment_sum(indices: Relation[J, I] | Vec[Copower[Elements[I], J]], X: I) -> LinMap[Copower[Field, J], Copower[Field, I]]: ...  # pyright: ignore[reportOverlappingOverload]  # a table of another kind may be anything
@overload
def segment_sum(indices: Relation[J, I] | Vec[Copower[Elements[I], J]], X: I, V: W) -> LinMap[Copower[W, J], Copower[W, I]]: ...  # pyright: ignore[reportOverlappingOverload]  # a table of another kind may be anything
@overload
def segment_sum(indices: Any, X: I) -> LinMap[Copower[Field, Fin[Anonymous]], Copower[Field, I]]: ...
@overload
def segment_sum(indices: Any, X: I, V: W) -> LinMap[Copower[W, Fin[Anonymous]], Copower[W, I]]: ...
@overload
def segment_sum(indices: Any, X: I, *, rows: J) -> LinMap[Copower[Field, J], Copower[Field, I]]: ...
@overload
def segment_sum(indices: Any, X: I, V: W, *, rows: J) -> LinMap[Copower[W, J], Copower[W, I]]: ...
@overload
def group_by(column: Any) -> LinMap[Copower[Field, Fin[Anonymous]], Copower[Field, Fin[Anonymous]]]:
    """group_by : V^X ⊸ V^K, v ↦ (Σ_{key(x)=k} v_x)_k for a column of keys of any hashable type, one for each row."""
@overload
def group_by(column: Any, V: W, /) -> LinMap[Copower[W, Fin[Anonymous]], Copower[W, Fin[Anonymous]]]: ...
@overload
def group_by(column: Any, keys: Fin[T]) -> LinMap[Copower[Field, Fin[Anonymous]], Copower[Field, Fin[T]]]: ...
@overload
def group_by(column: Any, keys: Fin[T], V: W) -> LinMap[Copower[W, Fin[Anonymous]], Copower[W, Fin[T]]]: ...
@overload
def group_by(column: Any, *, rows: I) -> LinMap[Copower[Field, I], Copower[Field, Fin[Anonymous]]]: ...
@overload
def group_by(column: Any, V: W, /, *, rows: I) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def group_by(column: Any, keys: Fin[T], *, rows: I) -> LinMap[Copower[Field, I], Copower[Field, Fin[T]]]: ...
@overload
def group_by(column: Any, keys: Fin[T], V: W, *, rows: I) -> LinMap[Copower[W, I], Copower[W, Fin[T]]]: ...
@overload
def permute(order: Any, X: I) -> LinMap[Copower[Field, I], Copower[Field, I]]:
    """permute : V^X ⊸ V^X, v ↦ (v_{order(x)})_x, as v[order] in numpy; unitary, its adjoint permutes back."""
@overload
def permute(order: Any, X: I, V: W) -> LinMap[Copower[W, I], Copower[W, I]]: ...

# linmap.relational.weighted
@overload
def sparse(rows: Any, cols: Any, weights: Any, X: I, Y: J) -> LinMap[Copower[Field, I], Copower[Field, J]]:
    """sparse : V^X ⊸ V^Y, v ↦ (Σ weights[k]·v_{cols[k]} over rows[k] = y)_y: the matrix with these entries."""
@overload
def sparse(rows: Any, cols: Any, weights: Any, X: I, Y: J, V: W) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def from_scipy(matrix: Any) -> LinMap[Copower[Field, Fin[Anonymous]], Copower[Field, Fin[Anonymous]]]:
    """from_scipy : V^X ⊸ V^Y, v ↦ A v for a sparse matrix A of scipy in any of its formats; X names its columns."""
@overload
def from_scipy(matrix: Any, X: I, Y: J) -> LinMap[Copower[Field, I], Copower[Field, J]]: ...
@overload
def from_scipy(matrix: Any, X: I, Y: J, V: W) -> LinMap[Copower[W, I], Copower[W, J]]: ...

# linmap.term.linear_map
@overload
def LinMap___matmul__(self: LinMap[V, W], f: LinMap[U, V]) -> LinMap[U, W]:
    """A ∘ f of a map f; A @ v is A(v), as for a matrix."""
@overload
def LinMap___matmul__(self: LinMap[V, W], f: Map[U, V]) -> Map[U, W]: ...
@overload
def LinMap___matmul__(self: LinMap[V, W], f: Vec[V]) -> Vec[W]: ...
@overload
def LinMap___matmul__(self: LinMap[V, W], f: Symbol[V, W, T]) -> T: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Copower[Field, J]], f: Vec[Copower[Field, Product[I, K]]]) -> Vec[Copower[Field, Product[J, K]]]: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Copower[Field, J]], f: Symbol[Copower[Field, Product[I, K]], Copower[Field, Product[J, K]], T]) -> T: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Copower[Field, J]], f: Vec[Copower[Copower[Field, K], I]]) -> Vec[Copower[Copower[Field, K], J]]: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Copower[Field, J]], f: Symbol[Copower[Copower[Field, K], I], Copower[Copower[Field, K], J], T]) -> T: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Field], f: Vec[Copower[Field, Product[I, K]]]) -> Vec[Copower[Field, K]]: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Field], f: Symbol[Copower[Field, Product[I, K]], Copower[Field, K], T]) -> T: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Field], f: Vec[Copower[Copower[Field, K], I]]) -> Vec[Copower[Field, K]]: ...
@overload
def LinMap___matmul__(self: LinMap[Copower[Field, I], Field], f: Symbol[Copower[Copower[Field, K], I], Copower[Field, K], T]) -> T: ...

# linmap.term.maps
@overload
def scale(k: float | Vec[Field]) -> LinMap[Field, Field]:
    """(k ·) : V ⊸ V for a number k, or for a scalar k ∈ K."""
@overload
def scale(k: float | Vec[Field], V: U) -> LinMap[U, U]: ...
@overload
def project(s: DirectSum[A, *Rest], i: Literal[0]) -> LinMap[DirectSum[A, *Rest], A]:
    """π_i : ⊕ V ⊸ V_i, counted from 0, or by a lens; π_x : V^X ⊸ V for an element x. SpaceError if there is none."""
@overload
def project(s: DirectSum[A, B, *Rest], i: Literal[1]) -> LinMap[DirectSum[A, B, *Rest], B]: ...
@overload
def project(s: DirectSum[A, B, C, *Rest], i: Literal[2]) -> LinMap[DirectSum[A, B, C, *Rest], C]: ...
@overload
def project(s: Copower[V, I], i: Any) -> LinMap[Copower[V, I], V]: ...
@overload
def project(s: U, i: Lens[U, W]) -> LinMap[U, W]: ...
@overload
def project(s: Many, i: int) -> LinMap[Many, Any]: ...
@overload
def inject(s: DirectSum[A, *Rest], i: Literal[0]) -> LinMap[A, DirectSum[A, *Rest]]:
    """ι_i : V_i ⊸ ⊕ V, counted from 0, or by a lens; ι_x : V ⊸ V^X for an element x. SpaceError if there is none."""
@overload
def inject(s: DirectSum[A, B, *Rest], i: Literal[1]) -> LinMap[B, DirectSum[A, B, *Rest]]: ...
@overload
def inject(s: DirectSum[A, B, C, *Rest], i: Literal[2]) -> LinMap[C, DirectSum[A, B, C, *Rest]]: ...
@overload
def inject(s: Copower[V, I], i: Any) -> LinMap[V, Copower[V, I]]: ...
@overload
def inject(s: U, i: Lens[U, W]) -> LinMap[W, U]: ...
@overload
def inject(s: Many, i: int) -> LinMap[Any, Many]: ...
@overload
def fork(f: LinMap[U, A], g: LinMap[U, B], /) -> LinMap[U, DirectSum[A, B]]:
    """⟨f₁, …, fₙ⟩ : U → ⊕ V_y, linear if every fᵢ is; raises SpaceError unless all have one domain."""
@overload
def fork(f: LinMap[U, A], g: LinMap[U, B], h: LinMap[U, C], /) -> LinMap[U, DirectSum[A, B, C]]: ...
@overload
def fork(f: Map[U, A], g: Map[U, B], /) -> Map[U, DirectSum[A, B]]: ...
@overload
def fork(f: Map[U, A], g: Map[U, B], h: Map[U, C], /) -> Map[U, DirectSum[A, B, C]]: ...
@overload
def fork(f: LinMap[U, Any], g: LinMap[U, Any], h: LinMap[U, Any], k: LinMap[U, Any], /, *more: LinMap[U, Any]) -> LinMap[U, Any]: ...
@overload
def fork(f: Map[U, Any], g: Map[U, Any], h: Map[U, Any], k: Map[U, Any], /, *more: Map[U, Any]) -> Map[U, Any]: ...
@overload
def join(f: LinMap[A, W], g: LinMap[B, W], /) -> LinMap[DirectSum[A, B], W]:
    """[g₁, …, gₙ] : ⊕ V_x ⊸ W, v ↦ Σ gᵢ(vᵢ); raises SpaceError unless all have one codomain."""
@overload
def join(f: LinMap[A, W], g: LinMap[B, W], h: LinMap[C, W], /) -> LinMap[DirectSum[A, B, C], W]: ...
@overload
def join(f: LinMap[Any, W], g: LinMap[Any, W], h: LinMap[Any, W], k: LinMap[Any, W], /, *more: LinMap[Any, W]) -> LinMap[Any, W]: ...
@overload
def parallel(f: LinMap[A, A1], g: LinMap[B, B1], /) -> LinMap[DirectSum[A, B], DirectSum[A1, B1]]:
    """f₁ × … × fₙ : ⊕ V_x → ⊕ W_x (also Π f_x, and Δ of linear maps), linear if every fᵢ is."""
@overload
def parallel(f: LinMap[A, A1], g: LinMap[B, B1], h: LinMap[C, C1], /) -> LinMap[DirectSum[A, B, C], DirectSum[A1, B1, C1]]: ...
@overload
def parallel(f: Map[A, A1], g: Map[B, B1], /) -> Map[DirectSum[A, B], DirectSum[A1, B1]]: ...
@overload
def parallel(f: Map[A, A1], g: Map[B, B1], h: Map[C, C1], /) -> Map[DirectSum[A, B, C], DirectSum[A1, B1, C1]]: ...
@overload
def parallel(f: AnyLinMap, g: AnyLinMap, h: AnyLinMap, k: AnyLinMap, /, *more: AnyLinMap) -> AnyLinMap: ...
@overload
def parallel(f: AnyMap, g: AnyMap, h: AnyMap, k: AnyMap, /, *more: AnyMap) -> AnyMap: ...
@overload
def compose(g: LinMap[V, W], f: LinMap[U, V], /) -> LinMap[U, W]:
    """fₙ ∘ … ∘ f₁ of maps given outermost first (or of one sequence of them), linear if every one is."""
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
def compose(k: LinMap[Any, W], h: AnyLinMap, g: AnyLinMap, f: AnyLinMap, /, *more: AnyLinMap) -> LinMap[Any, W]: ...
@overload
def compose(k: Map[Any, W], h: AnyMap, g: AnyMap, f: AnyMap, /, *more: AnyMap) -> Map[Any, W]: ...
@overload
def red(relation: Relation[I, J]) -> LinMap[Copower[Field, I], Copower[Field, J]]:
    """red_R : V^X ⊸ V^Y, (red_R v)_y = Σ_{(x,y)∈R} v_x (§2.2.3)."""
@overload
def red(relation: Relation[I, J], V: W) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def total(X: I) -> LinMap[Copower[Field, I], Field]:
    """Σ_X : V^X ⊸ V (§2.1)."""
@overload
def total(X: I, V: W) -> LinMap[Copower[W, I], W]: ...
@overload
def rep(X: I) -> LinMap[Field, Copower[Field, I]]:
    """rep_X : V ⊸ V^X, a vector repeated for each element of X: the constant family (§2.1); a view, no copies."""
@overload
def rep(X: I, V: W) -> LinMap[W, Copower[W, I]]: ...
@overload
def section(bilinear: Contraction[U, V, W], side: Literal[0], v: Vec[U]) -> LinMap[V, W]:
    """(u⋄) for side 0, (⋄v) for side 1: a bilinear map with one operand fixed (§3.3)."""
@overload
def section(bilinear: Contraction[U, V, W], side: Literal[1], v: Vec[V]) -> LinMap[U, W]: ...
@overload
def delta(bilinear: Contraction[U, V, W], side: Literal[0], family: Vec[Copower[U, I]], X: I) -> LinMap[Copower[V, I], Copower[W, I]]:
    """Δ of the family of sections (u_x⋄) : V^X ⊸ W^X, given as data u ∈ U^X (§2.2, Thm 4.1 (5))."""
@overload
def delta(bilinear: Contraction[U, V, W], side: Literal[1], family: Vec[Copower[V, I]], X: I) -> LinMap[Copower[U, I], Copower[W, I]]: ...

# linmap.unitary
@overload
def transpose(V: TensorProduct[A, B]) -> LinMap[TensorProduct[A, B], TensorProduct[B, A]]:
    """_ᵀ : V ⊗ W ⊸ W ⊗ V, (v⊗w)ᵀ = w⊗v; or V^{Y×X} ⊸ V^{X×Y}."""
@overload
def transpose(V: Copower[W, Product[I, J]]) -> LinMap[Copower[W, Product[I, J]], Copower[W, Product[J, I]]]: ...
@overload
def bars(V: TensorProduct[Field, U]) -> LinMap[TensorProduct[Field, U], U]:  # type: ignore[overload-overlap]
    """|_| : ℝ ⊗ V ⊸ V or V ⊗ ℝ ⊸ V, |k⊗v| = k·v = |v⊗k|."""
@overload
def bars(V: TensorProduct[U, Field]) -> LinMap[TensorProduct[U, Field], U]: ...
@overload
def distrib(V: TensorProduct[Copower[A, I], W]) -> LinMap[TensorProduct[Copower[A, I], W], Copower[TensorProduct[A, W], I]]:
    """distrib : (⊕ V_x)⊗W ⊸ ⊕ (V_x⊗W), or V^X⊗W ⊸ (V⊗W)^X; moves nothing."""
@overload
def distrib(V: TensorProduct[DirectSum[A, B], W]) -> LinMap[TensorProduct[DirectSum[A, B], W], DirectSum[TensorProduct[A, W], TensorProduct[B, W]]]: ...
@overload
def distrib(V: TensorProduct[DirectSum[*Rest], W]) -> LinMap[TensorProduct[DirectSum[*Rest], W], Any]: ...
@overload
def undistrib(V: Copower[TensorProduct[A, W], I]) -> LinMap[Copower[TensorProduct[A, W], I], TensorProduct[Copower[A, I], W]]:
    """undistrib : ⊕ (V_x⊗W) ⊸ (⊕ V_x)⊗W, or (V⊗W)^X ⊸ V^X⊗W; the inverse of distrib."""
@overload
def undistrib(V: DirectSum[TensorProduct[A, W], TensorProduct[B, W]]) -> LinMap[DirectSum[TensorProduct[A, W], TensorProduct[B, W]], TensorProduct[DirectSum[A, B], W]]: ...
@overload
def undistrib(V: DirectSum[*Rest]) -> LinMap[DirectSum[*Rest], TensorProduct[Any, Any]]: ...
@overload
def zip_parts(V: DirectSum[Copower[A, I], Copower[B, I]]) -> LinMap[DirectSum[Copower[A, I], Copower[B, I]], Copower[DirectSum[A, B], I]]:
    """zip : V^X ⊕ W^X ⊸ (V⊕W)^X, or (⊕V_x)⊕(⊕W_x) ⊸ ⊕(V_x⊕W_x); a tuple copower is a tuple of arrays."""
@overload
def zip_parts(V: DirectSum[Copower[A, I], Copower[B, I], Copower[C, I]]) -> LinMap[DirectSum[Copower[A, I], Copower[B, I], Copower[C, I]], Copower[DirectSum[A, B, C], I]]: ...
@overload
def zip_parts(V: DirectSum[Copower[A, I], Copower[B, I], Copower[C, I], Copower[D, I], *Rest]) -> LinMap[DirectSum[Copower[A, I], Copower[B, I], Copower[C, I], Copower[D, I], *Rest], Copower[Any, I]]: ...
@overload
def zip_parts(V: DirectSum[DirectSum[A, B], DirectSum[C, D]]) -> LinMap[DirectSum[DirectSum[A, B], DirectSum[C, D]], DirectSum[DirectSum[A, C], DirectSum[B, D]]]: ...
@overload
def zip_parts(V: DirectSum[Row, *Rest]) -> LinMap[DirectSum[Row, *Rest], DirectSum[*tuple[Any, ...]]]: ...
@overload
def unzip_parts(V: Copower[DirectSum[A, B], I]) -> LinMap[Copower[DirectSum[A, B], I], DirectSum[Copower[A, I], Copower[B, I]]]:
    """unzip : (V⊕W)^X ⊸ V^X ⊕ W^X, the inverse of zip."""
@overload
def unzip_parts(V: U) -> LinMap[U, Any]: ...
@overload
def stack(X: I) -> LinMap[Any, Copower[Field, I]]:
    """stack : V ⊕ … ⊕ V ⊸ V^X, one summand for each x ∈ X; unitary, its inverse is `unstack`."""
@overload
def stack(X: I, V: W) -> LinMap[Any, Copower[W, I]]: ...
@overload
def unstack(X: I) -> LinMap[Copower[Field, I], Any]:
    """unstack : V^X ⊸ V ⊕ … ⊕ V, the inverse of `stack`."""
@overload
def unstack(X: I, V: W) -> LinMap[Copower[W, I], Any]: ...
