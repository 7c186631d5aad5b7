"""Gradients as functions of the language (paper §6.1, Prop. 6.4): ∇f(v) = (f'(v))*(1), one application of the adjoint.

>>> from hilbert import R
>>> from diff import fun, sin
>>> f = fun(R)(lambda x: x * sin(x))
>>> df = grad(f)
>>> round(float(df(R.vec(2.0))), 12), round(float(grad(df)(R.vec(2.0))), 12)
(0.077003753731, -2.650888526746)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, TypeVarTuple, overload

from adjoint.reverse.wrt import takes_wrt
from diff import program
from diff.derive.affine import linearized
from diff.derive.varying_parts import Chosen, Wrt, part, positions
from diff.terms.function import OnData
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, Field, Lens, Map, SpaceError, Type
from hilbert.base.once import once
from hilbert.map.map import AnyMap, require_map
from hilbert.program.line.builder import Builder
from linmap.net.apply import apply_net
from linmap.net.transposed_net import turned

if TYPE_CHECKING:
    from adjoint.reverse.data_gradient import DataGradient
    from diff import Expr
    from diff.datatypes.term.term_functions import TermFunction

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
V = TypeVar("V", bound=Type)
Rest = TypeVarTuple("Rest")
P = ParamSpec("P")
Q = ParamSpec("Q")


# a position that is a variable is allowed from four parts on: of two or three, one that does not exist is a type error


@overload
def grad(f: TermFunction[P, Q, Expr[Field], Any], wrt: int | None = None) -> DataGradient[P, Q]: ...
@overload
def grad(f: Map[V, Field]) -> Map[V, V]: ...
@overload
def grad(f: Map[DirectSum[A, *Rest], Field], wrt: Literal[0]) -> Map[DirectSum[A, *Rest], A]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, *Rest], Field], wrt: Literal[1]) -> Map[DirectSum[A, B, *Rest], B]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: Literal[2]) -> Map[DirectSum[A, B, C, *Rest], C]: ...  # type: ignore[overload-overlap]
@overload
def grad(
    f: Map[DirectSum[A, B, *Rest], Field], wrt: tuple[Literal[0], Literal[1]]
) -> Map[DirectSum[A, B, *Rest], DirectSum[A, B]]: ...
@overload
def grad(
    f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[0], Literal[2]]
) -> Map[DirectSum[A, B, C, *Rest], DirectSum[A, C]]: ...
@overload
def grad(
    f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[1], Literal[2]]
) -> Map[DirectSum[A, B, C, *Rest], DirectSum[B, C]]: ...
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
@takes_wrt
def grad(f: Any, wrt: Wrt = None) -> Any:
    """∇f : V → V of f : V → K, or its part at position or lens `wrt`; the gradient in a discrete part is in 0.

    Several, `grad(f, (0, 2))`, give the direct sum of these parts. Of a function on data it takes the arguments, and
    gives values of their classes; `wrt` is an argument's position. Raises SpaceError for a map that is not
    scalar-valued, or a part that does not exist.
    """
    if isinstance(f, OnData):
        return f._gradient(wrt, grad, "grad")
    return _gradient(*_scalar(f, wrt))


@overload
def value_and_grad(f: TermFunction[P, Q, Expr[Field], Any], wrt: int | None = None) -> DataGradient[P, Q]: ...
@overload
def value_and_grad(f: Map[V, Field]) -> Map[V, DirectSum[Field, V]]: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]
    f: Map[DirectSum[A, *Rest], Field], wrt: Literal[0]
) -> Map[DirectSum[A, *Rest], DirectSum[Field, A]]: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]
    f: Map[DirectSum[A, B, *Rest], Field], wrt: Literal[1]
) -> Map[DirectSum[A, B, *Rest], DirectSum[Field, B]]: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]
    f: Map[DirectSum[A, B, C, *Rest], Field], wrt: Literal[2]
) -> Map[DirectSum[A, B, C, *Rest], DirectSum[Field, C]]: ...
@overload
def value_and_grad(
    f: Map[DirectSum[A, B, *Rest], Field], wrt: tuple[Literal[0], Literal[1]]
) -> Map[DirectSum[A, B, *Rest], DirectSum[Field, DirectSum[A, B]]]: ...
@overload
def value_and_grad(
    f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[0], Literal[2]]
) -> Map[DirectSum[A, B, C, *Rest], DirectSum[Field, DirectSum[A, C]]]: ...
@overload
def value_and_grad(
    f: Map[DirectSum[A, B, C, *Rest], Field], wrt: tuple[Literal[1], Literal[2]]
) -> Map[DirectSum[A, B, C, *Rest], DirectSum[Field, DirectSum[B, C]]]: ...
@overload
def value_and_grad(f: Map[V, Field], wrt: Lens[V, A]) -> Map[V, DirectSum[Field, A]]: ...
@overload
def value_and_grad(
    f: Map[V, Field], wrt: tuple[Lens[V, A], Lens[V, B]]
) -> Map[V, DirectSum[Field, DirectSum[A, B]]]: ...
@overload
def value_and_grad(
    f: Map[V, Field], wrt: tuple[Lens[V, A], Lens[V, B], Lens[V, C]]
) -> Map[V, DirectSum[Field, DirectSum[A, B, C]]]: ...
@overload
def value_and_grad(
    f: Map[DirectSum[A, B, C, D, *Rest], Field], wrt: int
) -> Map[DirectSum[A, B, C, D, *Rest], DirectSum[Field, Any]]: ...
@overload
def value_and_grad(f: Map[V, Field], wrt: Sequence[int] | Sequence[Lens[V, Any]]) -> Map[V, DirectSum[Field, Any]]: ...
@takes_wrt
def value_and_grad(f: Any, wrt: Wrt = None) -> Any:
    """V → K ⊕ V, x ↦ (f x, ∇f(x)), sharing what both need; `wrt` and errors as for `grad`."""
    if isinstance(f, OnData):
        return f._gradient(wrt, value_and_grad, "value_and_grad")
    return _with_value(*_scalar(f, wrt))


def of_scalar(f: AnyMap, wrt: Wrt) -> AnyProgram:
    """∇f of a map into ℝ, whose second derivative is the Jacobian of this; SpaceError for others."""
    return _gradient(*_scalar(f, wrt))


def _scalar(f: AnyMap, wrt: Wrt) -> tuple[AnyProgram, Chosen]:
    """The program of a scalar-valued map, and the parts that vary; SpaceError for others."""
    require_map(f, "grad")
    chosen = positions(f.dom, wrt)
    if not isinstance(f.cod, Field):
        msg = f"the gradient is of a scalar-valued map, not of f : {f.dom} → {f.cod}; see jacobian and vjp"
        raise SpaceError(msg)
    return program(f), chosen


@once
def _gradient(p: AnyProgram, chosen: Chosen) -> AnyProgram:
    return derived(p, lambda q: _built(q, chosen, with_value=False))


@once
def _with_value(p: AnyProgram, chosen: Chosen) -> AnyProgram:
    return derived(p, lambda q: _built(q, chosen, with_value=True))


def _built(f: AnyProgram, chosen: Chosen, *, with_value: bool) -> AnyProgram:
    d = linearized(f)
    p, body = d.program, turned(d.body)
    b = Builder(p.slots[: p.arity], fold=True)
    where = b.inline(p.line, range(b.arity))
    one = b.number(1.0, f.cod.leaves[0])
    whole = apply_net(b, body, [one], dict(enumerate(where)))
    space, leaves = part(f.dom, chosen)
    outputs = [whole[k] for k in leaves]
    if not with_value:
        return Program.of(b, f.dom, outputs, space, p.names)
    return Program.of(b, f.dom, [*(where[k] for k in p.outputs), *outputs], DirectSum((f.cod, space)), p.names)
