"""A line made ready to be bound: constants computed, products put together, long axes inside, strips, steps fused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.program.layout.long_axes import long_axes_inside
from hilbert.program.run.constant_folding import folded
from hilbert.program.run.fuse import fused
from hilbert.program.run.lane_strips import in_strips_of_lanes
from hilbert.program.run.outer_sums import outer_sums

if TYPE_CHECKING:
    from hilbert.program.line.line import Line


def prepared(line: Line, most: int = 1) -> Line:
    """The line that is bound; a computed constant has no more entries than its operands, or at most `most` entries."""
    line = outer_sums(folded(line, most))
    inside = long_axes_inside(line)
    return fused(in_strips_of_lanes(line if inside is line else folded(inside, most)))
