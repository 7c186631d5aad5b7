"""Primitives backward: adjoints and transposed Jacobians of maps, made once for each."""

from __future__ import annotations

from adjoint.reverse.adjoint_affine import vjp
from adjoint.reverse.rules import adjoint
from diff.lam.term.lam_values import summands
from hilbert import DirectSum
from hilbert.base.once import once
from hilbert.map.map import AnyMap
from linmap import LinMap


@once
def adjoint_of(op: AnyMap) -> AnyMap:
    """A* of a linear map."""
    assert isinstance(op, LinMap)
    transposed: AnyMap = adjoint(op)
    return transposed


@once
def vjp_of(op: AnyMap, wrt: int | None) -> AnyMap:
    """(x, c) ↦ (𝒥f(x))* c, or its part at a position of the domain."""
    return vjp(op) if wrt is None else vjp(op, wrt)


@once
def moving_part(op: AnyMap, moving: tuple[bool, ...]) -> tuple[int | None, range]:
    """The one part of the domain whose leaves move, or None for several, and the places of its leaves."""
    if isinstance(op.dom, DirectSum):
        start, found = 0, []
        for k, part in enumerate(op.dom.parts):
            end = start + len(summands(part))
            if any(moving[start:end]):
                found.append((k, range(start, end)))
            start = end
        if len(found) == 1:
            return found[0]
    return None, range(len(moving))
