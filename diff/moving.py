"""The parts of a domain that vary, as `wrt` names them: by a position or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from hilbert import DirectSum, SpaceError, Type
from hilbert.errors import integer, shown
from hilbert.vector import span

if TYPE_CHECKING:
    from collections.abc import Sequence

Wrt: TypeAlias = "int | Sequence[int] | None"
"""A position from 0, several of them, or None for the whole domain."""


@final
@frozen
class Moving:
    """The space of what varies, and its real leaves among those of the domain."""

    space: Type
    leaves: tuple[int, ...]


def moving(dom: Type, wrt: Any) -> Moving:
    """What `wrt` names; raises SpaceError for a position that does not exist, for none, and for one twice."""
    real = [k for k, leaf in enumerate(dom.leaves) if leaf.is_field]
    if wrt is None:
        return Moving(dom.tangent, tuple(real))
    places = list(wrt) if isinstance(wrt, (tuple, list)) else [wrt]
    spans = [span(dom, k) for k in places]
    if not places or len(set(places)) != len(places):
        msg = f"wrt={shown(wrt)} of a function on {dom}: name positions of its parts, each once, one at least"
        raise SpaceError(msg)
    parts = tuple(dom.parts[integer(k) or 0] for k in places)
    space: Type = DirectSum(parts) if isinstance(wrt, (tuple, list)) else parts[0]
    return Moving(space.tangent, tuple(k for start, stop in spans for k in range(start, stop) if k in real))
