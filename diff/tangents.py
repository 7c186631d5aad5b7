"""The derivatives of users' operations: their rule as the arcs of a net, once it is proved to be linear.

A rule gives dy in the arguments, the value and their tangents. It is traced, and differentiated in the tangents by the
rules of Theorem 4.1: it is linear if nothing that this derivative reads depends on a tangent, and if nothing is added
that does not. So linearity is seen in the steps; no number is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.custom import Custom, OperationRule, emit
from diff.expr import Expr
from diff.programs import as_program
from hilbert import DirectSum, SpaceError
from hilbert.errors import number, shown
from hilbert.program.builder import Builder
from hilbert.program.lifted import lifted_line
from hilbert.program.operation import Add, Literal
from linmap.net.fold import live_arcs
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.nets import Arc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.affine import AnyLinearization
    from diff.programs import AnyProgram
    from hilbert.index import Index
    from hilbert.leaf import Leaf
    from hilbert.program.line import Line


@final
@frozen
class Rule:
    """dy as a line on the arguments, the value, and, from input `first` on, the tangents."""

    line: Line
    first: int


def traced(step: Custom) -> Rule:
    """The rule for arguments without axes in front; raises SpaceError where there is none, or where it gives no dy."""
    rule = step.rule
    if rule.tangent is None:
        raise SpaceError(f"operation {rule.name} has no derivative: give it tangent=… where it is defined")
    spaces = (*step.arguments, step.cod, *(space.tangent for space in step.arguments))
    b = Builder([leaf for space in spaces for leaf in space.leaves])
    slots = iter(range(b.arity))
    exprs = [Expr(b, space, tuple(next(slots) for _ in space.leaves)) for space in spaces]
    count = len(step.arguments) + 1
    dy: Any = rule.tangent(*exprs[:count], *(e if e.slots else None for e in exprs[count:]))
    due = step.cod.tangent
    if number(dy) == 0.0:
        dy = Expr(b, due, tuple(b.number(0.0, leaf) for leaf in due.leaves))
    dy = _joined(b, dy)
    if not isinstance(dy, Expr) or dy.builder is not b or dy.space != due:
        raise SpaceError(f"the tangent of operation {rule.name} is {shown(dy)}, where an expression of {due} is due")
    return Rule(b.line(dy.slots), sum(len(space.leaves) for space in spaces[:count]))


def _joined(b: Builder, dy: Any) -> Any:
    """A tuple of expressions as one of a direct sum."""
    if not isinstance(dy, (tuple, list)):
        return dy
    parts = [_joined(b, part) for part in dy]
    if not all(isinstance(part, Expr) and part.builder is b for part in parts):
        return dy
    return Expr(b, DirectSum(tuple(part.space for part in parts)), tuple(k for part in parts for k in part.slots))


def lifted(step: Custom, axes: Sequence[Index]) -> Rule:
    """The rule under the axes in front of the arguments; the value has them all, a tangent those of its argument."""
    rule = traced(step)
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
    return Rule(line, rule.first)


def _dependent(line: Line, first: int) -> bytearray:
    """The slots that depend on the inputs from `first` on."""
    found = bytearray(len(line.slots))
    for k in range(first, line.arity):
        found[k] = 1
    for k, step in enumerate(line.steps, line.arity):
        found[k] = any(found[a] for a in step.args)
    return found


def _require_linear(rule: Rule, of: OperationRule, data: Sequence[int], d: Line) -> None:
    """Raise SpaceError unless the rule is linear: affine, since no datum of its derivative varies, and 0 at 0."""
    varies = _dependent(d, rule.first)
    for slot in data:
        if varies[slot]:
            raise SpaceError(
                f"the tangent of operation {of.name} is not linear in the tangents: {_said(d, slot)} is used"
            )
    line, varies = rule.line, _dependent(rule.line, rule.first)
    for slot, step in enumerate(line.steps, line.arity):
        if isinstance(step.operation, Add) and varies[slot]:
            for a in step.args:
                if not varies[a] and not _is_zero(line, a):
                    raise SpaceError(
                        f"the tangent of operation {of.name} is not linear in the tangents: {_said(line, a)}, which "
                        "does not depend on them, is added"
                    )
    for slot in line.outputs:
        if not varies[slot] and not _is_zero(line, slot):
            raise SpaceError(f"the tangent of operation {of.name} does not depend on the tangents, and is not 0")


def _is_zero(line: Line, slot: int) -> bool:
    operation = line.steps[slot - line.arity].operation if slot >= line.arity else None
    return isinstance(operation, Literal) and operation.value.number == 0.0


def _said(line: Line, slot: int) -> str:
    """A slot in a message: what made it."""
    if slot < line.arity:
        return f"an argument of {line.slots[slot]}"
    step = line.steps[slot - line.arity]
    return f"the result of {step.operation!r} in {line.slots[slot]}".replace("operation.", "")


def derived(
    b: Builder,
    step: Custom,
    args: Sequence[int],
    linearized: Callable[[AnyProgram], AnyLinearization],
    fresh: Callable[[Leaf], int],
) -> tuple[list[int], list[Arc]]:
    """The slots of the value, and the arcs of its derivative; `fresh` numbers a wire of the net for a leaf."""
    made = emit(b, step, args)
    results = [k for k in made if b.slots[k].is_field]
    if not results or not any(b.slots[k].is_field for k in args):
        return made, []
    rule = lifted(step, step.axes([b.slots[k] for k in args]))
    d = linearized(as_program(rule.line))
    line, body = d.program.line, d.body
    fields = [k for k in range(line.arity) if line.slots[k].is_field]
    flowing = {k: w for k, w in zip(fields, body.inputs, strict=True) if k >= rule.first}
    arcs = live_arcs(body.arcs, list(flowing.values()), body.outputs)
    data = sorted({datum.slot for arc in arcs if isinstance(datum := wire.datum_of(arc.map), Ref)})
    _require_linear(rule, step.rule, data, line)
    value = line.ending(data)
    where = b.inline(value, [*args, *made, *(0 for _ in range(rule.first, line.arity))])  # it reads no tangent
    place = {slot: where[k] for slot, k in zip(data, value.outputs, strict=True)}
    wires = dict(zip(flowing.values(), (k for k in args if b.slots[k].is_field), strict=True))
    same: list[Arc] = []  # what is an argument's tangent, or another result's
    for y, w in zip(results, body.outputs, strict=True):
        if wires.setdefault(w, y) != y:
            same.append(Arc(wire.Same(), wires[w], y))
    for arc in arcs:
        for w in (arc.src, arc.dst):
            if w not in wires:
                wires[w] = fresh(body.wires[w])
    own = [Arc(wire.at_slots(arc.map, place), wires[arc.src], wires[arc.dst]) for arc in arcs]
    return made, own + same
