"""A linear system as a net, in whose term its structure is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diff.derive.affine import linearized
from diff.derive.equation_derivative import inverse
from diff.terms.program import as_program
from hilbert.base.once import once
from hilbert.program.line.builder import Builder
from linmap.term.datum import Ref
from linmap.term.net import refs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.systems.sparse_systems import Ints
    from hilbert.index.leaf import Leaf
    from hilbert.program.control.equation_step import Solve
    from hilbert.program.line.line import Line
    from linmap.term.net import Net


@once
def system_net(of: Solve) -> tuple[Net, Line]:
    """The system as a net, and the line that computes what its references point to from the data."""
    line, n = of.line, of.unknowns
    b = Builder(of.data, fixed=line.fixed)
    zeros = [b.number(0.0, leaf) for leaf in line.slots[:n]]
    undone = inverse(b, linearized(as_program(line)), [*zeros, *range(b.arity)], n, of=of.of, lanes=of.lanes)
    body, datum = undone.body, undone.datum
    where = b.inline(undone.line, b.unpack(datum.slot) if isinstance(datum, Ref) else ())
    return body, b.line(where[ref.slot] for ref in refs(body))


def in_lanes(leaves: Sequence[Leaf], lanes: int, n: int) -> Ints:
    """For each entry of some arrays its place where the n entries of each lane stand together."""
    places, start = [], 0
    for leaf in leaves:
        size = leaf.size // lanes
        places.append((np.arange(lanes)[:, None] * n + np.arange(start, start + size)).reshape(-1))
        start += size
    return np.concatenate(places)
