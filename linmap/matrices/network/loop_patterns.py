"""The entries of a linear loop that may differ from 0: the pattern of a round, composed over the rounds.

A round takes states, what all rounds are fed, and slices, and makes states, summands and slices. With what is fed, and
with the sums so far, as states of their own, it is a matrix A of sets of pairs; k rounds are its k-th power. What the
round r is given has come to A^(k−1−r) B at the end, B from a slice to the states; what a round makes is C A^r, C from
the states to a slice; from round q to round r it is C A^(r−1−q) B, and in one round what the round itself has.
Values are not looked at: a round has the pattern that its net proves (`linmap.matrices.network.network`).
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np

from hilbert.base.once import cached_property
from linmap.matrices.labelled.columns import TooManyRowsError, divided, flat_positions
from linmap.matrices.tables.diagonal_products import along_diagonals, axis_pairs, in_forms, is_met
from linmap.matrices.tables.pair_matrices import Grid, alike, applied, power
from linmap.matrices.tables.pair_sets import (
    LONGEST,
    MOST,
    MaybePairs,
    PairRelation,
    PairSet,
    after,
    boxes,
    count,
    everything,
    flat,
    identity,
    listed,
    united,
)
from linmap.matrices.tables.tables import tabled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from linmap.matrices.labelled.columns import Ints
    from linmap.matrices.labelled.contractor import Contractor
    from linmap.matrices.labelled.labelled_products import Blocks, NetworkProduct
    from linmap.matrices.tables.banded_relations import Run
    from linmap.matrices.tables.pair_sets import Shape
    from linmap.term import wire

Lanes: TypeAlias = tuple[tuple[int, ...] | None, ...]
"""For each array of a round the axes that are lanes; None for an array which no path from the given input passes."""
FIRSTS = 64
"""The rounds after which the pairs from an array are kept for all arrays that they may lead to."""
ROUNDS = 10**4
"""The most rounds whose slices are followed singly; of more, all are taken to depend on all."""
THICK = 64
"""An axis without a relation is written as its diagonals where it has at most so many."""


@final
class LoopPattern:
    """The pairs of each block of a loop; `lanes` are left out of all arrays that its rounds are given, and make.

    `products` are those of each block of a round.
    """

    def __init__(self, n: Contractor, products: Blocks, f: wire.Recur, lanes: tuple[Lanes, Lanes]) -> None:
        self.n, self.products, self.lanes, self.body = n, products, lanes, f.body
        self.states, self.whole, self.summed = f.states, f.states + f.fed, f.states + f.summed
        self.rounds, self.front, self.reverse = f.index.size, f.index.shape, f.reverse
        self._passed: dict[int, tuple[list[dict[int, PairSet]], bool]] = {}

    def _kept(self, k: int, *, made: bool) -> tuple[int, ...]:
        """The axes that are no lanes of an array which a round is given, or makes."""
        ends = self.body.outputs if made else self.body.inputs
        lanes = self.lanes[made][k] or ()
        return tuple([i for i in range(len(self.body.wires[ends[k]].axes)) if i not in lanes])

    def _shape(self, k: int, *, made: bool) -> Shape:
        """The sizes of the axes that are no lanes of such an array."""
        wire_ = self.body.wires[(self.body.outputs if made else self.body.inputs)[k]]
        return tuple([wire_.shape[i] for i in self._kept(k, made=made)])

    @cached_property
    def _blocks(self) -> dict[tuple[int, int], PairSet]:
        """The pairs of a round, from array k that it is given to array j that it makes."""
        with self.n.lock:
            return self._found_blocks()

    def _found_blocks(self) -> dict[tuple[int, int], PairSet]:
        found: dict[tuple[int, int], PairSet] = {}
        for (j, k), products in self.products.items():
            if self.lanes[0][k] is None or self.lanes[1][j] is None:
                continue
            pairs: MaybePairs = None
            outs, inps = self._kept(j, made=True), self._kept(k, made=False)
            for p in products:
                out, inp = tuple([p.out[i] for i in outs]), tuple([p.inp[i] for i in inps])
                pairs = united(pairs, pairs_of(self.n, p.but(factors=(), out=out, inp=inp)))
            if pairs is not None:
                found[j, k] = pairs
        return found

    def _at(self, j: int) -> int:
        """The place of a state or a sum among the states, what is fed, and the sums."""
        return j if j < self.states else j - self.states + self.whole

    def _from(self, k: int) -> dict[int, PairSet]:
        """The pairs from array k that a round is given to the states and the sums."""
        return {self._at(j): self._blocks[j, k] for j in range(self.summed) if (j, k) in self._blocks}

    @cached_property
    def _round(self) -> Grid:
        """A round as a matrix between states, what is fed, and sums."""
        made = {k: self._from(k) for k in range(self.whole)}
        for k in range(self.states, self.whole):
            made[k] |= self._itself(k, self._shape(k, made=False))
        for j in range(self.states, self.summed):
            made[self._at(j)] = self._itself(self._at(j), self._shape(j, made=True))
        return made

    @staticmethod
    def _itself(k: int, shape: Shape) -> dict[int, PairSet]:
        one = identity(shape)
        return {} if one is None else {k: one}

    @cached_property
    def _all_rounds(self) -> Grid:
        return power(self._round, self.rounds)

    def pairs(self, j: int, k: int) -> MaybePairs:
        """The pairs from array k that flows into the loop to array j that flows out; axes of rounds are in front."""
        if k < self.whole and j < self.summed:
            return self._all_rounds.get(k, {}).get(self._at(j))
        inp, out = self._shape(k, made=False), self._shape(j, made=True)
        (n, m), rounds = (math.prod(inp), math.prod(out)), self.rounds
        of, to = k >= self.whole, j >= self.summed
        inp, out = self.front * of + inp, self.front * to + out
        every = everything(inp, out)
        if rounds > ROUNDS or every is None:
            return every
        places = np.arange(rounds)[:: -1 if self.reverse else 1]
        parts: list[Ints] = []
        total, last, size, ends = 0, None, 0, (places, places)
        for d, p in enumerate(self._later(j, k)):
            if p is None:
                continue
            times = rounds - d if of and to else 1
            if p is not last:  # after some rounds no more change
                last, size, ends = p, count(p), divided(flat(p), n)
            total += times * size
            if total > LONGEST:
                return every
            y, x = ends
            if of:
                x = x + n * (places[:times] if to else places[rounds - 1 - d :][:1])[:, None]
            if to:
                y = y + m * places[d : d + times, None]
            parts.append((y * every.n + x).reshape(-1))
        return listed(inp, out, np.sort(np.concatenate(parts))) if parts else None

    def _later(self, j: int, k: int) -> Iterator[MaybePairs]:
        """The pairs from array k of a round to array j after 0, 1, … more rounds, as many as there may be."""
        direct = k >= self.whole and j >= self.summed
        if direct:
            yield self._blocks.get((j, k))
        firsts, settled = self._firsts(k)
        read: MaybePairs = None
        found: dict[int, PairSet] = {}
        for d in range(self.rounds - direct):
            if d < len(firsts):
                found = firsts[d]
                read = self._read(j, found)
            elif not settled:
                before, found = found, applied(self._round, found)
                settled = alike(found, before)
                read = read if settled else self._read(j, found)
            yield read

    def _firsts(self, k: int) -> tuple[list[dict[int, PairSet]], bool]:
        """The pairs from array k of a round to states and sums after the first rounds, and True if no more change them.

        All arrays that a round makes are read from these.
        """
        made = self._passed.get(k)
        if made is None:
            firsts = [self._from(k) if k >= self.whole else self._itself(k, self._shape(k, made=False))]
            settled = False
            while not settled and len(firsts) < min(FIRSTS, self.rounds):
                found = applied(self._round, firsts[-1])
                settled = alike(found, firsts[-1])
                firsts += [] if settled else [found]
            made = self._passed[k] = firsts, settled
        return made

    def _read(self, j: int, found: dict[int, PairSet]) -> MaybePairs:
        """The pairs that arrive in array j that a round makes, or in the sums after the round."""
        if j < self.summed:
            return found.get(self._at(j))
        made: MaybePairs = None
        for k, p in found.items():
            made = united(made, after(self._blocks.get((j, k)), p) if k < self.whole else None)
        return made


# --- one product ---


def pairs_of(n: Contractor, p: NetworkProduct) -> MaybePairs:
    """The pairs of a product without factors; what other labels restrict is summed."""
    inp, out = tuple([n.sizes[c] for c in p.inp]), tuple([n.sizes[c] for c in p.out])
    every = everything(inp, out)
    if every is None or not p.k:
        return None
    if not p.is_related and len(set(p.out + p.inp)) == len(p.out + p.inp):
        return every
    known = [x.relation for x in p.links if (x.x, x.y) == (p.inp, p.out)]
    if len(p.links) == len(known) == 1 and not p.tables and isinstance(known[0], PairRelation):
        return known[0].pairs
    found = along_diagonals(n, p)
    if not found.k:
        return None
    some = _boxes(n, found) if is_met(found) else None
    if some is not None:
        return boxes(inp, out, some)
    try:
        q = tabled(n, in_forms(found), found.open, LONGEST, full=True, ways=False)
    except TooManyRowsError:
        return every
    if not q.k or not q.tables:
        return every if q.k else None
    (table,) = q.tables
    columns = dict(zip(table.labels, table.columns, strict=True))
    positions = flat_positions(p.out, columns, n.sizes) * every.n + flat_positions(p.inp, columns, n.sizes)
    return listed(inp, out, np.sort(positions))


def _boxes(n: Contractor, p: NetworkProduct) -> list[list[list[int]]] | None:
    """The boxes of a product whose relations lie on diagonals; None unless each axis goes with that at its place."""
    pairs = axis_pairs(n, p)
    if pairs is None or len(p.inp) != len(p.out):
        return None
    runs: dict[int, Sequence[Run]] = {}
    for (inp, out), relation in pairs:
        if len(inp) != 1 or inp != out:
            return None
        runs[inp[0]] = relation.runs
    for i, (a, b) in enumerate(zip(p.inp, p.out, strict=True)):
        size, to = n.sizes[a], n.sizes[b]
        if i not in runs:
            if size + to > THICK:
                return None
            runs[i] = [(d, max(0, -d), min(size, to - d)) for d in range(1 - size, to)]
    if math.prod(map(len, runs.values())) > MOST:
        return None
    ways = product(*[runs[i] for i in range(len(p.inp))])
    return [[list(numbers) for numbers in zip(*way, strict=True)] for way in ways]
