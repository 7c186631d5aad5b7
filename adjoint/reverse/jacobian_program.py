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
from adjoint.reverse.wrt import takes_wrt
from diff import derivative
from diff.compiled.compiled_program import Backend, RunsCompiled, machine_program
from diff.compiled.own_runner import keeps_runner
from diff.derive.partial_derivative import restricted
from diff.derive.varying_parts import Wrt
from diff.terms.linearization import AnyLinearization
from diff.terms.program import AnyProgram, Program
from hilbert import Field, Map, SpaceError, Type
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.base.sizes import held
from hilbert.compiled.machine.llvm_library import llvm
from hilbert.errors import shown
from hilbert.map.map import AnyMap, OnLeaves, argument, require_map, runner, together
from hilbert.program.line.builder import Builder
from linmap.matrices.labelled.deferred_lines import Deferred, holds_formal
from linmap.matrices.made.matrix import WITHOUT, As, needs_data, plan_of
from linmap.matrices.made.matrix_plans import limit_of
from linmap.matrices.made.patterns import Pattern, TensorPattern
from linmap.term.net import refs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint import _calls

FORMS = frozenset({"array", "sparse", "blocks", "tensor"})
"""The forms whose arrays are a program of the point."""
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Q = TypeVar("Q", bound=Pattern)


@frozen(eq=False, repr=False)
class JacobianProgram(Program[V, W], Generic[V, W, Q]):
    """The program of the arrays that the matrix of a Jacobian has in one form; `pattern` makes the matrix of them."""

    pattern: Q = field(kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not isinstance(self.pattern, Pattern) or self.pattern.arrays != self.cod:
            have = shown(self.pattern) if not isinstance(self.pattern, Pattern) else f"that of {self.pattern.arrays}"
            msg = f"the program of a matrix has a pattern whose arrays are in {self.cod}, not {have}: see "
            raise SpaceError(f"{msg}jacobian_program(f)")

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        return same and self.pattern == other.pattern if isinstance(other, JacobianProgram) else same

    __hash__ = Program.__hash__

    def _runner(self) -> OnLeaves:
        return Deferred(self.line).run

    @property
    @once
    def is_formal(self) -> bool:
        """True where a formal tensor among the constants would have to be put in place: that is not computed."""
        return not isinstance(self.pattern, TensorPattern) and holds_formal(self.line)

    @overloaded(lambda: _calls.JacobianProgram_matrix)
    def matrix(self: JacobianProgram[V, Any, Any], *x: Any) -> Any:
        """The matrix at a point, that of `jacobian`. Raises SpaceError for a point of another space."""
        leaves = together(self._ready()[1], x)
        return self.at_leaves(argument(self, x).leaves if leaves is None else leaves)

    @held(WITHOUT)
    def at_leaves(self, leaves: Sequence[Any]) -> Any:
        """The matrix for the arrays of a point."""
        return self.pattern.matrix(runner(self)(leaves))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.dom, self.cod, self.line, self.names, self.written, self.pattern)


@final
@frozen(eq=False, repr=False)
class CompiledJacobianProgram(RunsCompiled, JacobianProgram[V, W, Q]):
    """The arrays of a Jacobian as machine code: see `compiled`."""

    map: AnyProgram = field(kw_only=True)
    backend: Backend = field(kw_only=True)

    def _runner(self) -> OnLeaves:
        return RunsCompiled._runner(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompiledJacobianProgram):
            return False
        return self.backend == other.backend and self.map == other.map

    def __hash__(self) -> int:
        return hash((self.backend, self.map))

    def __reduce__(self) -> tuple[Any, ...]:
        return _compiled, (self.map, self.backend)


@once
def _compiled(p: JacobianProgram[V, W, Q], backend: Backend) -> CompiledJacobianProgram[V, W, Q]:
    if backend == "llvm":
        llvm()
    return CompiledJacobianProgram(p.dom, p.cod, p.line, p.names, p.written, pattern=p.pattern, map=p, backend=backend)


machine_program.register(JacobianProgram, _compiled)
AnyJacobianProgram = JacobianProgram[Any, Any, Any]
"""The program of a Jacobian on any space, in any form."""


def _rebuilt(*fields: Any) -> AnyJacobianProgram:
    return JacobianProgram(*fields[:-1], pattern=fields[-1])


@overloaded(lambda: _calls.jacobian_program)
@takes_wrt
@keeps_runner
def jacobian_program(f: AnyMap, wrt: Wrt = None, *, as_: As = "array", limit: int | None = None) -> Any:
    """The arrays of the matrix of f' as a program of the point: `p(x)` has them, `p.matrix(x)` is `jacobian(f, x)`.

    `as_`, `wrt` and `limit` are those of `jacobian`. Of an "array" p(x) is the matrix; of a "sparse" one p(x) has the
    entries row by row, for `p.pattern.indptr` and `indices`; of "blocks" and of a "tensor" it is a direct sum of
    arrays. Raises SpaceError for an "operator", which has no arrays, and where the entries of a sparse matrix, or of
    its blocks, are found at the point.
    """
    require_map(f, "jacobian_program")
    return _required(derived(f, wrt), as_, limit_of(limit), "jacobian")


@overloaded(lambda: _calls.hessian_program)
@takes_wrt
@keeps_runner
def hessian_program(f: Map[Any, Field], wrt: Wrt = None, *, as_: As = "array", limit: int | None = None) -> Any:
    """The arrays of the second derivative's matrix as a program: the `jacobian_program` of the gradient, in `wrt`."""
    require_map(f, "hessian_program")
    return _required(derived(f, wrt, twice=True), as_, limit_of(limit), "hessian")


def derived(f: AnyMap, wrt: Wrt, *, twice: bool = False) -> AnyLinearization:
    """The derivative of a function, or of its gradient, in some parts; SpaceError for parts that do not exist."""
    if wrt is None or type(wrt) is int or (type(wrt) is tuple and set(map(type, wrt)) == {int}):  # True is not 1
        return _known(f, wrt, twice=twice)
    return restricted(derivative(of_scalar(f, wrt) if twice else f), wrt)


@once
def _known(f: AnyMap, wrt: Wrt, *, twice: bool) -> AnyLinearization:
    return restricted(derivative(of_scalar(f, wrt) if twice else f), wrt)


def _required(d: AnyLinearization, as_: Any, limit: int | None, name: str) -> AnyJacobianProgram:
    """The program of a derivative; raises SpaceError where there is none."""
    if not isinstance(as_, str):
        msg = f'{name}_program(f, as_={shown(as_)}): the name of a form is "array", "sparse", "blocks" or "tensor"'
        raise SpaceError(msg)
    form = as_
    if form in {"sparse", "blocks"} and needs_data(d.body):
        msg = f'{name}_program(f, as_="{form}"): which entries there are depends on the point, where f finds elements '
        msg += f'of an index set: {name}(f, x, as_="{form}") lists them there; as_="array" has a program, '
        msg += "and where the elements are data, not arguments, so has this form: hb.const(ids)"
        raise SpaceError(msg)
    p = programmed(d, form, limit)
    if p.is_formal:
        msg = f"{name}_program(f): a constant of f is a formal tensor, which does not split up along the rows of a "
        msg += f"matrix: give f t.dense() for t, or write {name}(f, x)"
        raise SpaceError(msg)
    return p


def program_of(d: AnyLinearization, as_: Any, limit: Any) -> AnyJacobianProgram | None:
    """The program of a derivative, if it has one in a form."""
    if not isinstance(as_, str) or as_ not in FORMS or (as_ in {"sparse", "blocks"} and needs_data(d.body)):
        return None
    p = programmed(d, as_, limit_of(limit))
    return None if p.is_formal else p


@once
def programmed(d: AnyLinearization, as_: Any, limit: int | None) -> AnyJacobianProgram:
    """The program of a derivative's matrix: the data that the map needs, and then the arrays that its plan makes."""
    plan = plan_of(d.body, as_, limit)
    line, made = d.program.line, plan.runner.written
    b = Builder(line.slots[: line.arity], fixed=True)
    where = b.inline(line, range(b.arity))
    ends = b.inline(made, [where[ref.slot] for ref in refs(d.body)])
    arrays = b.line(ends[k] for k in made.outputs)
    return JacobianProgram(d.point, plan.pattern.arrays, arrays, d.program.names, pattern=plan.pattern)
