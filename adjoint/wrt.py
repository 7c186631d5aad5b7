"""With respect to some arguments: the parts of a domain that `wrt` names, by positions or lenses."""

from __future__ import annotations

from diff import Linearization
from diff.affine import AnyLinearization
from diff.moving import Chosen, Wrt, part, positions
from hilbert.once import once
from linmap.term.nets import Net


def restricted(d: AnyLinearization, wrt: Wrt) -> AnyLinearization:
    """The derivative in some parts of the domain: the same net, fed at fewer wires."""
    chosen = positions(d.point, wrt)
    return d if chosen is None else _restricted(d, chosen)


@once
def _restricted(d: AnyLinearization, chosen: Chosen) -> AnyLinearization:
    space, leaves = part(d.point, chosen)
    inputs = tuple(d.body.inputs[k] for k in leaves)
    return Linearization(d.program, Net(space, d.body.cod, inputs, d.body.arcs, d.body.outputs, d.body.wires))
