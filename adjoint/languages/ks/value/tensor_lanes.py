"""What is known of the elements of a tensor, and vectors over one index set as one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.languages.ks.value.ks_values import LEAF, Lane, Table, UnrolledError, Value, mapped
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr, literal, tracing
from hilbert import Type, Vec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.lam.term.term_error import Place


MOST = 10**8
"""The elements of a tensor, and the entries of a table of constants."""


def require_few(n: int, place: Place | None = None, most: int = MOST) -> None:
    """Raise TermError for a tensor of more elements."""
    if n > most:
        raise TermError("limit", f"a tensor of {n} elements, more than {most}", place)


def lanes_of(values: Sequence[Value]) -> tuple[Lane, ...]:
    """The lanes that constants depend on, the outermost first; raises TermError where a table would be too large."""
    found = {lane.depth: lane for v in values if isinstance(v, Table) for lane in v.lanes}
    lanes = tuple(found[k] for k in sorted(found))
    require_few(math.prod(lane.n for lane in lanes))
    return lanes


def constants_of(value: Value) -> list[Any]:
    """Leaves and constants."""
    found: list[Any] = []
    mapped(found.append, value)
    return found


def zipped(stacks: Sequence[Any], space: Type) -> Any:
    """Vectors over one index set as one, of direct sums."""
    if len(stacks) == 1:
        return stacks[0]
    if all(isinstance(s, Vec) for s in stacks):
        return Vec(space, tuple(leaf for s in stacks for leaf in s.leaves))
    here = tracing.get()[-1]
    slots = [k for s in stacks for k in (literal(here, s) if isinstance(s, Vec) else s).slots]
    return Expr(here, space, tuple(slots))


def closed(lane: Lane, value: Value) -> Value:
    """What is known of an element, as what is known of all."""

    def leaf(v: Any) -> Any:
        if isinstance(v, LEAF):
            return v
        if isinstance(v, (bool, int)):
            return Table((), np.full(lane.n, v))
        if not isinstance(v, Table):
            raise UnrolledError("functions and texts are computed one by one")
        if lane in v.lanes:
            at, rest = v.lanes.index(lane), tuple(one for one in v.lanes if one is not lane)
            return Table(rest, np.moveaxis(v.array, at, len(rest)))
        n = len(v.lanes)
        array = np.expand_dims(v.array, n)
        return Table(v.lanes, np.broadcast_to(array, (*array.shape[:n], lane.n, *array.shape[n + 1 :])))

    return mapped(leaf, value)
