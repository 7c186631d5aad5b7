"""Fixed points and roots: solutions of an equation, found by iteration; their derivative is that of the equation.

>>> from hilbert import R
>>> from adjoint import grad
>>> from diff import cos, fun
>>> f = fun(R)(lambda a: fixed_point(lambda x: cos(a * x), a))
>>> print(f)
a ↦ fixed_point(x ↦ cos(a·x), a)
>>> print(round(float(f(R.vec(1.0))), 10), round(float(grad(f)(R.vec(1.0))), 10))
0.7390851332 -0.2974743415
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.control.bodies import Tree, built, emitted, flat, said, slots_of, spaces_of, traced
from diff.derive.affine import linearized
from diff.derive.equation_derivative import inverse
from diff.primitives.primitives import sqrt
from diff.primitives.value_ranges import sign
from diff.terms.program import as_program
from diff.trace.error_place import returned
from diff.trace.expr import Expr
from diff.vocabulary.operations import inner
from hilbert import Boolean, SpaceError
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.errors import integer, number, shown, written
from hilbert.index.leaf import Leaf
from hilbert.index.spec import Spec
from hilbert.program.control.equation_step import Implicit
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import TRUTH, Choose
from hilbert.program.line.constant import filled
from hilbert.program.line.operation import Literal
from hilbert.program.planning.contraction_plan import planned
from hilbert.program.transform.emit_loop import apart
from hilbert.program.transform.emit_loop import emitted as step_of
from hilbert.program.transform.lifted_line import in_lanes
from hilbert.space.space import type_of
from linmap.net.apply_recur import acted
from linmap.term.datum import Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from diff import _calls
    from hilbert.program.line.line import Line

    Tried: TypeAlias = tuple[Expr[Boolean], list[int]]


@overloaded(lambda: _calls.fixed_point)
@written("fixed_point(f, start)")
def fixed_point(f: Any, start: Any, *, tolerance: float | None = None, at_most: int = 10_000) -> Any:
    """x with x = f(x), by x ↦ f(x) from `start` on: f is a contraction near x.

    It stops where |f(x) − x| ≤ tolerance·(1 + |x|); the tolerance is ε^(2/3) where none is given, 4·10⁻¹¹ in double
    precision. The derivative is (id − ∂f)⁻¹ applied to that of what f reads around it, whatever the start (implicit
    function theorem); lifted, each lane stops by itself. Raises SpaceError for an f into another space, and where x is
    not found in so many rounds.
    """
    return found("fixed_point", f, start, tolerance, at_most)


@overloaded(lambda: _calls.root)
@written("root(f, start)")
def root(f: Any, start: Any, *, tolerance: float | None = None, at_most: int = 100) -> Any:
    """x with f(x) = 0, by Newton's iteration from `start` on: x ↦ x − (∂f)⁻¹f(x), for f into a space of x's dimension.

    It stops where a step is at most tolerance·(1 + |x|); see `fixed_point` for that, for lifts and for errors. The
    derivative is −(∂f)⁻¹ applied to that of what f reads around it.
    """
    return found("root", f, start, tolerance, at_most)


def found(
    what: str, f: Any, start: Tree, tolerance: Any, at_most: Any, equation: Callable[[Line, int], Line] | None = None
) -> Tree:
    """The solution of what a function says: of f(x) = x, of f(x) = 0, or of the `equation` that its line is made of.

    That is given the line, and the number of arrays of x among its arguments.
    """
    spaces_of(start, f"the start of {what}")
    most, given = integer(at_most), None if tolerance is None else number(tolerance)
    if most is None or most < 1:
        msg = f"at_most={shown(at_most)}: a number of rounds from 1 on"
        raise SpaceError(msg)
    if tolerance is not None and (given is None or not 0.0 < given < math.inf):
        msg = f"tolerance={shown(tolerance)}: a number above 0"
        raise SpaceError(msg)

    def emit(b: Builder, first: Tree) -> Tree:
        """The function traced, and what finds the solution, as a step."""
        spaces = spaces_of(first, f"the start of {what}")
        leaves = [leaf for space in flat(spaces) for leaf in space.leaves]
        if not leaves or len({leaf.entry for leaf in leaves}) > 1 or not leaves[0].is_field:
            msg = f"{what} finds numbers of one precision, not an element of {said(spaces)}"
            raise SpaceError(msg)
        body = traced(b, what, f, (spaces,), first)
        is_root = what != "fixed_point"
        if equation is None:
            _fits(what, f, spaces, body.spaces, is_root=is_root)
        least = float(np.finfo(leaves[0].dtype).eps) ** (2 / 3) if given is None else given
        whole = body.line if equation is None else equation(body.line, len(leaves))
        line, captured = apart(b, whole, len(leaves), body.captured)
        signs = tuple([sign(b, slot) for slot in captured]) if is_root else ()
        step = Implicit(line, len(leaves), is_root, least, most, names=body.names, signs=signs)
        return built(b, spaces, iter(step_of(b, step, (*slots_of(b, first), *captured))))

    return emitted(emit, start)


def _fits(what: str, f: Any, spaces: Tree, found: Tree, *, is_root: bool) -> None:
    if not is_root and found != spaces:
        msg = f"the function of {what} takes {said(spaces)} and gives {said(found)}: give an element of the same space"
        raise SpaceError(msg + returned(f))
    leaves, due = ([leaf for space in flat(tree) for leaf in space.leaves] for tree in (found, spaces))
    if {leaf.entry for leaf in leaves} != {leaf.entry for leaf in due} or _size(leaves) != _size(due):
        msg = f"the function of {what} takes {said(spaces)} and gives {said(found)}: there must be as many equations "
        raise SpaceError(f"{msg}as unknowns, {_size(due)}, in the same precision{returned(f)}")


def _size(leaves: list[Leaf]) -> int:
    return sum(leaf.size for leaf in leaves)


@once
def search(f: Implicit) -> Line:
    """The search as a line: rounds of x ↦ f(x), or of Newton's, until a step is short."""
    body, n = f.body, f.unknowns
    leaves, captured = body.slots[:n], body.slots[n : body.arity]
    one = Leaf(leaves[0].entry)
    b = Builder([TRUTH, one, *leaves, *captured], fixed=body.fixed)
    x, rest = list(range(2, 2 + n)), list(range(2 + n, b.arity))
    where = b.inline(body, [*x, *rest])
    values = [where[k] for k in body.outputs]
    if f.is_root:
        undone = inverse(b, linearized(as_program(body)), [*x, *rest], n, of=f.of, signs=f.signs)
        found = acted(b, undone, dict(enumerate(values)), lambda d: d.slot if isinstance(d, Ref) else b.literal(d))
        steps = [b.scale(-1.0, found[k]) for k in range(n)]
        left = _norm(b, values)
    else:
        steps = [b.add(k, b.scale(-1.0, old)) for k, old in zip(values, x, strict=True)]
        left = _norm(b, steps)
    bound = f.tolerance * (1.0 + _norm(b, x))  # beyond the largest number no step is short
    step = _norm(b, steps)
    after = _nearer(b, f, (x, steps, rest), left, step > bound) if f.is_root else values
    far: Expr[Boolean] = (step > bound) | (bound > float(np.finfo(leaves[0].dtype).max))
    goes = far & (step >= 0.0)  # what is no number stays none
    if f.is_root:  # where a slope is infinite a step is 0 that solves nothing
        goes = goes | ((step <= 0.0) & (left > 0.0))
    left = left + 0.0 * step if f.is_root else left
    round_ = b.line([*goes.slots, *left.slots, *after])
    outer = Builder([*leaves, *captured], fixed=body.fixed)
    yes = outer.emit(Literal(filled(1.0, TRUTH)), (), TRUTH)
    round_, shared = apart(outer, round_, 2 + n, range(n, outer.arity))
    start = [yes, outer.number(0.0, one), *range(n), *shared]
    name = "the root" if f.is_root else "the fixed point"
    return in_lanes(f, planned(outer.line(step_of(outer, While(round_, 2 + n, name, f.most), start)[2:])))


LEAST = 2.0**-40
"""The least part of a step of Newton's that is tried."""


def _nearer(
    b: Builder, f: Implicit, slots: tuple[list[int], list[int], list[int]], left: Expr[Any], is_long: Expr[Boolean]
) -> list[int]:
    """x + t·step for the first t of 1, ½, ¼, … that makes |f| smaller, so that far away no step goes astray.

    Where none does, and for a step that is not long, x + step. The slots are those of x, the step, and the captures.
    """
    x, steps, rest = slots
    n, one = f.unknowns, b.slots[left.slots[0]]
    leaves, captured = [b.slots[k] for k in x], [b.slots[k] for k in rest]

    def tried(b: Builder, x: Sequence[int], steps: Sequence[int], rest: Sequence[int], left: int) -> Tried:
        """True where |f| is not smaller at x + step, and x + step."""
        after = [b.add(k, step) for k, step in zip(x, steps, strict=True)]
        where = b.inline(f.body, [*after, *rest])
        found: Expr[Boolean] = _norm(b, [where[k] for k in f.body.outputs]) < _number(b, left)
        return ~found, after

    at = 2 + n  # (does it go on, t, x + t·step), |f| at x, x, step, captures
    inner = Builder([TRUTH, one, *leaves, one, *leaves, *leaves, *captured], fixed=f.body.fixed)
    half = inner.scale(0.5, 1)
    less = [inner.contract(Spec.scalar(len(leaf.axes)), half, at + 1 + n + k) for k, leaf in enumerate(leaves)]
    fails, after = tried(inner, range(at + 1, at + 1 + n), less, range(at + 1 + 2 * n, inner.arity), at)
    go: Expr[Boolean] = fails & (_number(inner, half) > LEAST)
    rounds, shared = apart(b, inner.line([*go.slots, half, *after]), at, [left.slots[0], *x, *steps, *rest])
    first, whole = tried(b, x, steps, rest, left.slots[0])
    _, t, *found = step_of(b, While(rounds, at), [*(first & is_long).slots, b.number(1.0, one), *whole, *shared])
    is_found: Expr[Boolean] = _number(b, t) > LEAST
    return [b.step(Choose(), (*is_found.slots, k, w)) for k, w in zip(found, whole, strict=True)]


def _number(b: Builder, slot: int) -> Expr[Any]:
    return Expr(b, type_of(b.slots[slot]), (slot,))


def _norm(b: Builder, slots: list[int]) -> Expr[Any]:
    """The length of some arrays together."""
    total: Any = None
    for k in slots:
        x: Expr[Any] = Expr(b, type_of(b.slots[k]), (k,))
        square = inner(x, x)
        total = square if total is None else total + square
    found: Expr[Any] = sqrt(total)
    return found
