"""Proofs that a linear map is symmetric and positive: a sum of maps B* • D • B with diagonals D ≥ 0, some B being id.

Paths from the inputs of a net to its outputs are cut, each once, at an arc that is a diagonal D, or at a wire. The
paths through a cut are C • D • B, with B from the inputs to the cut, and C from there to the outputs. B is compared
with C*, which is what the adjoint of the net has at the same wire: if they are one map, but for a factor, and the
factors and D are ≥ 0, these paths are no negative map. Where B is id on an array and D > 0, the sum is positive there;
so it is where B is id plus a map of arrays on which the sum is positive.

>>> from hilbert import Fin, R
>>> from linmap import gram, identity, total
>>> from linmap.net.lower import net
>>> X = Fin.of(3)
>>> is_positive(net(identity(R**X) + gram(total(X))), nothing_known), is_positive(net(gram(total(X))), nothing_known)
(True, False)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.program.line.constant import Const
from hilbert.program.line.operation import Scale
from linmap.net.equal import Numbering, arc_label, const_label
from linmap.net.fold import live_arcs
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import turned

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from linmap.term.datum import Datum
    from linmap.term.net import Arc, Net

ARCS, LARGE = 2000, 2**20
"""Nets with more arcs are not looked at; constants with more entries are one only if they come from one vector."""


@final
@frozen
class Known:
    """The facts about a datum, at any point: no entry is negative; none is 0 either; it is a constant."""

    is_negative_nowhere: bool = False
    is_positive: bool = False
    constant: Const | None = None


Multiple: TypeAlias = "tuple[float, int]"
"""A factor, and the number of a map."""


def is_positive(body: Net, known: Callable[[Ref], Known]) -> bool:
    """Tell if a net is proved to be symmetric and positive, from what is `known` of its references."""
    ends = ([body.wires[w] for w in some] for some in (body.inputs, body.outputs))
    if body.dom != body.cod or len(body.arcs) > ARCS or next(ends) != next(ends):
        return False
    maps, back = _Maps(known), turned(body)
    arcs = live_arcs(body.arcs, body.inputs, body.outputs)
    there = maps.along(body.inputs, arcs)
    cut = _Cuts(there, maps.along(back.inputs, live_arcs(back.arcs, back.inputs, back.outputs)), known)
    is_open, is_cut = dict.fromkeys(body.inputs, True), dict[int, bool]()
    seen = set[int]()

    def at(w: int) -> None:
        """Cut the paths at a wire, when all of those into it are known."""
        if w not in seen and is_open.get(w) and not is_cut.get(w) and cut.at_wire(w):
            is_open[w], is_cut[w] = False, True
        seen.add(w)

    for arc in arcs:
        at(arc.src)
        before = is_open.get(arc.src, False), is_cut.get(arc.src, False)
        if before == (True, False) and cut.at_arc(arc):
            before = False, True
        is_open[arc.dst] = is_open.get(arc.dst, False) or before[0]
        is_cut[arc.dst] = is_cut.get(arc.dst, False) or before[1]
    for w in body.outputs:
        at(w)
    due = {k for k, w in enumerate(body.inputs) if body.wires[w].size}
    return not any(is_open.get(w) for w in body.outputs) and due <= maps.determined(cut.positive)


@final
class _Maps:
    """Numbers for maps from the inputs: two have the same number if they are one map, but for a factor."""

    def __init__(self, known: Callable[[Ref], Known]) -> None:
        self._known = known
        self._numbers: dict[Hashable, int] = {}
        self._terms: dict[int, tuple[tuple[int, float], ...]] = {}
        self._numbering = Numbering()
        self._inputs: dict[int, int] = {}
        self._needed: dict[int, frozenset[int]] = {}

    def along(self, inputs: Sequence[int], arcs: Iterable[Arc]) -> dict[int, Multiple]:
        """The map from the inputs to each wire that they reach."""
        sums: dict[int, dict[int, float]] = {}
        found: dict[int, Multiple] = {}
        for k, w in enumerate(inputs):
            term = self._number(("input", k))
            self._inputs[term], self._needed[term] = k, frozenset((k,))
            sums[w] = {term: 1.0}
            found[w] = self._sum(sums[w])
        for arc in arcs:
            if arc.src not in found:
                found[arc.src] = self._sum(sums[arc.src])
            into = sums.setdefault(arc.dst, {})
            for term, part in self._after(arc, *found[arc.src]):
                into[term] = into.get(term, 0.0) + part
            found.pop(arc.dst, None)
        return {w: found[w] if w in found else self._sum(terms) for w, terms in sums.items()}

    def determined(self, numbers: Iterable[int]) -> set[int]:
        """The inputs that are 0 where all maps with these numbers are: of x ↦ xᵢ + C(y) both, if y is one of them."""
        sums, found = [self._terms[number] for number in numbers], set[int]()
        while True:
            rest = [[term for term, _ in parts if not self._needed[term] <= found] for parts in sums]
            more = {self._inputs[terms[0]] for terms in rest if len(terms) == 1 and terms[0] in self._inputs}
            if not more:
                return found
            found |= more

    def _after(self, arc: Arc, factor: float, number: int) -> Iterable[tuple[int, float]]:
        match arc.map:
            case wire.Same():
                k = 1.0
            case Scale(k):
                pass
            case wire.ContractWith() as f:
                return [(self._image(self._section(f), number), factor)]
            case f:  # a map of its own
                return [(self._image(arc_label(f, self._numbering, self._datum), number), factor)]
        return [(term, k * factor * part) for term, part in self._terms[number]]

    def _image(self, label: Hashable, number: int) -> int:
        """The number of a map after one with a number."""
        made = self._number((label, number))
        self._needed[made] = frozenset[int]().union(*[self._needed[term] for term, _ in self._terms[number]])
        return made

    def _datum(self, d: Datum) -> Hashable:
        d = self._constant(d)
        if isinstance(d, Ref):
            return "slot", d.slot
        return const_label(d) if d.leaf.size <= LARGE else d

    def _constant(self, d: Datum) -> Datum:
        return d if isinstance(d, Const) else self._known(d).constant or d

    def _section(self, f: wire.ContractWith) -> Hashable:
        """The key of a section: that of a matrix is one, whichever of its axes comes first."""
        datum, spec = self._constant(f.datum), f.spec
        labels, flow = (spec.left, spec.right) if f.side == 0 else (spec.right, spec.left)
        names = {c: k for k, c in enumerate(dict.fromkeys(flow + spec.out + labels))}
        places = tuple(names[c] for c in labels)
        ends = wire.ContractWith, tuple(names[c] for c in flow), tuple(names[c] for c in spec.out)
        is_matrix = len(datum.leaf.axes) == len(labels) == 2 and datum.leaf.size <= LARGE
        if not is_matrix or not isinstance(datum, Const) or isinstance(datum.array, Formal):
            return *ends, places, self._datum(datum)
        array, axes = to_numpy(datum.array), datum.leaf.axes
        ways = [(array.tobytes(), places, axes), (array.T.tobytes(), places[::-1], axes[::-1])]
        return *ends, datum.leaf.entry, min(ways, key=lambda way: way[:2])

    def _sum(self, terms: dict[int, float]) -> Multiple:
        """The sum as a multiple of the one whose first factor is 1."""
        some = sorted((term, k) for term, k in terms.items() if k)
        first = some[0][1] if some else 0.0
        parts = tuple([(term, k / first) for term, k in some])
        number = self._number(("sum", parts))
        self._terms[number] = parts
        return first, number

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


@final
class _Cuts:
    """Find the paths that make no negative map; `positive` are the numbers of those B for which D is positive."""

    def __init__(self, there: dict[int, Multiple], back: dict[int, Multiple], known: Callable[[Ref], Known]) -> None:
        self._there, self._back, self._known = there, back, known
        self.positive = set[int]()

    def at_wire(self, w: int) -> bool:
        """Tell if all paths through a wire make no negative map."""
        return self._is_one(w, w, 1.0, is_positive=True)

    def at_arc(self, arc: Arc) -> bool:
        """The same for an arc that is a diagonal."""
        match arc.map:
            case Scale(k):
                return self._is_one(arc.src, arc.dst, k, is_positive=True)
            case wire.Same():
                return self._is_one(arc.src, arc.dst, 1.0, is_positive=True)
            case wire.ContractWith(spec, side, datum):
                flow, labels = (spec.right, spec.left) if side == 0 else (spec.left, spec.right)
                if flow != spec.out or not set(labels) <= set(flow) or not datum.leaf.is_field:
                    return False
                sign = sign_of(datum) if isinstance(datum, Const) else self._known(datum)
                return sign.is_negative_nowhere and self._is_one(arc.src, arc.dst, 1.0, is_positive=sign.is_positive)
            case _:  # no diagonal, or one of which nothing is known
                return False

    def _is_one(self, src: int, dst: int, k: float, *, is_positive: bool) -> bool:
        """Tell if B at the source is C* at the end of an arc, but for a factor that is positive."""
        if src not in self._there or dst not in self._back:
            return False
        (factor, number), (other, same) = self._there[src], self._back[dst]
        if number != same or not factor * other * k > 0.0:
            return False
        if is_positive:
            self.positive.add(number)
        return True


def nothing_known(_: Ref) -> Known:
    """The facts about the references of a net without a program."""
    return Known()


def sign_of(constant: Const) -> Known:
    """The sign of the entries of a constant."""
    array = constant.array if constant.number is None else np.asarray(constant.number)
    if isinstance(array, Formal) or not constant.leaf.is_field:
        return Known()
    host = to_numpy(array)
    return Known(bool(np.all(host >= 0.0)), bool(np.all(host > 0.0)))
