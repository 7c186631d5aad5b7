"""A linear map as sums of tensor networks: what its term proves about every block of its matrix.

The block from one input leaf to one output leaf is a sum of *products*. A product is a network of labelled factors:
each factor is a datum of the term, its labels stand for axes, and equal labels are summed or shared as in a
contraction. The labels of the input's and of the output's axes are open. A label that is open on both sides is an
identity along that axis (a diagonal, if a factor has it too); a relation links the labels of its two sides. Nothing is
probed and no datum is looked at: forward, adjoint and mixed orders of accumulation are ways to contract these networks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, assert_never, final

import numpy as np
from attrs import evolve, frozen

from hilbert import Unit
from hilbert.leaf import Entry, Leaf
from hilbert.once import once
from hilbert.program.builder import Builder
from hilbert.program.constant import Const, filled
from hilbert.program.operation import Add, Contract, labelled, product
from hilbert.program.run import Runner
from hilbert.relation import Equality as IdentityRelation
from hilbert.relation import Full
from hilbert.spec import ALPHABET, Spec
from linmap.matrices.order import Accumulation, order
from linmap.net.fold import extended, fold
from linmap.term import wire
from linmap.term.nets import Net, refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert import Index
    from hilbert.program.operation import Operation
    from hilbert.relation.base import AnyRelation
    from linmap.term.datum import Datum
    from linmap.term.nets import Arc

Labels = tuple[int, ...]
MANY = 12
"""More products than this on one wire are added up."""


@final
@frozen
class NetworkFactor:
    """An array of the line with a label for each axis (an element of X has those of X at the end)."""

    slot: int
    labels: Labels


@final
@frozen
class Link:
    """A relation between the labels `x` of its domain and `y` of its codomain."""

    relation: AnyRelation
    x: Labels
    y: Labels


@final
@frozen
class Cut:
    """A wire that the flow passed: its labels, and how many factors and links lay before it."""

    labels: Labels
    factors: int
    links: int


@final
@frozen
class NetworkProduct:
    """k · Π factors · Π links, summed over the labels that are not open; all parts in the order of the flow."""

    k: float
    factors: tuple[NetworkFactor, ...]
    links: tuple[Link, ...]
    out: Labels
    inp: Labels
    cuts: tuple[Cut, ...] = ()

    @property
    def open(self) -> Labels:
        """The open labels, each once: those of the output, then the others of the input."""
        return tuple(dict.fromkeys(self.out + self.inp))


def bonds(p: NetworkProduct) -> list[tuple[int, Labels]]:
    """Where a product can be cut in two, as the number of factors before the cut, and the labels across it."""
    places = sorted({0, len(p.factors), *(cut.factors for cut in p.cuts)})
    found = []
    for k in places:
        inner = {c for f in p.factors[:k] for c in f.labels} | set(p.inp)
        outer = {c for f in p.factors[k:] for c in f.labels} | set(p.out)
        found.append((k, tuple(sorted(inner & outer))))
    return found


class Network:
    """The products of every block of a net, and the line that computes arrays from the net's data."""

    def __init__(self, body: Net, limit: int | None = None) -> None:
        self.body = body
        self.limit = limit
        self.sizes: list[int] = []
        self.axes: list[Index] = []
        self.orders: list[Accumulation] = []
        self.builder = Builder([ref.leaf for ref in refs(body)])
        self.slots = self.builder.slots
        self.place: dict[Datum, int] = {ref: k for k, ref in enumerate(refs(body))}
        self.blocks = [self._column(k) for k in range(len(body.inputs))]

    # --- labels and arrays ---

    def label(self, axis: Index) -> int:
        """A fresh label of an axis."""
        self.sizes.append(axis.size)
        self.axes.append(axis)
        return len(self.sizes) - 1

    def size(self, labels: Iterable[int]) -> int:
        """The number of values of some labels together."""
        return math.prod(self.sizes[c] for c in labels)

    def datum(self, d: Datum) -> int:
        """The slot of a datum."""
        return self.builder.literal(d) if isinstance(d, Const) else self.place[d]

    def emit(self, operation: Operation, args: tuple[int, ...], leaf: Leaf) -> int:
        """One more array."""
        return self.builder.emit(operation, args, leaf)

    def is_found(self, f: NetworkFactor) -> bool:
        """Whether a factor is a dynamic element of an index set: a relation known only at the point."""
        return self.slots[f.slot].entry.index is not None

    def runner(self, outputs: Sequence[int]) -> Runner:
        """What computes some arrays from the data that the net refers to."""
        return Runner(self.builder.line(outputs))

    # --- the flow of one input leaf ---

    def _column(self, k: int) -> list[list[NetworkProduct]]:
        body = self.body
        start = body.inputs[k]
        labels = tuple(self.label(axis) for axis in body.wires[start].axes)
        known: dict[int, list[NetworkProduct]] = {}  # what is settled on a wire, for all its readers

        def act(arc: Arc, products: list[NetworkProduct]) -> list[NetworkProduct]:
            if arc.src not in known:
                known[arc.src] = self.settled(products)
            return [p for p in (self.through(p, arc.map) for p in known[arc.src]) if p.k]

        flow = fold(body, [(start, [NetworkProduct(1.0, (), (), labels, labels)])], act, extended)
        return [known[w] if w in known else self.settled(p or []) for w, p in zip(body.outputs, flow, strict=True)]

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
        factor = NetworkFactor(self.datum(datum), tuple(named[c] for c in fixed))
        out = tuple(named[c] for c in spec.out)
        return self._passed(p, evolve(p, factors=(*p.factors, factor), out=out))

    def _reduced(self, p: NetworkProduct, relation: AnyRelation, at: int) -> NetworkProduct:
        n = len(relation.dom.axes)
        before, x, after = p.out[:at], p.out[at : at + n], p.out[at + n :]
        match relation:
            case IdentityRelation():
                return p
            case Full():
                y = tuple(self.label(axis) for axis in relation.cod.axes)
                k = p.k
                for c in x:  # a sum over an axis that nothing varies along counts it
                    if c not in p.inp and not any(c in f.labels for f in p.factors) and not _linked(p, c):
                        k *= self.sizes[c]
                return self._passed(p, evolve(p, k=k, out=before + y + after))
            case _ if not relation.dom.axes and not relation.cod.axes:  # between one-element sets: 1 or 0
                return evolve(p, k=p.k * len(relation.holds()[0]))
            case _:  # every other relation stays a link
                y = tuple(self.label(axis) for axis in relation.cod.axes)
                return self._passed(p, evolve(p, links=(*p.links, Link(relation, x, y)), out=before + y + after))

    def _passed(self, before: NetworkProduct, after: NetworkProduct) -> NetworkProduct:
        cut = Cut(before.out, len(before.factors), len(before.links))
        return evolve(after, cuts=(*before.cuts, cut))

    # --- adding up ---

    def settled(self, products: list[NetworkProduct]) -> list[NetworkProduct]:
        """Fewer products with the same sum: what makes no larger arrays is contracted, and added where alike.

        With too many products on one wire, all are: paths may be exponentially many, wires are not.
        """
        if len(products) == 1 and len(products[0].factors) <= MANY:
            return products
        done: dict[tuple[Any, ...], NetworkProduct] = {}
        others: list[NetworkProduct] = []
        arrays = [self.slots[f.slot].size for p in products for f in p.factors]
        for p in products:
            limit = max(self.size(p.out), self.size(p.inp), sum(arrays) if p.links else max(arrays, default=1))
            if self.size(self.kept(p)) > limit and len(products) <= MANY:
                others.append(p)
                continue
            q = self.merged(p)
            key = self._pattern(q)
            done[key] = self._added(done[key], q) if key in done else q
        return [*done.values(), *others]

    def kept(self, p: NetworkProduct) -> Labels:
        """The labels of a product's factors that are open or linked: those of its one array when it is merged."""
        used = {c for f in p.factors for c in f.labels}
        return tuple(c for c in self._named(p) if c in used)

    def merged(self, p: NetworkProduct) -> NetworkProduct:
        """The product with its factors as one; links stay, and dynamic elements stay factors."""
        found = tuple(f for f in p.factors if self.is_found(f))
        real = [f for f in p.factors if not self.is_found(f)]
        keep = tuple(c for c in self._named(p) if any(c in f.labels for f in real))
        if not real or (len(real) == 1 and p.k == 1.0 and real[0].labels == keep and self.slots[real[0].slot].is_field):
            return p
        factor = self.contract(real, keep)
        assert factor is not None  # of at least one factor
        if p.k != 1.0:
            factor = NetworkFactor(self.emit(wire.Scale(p.k), (factor.slot,), self.slots[factor.slot]), factor.labels)
        return NetworkProduct(1.0, (*found, factor), p.links, p.out, p.inp)

    def contracted(self, p: NetworkProduct) -> NetworkProduct:
        """The product with all its factors as one, whose labels are open."""
        keep = p.open
        if len(p.factors) == 1 and p.k == 1.0 and not p.links:
            (only,) = p.factors
            if self.slots[only.slot].is_field and _in_order(only.labels, keep):
                return p
        used = {c for f in p.factors for c in f.labels} | {c for link in p.links for c in link.x + link.y}
        factor = self.contract(p.factors, tuple(c for c in keep if c in used), p.links)
        if factor is None:
            return p
        if p.k != 1.0:
            factor = NetworkFactor(self.emit(wire.Scale(p.k), (factor.slot,), self.slots[factor.slot]), factor.labels)
        return NetworkProduct(1.0, (factor,), (), p.out, p.inp)

    def _added(self, p: NetworkProduct, q: NetworkProduct) -> NetworkProduct:
        """The sum of two merged products of the same pattern."""
        if not p.factors or self.is_found(p.factors[-1]):
            return evolve(p, k=p.k + q.k)
        a, b = p.factors[-1], q.factors[-1]
        names = {c: c for c in b.labels} | dict(zip(q.out + q.inp, p.out + p.inp, strict=True))
        labels = tuple(names[c] for c in b.labels)
        slot = self.arranged(NetworkFactor(b.slot, labels), a.labels)
        total = self.emit(Add(), (a.slot, slot), self.slots[a.slot])
        return evolve(p, factors=(*p.factors[:-1], NetworkFactor(total, a.labels)))

    def _named(self, p: NetworkProduct) -> Labels:
        """The labels that a product's meaning depends on: open, of links, and of dynamic elements."""
        linked = [c for link in p.links for c in link.x + link.y]
        found = [c for f in p.factors if self.is_found(f) for c in f.labels]
        return tuple(dict.fromkeys((*p.open, *linked, *found)))

    def _pattern(self, p: NetworkProduct) -> tuple[Any, ...]:
        """Which open axes coincide, which links there are, and which axes the factors have: what must agree to add."""
        place = {c: i for i, c in enumerate(p.open)}

        def named(labels: Labels) -> Labels:
            return tuple(place.get(c, -c - 1) for c in labels)

        has = [(f.slot, named(f.labels)) if self.is_found(f) else tuple(sorted(named(f.labels))) for f in p.factors]
        return (named(p.out + p.inp), tuple((link.relation, named(link.x + link.y)) for link in p.links), *has)

    def arranged(self, f: NetworkFactor, labels: Labels) -> int:
        """The factor's array with its axes in another order."""
        if f.labels == labels:
            return f.slot
        move = tuple(f.labels.index(c) for c in labels)
        leaf = self.slots[f.slot]
        return self.emit(wire.Move(move), (f.slot,), Leaf(leaf.entry, tuple(leaf.axes[i] for i in move)))

    def contract(
        self, factors: Sequence[NetworkFactor], keep: Labels, links: Sequence[Link] = ()
    ) -> NetworkFactor | None:
        """One factor with the labels `keep`, in the order that the path search finds best; None without factors."""
        linked = {c for link in links for c in link.x + link.y}
        todo = [self._in_full(f) if self.is_found(f) and linked & {*f.labels} else f for f in factors]
        todo = self._linked_in(todo, list(links), keep)
        if not todo:
            return None
        discrete = [f for f in todo if not self.slots[f.slot].is_field]
        if len(discrete) == 1 < len(todo):
            discrete = [f for f in discrete if _alone(f, keep, [g for g in todo if g is not f])]
        # what selects or picks needs numbers to apply to, and its labels are summed as those of an array
        todo = [self._pair(self._ones(f), f, f.labels, f.labels) if f in discrete else f for f in todo]
        todo = [self._summed(f, keep, [g for g in todo if g is not f]) for f in todo]
        found = order([f.labels for f in todo], keep, self.sizes, self.limit)
        self.orders.append(found)
        for pair in found.pairs:
            picked = [todo[i] for i in pair]
            todo = [f for i, f in enumerate(todo) if i not in pair]
            a, b = picked
            rest = set(keep).union(*(f.labels for f in todo))
            todo.append(self._pair(a, b, tuple(c for c in dict.fromkeys(a.labels + b.labels) if c in rest), keep))
        (last,) = todo
        return NetworkFactor(self.arranged(last, keep), keep) if set(last.labels) == set(keep) else last

    def _field(self) -> Entry:
        return next(leaf.entry for leaf in self.body.wires if leaf.is_field)

    def counted(self, labels: Labels, columns: Sequence[Any], key: Any) -> NetworkFactor:
        """An array that counts how often each tuple of labels occurs in some columns."""
        shape = tuple(self.sizes[c] for c in labels)
        base = self._field()
        made = np.zeros(shape, base.dtype)
        np.add.at(made, tuple(columns), 1.0)
        leaf = Leaf(base, tuple(self.axes[c] for c in labels))
        return NetworkFactor(self.datum(Const(made, leaf, ("counted", key))), labels)

    def identity(self, a: int, b: int) -> NetworkFactor:
        """The identity between two labels of one axis, as an array."""
        return self._dense_link(Link(IdentityRelation(self.axes[a]), (a,), (b,)))

    def array(self, factors: Sequence[NetworkFactor], labels: Labels, k: float = 1.0) -> int:
        """The slot of the array with exactly these axes: replicated along those that no factor has."""
        used = {c for f in factors for c in f.labels}
        keep = tuple(c for c in labels if c in used)
        factor = self.contract(factors, keep) or NetworkFactor(self.datum(filled(1.0, Leaf(self._field()))), ())
        slot, has = factor.slot, factor.labels
        for c in labels:
            if c not in has:
                leaf = self.slots[slot]
                rep = wire.Reduce(Full(Unit(), self.axes[c]), 0)
                slot, has = self.emit(rep, (slot,), leaf.under((self.axes[c],))), (c, *has)
        if k != 1.0:
            slot = self.emit(wire.Scale(k), (slot,), self.slots[slot])
        return self.arranged(NetworkFactor(slot, has), labels)

    def _ones(self, like: NetworkFactor) -> NetworkFactor:
        """A factor 1, so that a discrete factor has something to select."""
        leaf = self.slots[like.slot]
        labels = like.labels[: len(leaf.axes)]
        return NetworkFactor(self.datum(filled(1.0, Leaf(self._field(), leaf.axes))), labels)

    def _in_full(self, f: NetworkFactor) -> NetworkFactor:
        """A dynamic element as its basis vector, an array of 0 and 1, to which a relation applies."""
        return self._pair(self._ones(f), f, f.labels, f.labels)

    def _summed(self, f: NetworkFactor, keep: Labels, others: Sequence[NetworkFactor]) -> NetworkFactor:
        """The factor without the labels that only it has."""
        alone = _alone(f, keep, others)
        if not alone:
            return f
        slot, labels = f.slot, f.labels
        for c in alone:
            at = labels.index(c)
            leaf = self.slots[slot]
            less = Leaf(leaf.entry, leaf.axes[:at] + leaf.axes[at + 1 :])
            slot = self.emit(wire.Reduce(Full(leaf.axes[at], Unit()), at), (slot,), less)
            labels = labels[:at] + labels[at + 1 :]
        return NetworkFactor(slot, labels)

    def _pair(self, a: NetworkFactor, b: NetworkFactor, out: Labels, keep: Labels) -> NetworkFactor:
        letters = {c: ALPHABET[i] for i, c in enumerate(dict.fromkeys(a.labels + b.labels))}
        if set(out) == set(keep) & set(out) and all(c in out for c in keep):
            out = tuple(c for c in keep if c in out)
        spec = Spec.of(*("".join(letters[c] for c in labels) for labels in (a.labels, b.labels, out)))
        leaf = product(spec, self.slots[a.slot], self.slots[b.slot])
        return NetworkFactor(self.emit(Contract(spec), (a.slot, b.slot), leaf), out)

    def _linked_in(self, factors: list[NetworkFactor], links: list[Link], keep: Labels) -> list[NetworkFactor]:
        """Relations applied to the factors at one of their sides: red_R on axes that nothing else has."""
        while links:
            link = links.pop()
            others = {c for other in links for c in other.x + other.y} | set(keep)
            for here, there, relation in ((link.y, link.x, link.relation.T), (link.x, link.y, link.relation)):
                users = [f for f in factors if any(c in f.labels for c in here)]
                widest = max(users, key=lambda f: len(f.labels), default=None)
                if widest is None or others & set(here) or set(there) & set(widest.labels):
                    continue
                if all(set(f.labels) <= set(widest.labels) for f in users) and set(here) <= set(widest.labels):
                    factors = [f for f in factors if f not in users]
                    whole = self.contract(users, widest.labels) if len(users) > 1 else widest
                    assert whole is not None
                    factors.append(self._applied(whole, here, there, relation))
                    break
            else:
                factors.append(self._dense_link(link))
        return factors

    def _applied(self, f: NetworkFactor, here: Labels, there: Labels, relation: AnyRelation) -> NetworkFactor:
        rest = tuple(c for c in f.labels if c not in here)
        slot = self.arranged(f, here + rest)
        leaf = self.slots[slot]
        image = wire.image(wire.Reduce(relation, 0), leaf)
        return NetworkFactor(self.emit(wire.Reduce(relation, 0), (slot,), image), there + rest)

    def _dense_link(self, link: Link) -> NetworkFactor:
        """A relation as an array of 0 and 1: only where nothing else can be had."""
        base = self._field()
        dense = np.zeros((link.relation.dom.size, link.relation.cod.size), base.dtype)
        dense[link.relation.holds()] = 1.0
        leaf = Leaf(base, link.relation.dom.axes + link.relation.cod.axes)
        const = Const(dense.reshape(leaf.shape), leaf, ("relation", link.relation))
        return NetworkFactor(self.datum(const), link.x + link.y)


def _alone(f: NetworkFactor, keep: Labels, others: Sequence[NetworkFactor]) -> list[int]:
    """The labels that only this factor has."""
    elsewhere = set(keep).union(*(g.labels for g in others))
    return [c for c in f.labels if c not in elsewhere]


def _in_order(labels: Labels, keep: Labels) -> bool:
    """Whether labels are some of others, in their order."""
    return labels == tuple(c for c in keep if c in labels)


def _linked(p: NetworkProduct, c: int) -> bool:
    return any(c in link.x or c in link.y for link in p.links)


@once
def network(body: Net, limit: int | None = None) -> Network:
    """The network of a net, made once; no contraction makes an intermediate array with more entries than the limit."""
    return Network(body, limit)
