"""Parts of spaces by position or label: where the leaves of a summand stand among those of the sum."""

from __future__ import annotations

import itertools
from typing import Any

from hilbert.base.once import once
from hilbert.errors import SpaceError, integer, shown
from hilbert.index.index import has_labels
from hilbert.space.space import Type, require_numbered


def span(space: Type, i: Any) -> tuple[int, int]:
    """The leaves of part i of a direct sum, as a range; raises SpaceError if there is none, and for a record."""
    require_numbered(space)
    return part_span(space, i)


def part_place(space: Type, i: Any) -> int:
    """The position of a part, which is given by its position, or its label in the index set of a sum over one."""
    parts = space.parts
    place = integer(i)
    if place is None and space._index_set is not None and has_labels(space._index_set):
        place = space._index_set.position(i)
    if place is None or not 0 <= place < len(parts):
        due = f"give 0 to {len(parts) - 1}" if parts else "it has none"
        msg = f"{space} has {len(parts)} parts, so position {shown(i)} does not exist: {due}"
        raise SpaceError(msg)
    return place


def part_span(space: Type, i: Any) -> tuple[int, int]:
    """The same for a record, too."""
    place = part_place(space, i)
    return space.offsets[place], space.offsets[place + 1]


@once
def summand_slices(space: Any) -> tuple[tuple[Any, slice], ...]:
    """The summands of a direct sum, and of a copower of one, each with where its leaves stand."""
    ends = itertools.accumulate((len(part.leaves) for part in space.summands), initial=0)
    return tuple((part, slice(*both)) for part, both in zip(space.summands, itertools.pairwise(ends), strict=True))
