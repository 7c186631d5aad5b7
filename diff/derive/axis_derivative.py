"""Derivatives of functions along axes: log Σ exp and softmax, each by the other; what is found has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.index.spec import Spec
from hilbert.program.line.operation import Along
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc

if TYPE_CHECKING:
    from hilbert.program.line.builder import Builder


def along(b: Builder, f: Along, x: int, y: int, done: set[int]) -> list[Arc]:
    """The arcs from slot x to slot y of a function along axes; `done` are the slots that have theirs.

    d(log Σ exp x) = softmax(x) ⊙ dx, and softmax x = exp(x − log Σ exp x), whose differential y·dx − y·d(log Σ exp x)
    goes through the wire of log Σ exp x, which the line need not compute.
    """
    whole = Spec.pointwise(len(b.slots[x].axes)).left
    rest = whole[: f.at] + whole[f.at + len(f.index.axes) :]
    if f.name == "logsumexp":
        s = b.step(Along("softmax", f.index, f.at), (x,))
        return [Arc(wire.ContractWith(Spec.of(whole, whole, rest), 0, Ref(s, b.slots[s])), x, y)]
    assert f.name == "softmax"  # the others are discrete
    total = b.step(Along("logsumexp", f.index, f.at), (x,))
    negative = b.scale(-1.0, total)
    arcs: list[Arc] = []
    if total not in done:
        arcs.append(Arc(wire.ContractWith(Spec.of(whole, whole, rest), 0, Ref(y, b.slots[y])), x, total))
    if negative not in done:
        arcs.append(Arc(wire.Scale(-1.0), total, negative))
    done.update((negative, total))
    return [
        *arcs,
        Arc(wire.ContractWith(Spec.of(whole, whole, whole), 0, Ref(y, b.slots[y])), x, y),
        Arc(wire.ContractWith(Spec.of(whole, rest, whole), 0, Ref(y, b.slots[y])), negative, y),
    ]
