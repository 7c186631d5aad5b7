"""With respect to some arguments: the parts of a domain that `wrt` names, by a position or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from diff import Pointwise
from diff.affine import AnyPointwise
from hilbert import DirectSum, SpaceError, Type
from hilbert.errors import shown
from hilbert.once import once
from hilbert.vector import span
from linmap.term.nodes import Net

if TYPE_CHECKING:
    from collections.abc import Sequence

Wrt: TypeAlias = "int | Sequence[int] | None"
"""A position from 0, several of them, or None for the whole domain."""


def positions(dom: Type, wrt: Any) -> tuple[int, ...] | None:
    """The positions that `wrt` names, in its order; SpaceError for one that does not exist, none, or one twice."""
    if wrt is None:
        return None
    several = isinstance(wrt, (tuple, list))
    found = tuple(wrt) if several else (wrt,)
    for k in found:
        span(dom, k)
    if not found or len(set(found)) != len(found):
        what = "each once" if found else "one at least"
        msg = f"wrt={wrt if found else shown(wrt)} of a function on {dom}: name positions of its parts, {what}"
        raise SpaceError(msg)
    return found


def part(dom: Type, wrt: Any) -> tuple[Type, list[int]]:
    """The tangent of the parts that `wrt` names, a direct sum if it names several, and its leaves in the domain's."""
    places = positions(dom, wrt)
    if places is None:
        return dom.tangent, list(range(len(dom.tangent.leaves)))
    starts = [0]
    for one in dom.parts:
        starts.append(starts[-1] + len(one.tangent.leaves))
    leaves = [leaf for k in places for leaf in range(starts[k], starts[k + 1])]
    chosen = [dom.parts[k] for k in places]
    space: Type = DirectSum(tuple(chosen)) if isinstance(wrt, (tuple, list)) else chosen[0]
    return space.tangent, leaves


def canonical(dom: Type, wrt: Any) -> int | tuple[int, ...] | None:
    """`wrt` as a position, a tuple of them, or None; raises SpaceError as `positions` does."""
    places = positions(dom, wrt)
    return places if places is None or isinstance(wrt, (tuple, list)) else places[0]


def restricted(d: AnyPointwise, wrt: Any) -> AnyPointwise:
    """The derivative in some parts of the domain: the same net, fed at fewer wires."""
    chosen = canonical(d.point, wrt)
    return d if chosen is None else _restricted(d, chosen)


@once
def _restricted(d: AnyPointwise, wrt: int | tuple[int, ...]) -> AnyPointwise:
    space, leaves = part(d.point, wrt)
    inputs = tuple(d.body.inputs[k] for k in leaves)
    return Pointwise(d.program, Net(space, d.body.cod, inputs, d.body.arcs, d.body.outputs, d.body.wires))
