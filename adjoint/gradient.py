"""Gradients as functions of the language (paper §6.1, Prop. 6.4): ∇f(v) = (f'(v))*(1), one application of the adjoint.

>>> from hilbert import R
>>> from diff import fun, sin
>>> f = fun(R)(lambda x: x * sin(x))
>>> df = grad(f)
>>> round(float(df(R.vec(2.0))), 12), round(float(grad(df)(R.vec(2.0))), 12)
(0.077003753731, -2.650888526746)
"""

from __future__ import annotations

import itertools
from typing import Any, Literal, TypeVar, TypeVarTuple, overload

from adjoint.rules import adjoint
from diff import Pointwise, derivative
from diff.builder import Builder
from diff.term import Program
from hilbert import DirectSum, Field, Map, SpaceError, Type, Vec
from hilbert.map import argument, require_map
from hilbert.vector import span
from linmap import matrix
from linmap.term.nodes import Net

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
V = TypeVar("V", bound=Type)
Rest = TypeVarTuple("Rest")


# a position that is a variable is allowed from four parts on: of two or three, one that does not exist is a type error


@overload
def grad(f: Map[V, Field]) -> Map[V, V]: ...
@overload
def grad(f: Map[DirectSum[A, *Rest], Field], wrt: Literal[0]) -> Map[DirectSum[A, *Rest], A]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, *Rest], Field], wrt: Literal[1]) -> Map[DirectSum[A, B, *Rest], B]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, C, *Rest], Field], wrt: Literal[2]) -> Map[DirectSum[A, B, C, *Rest], C]: ...  # type: ignore[overload-overlap]
@overload
def grad(f: Map[DirectSum[A, B, C, D, *Rest], Field], wrt: int) -> Map[DirectSum[A, B, C, D, *Rest], Any]: ...
def grad(f: Any, wrt: int | None = None) -> Any:
    """∇f : V → V of f : V → K, or its part at position `wrt`; the gradient in a discrete part is dropped.

    Raises SpaceError for a map that is not scalar-valued, or a position that does not exist.
    """
    return _gradient(f, wrt, with_value=False)


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
    f: Map[DirectSum[A, B, C, D, *Rest], Field], wrt: int
) -> Map[DirectSum[A, B, C, D, *Rest], DirectSum[Field, Any]]: ...
def value_and_grad(f: Any, wrt: int | None = None) -> Any:
    """V → K ⊕ V, x ↦ (f x, ∇f(x)), sharing what both need; `wrt` and errors as for `grad`."""
    return _gradient(f, wrt, with_value=True)


def _gradient(f: Map[Any, Any], wrt: int | None, *, with_value: bool) -> Program[Any, Any]:
    require_map(f, "grad")
    if wrt is not None:
        span(f.dom, wrt)
    if not isinstance(f.cod, Field):
        msg = f"the gradient is of a scalar-valued map, not of f : {f.dom} → {f.cod}; see jacobian and vjp"
        raise SpaceError(msg)
    memo = f.memo()
    key = ("gradient", wrt, with_value)
    if key not in memo:
        memo[key] = _built(f, wrt, with_value=with_value)
    found: Program[Any, Any] = memo[key]
    return found


def _built(f: Map[Any, Any], wrt: int | None, *, with_value: bool) -> Program[Any, Any]:
    d = derivative(f)
    p, body = d.program, adjoint(d).body
    b = Builder(p.slots[: p.arity], fold=True)
    where = b.inline(p, range(b.arity))
    one = b.number(1.0, f.cod.leaves[0])
    outputs, space = _part(f.dom, wrt, b.apply_net(body, [one], where))
    if not with_value:
        return b.build(f.dom, outputs, space, p.names)
    return b.build(f.dom, [*(where[k] for k in p.outputs), *outputs], DirectSum((f.cod, space)), p.names)


def _part(dom: Type, wrt: int | None, slots: list[int]) -> tuple[list[int], Type]:
    """The slots of the tangent of one part of the domain."""
    if wrt is None:
        return slots, dom.tangent
    start = sum(len(part.tangent.leaves) for part in dom.parts[:wrt])
    space = dom.parts[wrt].tangent
    return slots[start : start + len(space.leaves)], space


@overload
def jacobian(f: Map[V, Any], x: Vec[V], /, *, wrt: int | None = None, blocks: bool = False) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B], Any], a: Vec[A], b: Vec[B], /, *, wrt: int | None = None, blocks: bool = False
) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B, C], Any], a: Vec[A], b: Vec[B], c: Vec[C], /, *, wrt: int | None = None, blocks: bool = False
) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B, C, D], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    /,
    *,
    wrt: int | None = None,
    blocks: bool = False,
) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B, C, D, E], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    /,
    *,
    wrt: int | None = None,
    blocks: bool = False,
) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B, C, D, E, F], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    /,
    *,
    wrt: int | None = None,
    blocks: bool = False,
) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    h: Vec[G],
    /,
    *more: Vec[Any],
    wrt: int | None = None,
    blocks: bool = False,
) -> Any: ...
def jacobian(f: Map[Any, Any], *x: Vec[Any], wrt: int | None = None, blocks: bool = False) -> Any:
    """The matrix of f'(x) in the standard bases: an array of shape (dim W, dim V), or one for each pair of leaves.

    Its network is contracted in the order that a path search finds best (see `linmap.matrix` for other forms than dense
    arrays). `wrt` restricts V to one part of the domain. Raises SpaceError for a point of another space, or a position
    that does not exist.
    """
    require_map(f, "jacobian")
    d = derivative(f)
    if wrt is not None:
        d = _restricted(d, wrt)
    _, linear = d.run(argument(f, x))
    whole = matrix(linear, as_="array")
    if not blocks:
        return whole
    rows, cols = _ends(linear.cod), _ends(linear.dom)
    return tuple(tuple(whole[a:b, c:e] for c, e in cols) for a, b in rows)


def _restricted(d: Pointwise[Any, Any, Any], wrt: int) -> Pointwise[Any, Any, Any]:
    """The derivative in one part of the domain: the same net, fed at fewer wires."""
    span(d.point, wrt)
    memo = d.memo()
    key = ("restricted", wrt)
    if key not in memo:
        part = d.point.parts[wrt].tangent
        start = sum(leaf.is_field for before in d.point.parts[:wrt] for leaf in before.leaves)
        inputs = d.body.inputs[start : start + len(part.leaves)]
        body = Net(part, d.body.cod, inputs, d.body.arcs, d.body.outputs, d.body.wires)
        memo[key] = Pointwise(d.program, body)
    found: Pointwise[Any, Any, Any] = memo[key]
    return found


def _ends(space: Type) -> list[tuple[int, int]]:
    """Where the entries of each leaf begin and end."""
    ends = itertools.accumulate((leaf.size for leaf in space.leaves), initial=0)
    return list(itertools.pairwise(ends))


@overload
def hessian(f: Map[V, Field], x: Vec[V], /, *, blocks: bool = False) -> Any: ...
@overload
def hessian(f: Map[DirectSum[A, B], Field], a: Vec[A], b: Vec[B], /, *, blocks: bool = False) -> Any: ...
@overload
def hessian(f: Map[DirectSum[A, B, C], Field], a: Vec[A], b: Vec[B], c: Vec[C], /, *, blocks: bool = False) -> Any: ...
@overload
def hessian(
    f: Map[DirectSum[A, B, C, D], Field], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /, *, blocks: bool = False
) -> Any: ...
@overload
def hessian(
    f: Map[DirectSum[A, B, C, D, E], Field],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    /,
    *,
    blocks: bool = False,
) -> Any: ...
@overload
def hessian(
    f: Map[DirectSum[A, B, C, D, E, F], Field],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    /,
    *,
    blocks: bool = False,
) -> Any: ...
@overload
def hessian(
    f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Field],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    h: Vec[G],
    /,
    *more: Vec[Any],
    blocks: bool = False,
) -> Any: ...
def hessian(f: Map[Any, Field], *x: Vec[Any], blocks: bool = False) -> Any:
    """The matrix of the second derivative of f : V → K at a point: the Jacobian of its gradient."""
    return jacobian(grad(f), *x, blocks=blocks)
