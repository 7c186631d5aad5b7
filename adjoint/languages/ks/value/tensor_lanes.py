"""Tables over lanes: aligned, and as constants of the program; the elements of a tensor, known for each lane."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from adjoint.languages.ks.value.ks_values import mapped
from adjoint.languages.ks.value.value_classes import LEAF, Lane, Table, UnrolledError, Value
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr, literal
from hilbert import Copower, R, Type, Vec
from hilbert.program.line.operation import Captured, Reduce
from hilbert.relation import equality
from hilbert.tracebacks import tracing
from linmap.term.datum import constants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.lam.term.term_error import Place
    from hilbert.program.line.builder import Builder


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


def aligned(*values: Value) -> tuple[tuple[Lane, ...], list[Any]]:
    """Constants as arrays over all their lanes, and behind these the axes of tensors."""
    lanes = lanes_of(values)
    arrays = []
    for v in values:
        if isinstance(v, Table):
            own = v.array.shape[len(v.lanes) :]
            arrays.append(v.array.reshape(*[lane.n if lane in v.lanes else 1 for lane in lanes], *own))
        elif isinstance(v, int):
            arrays.append(np.asarray(v))
        else:
            raise TypeError(type(v).__name__)  # what is found from reals is told before
    return lanes, arrays


def lane_entry(table: Table, kind: Type = R) -> Any:
    """The entry of a table in the lane that is traced, as a constant of the program."""
    space: Type = kind
    for lane in reversed(table.lanes):
        space = Copower(space, lane.axis)
    array = table.array.astype(np.float64) if kind == R else table.array
    b = table.lanes[0].outer
    slots = [b.literal(c) for c in constants(space.vec(np.ascontiguousarray(array)))]
    return _inward(b, slots, table.lanes, kind)


def _inward(b: Builder, slots: Sequence[int], lanes: tuple[Lane, ...], space: Type) -> Any:
    """Slots of a line as they are seen in the body that is traced inside; in some lanes, the elements there."""
    bodies = {id(lane.body) for lane in lanes}
    while b.inner is not None:
        leaves = [b.slots[k] for k in slots]
        b = b.inner
        if id(b) in bodies:
            leaves = [evolve(leaf, axes=leaf.axes[1:]) for leaf in leaves]
        slots = [b.emit(Captured(k), (), leaf) for k, leaf in zip(slots, leaves, strict=True)]
    return Expr(b, space, tuple(slots))


def lane_element(lane: Lane, leaf: Any) -> Any:
    """The element in this lane of a vector over it that is known outside; None where the vector is not."""
    b, slots = leaf.home if isinstance(leaf, Expr) else literal(lane.outer, leaf).home
    while b is not lane.outer and b.inner is not None:
        leaves = [b.slots[k] for k in slots]
        b = b.inner
        slots = tuple([b.emit(Captured(k), (), f) for k, f in zip(slots, leaves, strict=True)])
    if b is not lane.outer:
        return None
    same = Reduce(equality(lane.axis), 0)  # its own slot, since the body may see the whole vector, too
    own = [b.apply(same, k) for k in slots]
    lane.sources.update(zip(own, slots, strict=True))
    return _inward(b, own, (lane,), leaf.space.base)


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
    """The value for all lanes, of what is known of the element in one lane."""

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
