"""Functions as machine code.

>>> from diff import fun, sin
>>> from hilbert import R
>>> f = compiled(fun(R)(lambda x: x * sin(x)))
>>> print(f(R.vec(2.0)).array.round(6), f.report.calls)
1.818595 ()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from diff.compiled.compiled_program import Backend, CompiledProgram, RunsCompiled, machine_program
from diff.terms.lower import program
from hilbert import Map, SpaceError, Type
from hilbert.errors import shown
from hilbert.map.map import require_map

if TYPE_CHECKING:
    from adjoint.reverse.jacobian_program import CompiledJacobianProgram, JacobianProgram
    from diff.blocks.blocked_program import BlockedProgram
    from linmap.matrices.made.patterns import Pattern

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Q = TypeVar("Q", bound="Pattern")


@overload
def compiled(  # type: ignore[overload-overlap]  # a Jacobian's program keeps its pattern
    f: JacobianProgram[V, W, Q], *, backend: Backend = ...
) -> CompiledJacobianProgram[V, W, Q]: ...
@overload
def compiled(f: BlockedProgram[V, W], *, backend: Backend = ...) -> BlockedProgram[V, W]: ...  # type: ignore[overload-overlap]
@overload
def compiled(f: Map[V, W], *, backend: Backend = ...) -> CompiledProgram[V, W]: ...
def compiled(f: Any, *, backend: Any = "llvm") -> Any:
    """The function as machine code, which is made at the first call; it prints, pickles and derives as f does.

    f is any map: a function, `grad(f)`, `value_and_grad(f)`, a closed linear map, a `jacobian_program`. Derivatives of
    a compiled function are compiled: `grad(compiled(f))` is `compiled(grad(f))`; inside the body of another function it
    is the function that was compiled, `.map`. `.on_arrays` takes plain arrays, `.report` says what the code does,
    `.llvm` is its text. With backend="interpreter" the program runs as ever. Raises SpaceError where llvmlite is not
    installed, and at the first call for arrays that are not numpy's.
    """
    if backend not in get_args(Backend):
        msg = f'compiled(f, backend={shown(backend)}): the name of a backend is "llvm" or "interpreter"'
        raise SpaceError(msg)
    require_map(f, "compiled")
    if isinstance(f, RunsCompiled):
        return f if f.backend == backend else machine_program(f.map, backend)
    return machine_program(program(f), backend)
