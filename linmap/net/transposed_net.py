"""Nets turned round: the adjoint of every arc, the arcs in the other direction (Theorem 6.5 on single arrays)."""

from __future__ import annotations

from hilbert.base.once import known, once
from linmap.net.lower import net
from linmap.term.linear_map import AnyLinMap
from linmap.term.net import Arc, Closed, Net


@once
def turned(f: Net) -> Net:
    """f*: inputs and outputs change places; wires keep their numbers, so that f** = f."""
    arcs = tuple(Arc(a.map.adjoint(f.wires[a.src]), a.dst, a.src) for a in reversed(f.arcs))
    found = Net(f.cod, f.dom, f.outputs, arcs, f.inputs, f.wires)
    known(turned, found, f)
    return found


def transposed(f: AnyLinMap) -> AnyLinMap:
    """f* as a net; `adjoint.adjoint` keeps terms as they were composed."""
    return Closed(turned(f.body), f.data) if isinstance(f, Closed) else turned(net(f))
