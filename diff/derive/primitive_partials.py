"""The partial derivatives of element-wise operations: lines, traced on numbers once and lifted to each leaf; arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.derive.norm_derivative import norm_arcs
from diff.trace.expr import Expr
from hilbert import SpaceError
from hilbert.base.once import once
from hilbert.errors import number, shown
from hilbert.index.leaf import Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Add, Scale
from hilbert.program.transform.lifted_line import lifted_on
from hilbert.space.space import type_of
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc

if TYPE_CHECKING:
    from diff.derive.tangents import Tangents
    from diff.terms.elementwise import AnyElementwise
    from hilbert.index.leaf import Entry
    from hilbert.program.line.line import Line


@once
def partials_on(leaf: Leaf, p: AnyElementwise) -> tuple[Line, tuple[float | None, ...]]:
    """The partial derivatives in the arguments and the value, on arrays of one leaf.

    Those that are numbers are beside the line, which gives the others: None stands for each of these.
    """
    line, numbers = _on_numbers(p, leaf.entry)
    n = line.arity
    return lifted_on(line, leaf.axes, (True,) * n, (leaf,) * n), numbers


@once
def _on_numbers(p: AnyElementwise, entry: Entry) -> tuple[Line, tuple[float | None, ...]]:
    """The partial derivatives on numbers, written in the language itself."""
    rule, leaf = p.rule, Leaf(entry)
    assert rule.derivatives is not None  # its result is real
    b = Builder([leaf] * (rule.arity + 1))
    exprs = [Expr(b, type_of(leaf), (k,)) for k in range(b.arity)]
    partials = rule.derivatives(p.params, tuple(exprs[:-1]), exprs[-1])
    for partial in partials:
        mine = isinstance(partial, Expr) and partial.builder is b
        if not mine and number(partial) is not None:
            continue
        if not mine or [b.slots[k].axes for k in partial.slots] != [leaf.axes]:
            msg = (
                f"the derivative of primitive {p.name} is {shown(partial)}, "
                f"where an expression of {leaf} in its argument and its value is due, or a number"
            )
            raise SpaceError(msg)
    numbers = tuple(_constant(partial) for partial in partials)
    return b.line(partial.slots[0] for partial, k in zip(partials, numbers, strict=True) if k is None), numbers


def _constant(partial: Any) -> float | None:
    """The number that a partial derivative is everywhere; None for one that varies."""
    return _filling(partial.builder, partial.slots[0]) if isinstance(partial, Expr) else number(partial)


def _filling(b: Builder, slot: int) -> float | None:
    """The number in every entry of a slot, for finite entries of the inputs."""
    args = b.steps[slot - b.arity].args if slot >= b.arity else ()
    match b.operation(slot):
        case Scale(0.0):
            return 0.0
        case Add():
            left, right = (_filling(b, a) for a in args)
            return None if left is None or right is None else left + right
        case _:  # one question: of a literal, or of a slot that varies
            return b.filling(slot)


def partial_arcs(t: Tangents, p: AnyElementwise, args: tuple[int, ...], y: int) -> list[Arc]:
    """The arcs of the partial derivatives, whose program is copied in; none for a partial derivative that is 0.

    Those of a row that is finite, and has finite derivatives, are finite where the arguments are.
    """
    b = t.b
    if arcs := norm_arcs(t, p, args, y):
        return arcs
    line, numbers = partials_on(b.slots[y], p)
    where = b.inline(line, (*args, y))
    slots = iter([where[k] for k in line.outputs])
    spec = Spec.pointwise(len(b.slots[y].axes))
    for k, x in zip(numbers, args, strict=True):
        if k is None:
            d = next(slots)
            if p.rule.is_finite(p.params):
                t.finite[d] = args
            arcs.append(Arc(wire.ContractWith(spec, 0, Ref(d, b.slots[d])), x, y))
        elif k:
            arcs.append(Arc(wire.Same() if k == 1.0 else wire.Scale(k), x, y))
    return arcs
