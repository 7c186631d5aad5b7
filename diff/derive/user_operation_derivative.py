"""The derivatives of users' operations: their rule as the arcs of a net, where it is linear by inspection.

A rule gives dy in the arguments, the value and their tangents. It is traced once; each of its steps that depends on a
tangent must be linear in it: a contraction with what does not, a sum of what does, a linear operation. So linearity is
seen in the steps, and each of these is an arc; no number is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

from attrs import evolve, frozen

from diff.terms.elementwise import Binary, Elementwise, Primitive
from diff.terms.user_operation import Custom, emit
from diff.trace.error_place import origin
from diff.trace.expr import Expr
from hilbert import DirectSum, SpaceError
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.errors import number, shown
from hilbert.index.spec import Spec
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from hilbert.program.line.source_line import Place, in_derivative, told
from hilbert.program.transform.lifted_line import lifted_line
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.derive.tangents import Tangents
    from diff.terms.program import Operation
    from hilbert.index.index import Index
    from hilbert.program.line.line import Line


DIVIDE, RECIPROCAL = Binary("divide"), Primitive("reciprocal")


@final
@frozen
class TangentRule:
    """dy as a line on the arguments, the value, and, from input `first` on, the tangents."""

    line: Line
    first: int


def traced(step: Custom, place: str = "") -> TangentRule:
    """The rule for arguments without axes in front; raises SpaceError where there is none, or where it gives no dy."""
    rule = step.rule
    if rule.tangent is None:
        raise SpaceError(f"operation {rule.name} has no derivative: give it tangent=… where it is defined")
    spaces = (*step.arguments, step.cod, *(space.tangent for space in step.arguments))
    b = Builder([leaf for space in spaces for leaf in space.leaves])
    slots = iter(range(b.arity))
    exprs = [Expr(b, space, tuple(next(slots) for _ in space.leaves)) for space in spaces]
    count = len(step.arguments) + 1
    try:
        dy: Any = rule.tangent(*exprs[:count], *(e if e.slots else None for e in exprs[count:]))
    except SpaceError as error:
        raise SpaceError(f"{error}{origin(error, rule.tangent)}") from error
    due = step.cod.tangent
    if number(dy) == 0.0:
        dy = Expr(b, due, tuple(b.number(0.0, leaf) for leaf in due.leaves))
    dy = _joined(b, dy)
    if not isinstance(dy, Expr) or dy.builder is not b or dy.space != due:
        msg = f"the tangent of operation {rule.name} is {shown(dy)}, where an expression of {due} is due"
        raise SpaceError(msg + origin(SpaceError(), rule.tangent))
    first = sum(len(space.leaves) for space in spaces[:count])
    return TangentRule(_settled(b.line(dy.slots), first, place), first)


def _settled(line: Line, first: int, place: str) -> Line:
    """The line with a·(1/b) for a/b where a depends on a tangent and b does not; what looks on knows the place."""
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = list(range(b.arity))
    moving = set(range(first, line.arity))
    for slot, step in enumerate(line.steps, line.arity):
        args = tuple([where[a] for a in step.args])
        if not moving.isdisjoint(step.args):
            moving.add(slot)
        if step.operation == DIVIDE and moving.isdisjoint(step.args[1:]):
            spec = Spec.pointwise(len(line.slots[slot].axes))
            where.append(b.contract(spec, args[0], b.step(RECIPROCAL, args[1:])))
        elif isinstance(step.operation, External):
            where.append(b.step(evolve(step.operation, place=place), args))
        else:
            where.append(b.step(step.operation, args))
    return b.line(where[k] for k in line.outputs)


def _joined(b: Builder, dy: Any) -> Any:
    """A tuple of expressions as one of a direct sum."""
    if not isinstance(dy, (tuple, list)):
        return dy
    parts = [_joined(b, part) for part in dy]
    if not all(isinstance(part, Expr) and part.builder is b for part in parts):
        return dy
    return Expr(b, DirectSum(tuple(part.space for part in parts)), tuple(k for part in parts for k in part.slots))


def lifted(step: Custom, axes: Sequence[Index], place: Place | None) -> TangentRule:
    """The rule under the axes in front of the arguments; the value has them all, a tangent those of its argument."""
    rule = traced(step, told(place) if place else "")
    masks = step.masks or ((),) * len(step.leaves)
    of_tangents = [mask for mask, leaf in zip(masks, step.leaves, strict=True) if leaf.is_field]
    every = [*masks, *((True,) * step.n for _ in step.cod.leaves), *of_tangents]
    line = rule.line
    for k in reversed(range(step.n)):
        up = [mask[k] for mask in every]
        axis = (axes[k],)
        b = Builder([leaf.under(axis) if u else leaf for leaf, u in zip(line.slots, up, strict=False)])
        outputs, varies = lifted_line(b, line, axis, range(b.arity), up)
        line = b.line(slot if v else b.rep(slot, axis) for slot, v in zip(outputs, varies, strict=True))
    return TangentRule(line, rule.first)


def derived(t: Tangents, step: Custom, args: Sequence[int]) -> tuple[list[int], list[Arc]]:
    """The slots of the value, and the arcs of its derivative; SpaceError for a rule that is not linear in tangents."""
    b = t.b
    made = emit(b, step.derived(), args)
    results = [k for k in made if b.slots[k].is_field]
    if not results or not any(b.slots[k].is_field for k in args):
        return made, []
    rule = lifted(step, step.axes([b.slots[k] for k in args]), b.place)
    line = rule.line
    try:
        arcs = require_linear(rule, step.name)
    except SpaceError as error:
        raise SpaceError(f"{error}{origin(SpaceError(), step.rule.tangent)}") from None
    data = list(dict.fromkeys(d.slot for arc in arcs if isinstance(d := wire.datum_of(arc.map), Ref)))
    value = line.ending(data)
    around, b.place = b.place, in_derivative(b.place, step.name)
    where = b.inline(value, [*args, *made, *(0 for _ in range(rule.first, line.arity))])  # it reads no tangent
    b.place = around
    place = {slot: where[k] for slot, k in zip(data, value.outputs, strict=True)}
    wires = dict(zip(range(rule.first, line.arity), (k for k in args if b.slots[k].is_field), strict=True))
    same: list[Arc] = []  # what is an argument's tangent, or another result's
    for y, slot in zip(results, line.outputs, strict=True):
        if wires.setdefault(slot, y) != y:
            same.append(Arc(wire.Same(), wires[slot], y))
    for arc in arcs:
        if arc.dst not in wires:
            wires[arc.dst] = t.wire(line.slots[arc.dst])
    return made, [*(Arc(wire.at_slots(arc.map, place), wires[arc.src], wires[arc.dst]) for arc in arcs), *same]


def require_linear(rule: TangentRule, name: str) -> list[Arc]:
    """The steps that depend on a tangent, as arcs between slots; raises SpaceError for one that is not linear in it."""
    line = rule.line
    moving = set(range(rule.first, line.arity))
    arcs: list[Arc] = []
    for slot, step in enumerate(line.steps, line.arity):
        sources = [a for a in step.args if a in moving]
        if not sources:
            continue
        moving.add(slot)
        operation: Operation = step.operation
        match operation:
            case Contract(spec) if len(sources) == 1:
                (src,) = sources
                side = 1 - step.args.index(src)
                datum = step.args[side]
                arcs.append(Arc(wire.ContractWith(spec, side, Ref(datum, line.slots[datum])), src, slot))
            case Add() if moving.issuperset(step.args):
                arcs += [Arc(wire.Same(), a, slot) for a in sources]
            case Keep():
                arcs.append(Arc(wire.Same(), sources[0], slot))
            case Scale() | Reduce() | Move() | Cast() | External() as linear:
                arcs.append(Arc(linear, sources[0], slot))
            case (
                Contract()
                | Add()
                | Elementwise()
                | Along()
                | Choose()
                | Fill()
                | AnyLane()
                | Custom()
                | ControlFlow()
                | (Literal() | Pack() | Unpack())
            ):
                why = _why(line, slot, moving)
                raise SpaceError(f"the tangent of operation {name} is not linear in the tangents: {why}")
            case _:
                assert_never(operation)
    for slot in line.outputs:
        if slot not in moving and not _is_zero(line, slot):
            raise SpaceError(f"the tangent of operation {name} does not depend on the tangents, and is not 0")
    return arcs


def _is_zero(line: Line, slot: int) -> bool:
    """Tell if a slot is a constant 0, moved and repeated perhaps."""
    while slot >= line.arity:
        step = line.steps[slot - line.arity]
        if isinstance(step.operation, Literal):
            return not to_numpy(step.operation.value.array).any()
        if not isinstance(step.operation, (Scale, Reduce, Move, Cast)):
            return False
        (slot,) = step.args
    return False


def _why(line: Line, slot: int, moving: set[int]) -> str:
    """The reason why a step is not linear in the tangents."""
    operation, given = line.steps[slot - line.arity].operation, line.steps[slot - line.arity].args
    if isinstance(operation, Contract):
        return "two of them are multiplied"
    if isinstance(operation, Add):
        (other,) = (a for a in given if a not in moving)
        return f"{_said(line, other)}, which does not depend on them, is added"
    if isinstance(operation, Pack):
        return "a loop, a condition or an equation takes one, of which that is not known"
    return f"{getattr(operation, 'name', None) or operation} is applied to one"


def _said(line: Line, slot: int) -> str:
    """A slot in a message."""
    if slot < line.arity:
        return f"an argument of {line.slots[slot]}"
    operation = line.steps[slot - line.arity].operation
    if isinstance(operation, Literal):
        return f"a constant of {line.slots[slot]}"
    return f"the result of {getattr(operation, 'name', None) or operation} in {line.slots[slot]}"
