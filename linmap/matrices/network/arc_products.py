"""The arcs of a net as labelled products: each applied to a product, and two products composed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from attrs import evolve

from hilbert import Fin
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.index.leaf import Entry
from hilbert.program.line.constant import Const
from hilbert.program.line.external import External
from hilbert.program.line.operation import labelled
from hilbert.relation import Equality as IdentityRelation
from hilbert.relation import Full
from linmap.matrices.labelled.columns import Labels, split
from linmap.matrices.labelled.contractor import Contractor
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct, uses
from linmap.matrices.network.loop_blocks import basis_of, blocks
from linmap.net.support import labels
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Net, elements, refs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hilbert import Index
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec
    from hilbert.relation.relation import AnyRelation
    from linmap.matrices.network.loop_lanes import Patterns
    from linmap.term.datum import Datum


class ArcProducts(Contractor):
    """The products of the arcs of a net, and the line that computes arrays from the net's data.

    `loops` gives the pattern of a loop. `found` has the arrays of elements of index sets, where these are known: they
    are tables then, as constants are.
    """

    def __init__(
        self, body: Net, loops: Patterns, limit: int | None = None, found: Mapping[Datum, Any] | None = None
    ) -> None:
        base = next((leaf.entry for leaf in body.wires if leaf.is_field), Entry("float64"))
        super().__init__(refs(body), base, limit)
        self.body, self.loops = body, loops
        self.found: dict[Datum, Any] = {d: to_numpy(d.array) for d in elements(body) if isinstance(d, Const)}
        self.found |= found or {}
        self._relations: dict[AnyRelation, AnyRelation] = {}
        self._watch()

    # --- one arc ---

    def unit(self, w: int) -> NetworkProduct:
        """The identity of a wire; those of the inputs stand behind those of the net."""
        body = self.body
        leaf = body.wires[w if w < len(body.wires) else body.inputs[w - len(body.wires)]]
        labels = tuple([self.label(axis) for axis in leaf.axes])
        return NetworkProduct(1.0, (), (), labels, labels)

    def through(self, p: NetworkProduct, f: wire.Wire) -> NetworkProduct:
        """The product after one more wire map."""
        match f:
            case wire.Same() | wire.Cast():
                return p
            case wire.External(rule) if rule.looks:
                return p
            case wire.Scale(k):
                return p.but(k=p.k * k)
            case wire.Move(axes):
                return p.but(out=tuple(p.out[i] for i in axes))
            case wire.ContractWith() if f.free[0]:  # the lanes that a mask leaves out are dropped later anyway
                return p
            case wire.ContractWith(spec, side, datum):
                return self._section(p, spec, side, datum)
            case wire.Reduce(relation, at):
                return self._reduced(p, relation, at)
            case wire.External():
                return self._external(p, f)
            case wire.Into() | wire.OutOf() | wire.Recur() | wire.Inverse():  # no product: see `opaque`
                raise TypeError(f)
            case _:
                assert_never(f)

    def _watch(self) -> None:
        """Let an operator that looks at the flow look at the factor beside it, once for all vectors."""
        looks = [(arc, arc.map) for arc in self.body.arcs if isinstance(arc.map, wire.External) and arc.map.rule.looks]
        before, behind = ({getattr(arc, end): look for arc, look in looks} for end in ("src", "dst"))
        for arc in self.body.arcs if looks else ():
            look, f = before.get(arc.dst) or behind.get(arc.src), arc.map
            if look and isinstance(f, wire.ContractWith) and labels(f)[1] == f.spec.out and isinstance(f.datum, Ref):
                leaf = f.datum.leaf
                step = External(look.rule, leaf, leaf, place=look.place)
                self.place[f.datum] = self.emit(step, (self.place[f.datum],), leaf)

    def opaque(
        self, f: wire.Recur | wire.Inverse, lead: Sequence[Index], inputs: Collection[int], outputs: Collection[int]
    ) -> dict[tuple[int, int], NetworkProduct]:
        """A linear loop or an inverse between arrays of its bundles; the axes `lead` are in front of the flow."""
        return blocks(self, f, lead, (inputs, outputs), self.loops)

    def _external(self, p: NetworkProduct, f: wire.External) -> NetworkProduct:
        """A map of a user's is a matrix: it, or its adjoint, on all basis vectors at once, from the smaller side."""
        forward = f.dom.size <= f.cod.size
        g = f if forward else f.adjoint(f.dom)
        basis = self.builder.literal(basis_of(g.dom))
        slot = self.builder.step(evolve(g, n=len(g.dom.axes)), (basis,))
        inp, out = p.out[f.n :], tuple(map(self.label, f.cod.axes))
        factor = NetworkFactor(slot, inp + out if forward else out + inp)
        return p.but(factors=(*p.factors, factor), out=p.out[: f.n] + out)

    def _section(self, p: NetworkProduct, spec: Spec, side: int, datum: Datum) -> NetworkProduct:
        fixed, flow = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
        named: dict[str, int] = dict(zip(flow, p.out, strict=True))
        for letter, axis in zip(fixed, labelled(datum.leaf), strict=True):
            if letter not in named:
                named[letter] = self.label(axis)
        labels = tuple([named[c] for c in fixed])
        out = tuple([named[c] for c in spec.out])
        if datum in self.found and not labels:  # the one element of 𝟏
            return p.but(out=out)
        if datum in self.found:
            return p.but(tables=(*p.tables, self._table(datum, labels)), out=out)
        factors = (*p.factors, NetworkFactor(self.datum(datum), labels))
        return NetworkProduct(p.k, factors, p.links, out, p.inp, p.tables)

    def _table(self, datum: Datum, labels: Labels) -> LabelTable:
        """The graph of a function that is known at the point."""
        positions = np.asarray(self.found[datum]).reshape(-1)
        lead = len(datum.leaf.axes)
        columns = dict(split(labels[:lead], np.arange(positions.size), self.sizes))
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
                return self.counted_out(p, p.but(out=before + y + after))
            case _ if not relation.dom.axes and not relation.cod.axes:  # between one-element sets: 1 or 0
                return p.but(k=p.k * len(relation.holds()[0]))
            case _:  # every other relation stays a link
                y = tuple(self.label(axis) for axis in relation.cod.axes)
                relation = self._relations.setdefault(relation, relation)  # one object for equal ones
                return p.but(links=(*p.links, Link(relation, x, y)), out=before + y + after)

    def as_array(self, f: wire.Reduce, leaf: Leaf) -> NetworkProduct:
        """A relation on some axes of a wire as an array of 0 and 1."""
        inp = tuple([self.label(axis) for axis in leaf.axes])
        end = f.at + len(f.relation.dom.axes)
        x, y = inp[f.at : end], tuple([self.label(axis) for axis in f.relation.cod.axes])
        factor = self.dense_link(Link(f.relation, x, y))
        return NetworkProduct(1.0, (factor,), (), inp[: f.at] + y + inp[end:], inp)

    def counted_out(self, before: NetworkProduct, after: NetworkProduct) -> NetworkProduct:
        """A sum over an axis that nothing varies along counts it."""
        gone = set(before.out) - set(after.out) - set(after.inp)
        gone -= uses(after.factors, after.links, after.tables) if gone else set()
        return after.but(k=after.k * self.size(gone)) if gone else after

    # --- two arcs ---

    def after(self, q: NetworkProduct, p: NetworkProduct) -> NetworkProduct:
        """q • p: the input's labels of q are the output's of p; the other labels of q are fresh."""
        if not (q.factors or q.links or q.tables) and q.out == q.inp:
            return p if q.k == 1.0 else p.but(k=p.k * q.k)
        names = dict(zip(q.inp, p.out, strict=True))

        def named(labels: Labels) -> Labels:
            return tuple([names[c] if c in names else names.setdefault(c, self.twin(c)) for c in labels])

        factors = tuple([NetworkFactor(f.slot, named(f.labels)) for f in q.factors])
        links = tuple([Link(link.relation, named(link.x), named(link.y)) for link in q.links])
        tables = tuple([LabelTable(named((t.row,))[0], named(t.labels), t.columns) for t in q.tables])
        made = NetworkProduct(p.k * q.k, p.factors + factors, p.links + links, named(q.out), p.inp, p.tables + tables)
        return self.counted_out(p, made)
