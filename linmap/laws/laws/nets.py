"""Nets simplified: the laws of `linmap.laws.graph` until none applies, with data that are known, or are steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linmap.laws.engine.engine import FLAT
from linmap.laws.engine.rule import NET, NODE, rule, rules
from linmap.laws.engine.section_data import Bench, Constants
from linmap.laws.laws.graph import NetUnderRewriting, arcs_in_a_row, arcs_side_by_side
from linmap.term import wire
from linmap.term.net import Arc, Closed, Net, refs
from linmap.term.nodes import Identity, ZeroMap

if TYPE_CHECKING:
    from linmap.laws.laws.graph import Note


def simplify_net(f: Net, bench: Bench | None = None, note: Note | None = None) -> Net:
    """The net after the laws; the same object if none applies."""
    graph = NetUnderRewriting(f, bench or Constants(), note)
    for late in (False, True):
        graph.late = late
        laws = [arcs_in_a_row, arcs_side_by_side, *(law.function for law in rules(NET, late=late))]
        while any([law(graph) for law in laws]):  # noqa: C419 - all of them in turn
            pass
    return graph.net()


def simplify_closed(f: Closed, bench: Bench | None = None, note: Note | None = None) -> Any:
    """The closed map as a net with its data in the arcs, if a law applies; else the same object."""
    data = {ref.slot: datum for ref, datum in zip(refs(f.body), f.data, strict=True)}
    arcs = tuple(Arc(wire.closed(a.map, data), a.src, a.dst) for a in f.body.arcs)
    body = Net(f.dom, f.cod, f.body.inputs, arcs, f.body.outputs, f.body.wires)
    made = simplify_net(body, bench, note)
    return f if made is body else made


FLAT[Net] = lambda f, note: simplify_net(f, None, note)
FLAT[Closed] = lambda f, note: simplify_closed(f, None, note)


@rule(NODE, "a net without arcs from each input to the output in its place is id", "paper §3.3", Net)
def net_that_is_the_identity(f: Net) -> Any:
    same = f.dom == f.cod and f.inputs == f.outputs and len(set(f.inputs)) == len(f.inputs)
    return Identity(f.dom) if same and not f.arcs else None


@rule(NODE, "a net whose outputs no input reaches is 0", "paper §3.3", Net)
def net_that_is_zero(f: Net) -> Any:
    return ZeroMap(f.dom, f.cod) if not f.arcs and not set(f.inputs) & set(f.outputs) else None
