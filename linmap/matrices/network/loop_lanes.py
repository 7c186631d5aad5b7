"""Lanes: the axes that a linear loop or an inverse only carries along, so that it is a block for each of their places.

Axis i of what flows in *goes with* axis j of what flows out if the output depends at each place of j on the input at
the same place of i only. Which axes do is read off the arcs: each says where an axis of its source is in what it makes;
where arcs meet, what all of them say holds. A loop feeds its states back, so that this is a greatest fixed point: at
first nothing is known of what arrives, and pairs only go. Each wire changes at most once for each of its axes.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import frozen

from hilbert.base.once import once
from hilbert.relation import Equality
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from linmap.term.net import Net

Pairs: TypeAlias = frozenset[tuple[int, int]]
"""Which axes of what flowed in go with which axes of an array."""
Node: TypeAlias = "tuple[int, int]"
"""A wire, and which array of its bundle; -1 for a wire that has one array."""


@final
@frozen
class Run:
    """A loop or an inverse applied to the basis vectors of array `given`, those of one place of `lanes` in all at once.

    It yields the blocks into the arrays `made`, each with the axes there that `lanes` go with.
    """

    given: int
    lanes: tuple[int, ...]
    made: dict[int, tuple[int, ...]]

    def vectors(self, f: wire.Recur | wire.Inverse) -> int:
        """On how many basis vectors."""
        shape = f.given.leaves[self.given].shape
        return math.prod(n for i, n in enumerate(shape) if i not in self.lanes)


def runs(
    f: wire.Recur | wire.Inverse, inputs: Collection[int], outputs: Collection[int]
) -> tuple[wire.Recur | wire.Inverse, bool, list[Run]]:
    """How the blocks of a loop or an inverse are made: it, or its adjoint, whichever is run on fewer basis vectors.

    The second is whether it is itself. What flows has no axes in front.
    """
    ahead = {k: _paired(f, k) for k in inputs}
    ahead = {k: {j: pairs for j, pairs in found.items() if j in outputs} for k, found in ahead.items()}
    back: dict[int, dict[int, Pairs]] = {j: {} for j in outputs}
    for k, found in ahead.items():
        for j, pairs in found.items():
            back[j][k] = frozenset((b, a) for a, b in pairs)
    g = f.adjoint(f.given)
    forward, backward = _runs(ahead), _runs(back)
    if sum(run.vectors(f) for run in forward) <= sum(run.vectors(g) for run in backward):
        return f, True, forward
    return g, False, backward


def _runs(paired: dict[int, dict[int, Pairs]]) -> list[Run]:
    """For each input one run for the outputs of each lanes."""
    made: list[Run] = []
    for k, found in paired.items():
        groups: dict[tuple[int, ...], dict[int, Pairs]] = {}
        for j, pairs in found.items():
            groups.setdefault(tuple(sorted(dict(pairs))), {})[j] = pairs
        for lanes, group in groups.items():
            made.append(Run(k, lanes, {j: tuple(dict(pairs)[a] for a in lanes) for j, pairs in group.items()}))
    return made


# --- which axes go with which ---


def _paired(f: wire.Recur | wire.Inverse, k: int) -> dict[int, Pairs]:
    """For each output that input k of a loop or an inverse reaches: which axes go with which; none are in front."""
    leaf = f.given.leaves[k]
    if isinstance(f, wire.Inverse):
        lanes = frozenset((a, a) for a in range(f.lanes))
        return dict.fromkeys(range(len(f.made.leaves)), lanes)
    m = len(f.index.axes)
    whole = f.states + f.fed
    first = frozenset((a, a - m if k >= whole else a) for a in range(m if k >= whole else 0, len(leaf.axes)))
    found = _arriving(f, k, first)
    return {j: _behind(m, found[j]) if j >= f.states + f.summed else found[j] for j in found}


def _behind(m: int, pairs: Pairs) -> Pairs:
    """The pairs where m axes stand in front of what arrives."""
    return frozenset((a, b + m) for a, b in pairs)


def _arriving(f: wire.Recur, k: int, first: Pairs) -> dict[int, Pairs]:
    """What arrives in some round at the outputs of the body that something of input k arrives at.

    Where there are no rounds, the last state is the first.
    """
    if not f.index.size:
        return {k: first} if k < f.states else {}
    ways = _ways(f.body)
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
    return {j: value[w, -1] for j, w in enumerate(f.body.outputs) if (w, -1) in value}


Moved: TypeAlias = "Callable[[int], int | None]"
"""Where an axis is behind an arc; None where it is not carried along."""


@once
def _ways(body: Net) -> dict[Node, list[tuple[Node, Moved]]]:
    """Where what is on a wire goes, and what becomes of its axes."""
    found: dict[Node, list[tuple[Node, Moved]]] = {}
    for arc in body.arcs:
        for src, dst, moved in _parts(arc.map):
            found.setdefault((arc.src, src), []).append(((arc.dst, dst), moved))
    return found


def _parts(f: wire.Wire) -> Iterator[tuple[int, int, Moved]]:
    """From which array of what flows in, to which of what flows out, and what becomes of the axes on the way."""
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
    """What becomes of the axes of one array."""
    match f:
        case wire.Move(axes):
            places = {b: c for c, b in enumerate(axes)}
            return places.get
        case wire.ContractWith(spec, side, _):
            flow = spec.right if side == 0 else spec.left
            out = {letter: c for c, letter in enumerate(spec.out)}
            return {b: c for b, letter in enumerate(flow) if (c := out.get(letter)) is not None}.get
        case wire.Reduce(relation, at) if not isinstance(relation, Equality):
            given, made = len(relation.dom.axes), len(relation.cod.axes)
            return lambda b: b if b < at else None if b < at + given else b + made - given
        case wire.External(n=n):
            return lambda b: b if b < n else None
        case _:  # Same, Scale, Cast, Reduce by the identity
            return _stays
