"""Lanes: the axes that a linear loop or an inverse only carries along, so that it is a block for each of their places.

Axis i of what flows in *goes with* axis j of what flows out if the output depends at each place of j on the input at
the same place of i only. Which axes do is read off the arcs: each says where an axis of its source is in what it makes;
where arcs meet, what all of them say holds. A loop feeds its states back, so that this is a greatest fixed point: at
first nothing is known of what arrives, and pairs only go. Each wire changes at most once for each of its axes.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Protocol, TypeAlias, assert_never, final

from attrs import evolve, frozen

from hilbert.base.once import once
from hilbert.relation import Equality
from linmap.matrices.tables.pair_colours import colours
from linmap.matrices.tables.pair_sets import PairSet, count
from linmap.matrices.tables.tables import LISTED
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from hilbert.index.leaf import Bundle, Leaf
    from linmap.matrices.labelled.columns import Ints
    from linmap.matrices.network.loop_patterns import Lanes
    from linmap.term.net import Net


class Pattern(Protocol):
    """The pattern of a loop, or of an inverse."""

    def pairs(self, j: int, k: int) -> PairSet | None:
        """The pairs from array k that flows in to array j that flows out; None where the block is 0."""
        ...


UNKNOWNS = 2**12
"""The most unknowns of an inverse whose pairs are followed."""
SINGLES = 16
"""The most states, fed arrays and sums together for which pairs of single numbers are followed over the rounds."""
Pairs: TypeAlias = frozenset[tuple[int, int]]
"""The axes of an input that go with axes of an array, as pairs."""
Node: TypeAlias = "tuple[int, int]"
"""A wire, and which array of its bundle; -1 for a wire that has one array."""


@final
@frozen
class Run:
    """A loop or an inverse applied to the basis vectors of array `given`, those of one place of `lanes` in all at once.

    It yields the blocks into the arrays `made`, each with the axes there that `lanes` go with, and the pairs of the
    other axes that may differ from 0; None for all. Inputs of one colour, if there are colours, are one vector, the sum
    of theirs: no output depends on two of them (`linmap.matrices.tables.pair_colours`).
    """

    given: int
    lanes: tuple[int, ...]
    made: dict[int, tuple[tuple[int, ...], PairSet | None]]
    size: int
    colours: Ints | None = None

    @property
    def pairs(self) -> list[PairSet] | None:
        """The pairs of all blocks; None if some block may have all pairs."""
        found = [pairs for _, pairs in self.made.values() if pairs is not None]
        return found if len(found) == len(self.made) else None

    @property
    def vectors(self) -> int:
        """The number of vectors that the loop is run on."""
        return self.size if self.colours is None else int(self.colours.max(initial=-1)) + 1

    def least(self) -> int:
        """A lower bound of the number of vectors: the most inputs that one output depends on."""
        return self.size if self.pairs is None else max((p.widest for p in self.pairs), default=0)

    def coloured(self) -> Run:
        """The run with colours, if no block may have all pairs."""
        return self if self.pairs is None else evolve(self, colours=colours(self.pairs))


Patterns: TypeAlias = "Callable[[wire.Recur | wire.Inverse, tuple[Lanes, Lanes]], Pattern]"
"""A function that gives the pattern of a loop with some lanes, or of an inverse, found once."""
Way: TypeAlias = tuple[Pairs, PairSet | None]
"""The axes of an input that go with axes of an output, and the pairs that the other axes may have; None for all."""
Ways: TypeAlias = dict[int, dict[int, Way]]


def runs(
    f: wire.Recur | wire.Inverse, inputs: Collection[int], outputs: Collection[int], patterns: Patterns
) -> list[tuple[bool, Run]]:
    """The blocks of a loop or an inverse as runs of it (True) and of its adjoint, on the fewest vectors.

    All blocks are made one way, or those with more inputs than outputs by the adjoint: a parameter that every number
    depends on, and a total that depends on every number, are one vector each then. What flows has no axes in front.
    """
    ahead, back = _ways(f, inputs, outputs, patterns), Ways()
    some, others = Ways(), Ways()
    for k, found in ahead.items():
        for j, (lanes, pairs) in found.items():
            turned = frozenset((b, a) for a, b in lanes), None if pairs is None else pairs.T
            back.setdefault(j, {})[k] = turned
            n, m = _rest(f.given.leaves[k], {a for a, _ in lanes}), _rest(f.made.leaves[j], {b for _, b in lanes})
            if n <= m:
                some.setdefault(k, {})[j] = lanes, pairs
            else:
                others.setdefault(j, {})[k] = turned
    plans = [
        [*_runs(f.given, there, forward=True), *_runs(f.made, here, forward=False)]
        for there, here in ((ahead, Ways()), (Ways(), back), (some, others))
    ]
    best = min(plans, key=lambda plan: sum(run.least() for _, run in plan))
    return [(forward, run.coloured()) for forward, run in best]


def blocks_of(
    f: wire.Recur | wire.Inverse, inputs: Collection[int], outputs: Collection[int], patterns: Patterns
) -> list[tuple[bool, Run]]:
    """The blocks of a loop or an inverse, of which nothing is to be run."""
    return _runs(f.given, _ways(f, inputs, outputs, patterns), forward=True)


def _ways(f: wire.Recur | wire.Inverse, inputs: Collection[int], outputs: Collection[int], patterns: Patterns) -> Ways:
    """The ways from some inputs to some outputs."""
    return {k: {j: way for j, way in _ways_from(f, k, patterns).items() if j in outputs} for k in inputs}


def _runs(given: Bundle, ways: Ways, *, forward: bool) -> list[tuple[bool, Run]]:
    """For each input the runs, one for all outputs that go with the same axes of the input."""
    made: list[tuple[bool, Run]] = []
    for k, found in ways.items():
        groups: dict[tuple[int, ...], dict[int, Way]] = {}
        for j, way in found.items():
            groups.setdefault(tuple(sorted(dict(way[0]))), {})[j] = way
        shape = given.leaves[k].shape
        for lanes, group in groups.items():
            ends = {j: (tuple(dict(paired)[a] for a in lanes), pairs) for j, (paired, pairs) in group.items()}
            made.append((forward, Run(k, lanes, ends, math.prod(n for i, n in enumerate(shape) if i not in lanes))))
    return made


def _ways_from(f: wire.Recur | wire.Inverse, k: int, patterns: Patterns) -> dict[int, Way]:
    """For each output that input k reaches, which axes go with which, and the pairs of the others."""
    if isinstance(f, wire.Inverse) and not f.lanes and f.body.dom.dim <= UNKNOWNS:
        each = {j: patterns(f, ((), ())).pairs(j, k) for j in _paired(f, k)}
        return {j: (frozenset(), None if p.is_all or _is_thick(p) else p) for j, p in each.items() if p is not None}
    if isinstance(f, wire.Inverse) or not f.index.size:
        return {j: (lanes, None) for j, lanes in _paired(f, k).items()}
    value = _arriving(f, k)
    made: dict[int, Way] = {}
    for j, paired in _at_outputs(f, value).items():
        lanes = frozenset(a for a, _ in paired)
        one = _rest(f.given.leaves[k], lanes) == 1 == _rest(f.made.leaves[j], {b for _, b in paired})
        if one and f.states + f.fed + f.summed > SINGLES:
            made[j] = paired, None
            continue
        given, out = (_held(value, ends, lanes) for ends in (f.body.inputs, f.body.outputs))
        pairs = patterns(f, (given, out)).pairs(j, k)
        if pairs is not None:
            made[j] = paired, None if pairs.is_all or _is_thick(pairs) else pairs
    return made


def _rest(leaf: Leaf, lanes: Collection[int]) -> int:
    """The number of places along the axes that are no lanes."""
    return math.prod(n for i, n in enumerate(leaf.shape) if i not in lanes)


def _held(value: dict[Node, Pairs], wires: Sequence[int], lanes: Collection[int]) -> Lanes:
    """The places of some lanes among the axes of each of some wires; None for a wire that lacks one."""
    found = [sorted(b for a, b in value.get((w, -1), ()) if a in lanes) if (w, -1) in value else None for w in wires]
    return tuple([tuple(axes) if axes is not None and len(axes) == len(lanes) else None for axes in found])


def _is_thick(pairs: PairSet) -> bool:
    """Tell if a block is too long to be listed, and made whole instead."""
    number = count(pairs)
    return number > LISTED and 3 * number > pairs.n * pairs.m


# --- which axes go with which ---


def _paired(f: wire.Recur | wire.Inverse, k: int) -> dict[int, Pairs]:
    """For each output that input k of a loop or an inverse reaches: which axes go with which; none are in front."""
    if isinstance(f, wire.Inverse):
        lanes = frozenset((a, a) for a in range(f.lanes))
        return dict.fromkeys(range(len(f.made.leaves)), lanes)
    if not f.index.size:  # the last state is the first
        return {k: frozenset((a, a) for a in range(len(f.given.leaves[k].axes)))} if k < f.states else {}
    return _at_outputs(f, _arriving(f, k))


def _at_outputs(f: wire.Recur, value: dict[Node, Pairs]) -> dict[int, Pairs]:
    """The pairs of axes at the outputs; stacks have the axes of the rounds in front."""
    m, ends = len(f.index.axes), enumerate(f.body.outputs)
    found = {j: value[w, -1] for j, w in ends if (w, -1) in value}
    return {j: _behind(m, found[j]) if j >= f.states + f.summed else found[j] for j in found}


def _behind(m: int, pairs: Pairs) -> Pairs:
    """The pairs where m axes stand in front of what arrives."""
    return frozenset((a, b + m) for a, b in pairs)


def _arriving(f: wire.Recur, k: int) -> dict[Node, Pairs]:
    """The axes of input k that go with axes of each wire of the body, in all rounds, for wires that it reaches."""
    m = len(f.index.axes) if k >= f.states + f.fed else 0
    first = frozenset((a, a - m) for a in range(m, len(f.given.leaves[k].axes)))
    ways = _arcs(f.body)
    feeding: dict[Node, list[Node]] = {}
    for state, fed in zip(f.body.outputs[: f.states], f.body.inputs, strict=False):
        feeding.setdefault((state, -1), []).append((fed, -1))
    value: dict[Node, Pairs] = {(f.body.inputs[k], -1): first}
    todo = list(value)
    while todo:
        node = todo.pop()
        pairs = value[node]
        onward = itertools.chain(
            (
                (dst, frozenset((a, c) for a, b in pairs if (c := moved(b)) is not None))
                for dst, moved in ways.get(node, ())
            ),
            ((dst, pairs) for dst in feeding.get(node, ())),
        )
        for dst, made in onward:
            both = made & value[dst] if dst in value else made
            if dst not in value or both != value[dst]:
                value[dst] = both
                todo.append(dst)
    return value


Moved: TypeAlias = "Callable[[int], int | None]"
"""A function from the place of an axis to its place behind an arc; None for an axis that is not carried along."""


@once
def _arcs(body: Net) -> dict[Node, list[tuple[Node, Moved]]]:
    """For each wire, or array of its bundle, those that its arcs lead to, and where its axes go."""
    found: dict[Node, list[tuple[Node, Moved]]] = {}
    for arc in body.arcs:
        for src, dst, moved in _parts(arc.map):
            found.setdefault((arc.src, src), []).append(((arc.dst, dst), moved))
    return found


def _parts(f: wire.Wire) -> Iterator[tuple[int, int, Moved]]:
    """The ways through an arc: an array that flows in, an array that flows out, and the places of the axes there."""
    match f:
        case wire.Into(k, _):
            yield -1, k, _stays
        case wire.OutOf(k):
            yield k, -1, _stays
        case wire.Recur() | wire.Inverse():
            for k in range(len(f.given.leaves)):
                for j, pairs in _paired(f, k).items():
                    yield k, j, _inside(f.lead, dict(pairs))
        case simple:  # an arc from one array to one
            yield -1, -1, _moved(simple)


def _stays(b: int) -> int:
    return b


def _inside(lead: int, pairs: dict[int, int]) -> Moved:
    """Axes in front stay; the others are paired as inside."""

    def moved(b: int) -> int | None:
        if b < lead:
            return b
        c = pairs.get(b - lead)
        return None if c is None else c + lead

    return moved


def _moved(f: wire.Simple) -> Moved:
    """The places of an array's axes behind an arc."""
    match f:
        case wire.Move(axes):
            places = {b: c for c, b in enumerate(axes)}
            return places.get
        case wire.ContractWith(spec, side, _):
            flow = spec.right if side == 0 else spec.left
            out = {letter: c for c, letter in enumerate(spec.out)}
            return {b: c for b, letter in enumerate(flow) if (c := out.get(letter)) is not None}.get
        case wire.Reduce(Equality()) | wire.Same() | wire.Scale() | wire.Cast():
            return _stays
        case wire.Reduce(relation, at):
            given, made = len(relation.dom.axes), len(relation.cod.axes)
            return lambda b: b if b < at else None if b < at + given else b + made - given
        case wire.External(n=n):
            return lambda b: b if b < n else None
        case _:
            assert_never(f)
