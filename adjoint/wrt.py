"""With respect to some arguments: the parts of a domain that `wrt` names, by a position or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from diff import Linearization
from diff.affine import AnyLinearization
from hilbert import DirectSum, SpaceError, Type, Vec
from hilbert.errors import integer, shown
from hilbert.notarray import Applicable
from hilbert.once import once
from hilbert.position import span
from linmap.term.nets import Net

if TYPE_CHECKING:
    from collections.abc import Sequence

Wrt: TypeAlias = "int | Sequence[int] | None"
"""A position from 0, several of them, or None for the whole domain."""
Chosen: TypeAlias = int | tuple[int, ...] | None


def positions(dom: Type, wrt: Any) -> Chosen:
    """What `wrt` names, its positions checked; SpaceError for one that does not exist, for none, and for one twice."""
    if wrt is None:
        return None
    if isinstance(wrt, (Vec, Applicable)):
        msg = f"wrt is a position, or several, not {shown(wrt)}: the gradient at x is grad(f)(x)"
        raise SpaceError(msg)
    if not isinstance(wrt, (tuple, list)):
        span(dom, wrt)
        return integer(wrt)
    for k in wrt:
        span(dom, k)
    if not wrt or len(set(wrt)) != len(wrt):
        what = "each once" if wrt else "one at least"
        msg = f"wrt={wrt or shown(wrt)} of a function on {dom}: name positions of its parts, {what}"
        raise SpaceError(msg)
    return tuple(wrt)


def part(dom: Type, chosen: Chosen) -> tuple[Type, list[int]]:
    """The tangent of the chosen parts, a direct sum if they are several, and its leaves among the domain's."""
    if chosen is None:
        return dom.tangent, list(range(len(dom.tangent.leaves)))
    starts = [0]
    for one in dom.parts:
        starts.append(starts[-1] + len(one.tangent.leaves))
    places = chosen if isinstance(chosen, tuple) else (chosen,)
    leaves = [leaf for k in places for leaf in range(starts[k], starts[k + 1])]
    space: Type = DirectSum(tuple(dom.parts[k] for k in places)) if isinstance(chosen, tuple) else dom.parts[chosen]
    return space.tangent, leaves


def restricted(d: AnyLinearization, wrt: Wrt) -> AnyLinearization:
    """The derivative in some parts of the domain: the same net, fed at fewer wires."""
    chosen = positions(d.point, wrt)
    return d if chosen is None else _restricted(d, chosen)


@once
def _restricted(d: AnyLinearization, chosen: Chosen) -> AnyLinearization:
    space, leaves = part(d.point, chosen)
    inputs = tuple(d.body.inputs[k] for k in leaves)
    return Linearization(d.program, Net(space, d.body.cod, inputs, d.body.arcs, d.body.outputs, d.body.wires))
