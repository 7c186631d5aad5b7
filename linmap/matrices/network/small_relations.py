"""Choose which relations between short axes of a net become small matrices of 0 and 1, so that a matrix has blocks.

A program takes, for each of 10⁵ observations, x[1:] of its three coordinates. On the coordinates this is a relation
between 3 and 2 elements, with the pairs (1, 0) and (2, 1); together with the observations its pairs would be listed one
by one, as 2·10⁵ single entries of a sparse matrix. As the matrix [[0, 1, 0], [0, 0, 1]], which multiplies each
observation's coordinates, it gives one block for each observation, which is stored and computed faster.

But a block has entries where the relation has none. The matrix of the whole net must not get entries that it would not
have had. So a relation is made a matrix only if the places of the entries of the net's matrix stay the same.

To find out, the places are followed through the net, from each input to each output. On the short axes, of at most
`SHORT` elements, they are arrays of truth values: which elements of an output depend on which elements of an input. On
the long axes no places are computed. A name stands for the arcs on the way that do more on long axes than multiply
element by element: ways with the same name have the same places on the long axes, so that their truth values are
united, and ways with different names are kept apart. What is not followed (loops, operators of users, relations between
a short axis and a long one) counts as an output, and its result as an input, whose places have to stay the same, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias, assert_never, final

import numpy as np
import numpy.typing as npt

from hilbert.relation import Equality, Full
from linmap.matrices.network.sum_simplification import SHORT
from linmap.net.fold import live_arcs
from linmap.net.support import labels
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from hilbert import Index
    from hilbert.index.leaf import Leaf
    from hilbert.relation.relation import AnyRelation
    from linmap.term.net import Arc, Net

Truth: TypeAlias = npt.NDArray[np.bool_]
Flow: TypeAlias = dict[int, Truth]
"""By the name of what happened on the long axes: which short places of a wire depend on which of where it started."""
WIDE = 64
"""The short axes of a wire have at most so many places together; otherwise it is not followed."""
NAMES = 32
"""A wire is followed from at most so many names …"""
SMALL = 512
"""Flows of at most so many truth values are kept."""
FOLLOWED = 10**5
"""… and at most so many arcs are followed, if some several times; a net with more keeps its relations."""


def dense_relations(body: Net) -> frozenset[int]:
    """The places, among the live arcs of a net, of the relations that are arrays of 0 and 1."""
    arcs = live_arcs(body.arcs, body.inputs, body.outputs)
    some = [k for k, arc in enumerate(arcs) if _is_short(arc.map, body.wires[arc.src])]
    passes = FOLLOWED // max(len(arcs), 1) - 1
    if not some or passes < 1:
        return frozenset()
    first = _Followed(body, arcs, ())
    taken, todo = frozenset[int](), [some]
    while todo and passes > 0:  # all at once, or else the halves
        part = todo.pop()
        more = taken.union(part)
        passes -= 1
        if _Followed(body, arcs, more, first).is_as(first):
            taken = more
        elif len(part) > 1:
            todo += [part[len(part) // 2 :], part[: len(part) // 2]]
    return taken


def _is_short(f: wire.Wire, leaf: Leaf) -> bool:
    """Tell if an arc is a relation between short axes, beside a long one, that neither is all pairs nor the equal."""
    if not isinstance(f, wire.Reduce) or isinstance(f.relation, (Full, Equality)):
        return False
    sides = f.relation.dom, f.relation.cod
    return any(side.axes for side in sides) and all(s.size <= SHORT for s in sides) and any(map(_is_long, leaf.axes))


def _is_long(axis: Index) -> bool:
    return axis.size > SHORT


def _short(axes: Sequence[Index]) -> tuple[int, ...]:
    """The sizes of the short axes among some."""
    return tuple([axis.size for axis in axes if not _is_long(axis)])


@final
class _Followed:
    """The truth values from each start to each end of a net, with some relations dense.

    Another one of the same net has names, and what an arc makes of a small flow; most flows are the same with other
    relations dense.
    """

    def __init__(self, body: Net, arcs: Sequence[Arc], dense: Collection[int], like: _Followed | None = None) -> None:
        self.body = body
        self.names: dict[Hashable, int] = {} if like is None else like.names
        self.known: dict[Hashable, Flow | None] = {} if like is None else like.known
        self.flows: dict[int, Flow] = {}
        self.ends: dict[tuple[int, int], Truth] = {}
        for w in body.inputs:
            self._start(w)
        for k, arc in enumerate(arcs):
            if len(self.flows.get(arc.src, ())) > NAMES:
                self._end(arc.src)
                del self.flows[arc.src]
                self._start(arc.src)
            flow = self._known(k, arc, is_dense=k in dense)
            if flow is None:
                self._end(arc.src)
                self._start(arc.dst)
            else:
                self._add(arc.dst, flow)
        for w in body.outputs:
            self._end(w)

    def is_as(self, other: _Followed) -> bool:
        """Tell if all truth values are those of another."""
        return self.ends.keys() == other.ends.keys() and all(
            np.array_equal(truth, other.ends[key]) for key, truth in self.ends.items()
        )

    def _name(self, *key: Hashable) -> int:
        return self.names.setdefault(key, len(self.names))

    def _start(self, w: int) -> None:
        """Let a wire depend on itself."""
        shape = _short(self.body.wires[w].axes)
        size = math.prod(shape)
        if size <= WIDE:
            self._add(w, {self._name(w): np.eye(size, dtype=bool).reshape(*shape, size)})

    def _end(self, w: int) -> None:
        """Note what a wire depends on."""
        self.ends.update({(w, name): truth for name, truth in self.flows.get(w, {}).items()})

    def _add(self, w: int, flow: Flow) -> None:
        here = self.flows.setdefault(w, {})
        for name, truth in flow.items():
            here[name] = here[name] | truth if name in here else truth

    def _known(self, k: int, arc: Arc, *, is_dense: bool) -> Flow | None:
        """The flow into the end of an arc, worked out once for each small flow; None where the arc is not followed."""
        flow = self.flows.get(arc.src)
        if flow is None:
            return None
        if sum([truth.size for truth in flow.values()]) > SMALL:
            return self._through(flow, arc, is_dense=is_dense)
        key = (k, is_dense, *[(name, truth.tobytes()) for name, truth in flow.items()])
        if key not in self.known:
            self.known[key] = self._through(flow, arc, is_dense=is_dense)
        return self.known[key]

    def _through(self, flow: Flow, arc: Arc, *, is_dense: bool) -> Flow | None:
        """The flow into the end of an arc; None where the arc is not followed."""
        f, axes = arc.map, self.body.wires[arc.src].axes
        if math.prod(_short(self.body.wires[arc.dst].axes)) > WIDE:
            return None
        match f:
            case wire.Scale(k) if k == 0.0:
                return {}
            case wire.Same() | wire.Cast() | wire.Scale():
                return flow
            case wire.Move(order):
                return self._contracted(flow, range(len(axes)), order, axes)
            case wire.Reduce(Full() as relation, at):
                count, new = len(axes), range(len(axes), len(axes) + len(relation.cod.axes))
                made = (*range(at), *new, *range(at + len(relation.dom.axes), count))
                return self._contracted(flow, range(count), made, (*axes, *relation.cod.axes))
            case wire.Reduce(relation, at):
                return self._reduced(flow, axes, relation, at, is_dense=is_dense)
            case wire.ContractWith(spec, _, datum):
                if datum.leaf.entry.index is not None:  # found at the point, or a table
                    return None
                letters = dict(zip(labels(f)[0], datum.leaf.axes, strict=True))
                letters |= dict(zip(labels(f)[1], axes, strict=True))
                place = {c: k for k, c in enumerate(letters)}
                have, want = ([place[c] for c in side] for side in (labels(f)[1], spec.out))
                return self._contracted(flow, have, want, [*letters.values()])
            case wire.External() | wire.Into() | wire.OutOf() | wire.Recur() | wire.Inverse():
                return None
            case _:
                assert_never(f)

    def _contracted(self, flow: Flow, given: Sequence[int], made: Sequence[int], axes: Sequence[Index]) -> Flow:
        """The flow with axes left out, which are summed over, new axes along which all are alike, and in an order."""
        long = [[k for k in side if _is_long(axes[k])] for side in (given, made)]
        is_same = long[0] == long[1]
        short = [[k for k in side if not _is_long(axes[k])] for side in (given, made)]
        gone = tuple(i for i, k in enumerate(short[0]) if k not in made)
        stay = [k for k in short[0] if k in made]
        found: Flow = {}
        for name, truth in flow.items():
            some: Truth = np.any(truth, axis=gone, keepdims=False) if gone else truth
            order = [stay.index(k) for k in short[1] if k in stay]
            some = some.transpose(*order, len(order))
            for at, k in enumerate(short[1]):
                if k not in stay:
                    some = np.repeat(np.expand_dims(some, at), axes[k].size, at)
            where = [long[0].index(k) if k in long[0] else (axes[k],) for k in long[1]]
            key = name if is_same else self._name(name, tuple(where))
            found[key] = found[key] | some if key in found else some
        return found

    def _reduced(
        self, flow: Flow, axes: Sequence[Index], relation: AnyRelation, at: int, *, is_dense: bool
    ) -> Flow | None:
        """The flow after a relation, of short axes or of long ones; None where it has both."""
        dom, cod = relation.dom.axes, relation.cod.axes
        before = len(_short(axes[:at]))
        if any(map(_is_long, (*dom, *cod))):
            if _short((*dom, *cod)):
                return None
            place = at - before
            return {self._name(name, relation, place): truth for name, truth in flow.items()}
        matrix = np.ones((relation.cod.size, relation.dom.size), bool)
        x, y = relation.holds()
        if not is_dense:
            matrix[:] = False
            matrix[y, x] = True
        found: Flow = {}
        for name, truth in flow.items():
            lead, rest = truth.shape[:before], truth.shape[before + len(dom) :]
            some = truth.reshape(math.prod(lead), relation.dom.size, math.prod(rest))
            found[name] = (matrix @ some).reshape(*lead, *_short(cod), *rest)
        return found
