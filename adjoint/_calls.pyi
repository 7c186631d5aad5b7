# Written by `make signatures` from tests/typing/rows/adjoint.py: change the rows there, not this file.
# No module stands behind it: the functions are in the modules that the comments name.

from collections.abc import Sequence
from typing import Any, Literal, ParamSpec, TypeVar, TypeVarTuple, overload

from adjoint.checks.check_derivatives import Checks, Report
from adjoint.reverse.data_gradient import DataGradient
from diff import Expr, Linearization
from diff.datatypes.term.term_functions import TermFunction
from diff.derive.varying_parts import Wrt
from diff.terms.program import Program
from hilbert import DirectSum, Field, Lens, Map, Type, Vec
from linmap import LinMap
from linmap.matrices.made.matrix import As
from linmap.term.linear_map import AnyLinMap

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
P = ParamSpec("P")
Q = ParamSpec("Q")
Rest = TypeVarTuple("Rest")


# adjoint.checks.check_derivatives
@overload
def check(f: Map[V, Any], x: Vec[V], /, *, seed: int = 0) -> Checks:
    """Both checks of a function at a point: its derivative, and the derivative's adjoint."""
@overload
def check(f: Map[DirectSum[A, B], Any], a: Vec[A], b: Vec[B], /, *, seed: int = 0) -> Checks: ...
@overload
def check(f: Map[DirectSum[A, B, C], Any], a: Vec[A], b: Vec[B], c: Vec[C], /, *, seed: int = 0) -> Checks: ...
@overload
def check(f: Map[DirectSum[A, B, C, D], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /, *, seed: int = 0) -> Checks: ...
@overload
def check(f: Map[DirectSum[A, B, C, D, E], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /, *, seed: int = 0) -> Checks: ...
@overload
def check(f: Map[DirectSum[A, B, C, D, E, F], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /, *, seed: int = 0) -> Checks: ...
@overload
def check(f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], /, *more: Vec[Any], seed: int = 0) -> Checks: ...
@overload
def check_derivative(f: Map[V, Any], x: Vec[V], /, *, seed: int = 0) -> Report:
    """The remainder ‖(f(x+t·dx) − f(x−t·dx))/2 − t·f'(x)(dx)‖ falls as t³: a log–log fit, over shrinking t."""
@overload
def check_derivative(f: Map[DirectSum[A, B], Any], a: Vec[A], b: Vec[B], /, *, seed: int = 0) -> Report: ...
@overload
def check_derivative(f: Map[DirectSum[A, B, C], Any], a: Vec[A], b: Vec[B], c: Vec[C], /, *, seed: int = 0) -> Report: ...
@overload
def check_derivative(f: Map[DirectSum[A, B, C, D], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /, *, seed: int = 0) -> Report: ...
@overload
def check_derivative(f: Map[DirectSum[A, B, C, D, E], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /, *, seed: int = 0) -> Report: ...
@overload
def check_derivative(f: Map[DirectSum[A, B, C, D, E, F], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /, *, seed: int = 0) -> Report: ...
@overload
def check_derivative(f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], /, *more: Vec[Any], seed: int = 0) -> Report: ...
@overload
def check_adjoint(f: LinMap[V, W], /, *, star: LinMap[W, V] | None = None, samples: int = 5, seed: int = 0) -> Report:
    """The dot test f(v) ⊙ w = v ⊙ f*(w) over random vectors, of a linear map or of a function's derivative at x."""
@overload
def check_adjoint(f: Map[V, Any], x: Vec[V], /, *, star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report: ...
@overload
def check_adjoint(f: Map[DirectSum[A, B], Any], a: Vec[A], b: Vec[B], /, *, star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report: ...
@overload
def check_adjoint(f: Map[DirectSum[A, B, C], Any], a: Vec[A], b: Vec[B], c: Vec[C], /, *, star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report: ...
@overload
def check_adjoint(f: Map[DirectSum[A, B, C, D], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /, *, star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report: ...
@overload
def check_adjoint(f: Map[DirectSum[A, B, C, D, E], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /, *, star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report: ...
@overload
def check_adjoint(f: Map[DirectSum[A, B, C, D, E, F], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /, *, star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report: ...
@overload
def check_adjoint(f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], /, *more: Vec[Any], star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report: ...

# adjoint.reverse.adjoint_affine
@overload
def adjoint_affine(f: Map[V, W], x: Vec[V], /) -> tuple[Vec[W], LinMap[W, V]]:
    """f^[1r](x) = (f x, (f' x)*), both at a point. Raises SpaceError for a point of another space."""
@overload
def adjoint_affine(f: Map[DirectSum[A, B], W], a: Vec[A], b: Vec[B], /) -> tuple[Vec[W], LinMap[W, DirectSum[A, B]]]: ...
@overload
def adjoint_affine(f: Map[DirectSum[A, B, C], W], a: Vec[A], b: Vec[B], c: Vec[C], /) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C]]]: ...
@overload
def adjoint_affine(f: Map[DirectSum[A, B, C, D], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D]]]: ...
@overload
def adjoint_affine(f: Map[DirectSum[A, B, C, D, E], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D, E]]]: ...
@overload
def adjoint_affine(f: Map[DirectSum[A, B, C, D, E, F], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D, E, F]]]: ...
@overload
def adjoint_affine(f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], /, *more: Vec[Any]) -> tuple[Vec[W], LinMap[W, DirectSum[A, B, C, D, E, F, G, *Rest]]]: ...
@overload
def vjp(f: Map[V, W]) -> Program[DirectSum[V, W], V]:
    """V ⊕ W → V, (x, dy) ↦ (f'(x))*(dy), a function of the language; `wrt` takes one part of V, or several."""
@overload
def vjp(f: Map[DirectSum[A, *Rest], W], wrt: Literal[0]) -> Program[DirectSum[DirectSum[A, *Rest], W], A]: ...
@overload
def vjp(f: Map[DirectSum[A, B, *Rest], W], wrt: Literal[1]) -> Program[DirectSum[DirectSum[A, B, *Rest], W], B]: ...
@overload
def vjp(f: Map[V, W], wrt: Lens[V, A]) -> Program[DirectSum[V, W], A]: ...
@overload
def vjp(f: Map[V, W], wrt: int | Sequence[int] | Sequence[Lens[V, Any]]) -> Program[DirectSum[V, W], Any]: ...

# adjoint.reverse.gradient
@overload
def grad(f: TermFunction[P, Q, Expr[Field], Any], wrt: int | None = None) -> DataGradient[P, Q]:
    """∇f : V → V of f : V → K, or its part at position or lens `wrt`; the gradient in a discrete part is in 0."""
@overload
def grad(f: Map[V, Field]) -> Map[V, V]: ...
@overload
def grad(f: Map[DirectSum[A, *Rest], Field], wrt: Literal[0]) -> Map[DirectSum[A, *Rest], A]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, *Rest], Field], wrt: Literal[1]) -> Map[DirectSum[A, B, *Rest], B]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: Literal[2]) -> Map[DirectSum[A, B, C, *Rest], C]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, *Rest], Field], wrt: tuple[Literal[0], Literal[1]]) -> Map[DirectSum[A, B, *Rest], DirectSum[A, B]]: ...
@overload
def grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[0], Literal[2]]) -> Map[DirectSum[A, B, C, *Rest], DirectSum[A, C]]: ...
@overload
def grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[1], Literal[2]]) -> Map[DirectSum[A, B, C, *Rest], DirectSum[B, C]]: ...
@overload
def grad(f: Map[V, Field], wrt: Lens[V, A]) -> Map[V, A]: ...
@overload
def grad(f: Map[V, Field], wrt: tuple[Lens[V, A], Lens[V, B]]) -> Map[V, DirectSum[A, B]]: ...
@overload
def grad(f: Map[V, Field], wrt: tuple[Lens[V, A], Lens[V, B], Lens[V, C]]) -> Map[V, DirectSum[A, B, C]]: ...
@overload
def grad(f: Map[DirectSum[A, B, C, D, *Rest], Field], wrt: int) -> Map[DirectSum[A, B, C, D, *Rest], Any]: ...
@overload
def grad(f: Map[V, Field], wrt: Sequence[int] | Sequence[Lens[V, Any]]) -> Map[V, Any]: ...
@overload
def value_and_grad(f: TermFunction[P, Q, Expr[Field], Any], wrt: int | None = None) -> DataGradient[P, Q]:
    """V → K ⊕ V, x ↦ (f x, ∇f(x)), sharing what both need; `wrt` and errors as for `grad`."""
@overload
def value_and_grad(f: Map[V, Field]) -> Map[V, DirectSum[Field, V]]: ...
@overload
def value_and_grad(f: Map[DirectSum[A, *Rest], Field], wrt: Literal[0]) -> Map[DirectSum[A, *Rest], DirectSum[Field, A]]: ...  # type: ignore[overload-overlap]
@overload
def value_and_grad(f: Map[DirectSum[A, B, *Rest], Field], wrt: Literal[1]) -> Map[DirectSum[A, B, *Rest], DirectSum[Field, B]]: ...  # type: ignore[overload-overlap]
@overload
def value_and_grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: Literal[2]) -> Map[DirectSum[A, B, C, *Rest], DirectSum[Field, C]]: ...  # type: ignore[overload-overlap]
@overload
def value_and_grad(f: Map[DirectSum[A, B, *Rest], Field], wrt: tuple[Literal[0], Literal[1]]) -> Map[DirectSum[A, B, *Rest], DirectSum[Field, DirectSum[A, B]]]: ...
@overload
def value_and_grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[0], Literal[2]]) -> Map[DirectSum[A, B, C, *Rest], DirectSum[Field, DirectSum[A, C]]]: ...
@overload
def value_and_grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[1], Literal[2]]) -> Map[DirectSum[A, B, C, *Rest], DirectSum[Field, DirectSum[B, C]]]: ...
@overload
def value_and_grad(f: Map[V, Field], wrt: Lens[V, A]) -> Map[V, DirectSum[Field, A]]: ...
@overload
def value_and_grad(f: Map[V, Field], wrt: tuple[Lens[V, A], Lens[V, B]]) -> Map[V, DirectSum[Field, DirectSum[A, B]]]: ...
@overload
def value_and_grad(f: Map[V, Field], wrt: tuple[Lens[V, A], Lens[V, B], Lens[V, C]]) -> Map[V, DirectSum[Field, DirectSum[A, B, C]]]: ...
@overload
def value_and_grad(f: Map[DirectSum[A, B, C, D, *Rest], Field], wrt: int) -> Map[DirectSum[A, B, C, D, *Rest], DirectSum[Field, Any]]: ...
@overload
def value_and_grad(f: Map[V, Field], wrt: Sequence[int] | Sequence[Lens[V, Any]]) -> Map[V, DirectSum[Field, Any]]: ...

# adjoint.reverse.jacobian_matrix
@overload
def jacobian(f: Map[V, Any], x: Vec[V], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any:
    """The matrix of f'(x) in the standard bases: an array of shape (dim W, dim V), or one for each pair of leaves."""
@overload
def jacobian(f: Map[DirectSum[A, B], Any], a: Vec[A], b: Vec[B], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def jacobian(f: Map[DirectSum[A, B, C], Any], a: Vec[A], b: Vec[B], c: Vec[C], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def jacobian(f: Map[DirectSum[A, B, C, D], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def jacobian(f: Map[DirectSum[A, B, C, D, E], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def jacobian(f: Map[DirectSum[A, B, C, D, E, F], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def jacobian(f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], /, *more: Vec[Any], wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def hessian(f: Map[V, Field], x: Vec[V], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any:
    """The matrix of the second derivative of f : V → K at a point: the `jacobian` of its gradient, both in `wrt`."""
@overload
def hessian(f: Map[DirectSum[A, B], Field], a: Vec[A], b: Vec[B], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def hessian(f: Map[DirectSum[A, B, C], Field], a: Vec[A], b: Vec[B], c: Vec[C], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def hessian(f: Map[DirectSum[A, B, C, D], Field], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def hessian(f: Map[DirectSum[A, B, C, D, E], Field], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def hessian(f: Map[DirectSum[A, B, C, D, E, F], Field], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...
@overload
def hessian(f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Field], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], /, *more: Vec[Any], wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None) -> Any: ...

# adjoint.reverse.rules
@overload
def adjoint(f: LinMap[V, W]) -> LinMap[W, V]:
    """f* : W ⊸ V, of a linear map or of a derivative in the point; raises SpaceError for a map that is not linear."""
@overload
def adjoint(f: Linearization[U, V, W]) -> Linearization[U, W, V]: ...
