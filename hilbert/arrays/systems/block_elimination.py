"""Elimination of blocks that do not meet each other, before a system in full of what is left (Schur complements).

In least squares with many small groups of unknowns, such as the points of a bundle adjustment, the groups meet only a
few common unknowns. Which unknowns make a block, and which blocks go first, is read off the places of the entries.

>>> import numpy as np
>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> n = 1000  # an arrow: a diagonal, and one unknown that meets all
>>> rows = np.concatenate([np.arange(n), np.full(n - 1, n - 1), np.arange(n - 1)])
>>> cols = np.concatenate([np.arange(n), np.arange(n - 1), np.full(n - 1, n - 1)])
>>> found = Elimination.of(rows, cols, n, scipy_of())
>>> print(found)
by eliminating 999 blocks of 1, then 1 unknown in full
>>> values = np.concatenate([np.full(n, 2.0), np.full(2 * (n - 1), 0.01)])
>>> x = found.made(values).solve(np.ones((1, n)), False)
>>> np.allclose(x[0, -1], (1.0 - 999 * 0.01 / 2) / (2.0 - 999 * 1e-4 / 2))
True
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.elimination.block_inverse import BlockInverse
from hilbert.arrays.elimination.kept_factors import Factors
from hilbert.arrays.systems.linear_systems import factors_in_full
from hilbert.arrays.systems.methods import without

if TYPE_CHECKING:
    import numpy.typing as npt

    from hilbert.arrays.systems.scipy_modules import Scipy

    Ints = npt.NDArray[np.signedinteger[Any]]

LEFT, ROUNDS, FULL = 5, 4, 4096
"""At most one part in so many of the unknowns is left after so many rounds, and at most so many unknowns."""

PAIR, CUBE = 2e-8, 1e-10
"""Seconds of the inverse for a pair of unknowns that one meets, and for each unknown left of each with each."""


@final
class Elimination:
    """The order of elimination for matrices with entries at some places: levels of blocks of a size, and the rest."""

    def __init__(self, rows: Ints, cols: Ints, order: Ints, rounds: list[list[tuple[int, int]]], sp: Scipy) -> None:
        """`order` has the unknowns of all rounds, then the rest; a round has levels, of so many blocks of a size."""
        self.order, self.rounds, self.sp, n = order, rounds, sp, len(order)
        self.levels = levels = list(chain.from_iterable(rounds))
        place = np.empty(n, np.int32)
        place[order] = np.arange(n)
        found = sp.sparse.coo_array(
            (np.arange(len(rows), dtype=np.int32), (place[rows], place[cols])), shape=(n, n)
        ).tocsr()
        found.sort_indices()
        self._sorted, self._indices, self._indptr = found.data, found.indices, found.indptr
        self.ends = [0, *np.cumsum([count * size for count, size in levels]).tolist()]

    @staticmethod
    def of(rows: Ints, cols: Ints, size: int, sp: Scipy, *, told: bool = False) -> Elimination | None:
        """The order for a symmetric pattern with a full diagonal; None where too much is left, an error if `told`."""
        group, sizes = _alike(rows, cols, size)
        graph = _between(group, rows, cols, len(sizes), sp)
        left = np.arange(len(sizes))
        order, rounds = list[Any](), list[list[tuple[int, int]]]()
        members, starts = np.argsort(group, kind="stable"), np.cumsum(sizes) - sizes

        def of_groups(some: Ints, width: int) -> Ints:
            """The unknowns of some groups of so many."""
            found: Ints = members[starts[some][:, None] + np.arange(width)].reshape(-1)
            return found

        for _ in range(ROUNDS):
            if len(left) <= 1 or graph.nnz >= 0.5 * len(left) ** 2:
                break
            chosen = _independent(graph, sizes[left])
            rounds.append([])
            for width in np.unique(sizes[left[chosen]]):
                some = left[chosen][sizes[left[chosen]] == width]
                order.append(of_groups(some, int(width)))
                rounds[-1].append((len(some), int(width)))
            kept = ~chosen
            met = graph[kept][:, chosen]
            graph, left = _ones(graph[kept][:, kept] + met @ met.T), left[kept]
        rest = int(sizes[left].sum())
        if rest * LEFT > size or rest > FULL or not rounds:
            if told:
                most = min(size // LEFT, FULL)
                raise without(
                    "elimination", f"of {size} unknowns {rest} are left for a matrix in full, and at most {most} may be"
                )
            return None
        others = [of_groups(left[k : k + 1], int(sizes[left[k]])) for k in range(len(left))]
        return Elimination(rows, cols, np.concatenate([*order, *others]), rounds, sp)

    def __str__(self) -> str:
        counts: dict[int, int] = {}
        for count, size in self.levels:
            counts[size] = counts.get(size, 0) + count
        blocks = ", ".join(f"{count} blocks of {size}" for size, count in counts.items())
        rest = len(self.order) - self.ends[-1]
        return f"by eliminating {blocks}" + (f", then {rest} unknown{'s' * (rest != 1)} in full" if rest else "")

    def made(self, values: Any, *, positive: bool = False) -> Factors:
        """The elimination of a matrix; raises LinAlgError for a singular block.

        What is left of a symmetric and `positive` matrix is so, too, and has Cholesky's factor.
        """
        n = len(self.order)
        sparse, entries = self.sp.sparse, values[self._sorted]
        rest: Any = sparse.csr_array((entries, self._indices, self._indptr), shape=(n, n))
        steps, logs = list[tuple[Any, Any, Any]](), 0.0  # inverses of blocks, what is right of them, what is below
        for (count, size), (start, end) in zip(self.levels, pairwise(self.ends), strict=True):
            k = end - start
            right, below = rest[:k, k:], rest[k:, :k]
            undone, log = self._undone(rest[:k, :k], count, size)
            steps.append((undone, right, below))
            logs += log
            rest = (rest[k:, k:] - below @ (undone @ right)).tocsr()
        nothing = Factors(lambda b, _: b, lambda: 0.0, 0)
        of_rest = factors_in_full(self.sp, rest.toarray(), positive=positive) if rest.shape[0] else nothing

        def solve(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
            side, sides = b.T[self.order], []
            turned = [(u.T, low.T, right.T) for u, right, low in steps] if flipped else steps
            for undone, _, below in turned:
                k = undone.shape[0]
                sides.append(side[:k])
                side = side[k:] - below @ (undone @ side[:k])
            x = of_rest.solve(side.T, flipped).T
            for (undone, right, _), own in zip(reversed(turned), reversed(sides), strict=True):
                x = np.concatenate([undone @ (own - right @ x), x])
            made = np.empty_like(x)
            made[self.order] = x
            return made.T

        size = of_rest.entries + sum(part.nnz for step in steps for part in step)
        return Factors(solve, lambda: logs + of_rest.logdet(), size)

    def near_inverse(self, values: Any) -> Any:
        """(A⁻¹)_ji for the place (i, j) of each entry; raises LinAlgError for a singular block."""
        made = np.empty_like(values)
        made[self._sorted] = self._inverse.near_inverse(values[self._sorted])
        return made

    @cached_property
    def seconds_of_inverse(self) -> float:
        """The predicted time of the inverse at these places, at least: few are filled."""
        lengths = np.diff(self._indptr).astype(np.float64)
        gone = lengths[: self.ends[-1]]
        return PAIR * float(gone @ gone) + CUBE * float(len(lengths) - self.ends[-1]) ** 3

    @cached_property
    def _inverse(self) -> BlockInverse:
        n = len(self.order)
        rows = np.repeat(np.arange(n), np.diff(self._indptr))
        return BlockInverse(rows, self._indices.astype(np.intp), n, self.rounds)

    def _undone(self, blocks: Any, count: int, size: int) -> tuple[Any, float]:
        """The inverse of blocks on the diagonal, as a sparse matrix, and log |det| of all blocks."""
        found = blocks.tocoo()
        dense = np.zeros((count, size, size), found.data.dtype)
        row, col = found.coords
        dense[row // size, row % size, col % size] = found.data
        made, log = np.linalg.inv(dense), float(np.linalg.slogdet(dense)[1].sum())
        if size == 1:
            return self.sp.sparse.diags_array(made[:, 0, 0]).tocsr(), log
        pointers = np.arange(count + 1, dtype=np.int32)
        whole = self.sp.sparse.bsr_array((made, pointers[:-1], pointers), shape=blocks.shape)
        return whole.tocsr(), log


def _alike(rows: Ints, cols: Ints, size: int) -> tuple[Ints, Ints]:
    """The group of each unknown, and their sizes: unknowns of a group meet the same ones, themselves among them."""
    marks = np.random.default_rng(0).integers(1, 2**62, size)
    found = np.zeros(size, np.int64)
    np.add.at(found, cols.astype(np.intp, copy=False), marks[rows])
    _, group, sizes = np.unique(found, return_inverse=True, return_counts=True)
    return group, sizes


def _between(group: Ints, rows: Ints, cols: Ints, count: int, sp: Scipy) -> Any:
    """The graph of the groups that meet, without those of a group with itself: of one unknown of each."""
    first = np.zeros(len(group), bool)
    first[np.unique(group, return_index=True)[1]] = True
    some = first[rows] & first[cols] & (rows != cols)
    ones = np.ones(int(some.sum()), np.float32)
    return sp.sparse.coo_array((ones, (group[rows[some]], group[cols[some]])), shape=(count, count)).tocsr()


def _ones(graph: Any) -> Any:
    """The graph with a 1 for each edge, and none from a group to itself."""
    found = graph.tocoo()
    row, col = found.coords
    other = row != col
    ones = np.ones(int(other.sum()), np.float32)
    return type(graph)((ones, (row[other], col[other])), shape=graph.shape)


def _independent(graph: Any, sizes: Ints) -> Any:
    """True for groups of which no two meet: those that meet fewer unknowns than all of their neighbours do."""
    degree = (graph @ sizes.astype(np.float64)) * len(sizes) + np.arange(len(sizes))  # no two have the same
    rows = np.repeat(np.arange(len(sizes)), np.diff(graph.indptr))
    least = np.full(len(sizes), np.inf)
    np.minimum.at(least, rows, degree[graph.indices])
    return degree < least
