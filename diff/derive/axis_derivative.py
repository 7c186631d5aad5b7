"""Derivatives of functions along axes: log Σ exp, softmax and its logarithm; argmax and its like have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from diff.terms.elementwise import Comparison
from hilbert import Unit
from hilbert.index.spec import Spec
from hilbert.program.line.operation import Along, Reduce
from hilbert.relation import Full
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc

if TYPE_CHECKING:
    from diff.derive.tangents import Tangents


def along(t: Tangents, f: Along, x: int, y: int) -> list[Arc]:
    """The arcs from slot x to slot y of a function along axes, with those to values on the way that have none yet.

    d(log Σ exp x) = softmax(x) ⊙ dx. The other two go through the wire of its negative, which the line need not
    compute: softmax x = exp(x − log Σ exp x) has y·dx − y·d(log Σ exp x), log softmax x has dx − d(log Σ exp x).
    Where all entries are −∞, their softmax is 0, and so are products with it; the dx of log softmax is left out.
    """
    b = t.b
    whole = Spec.pointwise(len(b.slots[x].axes)).left
    n = len(f.index.axes)
    rest = whole[: f.at] + whole[f.at + n :]

    def by(datum: int, source: str, target: str) -> wire.ContractWith:
        leaf = b.slots[datum]
        return wire.ContractWith(
            Spec.of(whole if leaf.axes == b.slots[x].axes else rest, source, target), 0, Ref(datum, leaf)
        )

    s = y if f.name == "softmax" else b.step(evolve(f, name="softmax"), (x,))
    total = y if f.name == "logsumexp" else b.step(evolve(f, name="logsumexp"), (x,))
    arcs = [Arc(by(s, whole, rest), x, total)] if f.name == "logsumexp" or t.claim(total) else []
    if f.name == "logsumexp":
        return arcs
    negative = b.scale(-1.0, total)
    if t.claim(negative):
        arcs.append(Arc(wire.Scale(-1.0), total, negative))
    if f.name == "softmax":
        return [*arcs, Arc(by(y, whole, whole), x, y), Arc(by(y, rest, whole), negative, y)]
    assert f.name == "log_softmax"  # the others are discrete
    some = b.step(Comparison("not_equal"), (total, b.number(-float("inf"), b.slots[total])))
    return [*arcs, Arc(by(some, whole, whole), x, y), Arc(Reduce(Full(Unit(), f.index), f.at), negative, y)]
