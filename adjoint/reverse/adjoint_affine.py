"""Adjoint affine interpretation (paper §6.3, Fig. 2): f^[1r](x) = (f x, (f' x)*).

Line by line it is Figure 1 under Theorem 6.5, and that is how it is computed:

    (g∘f)^[1r](x)   a • b                      (b • a)* = a* • b*
    K_w^[1r](x)     0                          0* = 0
    h^[1r](x)       h*
    ⋄^[1r](x)       ι₂•(u⋄)* + ι₁•(⋄v)*        ((u⋄)•π₂ + (⋄v)•π₁)*
    (Π f_y)^[1r](x) Δ d                        (Δ d)* = Δ(d*)

The first phase stores all and only the intermediate results that the second needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, TypeVarTuple, overload

from attrs import evolve

from adjoint.reverse.rules import adjoint
from adjoint.reverse.wrt import restricted, takes_wrt
from diff import affine, program
from diff.derive.affine import linearized
from diff.derive.varying_parts import Chosen, Wrt, positions
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, Type
from hilbert.base.once import once
from hilbert.map.map import require_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Lens, Map, Vec
    from hilbert.map.map import AnyMap
    from linmap import LinMap

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Rest = TypeVarTuple("Rest")


@overload
def adjoint_affine(f: Map[V, W], x: Vec[V], /) -> tuple[Vec[W], LinMap[W, V]]: ...
@overload
def adjoint_affine(
    f: Map[DirectSum[A, B], W], a: Vec[A], b: Vec[B], /
) -> tuple[Vec[W], LinMap[W, DirectSum[A, B]]]: ...
@overload
def adjoint_affine(
    f: Map[DirectSum[A, B, C], W], a: Vec[A], b: Vec[B], c: Vec[C], /
) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C]]]: ...
@overload
def adjoint_affine(
    f: Map[DirectSum[A, B, C, D], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /
) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D]]]: ...
@overload
def adjoint_affine(
    f: Map[DirectSum[A, B, C, D, E], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /
) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D, E]]]: ...
@overload
def adjoint_affine(
    f: Map[DirectSum[A, B, C, D, E, F], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /
) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D, E, F]]]: ...
@overload
def adjoint_affine(
    f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], W],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    h: Vec[G],
    /,
    *more: Vec[Any],
) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D, E, F, G, *Rest]]]: ...
def adjoint_affine(f: AnyMap, *x: Any) -> Any:
    """f^[1r](x) = (f x, (f' x)*), both at a point. Raises SpaceError for a point of another space."""
    value, linear = affine(f, *x)
    return value, adjoint(linear)


@overload
def vjp(f: Map[V, W]) -> Program[DirectSum[V, W], V]: ...
@overload
def vjp(f: Map[DirectSum[A, *Rest], W], wrt: Literal[0]) -> Program[DirectSum[DirectSum[A, *Rest], W], A]: ...
@overload
def vjp(f: Map[DirectSum[A, B, *Rest], W], wrt: Literal[1]) -> Program[DirectSum[DirectSum[A, B, *Rest], W], B]: ...
@overload
def vjp(f: Map[V, W], wrt: Lens[V, A]) -> Program[DirectSum[V, W], A]: ...
@overload
def vjp(f: Map[V, W], wrt: int | Sequence[int] | Sequence[Lens[V, Any]]) -> Program[DirectSum[V, W], Any]: ...
@takes_wrt
def vjp(f: AnyMap, wrt: Wrt = None) -> AnyProgram:
    """V ⊕ W → V, (x, dy) ↦ (f'(x))*(dy), a function of the language; `wrt` takes one part of V, or several.

    Raises SpaceError for a part that does not exist.
    """
    require_map(f, "vjp")
    return _vjp(program(f), positions(f.dom, wrt))


@once
def _vjp(p: AnyProgram, chosen: Chosen) -> AnyProgram:
    def pullback(q: AnyProgram) -> AnyProgram:
        found = adjoint(restricted(linearized(q), chosen)).uncurried
        return evolve(found, names=(found.names[0], "dy"))

    return derived(p, pullback)
