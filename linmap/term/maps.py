"""The linear functions of the paper (§2.1, §3.3), as typed constructors; unitary operators are in `linmap.unitary`.

Arguments stand in one order: a relation, table or number, then index sets, then amounts, the space last, ℝ where it is
left out.

>>> from hilbert import Fin, R, direct_sum
>>> V = direct_sum(R ** Fin.of(3), R)
>>> print(fork(project(V, 1), project(V, 0)))
⟨π₂, π₁⟩
>>> total(Fin.of(3))((R ** Fin.of(3)).vec([1.0, 2.0, 4.0])).array.item()
7.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hilbert import (
    Copower,
    DirectSum,
    Elements,
    Field,
    Index,
    Lens,
    Map,
    R,
    Relation,
    Space,
    SpaceError,
    TensorProduct,
    Type,
    Unit,
    Vec,
)
from hilbert.base.attach import overloaded
from hilbert.base.notarray import Applicable
from hilbert.errors import shown
from hilbert.index.index import require_index
from hilbert.index.position import position_of
from hilbert.map.map import factor, highest, require_map
from hilbert.relation import full, run
from hilbert.space.direct_sum import Biproduct
from hilbert.space.parts import AnyLens, part_place, span
from hilbert.space.space import Boolean, Integers, require_space
from hilbert.space.vector import require_vector
from linmap import contraction
from linmap.term.linear_map import LinMap
from linmap.term.nodes import Cast, Fork, Identity, Inject, Join, Project, Reduce, Scaled, Section, ZeroMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linmap import _calls

U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
S = TypeVar("S", bound=Space)
"""Four parts or more, where a position may be a variable: of two or three, one that does not exist is a type error."""


def identity(V: U) -> LinMap[U, U]:
    """id : V ⊸ V."""
    return Identity(V)


def zero(dom: V, cod: W) -> LinMap[V, W]:
    """0 : V ⊸ W."""
    return ZeroMap(dom, cod)


def in_order(form: str, V: Any, *before: Any, tables: Sequence[Any] = ()) -> None:
    """Raise SpaceError where a space stands before the last place of a form, an index set last or before the tables.

    Or where a form of index sets is given what the map that it makes is applied to.
    """
    applied = next((given for given in (*before, V) if isinstance(given, (Vec, Applicable))), None)
    if applied is not None:
        made = form.replace(", V=V)", ")").replace(", V)", ")")
        msg = f"{form} makes a map, and is not applied to {shown(applied)} itself: write {made}(v)"
        raise SpaceError(msg)
    early: list[Any] = [given for given in before if isinstance(given, Type)]
    early += [given for given in tables if isinstance(given, (Type, Index))]
    if early or isinstance(V, (Index, Relation)):
        where = f"{shown(early[0])} stands too early" if early else f"{shown(V)} stands last"
        msg = f"{form} takes its arguments in this order, the space V last, and ℝ where it is left out: {where}"
        raise SpaceError(msg)


@overloaded(lambda: _calls.scale)
def scale(k: Any, V: Any = R) -> Any:
    """(k ·) : V ⊸ V for a number k, or for a scalar k ∈ K."""
    in_order("scale(k, V)", V, tables=(k,))
    if isinstance(k, Vec):
        return Section(contraction.scalar(V), 0, k)
    return Scaled(factor(k), identity(V))


@overloaded(lambda: _calls.project)
def project(s: Any, i: Any) -> Any:
    """π_i : ⊕ V ⊸ V_i, counted from 0, or by a lens; π_x : V^X ⊸ V for an element x. SpaceError if there is none."""
    require_space(s, "π_i")
    if isinstance(i, Lens):
        parts = [Project(at, k) for at, k in _way(s, i)]
        return compose(parts[::-1]) if len(parts) > 1 else parts[0]
    if isinstance(s, Copower):
        return Reduce(run(Unit(), s.index, position_of(s.index, i)).T, s.base)
    span(s, i)
    return Project(s, part_place(s, i))


@overloaded(lambda: _calls.inject)
def inject(s: Any, i: Any) -> Any:
    """ι_i : V_i ⊸ ⊕ V, counted from 0, or by a lens; ι_x : V ⊸ V^X for an element x. SpaceError if there is none."""
    require_space(s, "ι_i")
    if isinstance(i, Lens):
        parts = [Inject(at, k) for at, k in _way(s, i)]
        return compose(parts) if len(parts) > 1 else parts[0]
    if isinstance(s, Copower):
        return Reduce(run(Unit(), s.index, position_of(s.index, i)), s.base)
    span(s, i)
    return Inject(s, part_place(s, i))


def _way(s: Any, lens: AnyLens) -> list[tuple[Any, int]]:
    """The record and the position of each part on the way of a lens; SpaceError where it leads through a copower."""
    lens.at(s)
    found: list[tuple[Any, int]] = []
    for _, name in lens.path:
        if not s.is_sum:
            msg = f"{lens} leads through the copower {s}: write project(P, lens) ** X for all components"
            raise SpaceError(msg)
        found.append((s, s.names.index(name)))
        s = s.parts[found[-1][1]]
    return found


@overloaded(lambda: _calls.fork)
def fork(*parts: Any) -> Any:
    """⟨f₁, …, fₙ⟩ : U → ⊕ V_y, linear if every fᵢ is; raises SpaceError unless all have one domain."""
    return highest(parts)._fork(parts)


@overloaded(lambda: _calls.join)
def join(*parts: Any) -> Any:
    """[g₁, …, gₙ] : ⊕ V_x ⊸ W, v ↦ Σ gᵢ(vᵢ); raises SpaceError unless all have one codomain."""
    return Join(parts)


@overloaded(lambda: _calls.parallel)
def parallel(*parts: Any) -> Any:
    """f₁ × … × fₙ : ⊕ V_x → ⊕ W_x (also Π f_x, and Δ of linear maps), linear if every fᵢ is."""
    return highest(parts)._parallel(parts)


@overloaded(lambda: _calls.compose)
def compose(*fs: Any) -> Any:
    """fₙ ∘ … ∘ f₁ of maps given outermost first (or of one sequence of them), linear if every one is."""
    maps = fs[0] if len(fs) == 1 and not isinstance(fs[0], Map) else fs
    try:
        maps = tuple(maps)
    except TypeError:  # no sequence
        require_map(maps, "compose")
    return highest(maps)._compose(maps[::-1]) if len(maps) > 1 else highest(maps)


@overloaded(lambda: _calls.red)
def red(relation: Any, V: Any = R) -> Any:
    """red_R : V^X ⊸ V^Y, (red_R v)_y = Σ_{(x,y)∈R} v_x (§2.2.3)."""
    in_order("red(relation, V)", V, relation)
    if not isinstance(relation, Relation):
        msg = f"red_R takes a relation, not {shown(relation)}: see hilbert.relation"
        raise SpaceError(msg)
    return Reduce(relation, V)


@overloaded(lambda: _calls.total)
def total(X: Any, V: Any = R) -> Any:
    """Σ_X : V^X ⊸ V (§2.1)."""
    in_order("total(X, V)", V, X)
    return Reduce(full(X, Unit()), V)


@overloaded(lambda: _calls.rep)
def rep(X: Any, V: Any = R) -> Any:
    """rep_X : V ⊸ V^X, a vector repeated for each element of X: the constant family (§2.1); a view, no copies."""
    in_order("rep(X, V)", V, X)
    return Reduce(full(Unit(), X), V)  # every x is related to the one element of 𝟏


def dup(V: W) -> LinMap[W, DirectSum[W, W]]:
    """dup : V ⊸ V ⊕ V."""
    return Fork((identity(V), identity(V)))


def add(V: W) -> LinMap[DirectSum[W, W], W]:
    """(+) : V ⊕ V ⊸ V."""
    return Join((identity(V), identity(V)))


@overloaded(lambda: _calls.section)
def section(bilinear: Any, side: Any, v: Any) -> Any:
    """(u⋄) for side 0, (⋄v) for side 1: a bilinear map with one operand fixed (§3.3)."""
    return Section(bilinear, side, v)


@overloaded(lambda: _calls.delta)
def delta(bilinear: Any, side: Any, family: Any, X: Any) -> Any:
    """Δ of the family of sections (u_x⋄) : V^X ⊸ W^X, given as data u ∈ U^X (§2.2, Thm 4.1 (5))."""
    contraction.require_contraction(bilinear, "Δ")
    require_index(X, "Δ")
    return Section(bilinear.lifted(X), side, family)


def functional(v: Vec[V]) -> LinMap[V, Field]:
    """(⊙v) : V ⊸ K, the inner product with v; the dual of v (Riesz, §6)."""
    require_vector(v, "(⊙v)")
    return Section(contraction.inner(v.space), 1, v)


def cast(V: S, field: Field) -> LinMap[S, S]:
    """The same numbers in another field, which is no part of the static type; the adjoint casts back."""
    require_space(V, "cast")
    return Cast(V, in_field(V, field, f"cast({V}, field)"))


def in_field(space: Type, field: Any, what: str) -> Type:
    """The same with numbers of a field, for truth values and integers, too; raises SpaceError for elements."""
    if not isinstance(field, Field):
        msg = f"{what} takes R or R32, not {shown(field)}"
        raise SpaceError(msg)
    match space:
        case Field() | Boolean() | Integers():
            return field
        case Copower(base, index):
            return Copower(in_field(base, field, what), index)
        case TensorProduct(left, right):
            return TensorProduct(in_field(left, field, what), in_field(right, field, what))
        case Biproduct():
            made: Type = space._form.of_parts(tuple(in_field(part, field, what) for part in space.parts))
            return made
        case Elements(index):
            msg = f"{what}: elements of {index} are no numbers; onehot(x) is a vector"
            raise SpaceError(msg)
        case _:  # 0 has no field
            return space
