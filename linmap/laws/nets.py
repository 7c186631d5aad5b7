"""Nets simplified: the laws of `linmap.laws.graph` until none applies, with data that are known, or are steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from hilbert.arrays.contract import contract
from hilbert.arrays.namespace import common_namespace, freeze
from hilbert.formal.array import Formal
from hilbert.space import Leaf
from linmap.laws.engine import FLAT
from linmap.laws.graph import Graph, arcs_in_a_row
from linmap.laws.rule import NET, NODE, rule, rules
from linmap.laws.wires import Bench
from linmap.net import wire
from linmap.net.lower import close
from linmap.term.datum import Const, filled
from linmap.term.nodes import Arc, Closed, Identity, Net, Zero, refs

if TYPE_CHECKING:
    from hilbert.spec import Spec
    from linmap.laws.graph import Note
    from linmap.term.datum import Datum


@final
class Constants(Bench):
    """Data that are known: products are computed where they are no larger than both operands."""

    def number(self, datum: Datum) -> float | None:
        """Of a filled array, or of one without axes."""
        if not isinstance(datum, Const):
            return None
        if datum.number is not None:
            return datum.number
        return None if datum.leaf.axes or isinstance(datum.array, Formal) else float(datum.array)

    def _known(self, *data: Datum) -> bool:
        return all(isinstance(d, Const) and d.leaf.is_field and not isinstance(d.array, Formal) for d in data)

    def product(self, spec: Spec, u: Datum, v: Datum, flow: Leaf) -> Datum | None:
        """Computed once, if it is no larger than both."""
        if not (isinstance(u, Const) and isinstance(v, Const) and self._known(u, v)):
            return None
        leaf = wire.product(spec, u.leaf, v.leaf)
        if leaf.size > max(u.leaf.size, v.leaf.size):
            return None
        kernel = contract(common_namespace((u.array, v.array)), spec, u.leaf, v.leaf)
        return Const(freeze(kernel.call(u.array, v.array)), leaf, ("product", str(spec), u.key, v.key, 0, 0))

    def scaled(self, k: float, datum: Datum) -> Datum | None:
        """Computed once."""
        if not isinstance(datum, Const) or not self._known(datum):
            return None
        if datum.number is not None:
            return filled(k * datum.number, datum.leaf)
        return Const(freeze(k * datum.array), datum.leaf, ("times", k, datum.key, 0, 0))

    def total(self, u: Datum, v: Datum, *orders: tuple[int, ...]) -> Datum | None:
        """Computed once."""
        if not (isinstance(u, Const) and isinstance(v, Const) and self._known(u, v)):
            return None
        xp = common_namespace((u.array, v.array))
        arrays = [xp.permute_dims(d.array, order) for d, order in zip((u, v), orders, strict=True)] if orders else []
        left, right = arrays or (u.array, v.array)
        leaf = Leaf(u.leaf.base, tuple(u.leaf.axes[k] for k in orders[0])) if orders else u.leaf
        return Const(freeze(left + right), leaf, ("total", *orders, u.key, v.key, 0, 0))


def simplify_net(f: Net, bench: Bench | None = None, note: Note | None = None) -> Net:
    """The net after the laws; the same object if none applies."""
    graph = Graph(f, bench or Constants(), note)
    for late in (False, True):
        graph.late = late
        laws = [arcs_in_a_row, *(law.function for law in rules(NET, late=late))]
        while any([law(graph) for law in laws]):  # noqa: C419 - all of them in turn
            pass
    return graph.net()


def simplify_closed(f: Closed, bench: Bench | None = None, note: Note | None = None) -> Any:
    """The closed map as a net with its data in the arcs, if a law applies; else the same object."""
    data = {ref.slot: datum for ref, datum in zip(refs(f.body), f.data, strict=True)}
    arcs = tuple(Arc(close(a.map, data), a.src, a.dst) for a in f.body.arcs)
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
    return Zero(f.dom, f.cod) if not f.arcs and not set(f.inputs) & set(f.outputs) else None
