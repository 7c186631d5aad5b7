"""The arrays of a Jacobian's matrix as a program of the point: one line from the point to the numbers of a form.

>>> from diff import fun
>>> from hilbert import Fin, R
>>> V = R ** Fin.of(2)
>>> f = fun(V)(lambda x: x * x * x)
>>> p = jacobian_program(f, as_="sparse")
>>> print(p)
x ↦ x·x + 2·x·x
>>> print(p(V.vec([1.0, 2.0])), p.pattern.indices)
[3.0, 12.0] ∈ ℝ^2 [0 1]
>>> p.matrix(V.vec([1.0, 2.0])).toarray().tolist()
[[3.0, 0.0], [0.0, 12.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from attrs import field, frozen

from adjoint.reverse.gradient import of_scalar
from adjoint.reverse.wrt import restricted, takes_wrt
from diff import derivative
from diff.derive.varying_parts import Wrt
from diff.terms.linearization import AnyLinearization
from diff.terms.program import Program
from hilbert import Field, Map, SpaceError, Type
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.base.sizes import held
from hilbert.map.map import AnyMap, OnLeaves, argument, require_map, runner
from hilbert.program.line.builder import Builder
from linmap.matrices.labelled.deferred_lines import Deferred
from linmap.matrices.made.matrix import WITHOUT, As, needs_data, plan_of
from linmap.matrices.made.matrix_plans import limit_of
from linmap.matrices.made.patterns import Pattern
from linmap.term.net import refs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint import _calls

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Q = TypeVar("Q", bound=Pattern)


@final
@frozen(eq=False, repr=False)
class JacobianProgram(Program[V, W], Generic[V, W, Q]):
    """The program of the arrays that the matrix of a Jacobian has in one form; `pattern` makes the matrix of them."""

    pattern: Q = field(kw_only=True)

    def _runner(self) -> OnLeaves:
        return Deferred(self.line).run

    @overloaded(lambda: _calls.JacobianProgram_matrix)
    def matrix(self: JacobianProgram[V, Any, Any], *x: Any) -> Any:
        """The matrix at a point, that of `jacobian`. Raises SpaceError for a point of another space."""
        return self.at_leaves(argument(self, x).leaves)

    @held(WITHOUT)
    def at_leaves(self, leaves: Sequence[Any]) -> Any:
        """The matrix for the arrays of a point."""
        return self.pattern.matrix(runner(self)(leaves))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.dom, self.cod, self.line, self.names, self.written, self.pattern)


AnyJacobianProgram = JacobianProgram[Any, Any, Any]
"""The program of a Jacobian on any space, in any form."""


def _rebuilt(*fields: Any) -> AnyJacobianProgram:
    return JacobianProgram(*fields[:-1], pattern=fields[-1])


@overloaded(lambda: _calls.jacobian_program)
@takes_wrt
def jacobian_program(f: AnyMap, *, wrt: Wrt = None, as_: As = "array", limit: int | None = None) -> Any:
    """The arrays of the matrix of f' as a program of the point: `p(x)` has them, `p.matrix(x)` is `jacobian(f, x)`.

    `as_`, `wrt` and `limit` are those of `jacobian`. Of an "array" p(x) is the matrix; of a "sparse" one p(x) has the
    entries row by row, for `p.pattern.indptr` and `indices`; of "blocks" and of a "tensor" it is a direct sum of
    arrays. Raises SpaceError for an "operator", which has no arrays, and where the entries of a sparse matrix, or of
    its blocks, are found at the point.
    """
    require_map(f, "jacobian_program")
    return _required(restricted(derivative(f), wrt), as_, limit_of(limit), "jacobian")


@overloaded(lambda: _calls.hessian_program)
@takes_wrt
def hessian_program(f: Map[Any, Field], *, wrt: Wrt = None, as_: As = "array", limit: int | None = None) -> Any:
    """The arrays of the second derivative's matrix as a program: the `jacobian_program` of the gradient, in `wrt`."""
    require_map(f, "hessian_program")
    return _required(restricted(derivative(of_scalar(f, wrt)), wrt), as_, limit_of(limit), "hessian")


def _required(d: AnyLinearization, as_: Any, limit: int | None, name: str) -> AnyJacobianProgram:
    """The program of a derivative; raises SpaceError where there is none."""
    if not isinstance(as_, str):
        as_ = None
    if needs_data(d.body, as_):
        msg = f'{name}_program(f, as_="{as_}"): which entries there are depends on the point, where f finds elements '
        msg += f'of an index set: {name}(f, x, as_="{as_}") lists them there; as_="array" has a program'
        raise SpaceError(msg)
    return programmed(d, as_, limit)


@once
def programmed(d: AnyLinearization, as_: As, limit: int | None) -> AnyJacobianProgram:
    """The program of a derivative's matrix: the data that the map needs, and then the arrays that its plan makes."""
    plan = plan_of(d.body, as_, limit)
    line, made = d.program.line, plan.runner.written
    b = Builder(line.slots[: line.arity], fixed=True)
    where = b.inline(line, range(b.arity))
    ends = b.inline(made, [where[ref.slot] for ref in refs(d.body)])
    arrays = b.line(ends[k] for k in made.outputs)
    return JacobianProgram(d.point, plan.pattern.arrays, arrays, d.program.names, pattern=plan.pattern)
