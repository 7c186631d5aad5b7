"""The derivative of a root of sums of squares, r = √Σ a²: dr = Σ (a/r)·da, with no square that leaves the range.

The derivative of a/r is da/r − (a/r)·(dr/r). So a second derivative is in the range wherever 1/r is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.terms.elementwise import Binary, Primitive
from hilbert.index.index import Unit
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.line import Step
from hilbert.program.line.operation import Move, Reduce
from hilbert.program.run.norms import norm
from hilbert.relation import Full
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc

if TYPE_CHECKING:
    from diff.derive.tangents import Tangents
    from diff.terms.elementwise import AnyElementwise
    from hilbert.program.line.builder import Builder

UNIT, RECIPROCAL = Binary("x/|x|"), Primitive("reciprocal")


def norm_arcs(t: Tangents, p: AnyElementwise, args: tuple[int, ...], y: int) -> list[Arc]:
    """The arcs into r, or into a/r; none of another primitive, and where r is not the root of a sum of squares.

    a/r is finite where a is.
    """
    if p.name == UNIT.name:
        return _unit_arcs(t, args, y)
    if p.name != "length":
        return []
    b, arcs = t.b, list[Arc]()
    step = norm(Step(p, args), lambda slot: b.steps[slot - b.arity] if slot >= b.arity else None)
    for spec, a in zip(step.operation.specs, step.args, strict=True) if step else ():
        unit = b.step(UNIT, (a, _repeated(b, spec, a, y)))
        t.finite[unit] = (a,)
        arcs.append(Arc(wire.ContractWith(spec, 0, Ref(unit, b.slots[unit])), a, y))
    return arcs


def _repeated(b: Builder, spec: Spec, a: int, y: int) -> int:
    """r along the axes that are added up."""
    gone = [k for k, label in enumerate(spec.left) if label not in spec.out]
    slot = b.rep(y, tuple(b.slots[a].axes[k] for k in gone))
    have = [*gone, *(k for k in range(len(spec.left)) if k not in gone)]
    order = tuple(have.index(k) for k in range(len(have)))
    return slot if order == tuple(range(len(order))) else b.apply(Move(order), slot)


def _unit_arcs(t: Tangents, args: tuple[int, ...], y: int) -> list[Arc]:
    """The arcs from a and r to a/r where r is repeated along axes: 1/r is multiplied without being repeated."""
    b, (a, slot) = t.b, args
    have = list(ALPHABET[: len(b.slots[a].axes)])
    whole = "".join(have)
    while slot >= b.arity:  # back to r itself
        step = b.steps[slot - b.arity]
        if isinstance(step.operation, Move):
            have = [have[step.operation.order.index(k)] for k in range(len(have))]
        elif isinstance(step.operation, Reduce) and step.operation.at == 0 and _repeats(step.operation):
            have = have[1:]
        else:
            break
        (slot,) = step.args
    left, inverse = "".join(have), b.step(RECIPROCAL, (slot,))
    leaf = b.slots[slot]
    middle, minus = t.wire(leaf), t.wire(leaf)
    return [
        Arc(wire.ContractWith(Spec(left, whole, whole), 0, Ref(inverse, leaf)), a, y),
        Arc(wire.ContractWith(Spec(left, left, left), 0, Ref(inverse, leaf)), slot, middle),
        Arc(wire.Scale(-1.0), middle, minus),
        Arc(wire.ContractWith(Spec(whole, left, whole), 0, Ref(y, b.slots[y])), minus, y),
    ]


def _repeats(f: Reduce) -> bool:
    return isinstance(f.relation, Full) and isinstance(f.relation.dom, Unit)
