"""The places where what flows through a linear loop can differ from 0 (`linmap.net.support`).

A mask of what all rounds are given, or of a stack, is known, or is given to the loop beside it. A carried array has the
union over the rounds, a fixed point, where that is known when the line is built; a mask that is found at the point is
kept where no round changes the mask; else all entries of the carried array are taken to be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import frozen

from hilbert.index.leaf import Leaf
from hilbert.program.line.choice import TRUTH
from hilbert.program.line.constant import Const
from linmap.net.support import Given, Part, breaks
from linmap.net.supported_flow import MADE, Supports
from linmap.term import wire
from linmap.term.net import Recur

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from hilbert.index.index import Index
    from linmap.term.net import Net

Masks: TypeAlias = "dict[int, Const | int | None]"
"""The places where some arrays of a bundle can differ from 0; None, or not there, for everywhere."""
ROUNDS = 16
"""Masks are followed for so many rounds; where they still grow then, all is taken to be read."""


def may_break(body: Net) -> bool:
    """Tell if some datum of a net may be infinite, in a loop inside too."""
    for arc in body.arcs:
        f = arc.map
        if isinstance(f, wire.ContractWith):
            if f.datum.leaf.is_field and breaks(f.datum):
                return True
        elif isinstance(f, Recur) and may_break(f.body):
            return True
    return False


def given_as(mask: Const | int | None) -> Given | None:
    """The support with this mask."""
    return None if mask is None else Given(mask)


@frozen
class GivenMasks:
    """The masks of what rounds are given: those that are constants in a round, and slots around the loop."""

    known: Masks
    shared: dict[int, int]
    stacks: dict[int, int]


@frozen
class Round:
    """A round on some masks: its steps, its totals, what arrives at its outputs, and these masks as they are there."""

    supports: Supports
    totals: dict[int, int]
    ends: list[Part | None]
    masks: Masks

    def keeps(self, k: int) -> bool:
        """Tell if state k is still 0 outside of the mask that was assumed before the round."""
        end = self.ends[k]
        return end is None or self.supports.mask(end) == self.masks[k]

    def bound(self, k: int) -> Const | None:
        """A known mask outside of which state or sum k is 0 after the round; None for none."""
        end, mask = self.ends[k], self.masks[k]
        if end is None:
            return mask if isinstance(mask, Const) else None
        return self.supports.bound(end)


def given_masks(outside: Supports, f: Recur, parts: Mapping[int, Part], present: Collection[int]) -> GivenMasks:
    """The masks of the arrays and the stacks that rounds are given, and those of states that are slots."""
    made = GivenMasks({}, {}, {})
    for k in present:
        mask = outside.mask(parts[k]) if k in parts else None
        if mask is None or (k < f.states and isinstance(mask, Const)):
            continue
        is_stack = k >= f.states + f.fed
        same = in_each_round(f.index, mask, f.lead) if is_stack and isinstance(mask, Const) else mask
        if isinstance(same, Const):
            made.known[k] = same
        else:
            (made.stacks if is_stack else made.shared)[k] = outside.slot(mask)
    return made


def in_each_round(rounds: Index, mask: Const, lead: int = 0) -> Const | None:
    """The mask of a round, if that of a stack is the same in all of them; `lead` axes are in front of the rounds."""
    n, m = lead, len(rounds.axes)
    rows = np.moveaxis(mask.array, range(n, n + m), range(m))
    if not rounds.size or not (rows == rows[(0,) * m]).all():
        return None
    axes = mask.leaf.axes
    return known_mask(rows[(0,) * m], (*axes[:n], *axes[n + m :]))


def in_all_rounds(rounds: Index, mask: Const, lead: int = 0) -> Const:
    """The mask of a stack whose slices have this mask in each round."""
    n, m, axes = lead, len(rounds.axes), mask.leaf.axes
    shape = tuple(axis.size for axis in rounds.axes)
    rows = np.moveaxis(np.broadcast_to(mask.array, shape + mask.array.shape), range(m), range(n, n + m))
    return known_mask(rows, (*axes[:n], *rounds.axes, *axes[n:]))


def known_mask(array: Any, axes: tuple[Index, ...]) -> Const:
    """A mask that is a constant."""
    return Const(np.ascontiguousarray(array), Leaf(TRUTH.entry, axes), MADE)


def grown(mask: Const, more: Const | int | None) -> Const | None:
    """The union of two masks: the first itself if nothing is added, None if all is covered or not known."""
    if not isinstance(more, Const):
        return None
    if not (more.array & ~mask.array).any():
        return mask
    array = more.array | mask.array
    return None if array.all() else known_mask(array, mask.leaf.axes)


def carried_masks(
    outside: Supports,
    f: Recur,
    parts: Mapping[int, Part],
    states: Sequence[int],
    round_: Callable[[Masks], Round],
) -> Masks:
    """The masks of arrays that a loop carries: a fixed point over rounds, or slots around it that no round changes."""
    first = {k: mask for k in states if (mask := _before(outside, f, parts, k)) is not None} if outside.postpone else {}
    while first:
        masks, lost = first, set[int]()
        for _ in range(min(ROUNDS, f.index.size)):
            one = round_({**masks})
            lost = {k for k, mask in masks.items() if not isinstance(mask, Const) and not one.keeps(k)}
            if lost:
                break
            after = {k: grown(m, one.bound(k)) if isinstance(m, Const) else m for k, m in masks.items()}
            if all(after[k] is mask for k, mask in masks.items()):
                return {**masks}
            masks = {k: mask for k, mask in after.items() if mask is not None}
        if not lost:
            return {**masks} if f.index.size <= ROUNDS else {}
        first = {k: mask for k, mask in first.items() if k not in lost}
        first |= {k: mask for k in lost if (mask := outside.bound(parts[k])) is not None}
    return {}


def _before(outside: Supports, f: Recur, parts: Mapping[int, Part], k: int) -> Const | int | None:
    """The mask of a state before the first round; one that is not given is 0 there."""
    if k in parts:
        return outside.mask(parts[k])
    lead = outside.b.slots[next(iter(parts.values())).base].axes[: f.lead]
    leaf = f.body.wires[f.body.inputs[k]].under(lead)
    return known_mask(np.zeros(leaf.shape, bool), leaf.axes)
