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

from typing import TYPE_CHECKING, Any

from attrs import evolve

from adjoint.reverse.rules import adjoint
from adjoint.reverse.wrt import takes_wrt
from diff import affine, program
from diff.compiled.own_runner import keeps_runner
from diff.derive.affine import linearized
from diff.derive.partial_derivative import restricted
from diff.derive.varying_parts import Chosen, Wrt, positions
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.map.map import require_map

if TYPE_CHECKING:
    from adjoint import _calls
    from hilbert.map.map import AnyMap


@overloaded(lambda: _calls.adjoint_affine)
def adjoint_affine(f: AnyMap, *x: Any) -> Any:
    """f^[1r](x) = (f x, (f' x)*), both at a point. Raises SpaceError for a point of another space."""
    value, linear = affine(f, *x)
    return value, adjoint(linear)


@overloaded(lambda: _calls.vjp)
@takes_wrt
@keeps_runner
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
