"""Nets turned round: the adjoint of every arc, the arcs in the other direction (Theorem 6.5 on single arrays)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from hilbert import Field
from linmap.net import wire
from linmap.net.lower import net
from linmap.term.nodes import Arc, Closed, LinMap, Net

if TYPE_CHECKING:
    from hilbert.space import Leaf


def turned(f: Net) -> Net:
    """f*: inputs and outputs change places; wires keep their numbers, so that f** = f."""
    memo = f.memo()
    found: Net | None = memo.get("adjoint")
    if found is None:
        arcs = tuple(Arc(turned_wire(a.map, f.wires[a.src]), a.dst, a.src) for a in reversed(f.arcs))
        found = memo["adjoint"] = Net(f.cod, f.dom, f.outputs, arcs, f.inputs, f.wires)
        found.memo()["adjoint"] = f
    return found


def turned_wire(f: wire.Wire, src: Leaf) -> wire.Wire:
    """Theorem 6.5 on one leaf; `src` is the leaf that the map starts from."""
    match f:
        case wire.Same() | wire.Scale():  # id* = id, (k·)* = (k·)
            return f
        case wire.Section(spec, side, datum):  # (u⋄)*, (⋄v)*: the labels are permuted
            return wire.Section(spec.section_adjoint(side), side, datum)
        case wire.Reduce(relation, at):  # red_R* = red_{Rᵀ}
            return wire.Reduce(relation.T, at)
        case wire.Move(order):  # unitary: f* = f⁻¹
            return wire.Move(tuple(sorted(range(len(order)), key=order.__getitem__)))
        case wire.Cast():
            assert isinstance(src.base, Field)
            return wire.Cast(src.base)
        case _:
            assert_never(f)


def transposed(f: LinMap[Any, Any]) -> LinMap[Any, Any]:
    """f* as a net; `adjoint.adjoint` keeps terms as they were composed."""
    return Closed(turned(f.body), f.data) if isinstance(f, Closed) else turned(net(f))
