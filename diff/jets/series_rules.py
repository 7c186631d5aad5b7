"""Taylor coefficients of steps that have a rule for the derivative: operations of users, fixed points, roots, systems.

A rule gives dy in x, y and dx, linear in dx. With Euler's operator θᵢ, (θᵢ u)_α = αᵢ·u_α, it holds for series, too:

    y = f(x)             αᵢ·y_α = τ(x, y, θᵢ x)_α                  τ the rule
    x = f(x, a)          αᵢ·x_α = (id − ∂ₓf)⁻¹ f'(x, a)(z, θᵢ a)_α    z = θᵢ x without its coefficient at α
    s = softmax(x)       αᵢ·s_α = (s ⊙ θᵢ x − s·Σ s ⊙ θᵢ x)_α
    y = log Σ exp(x)     αᵢ·y_α = (Σ softmax(x) ⊙ θᵢ x)_α
    0 = f(x, a)          αᵢ·x_α = −(∂ₓf)⁻¹ f'(x, a)(z, θᵢ a)_α
    b = A(a) x           αᵢ·x_α = A⁻¹(θᵢ b − (A(a)z + A'(θᵢ a)x))_α

What is linear in dx starts with order 1, so that at α nothing else is needed at α: no order needs itself. The inverse
is that at the point, the same at each order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.derive.affine import jvp, linearized
from diff.derive.equation_derivative import inverse
from diff.derive.user_operation_derivative import lifted, require_linear
from diff.jets.multiindex import Alpha
from diff.jets.taylor_series import Rule
from diff.terms.elementwise import Elementwise
from diff.terms.program import as_program
from diff.terms.user_operation import Custom
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import line_of
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from hilbert.program.line.step_operation import Operation
from hilbert.program.transform.lifted_line import equation
from hilbert.program.transform.run_linear_system import under
from linmap.net.apply_recur import acted
from linmap.term import wire
from linmap.term.datum import Ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.jets.taylor_series import StepsOfSeries, TaylorSeries
    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.library import Library
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line

LINEAR = frozenset((Add, Contract, Keep, Scale, Reduce, Move, Cast, External, Pack))
"""The steps that a rule may take of tangents; a tangent that is packed for a loop or a system fails there."""


@final
@frozen
class Euler(Operation):
    """θᵢ; it stands in the steps that coefficients are found for, and in no line that runs."""

    i: int

    def image(self, *operands: Leaf) -> Leaf:
        """The same."""
        return operands[0]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """Never."""
        raise AssertionError(self)


OWN = LINEAR | {Euler, Literal, Choose, Fill, AnyLane, Unpack, Loop, Cond, While}
"""Steps with a case of their own in `Series.coefficient`, beside primitives."""


def is_ruled(operation: Operation) -> bool:
    """Tell if the coefficients of a step follow from its derivative."""
    return type(operation) not in OWN and not isinstance(operation, Elementwise)


def rule_of(series: StepsOfSeries, slot: int) -> Rule:
    """The rule of a step, which is put among the steps of the series; raises SpaceError where there is none."""
    src, step = series.src, series.src.steps[slot - series.src.arity]
    operation: Any = step.operation
    sides: tuple[int, ...] | None = None
    if isinstance(operation, Custom):
        made = src.unpack(slot) if len(operation.cod.leaves) != 1 else (slot,)
        found = lifted(operation, operation.axes([src.slots[k] for k in step.args]), step.place)
        require_linear(found, operation.name)
        line, point = found.line, (*step.args, *made)
        moving = [k for k in step.args if src.slots[k].is_field]
    elif isinstance(operation, (Implicit, Solve)):
        made, given, n = src.unpack(slot), src.unpack(step.args[0]), operation.unknowns
        equation, sides, data = _equation(operation, given, n)
        line, point = jvp(as_program(equation)).line, (*made, *data)
        moving = [k for k in point if src.slots[k].is_field]
    else:  # right for every step with one result: the derivative that it has as a program
        made, point = (slot,), step.args
        line = jvp(as_program(line_of([src.slots[k] for k in point], operation, *range(len(point))))).line
        moving = [k for k in point if src.slots[k].is_field]
    ends: dict[int, tuple[int, ...]] = {}
    linear: dict[int, tuple[int, ...]] = {}
    for i in series.ways:
        along = [src.emit(Euler(i), (k,), src.slots[k]) for k in moving]
        where = src.inline(line, (*point, *along))
        ends[i] = tuple(where[k] for k in line.outputs)
        linear[i] = _linear(series, line, where, along, operation)
        series.linear.update(linear[i])
        if sides is not None:
            series.own.update(along[: len(made)])
    return Rule(tuple(k for k in made if src.slots[k].is_field), ends, linear, sides)


def _spoken(f: Operation) -> str:
    """The name that a user gives the step."""
    if isinstance(f, Implicit):
        return "the body of root" if f.is_root else "the body of fixed_point"
    return type(f).__name__.lower()


def _equation(f: Implicit | Solve, given: Sequence[int], n: int) -> tuple[Line, tuple[int, ...], Sequence[int]]:
    """The line that is 0, x or b; the slots of b, and of the data."""
    if isinstance(f, Implicit):
        return equation(f), (), given[n:]
    count = len(f.line.outputs)
    return (under(f.line, f.many, n) if f.many else f.line), tuple(given[:count]), given[count:]


def _linear(series: StepsOfSeries, line: Line, where: list[int], along: list[int], operation: Any) -> tuple[int, ...]:
    """The slots that depend on a tangent, each after what it depends on."""
    found = dict.fromkeys(along)
    for k, step in enumerate(line.steps, line.arity):
        if any(where[a] in found for a in step.args):
            if type(step.operation) not in LINEAR:
                raise series.no_jet(where[k], step.operation, f", in the derivative of {_spoken(operation)}")
            found[where[k]] = None
    return tuple(found)


def coefficients(series: TaylorSeries, slot: int, alpha: Alpha) -> dict[int, int | None]:
    """The coefficients of a step's results, by their slots; those of τ are known."""
    rule = series.rule(slot)
    n, i = series.way(alpha)
    found = [series.known.get((k, alpha)) for k in rule.ends[i]]
    if rule.sides is None:
        return {y: series.scaled(1.0 / n, k) for y, k in zip(rule.results, found, strict=True)}
    operation: Any = series.src.operation(slot)
    flow = {k: side for k, side in enumerate(_sides(series, rule, operation, found, alpha, n)) if side is not None}
    solved: Any = {}
    if flow:
        undone = _inverse(series, slot, operation).lifted(len(series.family) if series.varies(alpha) else 0)
        solved = acted(series.out, undone, flow, lambda d: d.slot if isinstance(d, Ref) else series.out.literal(d))
    results = {y: series.scaled(1.0 / n, solved.get(k)) for k, y in enumerate(rule.results)}
    series.known.update({(y, alpha): one for y, one in results.items()})
    for some in rule.linear.values():  # once more, now that x is known at α
        for k in some:
            series.known[k, alpha] = series.coefficient(k, alpha)
    return results


def _sides(
    series: TaylorSeries, rule: Rule, operation: Any, found: Sequence[int | None], alpha: Alpha, n: int
) -> list[int | None]:
    """The right sides of the system for αᵢ·x_α."""
    sign = 1.0 if isinstance(operation, Implicit) and not operation.is_root else -1.0
    sides = [series.scaled(sign, k) for k in found]
    for k, b in enumerate(rule.sides or ()):
        sides[k] = series.total([series.scaled(float(n), series.known.get((b, alpha))), sides[k]])
    return sides


def _inverse(series: TaylorSeries, slot: int, f: Implicit | Solve) -> wire.Inverse:
    """The inverse at the point."""
    src, out, n = series.src, series.out, f.unknowns
    found = series.inverses.get(slot)
    if found is None:
        given = src.unpack(src.steps[slot - src.arity].args[0])
        made = [series.value(k) for k in src.unpack(slot)]
        if isinstance(f, Implicit):
            at, is_root, lanes, lead = [*made, *map(series.value, given[n:])], f.is_root, len(f.lanes), 0
            line = equation(f)
        else:
            zeros = [out.number(0.0, leaf) for leaf in f.line.slots[:n]]
            at = [*zeros, *map(series.value, given[len(f.line.outputs) :])]
            line, is_root, lanes, lead = f.line, True, f.lanes, len(f.many)
        derivative = linearized(as_program(line))
        more: Any = {"by": f.by, "positive": f.positive} if isinstance(f, Solve) else {"signs": f.signs}
        found = inverse(out, derivative, at, n, of=f.of, is_root=is_root, lanes=lanes, lead=lead, **more)
        series.inverses[slot] = found
    return found
