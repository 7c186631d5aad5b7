"""Derivatives simplified: the laws of nets, and (a·) • (b·) = (a·b ·) with the product as one more step of the program.

>>> from diff import derivative, log, sin
>>> from linmap import simplify
>>> print(derivative(log @ sin))
(1/sin x ·) • (cos x ·)
>>> print(simplify(derivative(log @ sin)))
(cos x / sin x ·)
"""

from __future__ import annotations

from typing import Any

from diff.affine import Pointwise
from diff.builder import Builder
from diff.term import Program
from hilbert import DirectSum
from linmap import wire
from linmap.datum import Const, Datum, Ref
from linmap.simplify import rewrite
from linmap.term import Arc, Net


def simplify_pointwise(f: Pointwise[Any, Any, Any]) -> Pointwise[Any, Any, Any]:
    """The same linear map in the point, with fewer arcs; the same object if no law applies."""
    p = f.program
    b = Builder(p.slots[: p.arity])
    where = b.inline(p, range(p.arity))

    def slot(datum: Datum) -> int:
        return b.literal(datum) if isinstance(datum, Const) else where[datum.slot]

    def merge(outer: wire.Section, inner: wire.Section) -> wire.Wire | None:
        if not (outer.datum.leaf.is_field and inner.datum.leaf.is_field):
            return None
        product = b.contract(outer.spec, slot(outer.datum), slot(inner.datum))
        where.extend([product] * (len(b.slots) - len(where)))
        return wire.Section(outer.spec, 0, Ref(product, b.slots[product]))

    body = f.body
    arcs, _ = rewrite(body, merge)
    if arcs == body.arcs:
        return f
    kept = [a.map.datum for a in arcs if isinstance(a.map, wire.Section)]
    data = sorted({where[d.slot] if d.slot < len(p.slots) else d.slot for d in kept if isinstance(d, Ref)})
    outputs = [where[k] for k in p.outputs]
    bound = b.build(p.dom, [*outputs, *data], _tuple_of(b, [*outputs, *data]), p.names)
    place = dict(zip(data, bound.outputs[len(outputs) :], strict=True))

    def moved(arc: Arc) -> Arc:
        match arc.map:
            case wire.Section(spec, side, Ref(k, leaf)):
                old = where[k] if k < len(p.slots) else k
                return Arc(wire.Section(spec, side, Ref(place[old], leaf)), arc.src, arc.dst)
            case _:
                return arc

    value: Program[Any, Any] = Program(p.dom, p.cod, bound.steps, bound.outputs[: len(outputs)], bound.slots, p.names)
    net = Net(body.dom, body.cod, body.inputs, tuple(map(moved, arcs)), body.outputs, body.wires)
    return Pointwise(value, net)


def _tuple_of(b: Builder, slots: list[int]) -> Any:
    return DirectSum(tuple(b.slots[k].space for k in slots))
