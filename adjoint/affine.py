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

from typing import TYPE_CHECKING, Any, TypeVar

from adjoint.rules import adjoint
from diff import affine, derivative
from diff.term import Program
from hilbert import DirectSum, Type

if TYPE_CHECKING:
    from hilbert import Map, Vec
    from linmap import LinMap

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def adjoint_affine(f: Map[V, W], *x: Any) -> tuple[Vec[W], LinMap[W, V]]:
    """f^[1r](x) = (f x, (f' x)*), both at a point. Raises SpaceError for a point of another space."""
    value, linear = affine(f, *x)
    return value, adjoint(linear)


def vjp(f: Map[V, W]) -> Program[DirectSum[V, W], V]:
    """V ⊕ W → V, (x, dy) ↦ (f'(x))*(dy), a function of the language."""
    return adjoint(derivative(f)).uncurried
