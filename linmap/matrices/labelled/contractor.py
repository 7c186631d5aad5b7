"""Contractions of labelled arrays as steps of a line, in the best order."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from hilbert.base.sizes import addressable
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.constant import Const
from hilbert.relation import Equality as IdentityRelation
from linmap.matrices.labelled.accumulation_order import order
from linmap.matrices.labelled.columns import Labels
from linmap.matrices.labelled.labelled_arrays import LabelledArrays
from linmap.matrices.labelled.labelled_products import Link, NetworkFactor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.relation.relation import AnyRelation


class WideRelationError(Exception):
    """A relation would have to be made an array that is larger than the arrays on both sides of a contraction."""


class Contractor(LabelledArrays):
    """Labelled arrays, and their contractions in the best order, relations applied on the way."""

    def contract(
        self, factors: Sequence[NetworkFactor], keep: Labels, links: Sequence[Link] = (), most: int | None = None
    ) -> NetworkFactor | None:
        """One factor with the labels `keep`, in the order that the path search finds best; None without factors.

        Raises WideRelationError where a relation had to be made an array of more than `most` entries.
        """
        linked = {c for link in links for c in link.labels}
        todo = [self.in_full(f) if self.is_found(f) and linked & {*f.labels} else f for f in factors]
        todo = self._linked_in(todo, list(links), keep, most)
        if not todo:
            return None
        discrete = [f for f in todo if not self.slots[f.slot].is_field]
        if len(discrete) == 1 < len(todo):
            discrete = [f for f in discrete if _alone(f, keep, [g for g in todo if g is not f])]
        # what selects or picks needs numbers to apply to, and its labels are summed as those of an array
        todo = [self.in_full(f) if f in discrete else f for f in todo]
        todo = [self.without(f, _alone(f, keep, [g for g in todo if g is not f])) for f in todo]
        placed = next((made for f in todo if (made := self._placed_last(f, todo, keep)) is not None), None)
        if placed is not None:
            return placed
        found = order([f.labels for f in todo], keep, self.sizes, self.limit)
        self.orders.append(found)
        for pair in found.pairs:
            picked = [todo[i] for i in pair]
            todo = [f for i, f in enumerate(todo) if i not in pair]
            a, b = picked
            rest = set(keep).union(*(f.labels for f in todo))
            todo.append(self.pair(a, b, tuple(c for c in dict.fromkeys(a.labels + b.labels) if c in rest), keep))
        (last,) = todo
        return NetworkFactor(self.arranged(last, keep), keep) if set(last.labels) == set(keep) else last

    def identity(self, a: int, b: int) -> NetworkFactor:
        """The identity between two labels of one axis, as an array."""
        return self.dense_link(Link(IdentityRelation(self.axes[a]), (a,), (b,)))

    def array(self, factors: Sequence[NetworkFactor], labels: Labels, k: float = 1.0) -> int:
        """The slot of the array with exactly these axes: replicated along those that no factor has."""
        used = {c for f in factors for c in f.labels}
        keep = tuple(c for c in labels if c in used)
        factor = self.contract(factors, keep) or self.ones(())
        return self.scaled(k, self.spread(factor, labels))

    def in_full(self, f: NetworkFactor) -> NetworkFactor:
        """A factor of truth values or of elements of an index set as an array of numbers, 0 and 1; others unchanged."""
        if self.slots[f.slot].is_field:
            return f
        lead = f.labels[: len(self.slots[f.slot].axes)]
        return self.pair(self.ones(lead), f, f.labels, f.labels)

    def pair(self, a: NetworkFactor, b: NetworkFactor, out: Labels, keep: Labels = ()) -> NetworkFactor:
        """The contraction of two factors into one with the labels `out`, in the order of `keep` if that has them."""
        left, right = self.slots[a.slot], self.slots[b.slot]
        if left.is_field and right.is_field and left.entry != right.entry:
            wide = max(left.entry, right.entry, key=lambda e: e.dtype)
            a, b = (NetworkFactor(self.cast(f.slot, wide), f.labels) for f in (a, b))
        for f, x in ((a, b), (b, a)):
            made = self._related(f, x, out) if f.slot in self._arrays_of else None
            if made is not None:
                order = tuple([c for c in keep if c in out]) if {*out} <= {*keep} else out
                return NetworkFactor(self.arranged(made, order), order)
        if a.labels == b.labels == out and a.slot in self._made and b.slot in self._made:
            held = [one for one in (self.held(a.slot), self.held(b.slot)) if one is not None]
            both = reduce(np.logical_and, held) if held else None
            return self.constant(self._made[a.slot] * self._made[b.slot], out, both)
        if a.labels == b.labels == out:
            spec = Spec.pointwise(len(out))
        else:
            letters = {c: ALPHABET[i] for i, c in enumerate(dict.fromkeys(a.labels + b.labels))}
            if set(out) == set(keep) & set(out) and all(c in out for c in keep):
                out = tuple(c for c in keep if c in out)
            spec = Spec.of(*("".join([letters[c] for c in labels]) for labels in (a.labels, b.labels, out)))
        return NetworkFactor(self.multiplied(spec, a.slot, b.slot), out)

    def _related(self, f: NetworkFactor, x: NetworkFactor, out: Labels) -> NetworkFactor | None:
        """A relation's array times another: the relation applied to axes that are summed, or as a mask; None otherwise.

        So nothing is multiplied with the zeros of the relation, and no infinity meets them.
        """
        if x.slot in self._arrays_of or not self.slots[x.slot].is_field:
            return None
        relation = self._arrays_of[f.slot]
        cut = len(relation.dom.axes)
        left, right = f.labels[:cut], f.labels[cut:]
        for here, there, form in ((left, right, relation), (right, left, relation.T)):
            if not {*here} <= {*x.labels} or {*there} & {*x.labels}:
                continue
            if {*out} == ({*x.labels} - {*here}) | {*there}:
                return self.applied(x, here, there, form)
            if form.is_function and {*out} == {*x.labels, *there}:
                return self._placed(x, here, there, form)
        if {*out} != {*f.labels, *x.labels}:
            return None
        axes = self.slots[f.slot].axes
        truths = np.zeros((relation.dom.size, relation.cod.size), bool)
        truths[relation.holds()] = True
        leaf = Leaf(Entry("bool"), axes)
        mask = self.datum(Const(truths.reshape(leaf.shape), leaf, ("relation, as a mask", relation)))
        letters = {c: ALPHABET[i] for i, c in enumerate(dict.fromkeys(f.labels + x.labels))}
        spec = Spec.of(*("".join([letters[c] for c in labels]) for labels in (f.labels, x.labels, out)))
        return NetworkFactor(self.multiplied(spec, mask, x.slot), out)

    def _placed(self, x: NetworkFactor, here: Labels, there: Labels, function: AnyRelation) -> NetworkFactor:
        """An array with a function of some of its labels as labels beside them, 0 at all other places."""
        rest = tuple([c for c in x.labels if c not in here])
        at, to = function.holds()
        places = np.empty(function.dom.size, np.int64)
        places[at] = to * function.dom.size + at
        slot = self.summed(self.arranged(x, here + rest), self.index(here), places, self.index(there + here))
        return NetworkFactor(slot, there + here + rest)

    def _placed_last(self, f: NetworkFactor, factors: Sequence[NetworkFactor], keep: Labels) -> NetworkFactor | None:
        """The contraction of the others, and then a relation's array as the relation of labels to no fewer others.

        None for another factor, and where more than the relation has the labels that it makes.
        """
        relation, others = self._arrays_of.get(f.slot), [g for g in factors if g is not f]
        if relation is None or not others:
            return None
        have, cut = {c for g in others for c in g.labels}, len(relation.dom.axes)
        left, right = f.labels[:cut], f.labels[cut:]
        for here, there, form in ((left, right, relation), (right, left, relation.T)):
            fits = {*here} <= have - {*keep} and {*there} <= {*keep} - have
            if fits and self.size(here) <= self.size(there):
                made = self.contract(others, tuple([c for c in keep if c not in there]) + here)
                assert made is not None  # of at least one factor
                placed = self.applied(made, here, there, form)
                return NetworkFactor(self.arranged(placed, keep), keep) if {*placed.labels} == {*keep} else placed
        return None

    def _linked_in(
        self, factors: list[NetworkFactor], links: list[Link], keep: Labels, most: int | None
    ) -> list[NetworkFactor]:
        """Relations applied to the factors at one of their sides: red_R on axes that nothing else has."""
        while links:
            for link in reversed(links):
                made = self._linked_by(factors, link, [x for x in links if x is not link], keep)
                if made is not None:
                    factors, links = made, [x for x in links if x is not link]
                    break
            else:
                link = links.pop()
                if most is not None and link.relation.dom.size * link.relation.cod.size > most:
                    raise WideRelationError
                factors.append(self.dense_link(link))
        return factors

    def _linked_by(
        self, factors: list[NetworkFactor], link: Link, others: list[Link], keep: Labels
    ) -> list[NetworkFactor] | None:
        """The factors after a relation is applied to those at one of its sides; None where that cannot be."""
        used = {c for other in others for c in other.labels} | set(keep)
        for here, there, relation in ((link.y, link.x, link.relation.T), (link.x, link.y, link.relation)):
            users = [f for f in factors if any(c in f.labels for c in here)]
            widest = max(users, key=lambda f: len(f.labels), default=None)
            if widest is None or used & set(here) or set(there) & set(widest.labels):
                continue
            if all(set(f.labels) <= set(widest.labels) for f in users) and set(here) <= set(widest.labels):
                whole = self.contract(users, widest.labels) if len(users) > 1 else widest
                assert whole is not None  # there are users
                return [*(f for f in factors if f not in users), self.applied(whole, here, there, relation)]
        return None

    def applied(self, f: NetworkFactor, here: Labels, there: Labels, relation: AnyRelation) -> NetworkFactor:
        """A relation applied to the labels `here` of a factor, as numbers: truth values have no sum."""
        f = self.in_full(f)
        rest = tuple(c for c in f.labels if c not in here)
        return NetworkFactor(self.reduced(self.arranged(f, here + rest), relation), there + rest)

    def dense_link(self, link: Link) -> NetworkFactor:
        """A relation as an array of 0 and 1: only where nothing else can be had."""
        addressable(link.relation.dom.size * link.relation.cod.size, "the matrix of a relation")
        dense = np.zeros((link.relation.dom.size, link.relation.cod.size), self.base.dtype)
        dense[link.relation.holds()] = 1.0
        leaf = Leaf(self.base, link.relation.dom.axes + link.relation.cod.axes)
        const = Const(dense.reshape(leaf.shape), leaf, ("relation", link.relation))
        slot = self.datum(const)
        self.hold(slot, const.array != 0.0)
        self._arrays_of[slot] = link.relation
        return NetworkFactor(slot, link.labels)


def _alone(f: NetworkFactor, keep: Labels, others: Sequence[NetworkFactor]) -> list[int]:
    """The labels that only this factor has."""
    elsewhere = set(keep).union(*(g.labels for g in others))
    return [c for c in f.labels if c not in elsewhere]
