"""The entries of a block that may differ from 0: pairs of an input and an output, united and composed.

A set of pairs is all of them, or boxes, or a list. A *box* is a shift along each axis: x is related to x + offset for
first ≤ x < end, axis by axis. Stencils on grids and what they make one after the other are few boxes, whatever the
sizes are; other sets are listed, and all pairs stand for sets that are too large to be listed.

>>> line = boxes((9,), (9,), [[[0], [0], [9]], [[1], [0], [8]]])  # x to x and to x + 1
>>> twice = after(line, line)
>>> count(twice), twice.boxes[:, 0, 0].tolist()
(24, [0, 1, 2])
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from hilbert.base.once import cached_property
from hilbert.base.sizes import room
from hilbert.relation.relation import Relation
from linmap.matrices.labelled.columns import Ints, divided, first_of_equal
from linmap.matrices.labelled.matches import Matches
from linmap.matrices.tables.banded_relations import volume

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Index

Shape: TypeAlias = tuple[int, ...]
Boxes: TypeAlias = npt.NDArray[np.int64]
"""For each box the offsets, the first places and the ends, by axes."""
MOST = 1024
"""The most boxes of a set; one of more is a list of pairs."""
LONGEST = 4 * 10**6
"""The most pairs of a list."""
WAYS = 16
"""Two lists are composed if they meet in at most WAYS·LONGEST places; beyond, all pairs are taken."""


@final
@frozen(eq=False, slots=False)
class PairSet:
    """A set of pairs of an element of `inp` and one of `out`, both grids of a shape; all pairs without boxes and list.

    The list is of flat positions (output, input), in order, each once. Boxes may overlap where there are several axes.
    """

    inp: Shape
    out: Shape
    boxes: Boxes | None = None
    listed: Ints | None = None

    @property
    def n(self) -> int:
        """The number of inputs."""
        return math.prod(self.inp)

    @property
    def m(self) -> int:
        """The number of outputs."""
        return math.prod(self.out)

    @property
    def is_all(self) -> bool:
        """Tell if every pair is in the set."""
        return self.boxes is None and self.listed is None

    @cached_property
    def positions(self) -> Ints:
        """The flat positions (output, input) of all pairs, in order."""
        if self.listed is not None:
            return self.listed
        if self.boxes is None:
            return np.arange(self.n * self.m)
        room(2 * _volume(self.boxes), "a list of pairs")
        return _in_order([_positions(self, box) for box in self.boxes])

    @cached_property
    def widest(self) -> int:
        """The largest number of inputs that one output is related to."""
        return self.n if self.is_all else int(np.bincount(divided(self.positions, self.n)[0]).max(initial=0))

    @cached_property
    def T(self) -> PairSet:
        """The pairs turned round."""
        if self.boxes is not None:
            d, a, b = self.boxes[:, 0], self.boxes[:, 1], self.boxes[:, 2]
            return PairSet(self.out, self.inp, np.stack((-d, a + d, b + d), 1))
        if self.listed is None:
            return PairSet(self.out, self.inp)
        y, x = divided(self.listed, self.n)
        return PairSet(self.out, self.inp, None, np.sort(x * self.m + y))


@final
@frozen(eq=False)
class PairRelation(Relation[Any, Any]):
    """A set of pairs as a relation between two index sets: counted without a list, where it is boxes."""

    dom: Index  # pyright: ignore[reportIncompatibleMethodOverride]
    cod: Index  # pyright: ignore[reportIncompatibleMethodOverride]
    pairs: PairSet

    @property
    def T(self) -> PairRelation:
        """The pairs turned round."""
        return PairRelation(self.cod, self.dom, self.pairs.T)

    def holds(self) -> tuple[Ints, Ints]:
        """The pairs, by inputs."""
        return divided(self.pairs.T.positions, self.pairs.m)

    def degrees(self) -> Ints:
        """The number of partners of each element."""
        return np.bincount(self.holds()[0], minlength=self.dom.size)

    @property
    def size(self) -> int:
        """The number of pairs."""
        return count(self.pairs)


MaybePairs: TypeAlias = "PairSet | None"
"""A set of pairs; None for the empty one."""


# --- made ---


def everything(inp: Shape, out: Shape) -> MaybePairs:
    """The set of all pairs."""
    return PairSet(inp, out) if math.prod(inp) and math.prod(out) else None


def identity(shape: Shape) -> MaybePairs:
    """Each element with itself."""
    zero = [0] * len(shape)
    return boxes(shape, shape, [[zero, zero, list(shape)]])


def boxes(inp: Shape, out: Shape, some: Any) -> MaybePairs:
    """Boxes without those that are in others, as far as that is seen; a list where there are too many."""
    if not inp or not out:  # one element
        return everything(inp, out) if len(some) else None
    found = _tidied(np.asarray(some, np.int64).reshape(-1, 3, len(inp)))
    if not len(found):
        return None
    made = PairSet(inp, out, found)
    if len(found) > MOST:
        return listed(inp, out, flat(made)) if _volume(found) <= LONGEST else everything(inp, out)
    return everything(inp, out) if count(made) == made.n * made.m else made


def listed(inp: Shape, out: Shape, positions: Ints) -> MaybePairs:
    """A list of flat positions, in order, each once."""
    if not len(positions):
        return None
    return PairSet(inp, out, None, positions) if len(positions) < math.prod(inp) * math.prod(out) else PairSet(inp, out)


def flat(p: PairSet) -> Ints:
    """The flat positions (output, input) of all pairs, in order."""
    return p.positions


def _in_order(parts: Sequence[Ints]) -> Ints:
    """Numbers in order, each once."""
    made: Ints = np.sort(np.concatenate(parts))
    first = first_of_equal(made)
    return made if first.all() else made[first]


def _positions(p: PairSet, box: Boxes) -> Ints:
    """The flat positions of the pairs of one box."""
    x = y = np.zeros((), np.int64)
    for axis, (n, m) in enumerate(zip(p.inp, p.out, strict=True)):
        d, a, b = (int(number) for number in box[:, axis])
        places = np.arange(a, b)
        x = (x[..., None] * n) + places
        y = (y[..., None] * m) + (places + d)
    return (y * p.n + x).reshape(-1)


def count(p: PairSet) -> int:
    """The number of pairs."""
    if p.listed is not None:
        return len(p.listed)
    if p.boxes is None:
        return p.n * p.m
    if len(p.inp) == 1:
        return _volume(p.boxes)
    groups: dict[bytes, list[tuple[tuple[int, int], ...]]] = {}
    for d, a, b in p.boxes:
        groups.setdefault(d.tobytes(), []).append(tuple(zip(a.tolist(), b.tolist(), strict=True)))
    return sum(map(volume, groups.values()))


def _volume(some: Boxes) -> int:
    """The sizes of all boxes together."""
    return sum(map(math.prod, (some[:, 2] - some[:, 1]).tolist()))


def same(p: MaybePairs, q: MaybePairs) -> bool:
    """Tell if two sets on the same grids are seen to be one."""
    if p is None or q is None:
        return p is q
    if p.is_all or q.is_all:
        return p.is_all and q.is_all
    if p.boxes is not None and q.boxes is not None:
        return np.array_equal(p.boxes, q.boxes)
    return p.listed is not None and q.listed is not None and np.array_equal(p.listed, q.listed)


# --- united ---


def united(p: MaybePairs, q: MaybePairs) -> MaybePairs:
    """The pairs of either."""
    if p is None or q is None:
        return q if p is None else p
    if p.is_all or q.is_all:
        return p if p.is_all else q
    if p.boxes is not None and q.boxes is not None and (p.inp, p.out) == (q.inp, q.out):
        return boxes(p.inp, p.out, np.concatenate((p.boxes, q.boxes)))
    if count(p) + count(q) > LONGEST:
        return everything(p.inp, p.out)
    return listed(p.inp, p.out, _in_order((flat(p), flat(q))))


def _tidied(some: Boxes) -> Boxes:
    """Boxes that touch or overlap along one axis, and agree along the others, made one; in order."""
    some = some[(some[:, 2] > some[:, 1]).all(1)]
    axes = some.shape[2]
    for axis in range(axes):
        if len(some) < 2:
            return some
        others = [i for i in range(axes) if i != axis]
        keys = [some[:, 0, i] for i in range(axes)] + [some[:, k, i] for i in others for k in (1, 2)]
        some = some[np.lexsort((some[:, 1, axis], *keys[::-1]))]
        apart = np.zeros(len(some), bool)
        for key in (some[:, 0, :], some[:, 1, others], some[:, 2, others]):
            apart[1:] |= (key[1:] != key[:-1]).any(1)
        numbers, ranks = np.unique(some[:, 2, axis], return_inverse=True)
        group = np.cumsum(apart) * len(numbers)
        ends = numbers[np.maximum.accumulate(ranks + group) - group]  # the largest so far
        apart[1:] |= some[1:, 1, axis] > ends[:-1]
        apart[0] = True
        starts = np.flatnonzero(apart)
        made = some[starts]
        made[:, 2, axis] = ends[np.append(starts[1:], len(some)) - 1]
        some = made
    return _without_inner(some) if axes > 1 else some


def _without_inner(some: Boxes) -> Boxes:
    """Without the boxes that are in the largest one of their offset."""
    if len(some) < 2:
        return some
    sizes = np.prod(some[:, 2] - some[:, 1], axis=1, dtype=np.float64)
    axes = range(some.shape[2])
    order = np.lexsort((-sizes, *[some[:, 0, i] for i in axes][::-1]))
    some = some[order]
    first = np.ones(len(some), bool)
    first[1:] = (some[1:, 0] != some[:-1, 0]).any(1)
    largest = some[np.flatnonzero(first)[np.cumsum(first) - 1]]
    inside = ((largest[:, 1] <= some[:, 1]) & (some[:, 2] <= largest[:, 2])).all(1)
    made: Boxes = some[first | ~inside]
    return made


# --- one after the other ---


def after(outer: MaybePairs, inner: MaybePairs) -> MaybePairs:
    """The pairs (x, z) with some y of which (x, y) is in the inner set, and (y, z) in the outer one."""
    if outer is None or inner is None:
        return None
    if inner.is_all or outer.is_all:
        return _beside_all(outer, inner)
    if outer.boxes is not None and inner.boxes is not None and outer.inp == inner.out:
        return _boxes_after(outer, inner)
    if max(count(outer), count(inner)) > LONGEST:
        return everything(inner.inp, outer.out)
    sizes = (inner.n, inner.m, outer.m)
    pairs = Matches(_columns(inner, 0, 1), _columns(outer, 1, 2), sizes)
    if pairs.total > WAYS * LONGEST:
        return everything(inner.inp, outer.out)
    z, x = pairs.distinct((2, 0)).columns
    if len(x) > LONGEST:
        return everything(inner.inp, outer.out)
    return listed(inner.inp, outer.out, z.astype(np.int64) * inner.n + x)


def _columns(p: PairSet, x: int, y: int) -> dict[int, Ints]:
    """The pairs as columns of two labels."""
    out, inp = divided(flat(p), p.n)
    return {x: inp, y: out}


def _beside_all(outer: PairSet, inner: PairSet) -> MaybePairs:
    """A composition of which one set is all: a rectangle."""
    if inner.is_all and outer.is_all:
        return everything(inner.inp, outer.out)
    mixed, ends = (outer.T, outer.m) if inner.is_all else (inner, inner.n)
    if min(mixed.n, mixed.m) == 0 or count(mixed) > LONGEST:
        return everything(inner.inp, outer.out)
    some = np.flatnonzero(np.bincount(flat(mixed) % mixed.n))
    if len(some) == ends or len(some) * (inner.n if inner.is_all else outer.m) > LONGEST:
        return everything(inner.inp, outer.out)
    x, z = (np.arange(inner.n), some) if inner.is_all else (some, np.arange(outer.m))
    return listed(inner.inp, outer.out, (z[:, None] * inner.n + x).reshape(-1))


def _boxes_after(outer: PairSet, inner: PairSet) -> MaybePairs:
    """A box for each inner and each outer one, tidied: offsets add up, places are those that inner takes into outer."""
    assert outer.boxes is not None
    assert inner.boxes is not None
    d, a, b = inner.boxes[:, None, 0], inner.boxes[:, None, 1], inner.boxes[:, None, 2]
    made: Boxes = np.zeros((0, 3, len(inner.inp)), np.int64)
    step = max((1 << 18) // len(inner.boxes), 1)
    for start in range(0, len(outer.boxes), step):
        e, s, t = (outer.boxes[None, start : start + step, k] for k in range(3))
        both = np.stack((d + e, np.maximum(a, s - d), np.minimum(b, t - d)), 2)
        made = _tidied(np.concatenate((made, both.reshape(-1, *made.shape[1:]))))
    return boxes(inner.inp, outer.out, made)
