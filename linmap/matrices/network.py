"""A linear map as sums of labelled products: what its term proves about every block of its matrix.

A net is a graph with a linear map on each arc. Its matrix is what is left when the inner wires are eliminated one by
one (Griewank & Walther, *Evaluating Derivatives*, ch. 9 and 10; Naumann, *Mathematical Programming* 99, 2004): where
wire w goes, each pair of an arc s → w and an arc w → d adds their composition to the arc s → d. An arc carries a
*form*, a short sum of products (`linmap.matrices.settle`); nothing is probed and no datum is looked at. Paths are never
multiplied out: there may be exponentially many of them, where the pairs of arcs are few.

Wires that only join two arcs go first. Then eliminating from the inputs is forward mode, from the outputs adjoint mode;
both are tried where that is cheap, each with the narrowest wire that all flow passes left to the end, and the result
that stores the fewest numbers is taken.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import numpy as np
from attrs import evolve

from hilbert import Fin
from hilbert.leaf import Entry
from hilbert.once import once
from hilbert.program.operation import labelled
from hilbert.relation import Equality as IdentityRelation
from hilbert.relation import Full
from linmap.matrices.contractor import Contractor
from linmap.matrices.products import Labels, LabelTable, Link, NetworkFactor, NetworkProduct, split, uses
from linmap.matrices.settle import settled
from linmap.matrices.tables import LISTED
from linmap.net.fold import live_arcs
from linmap.term import wire
from linmap.term.nets import Net, refs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hilbert.relation.base import AnyRelation
    from hilbert.spec import Spec
    from linmap.term.datum import Datum

FormOfArc: TypeAlias = list[NetworkProduct]
"""The sum that an arc carries."""


class Network(Contractor):
    """The products of every block of a net, and the line that computes arrays from the net's data.

    `found` has the arrays of elements of index sets, where these are known: they are tables then.
    """

    def __init__(self, body: Net, limit: int | None = None, found: Mapping[Datum, Any] | None = None) -> None:
        base = next((leaf.entry for leaf in body.wires if leaf.is_field), Entry("float64"))
        super().__init__(refs(body), base, limit)
        self.body = body
        self.found = found or {}
        self._relations: dict[AnyRelation, AnyRelation] = {}
        self.blocks = _best(self)

    # --- one arc ---

    def unit(self, w: int) -> NetworkProduct:
        """The identity of a wire."""
        labels = tuple(self.label(axis) for axis in self.body.wires[w].axes)
        return NetworkProduct(1.0, (), (), labels, labels)

    def through(self, p: NetworkProduct, f: wire.Wire) -> NetworkProduct:
        """The product after one more wire map."""
        match f:
            case wire.Same() | wire.Cast():
                return p
            case wire.Scale(k):
                return evolve(p, k=p.k * k)
            case wire.Move(axes):
                return evolve(p, out=tuple(p.out[i] for i in axes))
            case wire.Section(spec, side, datum):
                return self._section(p, spec, side, datum)
            case wire.Reduce(relation, at):
                return self._reduced(p, relation, at)
            case _:
                assert_never(f)

    def _section(self, p: NetworkProduct, spec: Spec, side: int, datum: Datum) -> NetworkProduct:
        fixed, flow = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
        named: dict[str, int] = dict(zip(flow, p.out, strict=True))
        for letter, axis in zip(fixed, labelled(datum.leaf), strict=True):
            if letter not in named:
                named[letter] = self.label(axis)
        labels = tuple(named[c] for c in fixed)
        out = tuple(named[c] for c in spec.out)
        if datum in self.found and not labels:  # the one element of 𝟏
            return evolve(p, out=out)
        if datum in self.found:
            return evolve(p, tables=(*p.tables, self._table(datum, labels)), out=out)
        return evolve(p, factors=(*p.factors, NetworkFactor(self.datum(datum), labels)), out=out)

    def _table(self, datum: Datum, labels: Labels) -> LabelTable:
        """The graph of a function that is known at the point."""
        positions = np.asarray(self.found[datum]).reshape(-1)
        lead = len(datum.leaf.axes)
        columns = split(labels[:lead], np.arange(positions.size), self.sizes)
        columns |= split(labels[lead:], positions, self.sizes)
        return LabelTable(self.label(Fin.of(positions.size)), labels, tuple(columns[c] for c in labels))

    def _reduced(self, p: NetworkProduct, relation: AnyRelation, at: int) -> NetworkProduct:
        n = len(relation.dom.axes)
        before, x, after = p.out[:at], p.out[at : at + n], p.out[at + n :]
        match relation:
            case IdentityRelation():
                return p
            case Full():
                y = tuple(self.label(axis) for axis in relation.cod.axes)
                return self.counted_out(p, evolve(p, out=before + y + after))
            case _ if not relation.dom.axes and not relation.cod.axes:  # between one-element sets: 1 or 0
                return evolve(p, k=p.k * len(relation.holds()[0]))
            case _:  # every other relation stays a link
                y = tuple(self.label(axis) for axis in relation.cod.axes)
                relation = self._relations.setdefault(relation, relation)  # one object for equal ones
                return evolve(p, links=(*p.links, Link(relation, x, y)), out=before + y + after)

    def counted_out(self, before: NetworkProduct, after: NetworkProduct) -> NetworkProduct:
        """A sum over an axis that nothing varies along counts it."""
        gone = set(before.out) - set(after.out) - set(after.inp)
        gone -= uses(after.factors, after.links, after.tables) if gone else set()
        return evolve(after, k=after.k * self.size(gone)) if gone else after

    # --- two arcs ---

    def after(self, q: NetworkProduct, p: NetworkProduct) -> NetworkProduct:
        """q • p: the input's labels of q are the output's of p; the other labels of q are fresh."""
        if not (q.factors or q.links or q.tables) and q.out == q.inp:
            return p if q.k == 1.0 else evolve(p, k=p.k * q.k)
        names = dict(zip(q.inp, p.out, strict=True))

        def named(labels: Labels) -> Labels:
            return tuple([names[c] if c in names else names.setdefault(c, self.twin(c)) for c in labels])

        factors = tuple([NetworkFactor(f.slot, named(f.labels)) for f in q.factors])
        links = tuple([Link(link.relation, named(link.x), named(link.y)) for link in q.links])
        tables = tuple([LabelTable(named((t.row,))[0], named(t.labels), t.columns) for t in q.tables])
        made = NetworkProduct(p.k * q.k, p.factors + factors, p.links + links, named(q.out), p.inp, p.tables + tables)
        return self.counted_out(p, made)


Blocks: TypeAlias = dict[tuple[int, int], FormOfArc]
"""For each output and input the products of their block, where it is not 0; by inputs."""


# --- elimination ---


ArcsByEnd: TypeAlias = dict[int, dict[int, FormOfArc]]
TRIED = 500
"""The second order is tried for at most so many wires, and where few tuples were listed."""


class ArcsLeft:
    """The arcs that are left, by source and by destination; inputs and outputs are vertices of their own."""

    def __init__(self, n: Network, arcs: tuple[ArcsByEnd, ArcsByEnd] | None = None) -> None:
        self.n = n
        body = n.body
        self.ends = len(body.wires)
        self.last = self.ends + len(body.inputs)
        self.into: ArcsByEnd = {}
        self.out_of: ArcsByEnd = {}
        if arcs is not None:
            self.into, self.out_of = ({v: dict(found) for v, found in side.items()} for side in arcs)
            return
        for k, w in enumerate(body.inputs):
            self._put(self.ends + k, w, [n.unit(w)])
        for arc in live_arcs(body.arcs, body.inputs, body.outputs):
            self._put(arc.src, arc.dst, [n.through(n.unit(arc.src), arc.map)])
        for k, w in enumerate(body.outputs):
            self._put(w, self.last + k, [n.unit(w)])

    def copied(self) -> tuple[ArcsByEnd, ArcsByEnd]:
        """The arcs that are left, by destination and by source."""
        into, out_of = ({v: dict(found) for v, found in side.items()} for side in (self.into, self.out_of))
        return into, out_of

    def _put(self, src: int, dst: int, form: FormOfArc) -> None:
        known = self.out_of.get(src, {}).get(dst)
        total = form if known is None else known + form
        self.out_of.setdefault(src, {})[dst] = total
        self.into.setdefault(dst, {})[src] = total

    def wires(self) -> list[int]:
        """The inner wires in topological order: that in which they are complete."""
        done: dict[int, None] = {}
        for w in self.n.body.inputs:
            done[w] = None
        for arc in self.n.body.arcs:
            done.pop(arc.dst, None)
            done[arc.dst] = None
        return [w for w in done if self.into.get(w) or self.out_of.get(w)]

    def eliminate_links(self) -> None:
        """Eliminate the wires that join two arcs, of which no sum is multiplied out: what is left is no larger.

        One has a product, and the other, too; or one does nothing but scale and transpose.
        """
        for w in self.wires():
            if len(self.into.get(w, ())) != 1 or len(self.out_of.get(w, ())) != 1:
                continue
            (ps,), (qs,) = self.into[w].values(), self.out_of[w].values()
            if (len(ps) == len(qs) == 1) or any(len(one) == 1 and not one[0].length for one in (ps, qs)):
                self.eliminate(w)

    def narrowest(self, wires: Sequence[int]) -> int | None:
        """The narrowest wire that all flow passes, if it is narrower than both ends."""
        body = self.n.body
        place = {w: k + 1 for k, w in enumerate(wires)}
        over = [0] * (len(wires) + 2)  # how many arcs start, less those that end, before a place
        for src, found in self.out_of.items():
            for dst in found:
                over[place.get(src, 0) + 1] += 1
                over[place.get(dst, len(wires) + 1)] -= 1
        jumping = list(itertools.accumulate(over))
        passed = [w for w in wires if not jumping[place[w]]]
        least = min(passed, key=lambda w: body.wires[w].size, default=None)
        if least is None or body.wires[least].size >= min(body.dom.dim, body.cod.dim):
            return None
        return least

    def eliminate(self, w: int, *, narrow: bool = False) -> None:
        """Each pair of an arc into w and an arc out of w adds their composition to the arc from end to end.

        At a narrow wire each arc is made one product before, so that the result has the rank of the wire.
        """
        n = self.n
        into, out_of = self.into.pop(w, {}), self.out_of.pop(w, {})
        first = {src: settled(n, form, one=narrow) for src, form in into.items()}
        second = {dst: settled(n, form, one=narrow) for dst, form in out_of.items()}
        for src in into:
            self.out_of[src].pop(w)
        for dst in out_of:
            self.into[dst].pop(w)
        for src, ps in first.items():
            for dst, qs in second.items():
                made = [p for p in (n.after(q, p) for p in ps for q in qs) if p.k]
                if made:
                    self._put(src, dst, made)

    def result(self) -> Blocks:
        """What is left between inputs and outputs."""
        found: Blocks = {}
        for i in range(len(self.n.body.inputs)):
            arcs = self.out_of.get(self.ends + i, {})
            for end in sorted(arcs):
                products = settled(self.n, arcs[end])
                if products:
                    found[end - self.last, i] = products
        return found


def _best(n: Network) -> Blocks:
    """The blocks of the order of elimination that stores the fewest numbers, then of that with the fewest steps."""
    first = ArcsLeft(n)
    first.eliminate_links()
    wires = first.wires()
    into, out_of = first.copied()
    if not wires:
        return first.result()
    last = first.narrowest(wires)
    orders = [wires, wires[::-1]] if n.body.dom.dim <= n.body.cod.dim else [wires[::-1], wires]
    best: tuple[tuple[int, int], Blocks] | None = None
    for order in orders:
        if best is not None and (len(wires) > TRIED or n.rows > LISTED):
            break  # the narrower end came first
        graph = ArcsLeft(n, (into, out_of))
        before = len(n.builder.steps)
        for w in order:
            if w != last:
                graph.eliminate(w)
        if last is not None:
            graph.eliminate(last, narrow=True)
        blocks = graph.result()
        stored = sum(_stored(n, p) for products in blocks.values() for p in products)
        found = (stored, len(n.builder.steps) - before)
        if best is None or found < best[0]:
            best = (found, blocks)
    assert best is not None  # at least one order is tried
    return best[1]


def _stored(n: Network, p: NetworkProduct) -> int:
    """How many numbers a product has, its tuples among them; for a relation, as many as it has pairs."""
    tables = sum(t.count * len(t.labels) for t in p.tables) + sum(link.relation.size for link in p.links)
    return sum(n.entries(f) for f in p.factors) + tables


@once
def network(body: Net, limit: int | None = None) -> Network:
    """The network of a net, made once; no contraction makes an intermediate array with more entries than the limit."""
    return Network(body, limit)
