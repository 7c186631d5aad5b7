"""The derivative in some parts of the domain of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.derive.varying_parts import part, positions
from diff.terms.linearization import Linearization
from hilbert.base.once import once
from linmap.term.net import Net

if TYPE_CHECKING:
    from diff.derive.varying_parts import Chosen, Wrt
    from diff.terms.linearization import AnyLinearization


def restricted(d: AnyLinearization, wrt: Wrt) -> AnyLinearization:
    """The derivative in some parts of the domain: the same net, fed at fewer wires."""
    chosen = positions(d.point, wrt)
    return d if chosen is None else _restricted(d, chosen)


@once
def _restricted(d: AnyLinearization, chosen: Chosen) -> AnyLinearization:
    space, leaves = part(d.point, chosen)
    inputs = tuple(d.body.inputs[k] for k in leaves)
    return Linearization(d.program, Net(space, d.body.cod, inputs, d.body.arcs, d.body.outputs, d.body.wires))
