"""The parts of a domain that vary, as `wrt` names them: by a position, a lens, or several."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from hilbert import DirectSum, Lens, SpaceError, Type, Vec
from hilbert.base.notarray import Applicable
from hilbert.errors import shown
from hilbert.space.parts import AnyLens, part_place, span

if TYPE_CHECKING:
    from collections.abc import Sequence

Wrt: TypeAlias = "int | AnyLens | Sequence[int | AnyLens] | None"
"""A position from 0, a lens, several of them, or None for the whole domain; labels too, which no checker knows."""
One: TypeAlias = int | AnyLens
Chosen: TypeAlias = One | tuple[One, ...] | None


def positions(dom: Type, wrt: Any) -> Chosen:
    """The parts that `wrt` names; SpaceError for one that does not exist, for none at all, and for one named twice."""
    if wrt is None:
        return None
    if isinstance(wrt, (Vec, Applicable)):
        msg = f"wrt is a position or a lens, or several, not {shown(wrt)}: the gradient at x is grad(f)(x)"
        msg += ", the product with the transposed Jacobian vjp(f)(x, dy)"
        raise SpaceError(msg)
    if not isinstance(wrt, (tuple, list)):
        located(dom, wrt)
        return wrt if isinstance(wrt, Lens) else part_place(dom, wrt)
    spans = sorted(located(dom, one)[1:] for one in wrt)
    twice = len(set(wrt)) != len(wrt) or any(a[1] > b[0] for a, b in itertools.pairwise(spans))
    if not wrt or twice:
        what = "each once" if wrt else "one at least"
        msg = f"wrt={wrt or shown(wrt)} of a function on {dom}: name positions or lenses of its parts, {what}"
        raise SpaceError(msg)
    return tuple([one if isinstance(one, Lens) else part_place(dom, one) for one in wrt])


def located(space: Type, one: Any) -> tuple[Type, int, int]:
    """A part, and where its leaves begin and end."""
    if isinstance(one, Lens):
        return one.at(space)
    start, stop = span(space, one)
    return space.parts[part_place(space, one)], start, stop


def part(dom: Type, chosen: Chosen) -> tuple[Type, list[int]]:
    """The tangent of the chosen parts, a direct sum if they are several, and its leaves among the domain's."""
    tangent = dom.tangent
    if chosen is None:
        return tangent, list(range(len(tangent.leaves)))
    found = [located(tangent, one) for one in (chosen if isinstance(chosen, tuple) else (chosen,))]
    leaves = [leaf for _, start, stop in found for leaf in range(start, stop)]
    return DirectSum(tuple(space for space, _, _ in found)) if isinstance(chosen, tuple) else found[0][0], leaves


@final
@frozen
class Moving:
    """The space of the parts that vary, and their real leaves, by number among the leaves of the domain."""

    space: Type
    leaves: tuple[int, ...]


def moving(dom: Type, wrt: Any) -> Moving:
    """The space and the leaves of the parts that `wrt` names; raises SpaceError as `positions` does."""
    chosen = positions(dom, wrt)
    each = () if chosen is None else chosen if isinstance(chosen, tuple) else (chosen,)
    spans = [located(dom, one)[1:] for one in each] if each else [(0, len(dom.leaves))]
    leaves = tuple(k for start, stop in spans for k in range(start, stop) if dom.leaves[k].is_field)
    return Moving(part(dom, chosen)[0], leaves)
