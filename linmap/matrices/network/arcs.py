"""The arcs of a net with the products that they carry, between the wires that are left to eliminate.

Wires that only pass something on are gone from the start, as nothing is multiplied out there: what flows into a wire
with one arc in and one out goes on as one product; where the only arc into a wire, or out of it, does nothing but scale
and transpose, the others start, or end, where that does.
"""

from __future__ import annotations

import itertools
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from hilbert.index.leaf import Bundle
from linmap.matrices.labelled.labelled_products import NetworkProduct
from linmap.matrices.network.loop_lanes import runs
from linmap.matrices.network.small_relations import dense_relations
from linmap.matrices.network.sum_simplification import settled
from linmap.net.fold import live_arcs
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hilbert import Index
    from hilbert.index.leaf import Leaf
    from linmap.matrices.network.arc_products import ArcProducts
    from linmap.matrices.network.loop_lanes import Patterns
    from linmap.term.net import Arc, Net

FormOfArc: TypeAlias = list[NetworkProduct]
"""The sum that an arc carries."""
Edge: TypeAlias = tuple[int, int, wire.Wire | NetworkProduct]
"""An arc: the wire that it leaves, the wire that it enters, and its map."""
Arriving: TypeAlias = tuple[int, int, FormOfArc]
"""A flow into a wire: the time when the wire passed last was complete, the wire where the flow starts, and its sum."""
SAME = wire.Same()


def forms_of_arcs(n: ArcProducts) -> dict[tuple[int, int], FormOfArc]:
    """The sum from wire to wire; each input, and then each output, has a wire of its own behind those of the net.

    Arcs come first in a sum, then what passes wires, in the order in which these are complete.
    """
    edges = list(_edges(n))
    complete = {dst: k for k, (_, dst, _) in enumerate(edges)}
    departures = Counter([src for src, _, _ in edges])
    joins = _joins(edges, departures)
    onward = _onward(n, edges, departures, joins)
    behind: dict[int, tuple[int, FormOfArc]] = {}  # from where what flows into a wire comes, and what it is
    into: dict[int, list[Arriving]] = {}
    for src, dst, f in edges:
        if src in onward:
            into.setdefault(dst, []).append((complete[src], src, []))
            continue
        time = complete[src] if src in behind else -1
        start, form = behind.get(src) or (src, [n.unit(src)])
        form = [q for p in settled(n, form) if (q := _then(n, f, p)).k]
        if dst not in joins and departures[dst] and (departures[dst] == 1 or all(p.is_plain for p in form)):
            behind[dst] = start, form
            continue
        last = onward.get(dst)
        form = form if last is None else [q for p in form if (q := n.after(last, p)).k]
        into.setdefault(dst, []).append((time, start, form))
    found: dict[tuple[int, int], FormOfArc] = {}
    for end in [w for w in into if w not in onward]:
        for start, form in _arriving(into, onward.keys(), end):
            found.setdefault((start, end), []).extend(form)
    return found


def _arriving(into: dict[int, list[Arriving]], onward: Collection[int], end: int) -> Iterator[tuple[int, FormOfArc]]:
    """The sums that arrive at a wire, each with its source, also by way of wires that only pass something on."""
    todo = [iter(sorted(into[end], key=_time))]
    while todo:
        for _, start, form in todo[-1]:
            if start in onward:
                todo.append(iter(sorted(into[start], key=_time)))
                break
            yield start, form
        else:
            todo.pop()


_time = itemgetter(0)


def _edges(n: ArcProducts) -> Iterator[Edge]:
    """The arcs that are not 0, in order; a loop or an inverse is one from each of its inputs to each of its outputs."""
    body = n.body
    wires = len(body.wires)
    for k, w in enumerate(body.inputs):
        yield wires + k, w, SAME
    live = live_arcs(body.arcs, body.inputs, body.outputs)
    ends = _ends(live)
    dense = frozenset() if n.is_exact else dense_relations(body)
    for k, arc in enumerate(live):
        if k in dense and isinstance(arc.map, wire.Reduce):
            yield arc.src, arc.dst, n.as_array(arc.map, body.wires[arc.src])
        elif isinstance(arc.map, (wire.Recur, wire.Inverse)):
            given, made = ends[arc.src], ends[arc.dst]
            lead = _lead(body.wires[arc.src], arc.map)
            products = n.opaque(arc.map, lead, {k for k, _ in given}, {k for k, _ in made})
            for (i, src), (j, dst) in itertools.product(given, made):
                if (i, j) in products:
                    yield src, dst, products[i, j]
        elif not isinstance(arc.map, (wire.Into, wire.OutOf)):
            yield arc.src, arc.dst, arc.map
    for k, w in enumerate(body.outputs):
        yield w, wires + len(body.inputs) + k, SAME


def most_vectors(body: Net, patterns: Patterns) -> int:
    """The most vectors that a loop or an inverse of a net is run on when it is eliminated; 0 where there is none."""
    live = live_arcs(body.arcs, body.inputs, body.outputs)
    ends = _ends(live)
    most = 0
    for arc in live:
        if isinstance(arc.map, (wire.Recur, wire.Inverse)):
            used, made = ({k for k, _ in ends[bundle]} for bundle in (arc.src, arc.dst))
            some = runs(evolve(arc.map, lead=0), used, made, patterns)
            most = max(most, sum(run.vectors for _, run in some))
    return most


def _lead(bundle: Leaf, f: wire.Recur | wire.Inverse) -> tuple[Index, ...]:
    """The axes in front of what flows into a loop or an inverse."""
    assert isinstance(bundle, Bundle)
    return bundle.leaves[0].axes[: f.lead] if bundle.leaves else ()


def _ends(arcs: Sequence[Arc]) -> dict[int, list[tuple[int, int]]]:
    """For each bundle the wires that lead into its arrays, or out of them."""
    ends: dict[int, list[tuple[int, int]]] = {}
    for arc in arcs:
        if isinstance(arc.map, wire.Into):
            ends.setdefault(arc.dst, []).append((arc.map.k, arc.src))
        elif isinstance(arc.map, wire.OutOf):
            ends.setdefault(arc.src, []).append((arc.map.k, arc.dst))
    return ends


def _passes(f: wire.Wire | NetworkProduct) -> bool:
    """Tell if an arc does nothing but scale and transpose."""
    return isinstance(f, (wire.Same, wire.Scale, wire.Move, wire.Cast))


def _joins(edges: Sequence[Edge], departures: Counter[int]) -> set[int]:
    """The wires where several arcs meet, and those to which only what such a wire passes on comes."""
    joins = {w for w, count in Counter([dst for _, dst, _ in edges]).items() if count > 1}
    for src, dst, f in edges:
        if src in joins and departures[src] == 1 and _passes(f):
            joins.add(dst)
    return joins


def _onward(
    n: ArcProducts, edges: Sequence[Edge], departures: Counter[int], joins: set[int]
) -> dict[int, NetworkProduct | None]:
    """The wires that only pass on the sum that meets there, each with the product on the way to the last such wire.

    None for a way that changes nothing.
    """
    onward: dict[int, NetworkProduct | None] = {}
    for src, dst, f in reversed(edges):
        if src in joins and departures[src] == 1 and _passes(f):
            last = onward.get(dst)
            if not isinstance(f, (wire.Same, wire.Cast)):
                first = _then(n, f, n.unit(src))
                last = first if last is None else n.after(last, first)
            onward[src] = last
    return onward


def _then(n: ArcProducts, f: wire.Wire | NetworkProduct, p: NetworkProduct) -> NetworkProduct:
    """f • p."""
    return n.after(f, p) if isinstance(f, NetworkProduct) else n.through(p, f)
