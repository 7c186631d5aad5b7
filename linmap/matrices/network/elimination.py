"""The order in which the wires of a net are eliminated, and the sums left between its inputs and its outputs.

Wires that only pass something on are gone before (`linmap.matrices.network.arcs`). Of the others again and again the
wire that joins the smallest ends goes (Markowitz's rule), and where the net is small also all wires from the inputs on,
forward mode, and from the outputs on, adjoint mode; the narrowest wire that all flow passes is left to the end. The
result that stores the fewest numbers is taken.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import frozen

from linmap.matrices.labelled.labelled_products import uses
from linmap.matrices.network.arcs import forms_of_arcs
from linmap.matrices.network.sum_simplification import MANY, settled, tidied
from linmap.matrices.network.to_arrays import merged, restricted
from linmap.matrices.tables.low_rank_terms import is_low
from linmap.matrices.tables.tables import LISTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from linmap.matrices.labelled.labelled_products import Blocks, LabelTable, Link, NetworkFactor, NetworkProduct
    from linmap.matrices.network.arc_products import ArcProducts
    from linmap.matrices.network.arcs import FormOfArc

ArcsByEnd: TypeAlias = "dict[int, dict[int, FormOfArc]]"
TRIED = 100
"""Forward and adjoint mode are tried for at most so many wires, …"""
LONG = 2**16
"""Constants of more entries are let go of when no arc has them any more."""
QUICK = 2 * 10**5
"""… and where at most so many tuples were listed so far, which takes some ten milliseconds."""


class ArcsLeft:
    """The arcs that are left, by source and by destination; inputs and outputs are vertices of their own."""

    def __init__(self, n: ArcProducts, arcs: tuple[ArcsByEnd, ArcsByEnd] | None = None) -> None:
        self.n = n
        body = n.body
        self.ends = len(body.wires)
        self.last = self.ends + len(body.inputs)
        found = (*body.wires, *(body.wires[w] for w in (*body.inputs, *body.outputs)))
        self.sizes = [leaf.size for leaf in found]
        self.into: ArcsByEnd = {}
        self.out_of: ArcsByEnd = {}
        self.width_in, self.width_out = [0] * len(found), [0] * len(found)  # the sizes of all neighbours together
        if arcs is None:
            for (src, dst), form in forms_of_arcs(n).items():
                self._put(src, dst, form)
        else:
            self.into, self.out_of = ({v: dict(found) for v, found in side.items()} for side in arcs)
            for v, into in self.into.items():
                self.width_in[v] = sum(self.sizes[src] for src in into)
            for v, out_of in self.out_of.items():
                self.width_out[v] = sum(self.sizes[dst] for dst in out_of)
        self.start = len(n.slots)

    def copied(self) -> tuple[ArcsByEnd, ArcsByEnd]:
        """The arcs that are left, by destination and by source."""
        into, out_of = ({v: dict(found) for v, found in side.items()} for side in (self.into, self.out_of))
        return into, out_of

    def _put(self, src: int, dst: int, form: FormOfArc) -> None:
        known = self.out_of.get(src, {}).get(dst)
        total = form if known is None else known + form
        if known is None:
            self.width_in[dst] += self.sizes[src]
            self.width_out[src] += self.sizes[dst]
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

        At a narrow wire each arc is made one product before, so that the result has the rank of the wire; terms of low
        rank stay beside it if that rank is not low.
        """
        n = self.n
        into, out_of = self.into.pop(w, {}), self.out_of.pop(w, {})
        beside = not is_low(self.sizes[w], (n.body.cod.dim, n.body.dom.dim))
        first = {src: settled(n, form, one=narrow, beside=beside) for src, form in into.items()}
        second = {dst: settled(n, form, one=narrow, beside=beside) for dst, form in out_of.items()}
        for src in into:
            self.out_of[src].pop(w)
            self.width_out[src] -= self.sizes[w]
        for dst in out_of:
            self.into[dst].pop(w)
            self.width_in[dst] -= self.sizes[w]
        for src, ps in first.items():
            for dst, qs in second.items():
                made = composed(n, qs, ps)
                if made:
                    self._put(src, dst, made)
        gone = {f.slot for form in (*into.values(), *out_of.values()) for p in form for f in p.factors}
        if any(k >= self.start and n.known(k) is not None and n.slots[k].size > LONG for k in gone):
            forms = [form for found in self.out_of.values() for form in found.values()]
            n.release(self.start, [f.slot for form in forms for p in form for f in p.factors])

    def cheapest_first(self, wires: Sequence[int]) -> Iterator[int]:
        """Yield wires, each to be eliminated before the next: one that joins the smallest ends, the first of several.

        The rule is H. M. Markowitz's (*Management Science* 3, 1957), with the sizes of the ends for their numbers.
        """
        place = {w: k for k, w in enumerate(wires)}

        def cost(w: int) -> int:
            return self.width_in[w] * self.width_out[w]

        queue = [(cost(w), k) for w, k in place.items()]
        heapq.heapify(queue)
        while queue:
            known, k = heapq.heappop(queue)
            w = wires[k]
            if w not in place or known != cost(w):  # gone, or further down the queue with the cost that it has now
                continue
            near = [v for v in (*self.into.get(w, ()), *self.out_of.get(w, ())) if v in place]
            del place[w]
            yield w
            for v in near:
                heapq.heappush(queue, (cost(v), place[v]))

    def result(self) -> Blocks:
        """The sums that are left between inputs and outputs."""
        found: Blocks = {}
        for i in range(len(self.n.body.inputs)):
            arcs = self.out_of.get(self.ends + i, {})
            for end in sorted(arcs):
                products = [p for p in settled(self.n, arcs[end]) if not self._is_empty(p)]
                if products:
                    found[end - self.last, i] = products
        return found

    def _is_empty(self, p: NetworkProduct) -> bool:
        """Tell if a product is a sum of nothing, or has no entries."""
        parts: list[NetworkFactor | Link | LabelTable] = [*p.factors, *p.links, *p.tables]
        return any(not self.n.sizes[c] for part in parts for c in part.labels)


def composed(n: ArcProducts, qs: Sequence[NetworkProduct], ps: Sequence[NetworkProduct]) -> list[NetworkProduct]:
    """The products of q • p, for p and q in two sums.

    Sums of relations whose numbers are known are one table each before, where they meet a larger table, and where more
    products than are kept would be made one afterwards.
    """
    if (
        not n.patterns
        and max(len(ps), len(qs)) > 1
        and all(n.known(f.slot) is not None for p in (*ps, *qs) for f in p.factors)
    ):
        p_rows, q_rows = _rows(n, ps), _rows(n, qs)
        if p_rows and q_rows and (_is_due(ps, p_rows, qs, q_rows) or _is_due(qs, q_rows, ps, p_rows)):
            q, p = merged(n, qs), merged(n, ps)
            one = tidied(n, n.after(q, p)) if q.tables and p.tables else None
            if one is not None and len(one.tables) <= 1:
                return [one] if one.k else []
    return [p for p in (n.after(q, p) for p in ps for q in qs) if p.k]


def _is_due(ps: Sequence[NetworkProduct], p_rows: int, qs: Sequence[NetworkProduct], q_rows: int) -> bool:
    """Tell if the products of either sum are made one table before the sums meet."""
    if len(ps) * len(qs) > MANY:
        return max(p_rows, q_rows) <= LISTED
    return len(qs) == 1 and bool(qs[0].tables) and p_rows <= q_rows


def _rows(n: ArcProducts, products: Sequence[NetworkProduct]) -> int:
    """About how many tuples a sum has as one table; 0 where it restricts not all of its labels."""
    total = 0
    for p in products:
        if len(restricted(p)) < len(p.out + p.inp):
            return 0
        used = uses(p.links, p.tables)
        parts = [link.relation.size for link in p.links] + [t.count for t in p.tables]
        total += math.prod(parts) * n.size([c for c in p.open if c not in used])
    return total


def eliminated(n: ArcProducts) -> Blocks:
    """The blocks of the order of elimination that stores the fewest numbers, then of that with the fewest steps."""
    first = ArcsLeft(n)
    wires = first.wires()
    if not wires:
        return first.result()
    last = first.narrowest(wires)
    if len(wires) == 1:  # there is one order
        first.eliminate(wires[0], narrow=last is not None)
        return first.result()
    return min(_attempts(n, first.copied(), wires, last), key=lambda attempt: attempt.cost).blocks


@final
@frozen
class Attempt:
    """The blocks that an order of elimination leaves, and its cost: the numbers that they store, the steps taken."""

    blocks: Blocks
    cost: tuple[int, int]


def _attempts(
    n: ArcProducts, arcs: tuple[ArcsByEnd, ArcsByEnd], wires: Sequence[int], last: int | None
) -> Iterator[Attempt]:
    """Markowitz's order, and where the net is small also forward and adjoint mode, that from the fewer vectors first.

    The wire `last`, if there is one, goes at the end. An order that was tried already is left out.
    """
    inner = [w for w in wires if w != last]
    modes = [inner, inner[::-1]] if n.body.dom.dim <= n.body.cod.dim else [inner[::-1], inner]
    tried: list[list[int]] = []
    for mode in (None, *modes):
        if tried and (len(wires) > TRIED or n.rows > QUICK):
            return
        if mode in tried:
            continue
        graph = ArcsLeft(n, arcs)
        order: list[int] = []
        for w in graph.cheapest_first(inner) if mode is None else mode:
            graph.eliminate(w)
            order.append(w)
        tried.append(order)
        if last is not None:
            graph.eliminate(last, narrow=True)
        blocks = graph.result()
        stored = sum(_stored(n, p) for products in blocks.values() for p in products)
        yield Attempt(blocks, (stored, _steps(n, blocks)))


def _steps(n: ArcProducts, blocks: Blocks) -> int:
    """The number of steps that make the factors of some blocks."""
    b = n.builder
    needed = {f.slot for products in blocks.values() for p in products for f in p.factors}
    for k in range(len(b.slots) - 1, b.arity - 1, -1):
        if k in needed:
            needed.update(b.steps[k - b.arity].args)
    return len(needed)


def _stored(n: ArcProducts, p: NetworkProduct) -> int:
    """The number of numbers that a product has, its tuples among them; of a relation, the number of its pairs."""
    tables = sum(t.count * len(t.labels) for t in p.tables) + sum(link.relation.size for link in p.links)
    return sum(n.entries(f) for f in p.factors) + tables
