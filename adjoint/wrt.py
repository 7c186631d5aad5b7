"""With respect to some arguments: the parts of a domain that `wrt` names, by positions or lenses."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias

from diff import Linearization
from diff.affine import AnyLinearization
from hilbert import DirectSum, Lens, SpaceError, Type, Vec
from hilbert.errors import integer, shown
from hilbert.lens import AnyLens
from hilbert.notarray import Applicable
from hilbert.once import once
from hilbert.position import span
from linmap.term.nets import Net

if TYPE_CHECKING:
    from collections.abc import Sequence

Wrt: TypeAlias = "int | AnyLens | Sequence[int | AnyLens] | None"
"""A position from 0, a lens, several of them, or None for the whole domain."""
One: TypeAlias = int | AnyLens
Chosen: TypeAlias = One | tuple[One, ...] | None


def positions(dom: Type, wrt: Any) -> Chosen:
    """What `wrt` names, checked; SpaceError for what does not exist, for nothing at all, and for a part named twice."""
    if wrt is None:
        return None
    if isinstance(wrt, (Vec, Applicable)):
        msg = f"wrt is a position or a lens, or several, not {shown(wrt)}: the gradient at x is grad(f)(x)"
        raise SpaceError(msg)
    if not isinstance(wrt, (tuple, list)):
        _located(dom, wrt)
        return wrt if isinstance(wrt, Lens) else integer(wrt)
    spans = sorted(_located(dom, one)[1:] for one in wrt)
    twice = len(set(wrt)) != len(wrt) or any(a[1] > b[0] for a, b in itertools.pairwise(spans))
    if not wrt or twice:
        what = "each once" if wrt else "one at least"
        msg = f"wrt={wrt or shown(wrt)} of a function on {dom}: name positions or lenses of its parts, {what}"
        raise SpaceError(msg)
    return tuple(wrt)


def _located(space: Type, one: Any) -> tuple[Type, int, int]:
    """A part, and where its leaves begin and end."""
    if isinstance(one, Lens):
        return one.at(space)
    start, stop = span(space, one)
    return space.parts[one], start, stop


def part(dom: Type, chosen: Chosen) -> tuple[Type, list[int]]:
    """The tangent of the chosen parts, a direct sum if they are several, and its leaves among the domain's."""
    tangent = dom.tangent
    if chosen is None:
        return tangent, list(range(len(tangent.leaves)))
    found = [_located(tangent, one) for one in (chosen if isinstance(chosen, tuple) else (chosen,))]
    leaves = [leaf for _, start, stop in found for leaf in range(start, stop)]
    return DirectSum(tuple(space for space, _, _ in found)) if isinstance(chosen, tuple) else found[0][0], leaves


def restricted(d: AnyLinearization, wrt: Wrt) -> AnyLinearization:
    """The derivative in some parts of the domain: the same net, fed at fewer wires."""
    chosen = positions(d.point, wrt)
    return d if chosen is None else _restricted(d, chosen)


@once
def _restricted(d: AnyLinearization, chosen: Chosen) -> AnyLinearization:
    space, leaves = part(d.point, chosen)
    inputs = tuple(d.body.inputs[k] for k in leaves)
    return Linearization(d.program, Net(space, d.body.cod, inputs, d.body.arcs, d.body.outputs, d.body.wires))
