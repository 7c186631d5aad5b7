"""Conditions: of a scalar condition one branch is run; of one for each entry both values are there.

>>> from hilbert import Fin, R
>>> from diff import each, fun, log
>>> from adjoint import grad
>>> X = Fin.of(3)
>>> f = fun(R, R**X)(lambda w, xs: each(lambda x: where(x > 0, lambda: w * log(x), lambda: 0 * x), xs).sum())
>>> print(grad(f)(R.vec(2.0), (R**X).vec([1.0, 0.0, 4.0])))
(1.3862943611198906, [2.0, 0.0, 0.5]) ∈ ℝ ⊕ ℝ^3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.control.bodies import Tree, built, emitted, flat, said, slots_of, spaces_of, traced
from diff.trace.error_place import returned
from diff.trace.expr import Expr
from hilbert import SpaceError, Type, Vec
from hilbert.base.attach import overloaded
from hilbert.errors import double, is_masked, is_number, shown, written
from hilbert.program.control.branch import Cond
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import Choose
from hilbert.program.line.constant import filled
from hilbert.program.transform.emit_loop import emitted as step_of
from hilbert.space.nested_sums import apart
from hilbert.space.space import require_space

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from diff import _calls
    from diff.control.bodies import Body
    from hilbert.program.line.line import Line


@overloaded(lambda: _calls.where)
@written("where(c, x, y), with functions where(c, lambda: x, lambda: y)")
def where(c: Any, then: Any, otherwise: Any) -> Any:
    """then() if the condition holds, otherwise() if not: only that one is run. Or values, chosen entry by entry.

    `where(c, lambda: a, lambda: b)` takes one condition; in `each` and under lifts it is exact for each lane: no step
    of a branch is computed at the arguments of a lane that does not take it. `where(mask, a, b)` takes values of one
    space, which are both computed: a gradient is NaN where the entry that is not chosen is singular, as that of
    `where(x > 0, log(x), x)` at 0; write `each` with functions there. A number beside a value fills its space.
    Raises SpaceError for results of two spaces, and for functions with a condition for each entry.
    """
    if not isinstance(c, (Expr, Vec)) or any(leaf.kind != "b" for leaf in c.space.leaves) or len(c.space.leaves) != 1:
        msg = f"where takes a condition, such as x > 0, not {shown(c)}"
        if getattr(getattr(c, "dtype", None), "kind", "") == "b" and not is_masked(c):
            msg += ": make it a vector by (Bool ** X).vec(array > 0)" if c.shape else ": write Bool.vec(c)"
        raise SpaceError(msg)
    lazily = [callable(part) for part in (then, otherwise)]
    if not any(lazily):
        values = [part for part in (then, otherwise) if not is_number(part)]
        if not values:
            msg = f"where(c, {shown(then)}, {shown(otherwise)}) chooses between two numbers, of no space: "
            raise SpaceError(f"{msg}c.cast(R) is 1 where c holds and 0 elsewhere, V.full(k) a vector of numbers k")
        for value in values:
            spaces_of(value, "what where chooses")
        return emitted(lambda b, c, *given: _chosen(b, c, *_filled(b, (then, otherwise), given)), c, *values)
    if c.space.leaves[0].axes:
        msg = f"where with functions takes one condition, not one in {c.space}: each(f, xs) asks for every element, as "
        raise SpaceError(f"{msg}in each(lambda x: where(x > 0, lambda: log(x), lambda: x), xs)")
    thunks = [part if lazy else (lambda part=part: part) for part, lazy in zip((then, otherwise), lazily, strict=True)]
    return emitted(lambda b, condition: _branched(b, condition, thunks), c)


def _filled(b: Builder, pair: Iterable[Any], values: Sequence[Any]) -> list[Any]:
    """The two operands, a number beside a value being the value with that number in each entry, as in a sum."""
    space, rest = getattr(values[0], "space", None), iter(values)
    filled = (lambda k: k) if space is None else (lambda k: _constant(b, k, space))
    return [filled(k) if is_number(k) else next(rest) for k in pair]


def _constant(b: Builder, k: Any, space: Type) -> Expr[Any]:
    require_space(space, "a number beside a value")
    return Expr(b, space, tuple(b.literal(filled(double(k), leaf)) for leaf in space.leaves))


def _same(spaces: Iterable[Tree], thunks: Iterable[Any] = ()) -> Tree:
    first, second = spaces
    if first != second:
        msg = f"where gives {said(first)} if the condition holds and {said(second)} if not: both must be of one space"
        raise SpaceError(apart(first, second) + msg + "".join(map(returned, thunks)))
    return first


def _chosen(b: Builder, c: Expr[Any], then: Tree, otherwise: Tree) -> Tree:
    """Entry by entry."""
    spaces = _same(spaces_of(part, "what where chooses") for part in (then, otherwise))
    (slot,) = c.slots
    pairs = zip(slots_of(b, then), slots_of(b, otherwise), strict=True)
    axes = c.space.leaves[0].axes
    if any(leaf.axes[: len(axes)] != axes for space in flat(spaces) for leaf in space.leaves):
        msg = f"where by {c.space} does not fit {said(spaces)}: its index set must come first"
        raise SpaceError(msg)
    return built(b, spaces, iter([b.step(Choose(), (slot, *pair)) for pair in pairs]))


def _branched(b: Builder, c: Expr[Any], thunks: list[Any]) -> Tree:
    """Trace both branches, and emit a step that runs one of them by the condition."""
    bodies = [traced(b, "where", thunk, ()) for thunk in thunks]
    spaces = _same((body.spaces for body in bodies), thunks)
    captured = list(dict.fromkeys(k for body in bodies for k in body.captured))
    then, otherwise = (_on(b, body, captured) for body in bodies)
    return built(b, spaces, iter(step_of(b, Cond(then, otherwise), (*c.slots, *captured))))


def _on(b: Builder, body: Body, captured: list[int]) -> Line:
    """The line of a branch on what both branches capture."""
    inner = Builder([b.slots[k] for k in captured], fixed=body.line.fixed)
    place = {k: at for at, k in enumerate(captured)}
    where = inner.inline(body.line, [place[k] for k in body.captured])
    return inner.line([where[k] for k in body.line.outputs])
