"""A linear system as a net, in whose term its structure is found, and the entries that it has."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.derive.affine import linearized
from diff.derive.equation_derivative import inverse
from diff.terms.program import as_program
from hilbert.arrays.formal.formal_kernels import dense as multiplied_out
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.arrays.systems.banded import Band
from hilbert.base.once import once
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const
from hilbert.program.run.run import Runner
from linmap.matrices.made.matrix_plans import sparse_plan
from linmap.matrices.network.network import pattern_network
from linmap.matrices.structure.entry_counts import listed_tuples
from linmap.matrices.structure.matrix_shapes import stored
from linmap.matrices.structure.structure import structure
from linmap.term.datum import Ref
from linmap.term.net import elements, refs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.systems.sparse_systems import Ints
    from hilbert.index.leaf import Leaf
    from hilbert.program.control.equation_step import Solve
    from hilbert.program.line.line import Line
    from linmap.matrices.made.matrix_plans import MatrixPlan
    from linmap.matrices.made.patterns import SparsePattern
    from linmap.term.net import Net

SPARSE = 4
"""A matrix is sparse where at most one entry in so many is left, of those within its lanes."""
NEAR, SIDE = 4, 2**21
"""The most diagonals that a matrix of entries on one side has on the other, and the most entries that are looked at."""
TUPLES, TUPLE = 2**25, 6e-9
"""The most tuples that are listed, and the seconds that the values of one take at each point."""


@once
def system_net(of: Solve) -> tuple[Net, Line]:
    """The system as a net, and the line that computes what its references point to from the data."""
    line, n = of.line, of.unknowns
    b = Builder(of.data, fixed=line.fixed)
    zeros = [b.number(0.0, leaf) for leaf in line.slots[:n]]
    undone = inverse(
        b, linearized(as_program(line)), [*zeros, *range(b.arity)], n, of=of.of, lanes=of.lanes, positive=of.positive
    )
    body, datum = undone.body, undone.datum
    where = b.inline(undone.line, b.unpack(datum.slot) if isinstance(datum, Ref) else ())
    return body, b.line(where[ref.slot] for ref in refs(body))


def is_sparse(of: Solve) -> bool:
    """Tell if the structure of a system leaves few entries, at places that do not depend on the data."""
    body, _ = system_net(of)
    n, lanes = of.sizes
    return all(isinstance(d, Const) for d in elements(body)) and SPARSE * stored(structure(body)) <= lanes * n * n


def tuples(body: Net) -> float:
    """The predicted number of tuples that are listed for the entries of a net."""
    n = pattern_network(body)
    return listed_tuples(n, chain.from_iterable(n.blocks.values()))


def is_one_sided(of: Solve) -> bool:
    """Tell if the structure of one system leaves entries on one side of the diagonal, and near it on the other."""
    body, _ = system_net(of)
    n, lanes = of.sizes
    if lanes > 1 or n * n > 2 * SIDE or not all(isinstance(d, Const) for d in elements(body)):
        return False
    if 2 * stored(structure(body)) > n * (n + 1 + 4 * NEAR):  # where terms overlap, entries are counted twice
        return False
    found = system_entries(of)
    band = Band.of(found.rows, found.cols, n)
    return min(band.below, band.above) <= NEAR


def in_lanes(leaves: Sequence[Leaf], lanes: int, n: int) -> Ints:
    """For each entry of some arrays its place where the n entries of each lane stand together."""
    places, start = [], 0
    for leaf in leaves:
        size = leaf.size // lanes
        places.append((np.arange(lanes)[:, None] * n + np.arange(start, start + size)).reshape(-1))
        start += size
    return np.concatenate(places)


@final
@frozen(eq=False)
class SystemEntries:
    """The entries of a system at places that its structure shows: the plan that computes them, and their places.

    The unknowns of each lane stand together, in the rows and in the columns.
    """

    plan: MatrixPlan[SparsePattern]
    rows: Ints
    cols: Ints
    given: Runner

    def values(self, data: Sequence[Any]) -> Any:
        """The values of the entries for some data."""
        return to_numpy(multiplied_out(self.plan.at(self.given.run(data))[0]))


@once
def system_entries(of: Solve) -> SystemEntries:
    """The entries of a system, whose places do not depend on the data."""
    body, line = system_net(of)
    (n, lanes), plan = of.sizes, sparse_plan(body)
    unknowns, equations = of.line.slots[: of.unknowns], [of.line.slots[k] for k in of.line.outputs]
    rows = in_lanes(equations, lanes, n)[np.repeat(np.arange(n * lanes), np.diff(plan.pattern.indptr))]
    return SystemEntries(plan, rows, in_lanes(unknowns, lanes, n)[plan.pattern.indices], Runner(line))
