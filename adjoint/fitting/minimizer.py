"""The point where a function is least, as a term: the root of the gradient.

>>> from diff import exp, fun
>>> from hilbert import R
>>> from adjoint import grad
>>> f = fun(R)(lambda a: minimizer(lambda x: exp(x) - a * x, a))
>>> print(round(float(f(R.vec(3.0))), 10), round(float(grad(f)(R.vec(3.0))), 10))
1.0986122887 0.3333333333
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.reverse.gradient import grad
from diff.control.fixed_points import found
from diff.primitives.primitives import stop_gradient
from diff.terms.lower import program
from diff.terms.program import Program
from hilbert import DirectSum, SpaceError
from hilbert.base.attach import overloaded
from hilbert.errors import written
from hilbert.program.line.builder import Builder
from hilbert.space.space import type_of

if TYPE_CHECKING:
    from adjoint import _calls
    from hilbert.program.line.line import Line


@overloaded(lambda: _calls.minimizer)
@written("minimizer(f, start)")
def minimizer(f: Any, start: Any, *, tolerance: float | None = None, at_most: int = 200) -> Any:
    """x where f(x) is least, by Newton's iteration on the gradient of f from `start` on, within a traced function.

    This x is a root of the gradient, so that f is to be convex on the way. A step of Newton's solves with the Hessian
    by its structure, and is halved where the gradient gets no smaller. The derivative is that of the equation, −H⁻¹
    applied to that of the gradient in what f reads. Raises SpaceError for an f whose values are no numbers, where the
    Hessian is singular, and where x is not found in so many rounds.
    """
    return found("minimizer", f, start, tolerance, at_most, _gradient)


def _gradient(line: Line, count: int) -> Line:
    """The line of the gradient in the first arguments of a line."""
    ends = [line.slots[k] for k in line.outputs]
    if len(ends) != 1 or ends[0].axes or not ends[0].is_field:
        msg = f"the function of minimizer gives a number, not an element of {' ⊕ '.join(map(str, ends))}"
        raise SpaceError(msg)
    spaces = tuple(type_of(leaf) for leaf in line.slots[: line.arity])
    dom: Any = spaces[0] if len(spaces) == 1 else DirectSum(spaces)
    p: Any = Program(dom, type_of(ends[0]), line)
    wrt: Any = None if len(spaces) == 1 else 0 if count == 1 else tuple(range(count))
    slope = program(grad(p, wrt)).line
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    (value,) = (b.inline(line, range(b.arity))[k] for k in line.outputs)
    where = b.inline(slope, range(b.arity))
    still = b.step(stop_gradient, (value,))
    none = b.add(still, b.scale(-1.0, still))  # 0, and no number where f has no value: there the gradient is none
    made = [b.add(where[k], b.rep(none, b.slots[where[k]].axes)) for k in slope.outputs]
    return b.line(made)
