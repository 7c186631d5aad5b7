"""Pointful functions: `fun(V, W, …)(body)` runs a Python function once on expressions and keeps what it did.

>>> from hilbert import Fin, R
>>> from diff import fun, tanh
>>> X, Y = Fin.of(3), Fin.of(2)
>>> layer = fun(R ** (Y * X), R ** X, R ** Y)(lambda W, x, b: tanh(W @ x + b))
>>> print(layer.dom, "→", layer.cod)
ℝ^{2×3} ⊕ ℝ^3 ⊕ ℝ^2 → ℝ^2
"""

from __future__ import annotations

import inspect
import linecache
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, final, overload

from diff.builder import Builder
from diff.expr import Expr, tracing
from hilbert import DirectSum, Map, SpaceError, Type

if TYPE_CHECKING:
    from collections.abc import Callable

Ps = ParamSpec("Ps")
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
W1 = TypeVar("W1", bound=Type)
W2 = TypeVar("W2", bound=Type)
W3 = TypeVar("W3", bound=Type)
A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
H = TypeVar("H", bound=Type)
J = TypeVar("J", bound=Type)
K = TypeVar("K", bound=Type)

PACKAGES = [str(Path(__file__).parent.parent / name) for name in ("hilbert", "linmap", "diff", "adjoint")]


@final
class Tracer(Generic[Ps, V]):
    """What `fun(…)` returns: apply it to the body, or use it as a decorator."""

    __slots__ = ("_arguments", "_dom")

    def __init__(self, arguments: tuple[Type, ...], dom: V) -> None:
        """Made by `fun`."""
        self._arguments, self._dom = arguments, dom

    @overload
    def __call__(self, body: Callable[Ps, Expr[W]], /) -> Map[V, W]: ...
    @overload
    def __call__(self, body: Callable[Ps, tuple[Expr[W], Expr[W1]]], /) -> Map[V, DirectSum[W, W1]]: ...
    @overload
    def __call__(
        self, body: Callable[Ps, tuple[Expr[W], Expr[W1], Expr[W2]]], /
    ) -> Map[V, DirectSum[W, W1, W2]]: ...
    @overload
    def __call__(
        self, body: Callable[Ps, tuple[Expr[W], Expr[W1], Expr[W2], Expr[W3]]], /
    ) -> Map[V, DirectSum[W, W1, W2, W3]]: ...
    def __call__(self, body: Any, /) -> Any:
        """Trace the body once; raises SpaceError, with the line of the body, for expressions that do not fit."""
        builder = Builder(self._dom.leaves)
        slots = iter(range(builder.arity))
        arguments = [Expr(builder, space, tuple(next(slots) for _ in space.leaves)) for space in self._arguments]
        tracing.append(builder)
        try:
            result = body(*arguments)
            value = _result(builder, result)
        except SpaceError as error:
            line = _users_line(error)
            raise SpaceError(f"{error}{line}") from error
        finally:
            tracing.pop()
        return builder.build(self._dom, value.slots, value.space, _names(body, len(arguments)))


def _result(builder: Builder, result: Any) -> Expr[Any]:
    if isinstance(result, Expr):
        if result.builder is not builder:
            msg = "the body returns an expression of another function"
            raise SpaceError(msg)
        return result
    if isinstance(result, (tuple, list)):
        parts = [_result(builder, part) for part in result]
        space = DirectSum(tuple(part.space for part in parts))
        return Expr(builder, space, tuple(slot for part in parts for slot in part.slots))
    what = type(result).__name__
    msg = f"the body of a traced function returns expressions, not {what}: write const(v) for constants"
    raise SpaceError(msg)


def _names(body: Any, count: int) -> tuple[str, ...]:
    try:
        names = tuple(inspect.signature(body).parameters)
    except (TypeError, ValueError):
        return ()
    return names if len(names) == count else ()


def _users_line(error: SpaceError) -> str:
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not any(frame.filename.startswith(package) for package in PACKAGES):
            source = linecache.getline(frame.filename, frame.lineno or 0).strip()
            return f"\n  at {Path(frame.filename).name}:{frame.lineno}: {source}"
    return ""


@overload
def fun(a: A, /) -> Tracer[[Expr[A]], A]: ...
@overload
def fun(a: A, b: B, /) -> Tracer[[Expr[A], Expr[B]], DirectSum[A, B]]: ...
@overload
def fun(a: A, b: B, c: C, /) -> Tracer[[Expr[A], Expr[B], Expr[C]], DirectSum[A, B, C]]: ...
@overload
def fun(a: A, b: B, c: C, d: D, /) -> Tracer[[Expr[A], Expr[B], Expr[C], Expr[D]], DirectSum[A, B, C, D]]: ...
@overload
def fun(
    a: A, b: B, c: C, d: D, e: E, /
) -> Tracer[[Expr[A], Expr[B], Expr[C], Expr[D], Expr[E]], DirectSum[A, B, C, D, E]]: ...
@overload
def fun(
    a: A, b: B, c: C, d: D, e: E, f: F, /
) -> Tracer[[Expr[A], Expr[B], Expr[C], Expr[D], Expr[E], Expr[F]], DirectSum[A, B, C, D, E, F]]: ...
@overload
def fun(
    a: A, b: B, c: C, d: D, e: E, f: F, g: G, /
) -> Tracer[
    [Expr[A], Expr[B], Expr[C], Expr[D], Expr[E], Expr[F], Expr[G]], DirectSum[A, B, C, D, E, F, G]
]: ...
@overload
def fun(
    a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H, /
) -> Tracer[
    [Expr[A], Expr[B], Expr[C], Expr[D], Expr[E], Expr[F], Expr[G], Expr[H]], DirectSum[A, B, C, D, E, F, G, H]
]: ...
@overload
def fun(
    a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H, j: J, /
) -> Tracer[
    [Expr[A], Expr[B], Expr[C], Expr[D], Expr[E], Expr[F], Expr[G], Expr[H], Expr[J]],
    DirectSum[A, B, C, D, E, F, G, H, J],
]: ...
@overload
def fun(
    a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H, j: J, k: K, /
) -> Tracer[
    [Expr[A], Expr[B], Expr[C], Expr[D], Expr[E], Expr[F], Expr[G], Expr[H], Expr[J], Expr[K]],
    DirectSum[A, B, C, D, E, F, G, H, J, K],
]: ...
@overload
def fun(*spaces: Type) -> Callable[[Callable[..., Any]], Map[Any, Any]]: ...
def fun(*spaces: Any) -> Any:
    """fun(V, W, …)(body): the function V ⊕ W ⊕ … → … that a Python function of expressions computes.

    The body may return a tuple. What Python evaluates once is one slot; Python control flow is run at tracing time.
    Raises SpaceError for arguments that are no spaces.
    """
    if not spaces:
        msg = "fun needs at least one space: fun(V, W)(lambda v, w: …)"
        raise SpaceError(msg)
    for space in spaces:
        if not isinstance(space, Type):
            hint = "; apply it to the body as in fun(V)(body)" if callable(space) else ""
            msg = f"fun takes spaces, not {type(space).__name__}{hint}"
            raise SpaceError(msg)
    return Tracer(spaces, spaces[0] if len(spaces) == 1 else DirectSum(spaces))
