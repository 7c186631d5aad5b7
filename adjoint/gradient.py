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
from typing import TYPE_CHECKING, Any, Literal, TypeVar, TypeVarTuple, overload

import array_api_compat
import numpy as np

from adjoint.rules import adjoint
from diff import affine, derivative
from diff.builder import Builder
from diff.term import Program
from hilbert import Copower, DirectSum, Field, Fin, Map, SpaceError, Type, Vec, Zero
from hilbert.arrays.namespace import common_namespace
from hilbert.vector import span
from linmap import identity, inject, zero
from linmap.term import Closed, Compose

if TYPE_CHECKING:
    from linmap import LinMap

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
V = TypeVar("V", bound=Type)
Rest = TypeVarTuple("Rest")


@overload
def grad(f: Map[V, Field]) -> Map[V, V]: ...
@overload
def grad(f: Map[DirectSum[A, *Rest], Field], wrt: Literal[0]) -> Map[DirectSum[A, *Rest], A]: ...
@overload
def grad(
    f: Map[DirectSum[A, B, *Rest], Field], wrt: Literal[1]
) -> Map[DirectSum[A, B, *Rest], B]: ...
@overload
def grad(
    f: Map[DirectSum[A, B, C, *Rest], Field], wrt: Literal[2]
) -> Map[DirectSum[A, B, C, *Rest], C]: ...
@overload
def grad(f: Map[V, Field], wrt: int) -> Map[V, Any]: ...
def grad(f: Any, wrt: int | None = None) -> Any:
    """∇f : V → V of f : V → K, or its part at position `wrt`; the gradient in a discrete part is dropped.

    Raises SpaceError for a map that is not scalar-valued, or a position that does not exist.
    """
    return _gradient(f, wrt, with_value=False)


@overload
def value_and_grad(f: Map[V, Field]) -> Map[V, DirectSum[Field, V]]: ...
@overload
def value_and_grad(
    f: Map[DirectSum[A, *Rest], Field], wrt: Literal[0]
) -> Map[DirectSum[A, *Rest], DirectSum[Field, A]]: ...
@overload
def value_and_grad(
    f: Map[DirectSum[A, B, *Rest], Field], wrt: Literal[1]
) -> Map[DirectSum[A, B, *Rest], DirectSum[Field, B]]: ...
@overload
def value_and_grad(
    f: Map[DirectSum[A, B, C, *Rest], Field], wrt: Literal[2]
) -> Map[DirectSum[A, B, C, *Rest], DirectSum[Field, C]]: ...
@overload
def value_and_grad(f: Map[V, Field], wrt: int) -> Map[V, DirectSum[Field, Any]]: ...
def value_and_grad(f: Any, wrt: int | None = None) -> Any:
    """V → K ⊕ V, x ↦ (f x, ∇f(x)), sharing what both need; `wrt` and errors as for `grad`."""
    return _gradient(f, wrt, with_value=True)


def _gradient(f: Map[Any, Any], wrt: int | None, *, with_value: bool) -> Program[Any, Any]:
    if not isinstance(f, Map):
        msg = f"grad takes a map, not {type(f).__name__}"
        raise SpaceError(msg)
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
    span(dom, wrt)
    start = sum(len(part.tangent.leaves) for part in dom.parts[:wrt])
    space = dom.parts[wrt].tangent
    return slots[start : start + len(space.leaves)], space


def jacobian(f: Map[Any, Any], *x: Any, wrt: int | None = None, blocks: bool = False) -> Any:
    """The matrix of f'(x) in the standard bases: an array of shape (dim W, dim V), or one for each pair of leaves.

    All basis vectors are applied at once, on the smaller side. `wrt` restricts V to one part of the domain. Raises
    SpaceError for a point of another space, or a position that does not exist.
    """
    _, linear = affine(f, *x)
    return dense(linear if wrt is None else linear @ _into_tangent(f.dom, wrt), blocks=blocks)


def _into_tangent(dom: Type, wrt: int) -> LinMap[Any, Any]:
    """ι : T(V_i) ⊸ T(⊕ V), where T drops discrete parts."""
    span(dom, wrt)
    kept = [k for k, part in enumerate(dom.parts) if dom.is_space or any(leaf.is_field for leaf in part.leaves)]
    if wrt not in kept:
        return zero(Zero(), dom.tangent)
    return inject(dom.tangent, kept.index(wrt)) if len(kept) > 1 else identity(dom.tangent)


def hessian(f: Map[V, Field], *x: Any, blocks: bool = False) -> Any:
    """The matrix of the second derivative of f : V → K at a point: the Jacobian of its gradient."""
    return jacobian(grad(f), *x, blocks=blocks)


def dense(f: LinMap[Any, Any], *, blocks: bool = False) -> Any:
    """The matrix of a closed linear map, as an array of shape (dim W, dim V) or by blocks; see `jacobian`."""
    forward = f.dom.dim <= f.cod.dim
    g = f if forward else adjoint(f)
    xp, device = _home(f)
    n = g.dom.dim
    basis: list[Any] = []
    start = 0
    for leaf in g.dom.leaves:
        eye = xp.eye(n, leaf.size, k=-start, dtype=getattr(xp, leaf.dtype), **device)
        basis.append(xp.reshape(eye, (n, *leaf.shape)))
        start += leaf.size
    index = Fin.of(n)
    images = (g**index)(Vec(Copower(g.dom, index), tuple(basis)))
    columns = [xp.reshape(image, (n, leaf.size)) for image, leaf in zip(images.leaves, g.cod.leaves, strict=True)]
    if not blocks:
        whole = xp.concat(columns, axis=1) if columns else xp.zeros((n, 0), **device)
        return whole.T if forward else whole
    table = [[part.T if forward else part for part in _cut(column, g.dom)] for column in columns]
    rows = table if forward else [list(row) for row in zip(*table, strict=True)]
    return tuple(map(tuple, rows))


def _cut(column: Any, space: Type) -> list[Any]:
    """The rows that belong to each leaf of a space."""
    ends = list(itertools.accumulate((leaf.size for leaf in space.leaves), initial=0))
    return [column[start:end] for start, end in itertools.pairwise(ends)]


def _home(f: LinMap[Any, Any]) -> tuple[Any, dict[str, Any]]:
    """The namespace and device of a closed map's data."""
    arrays = [datum.array for datum in f.data] if isinstance(f, Closed) else []
    if isinstance(f, Compose):
        arrays = [datum.array for part in f.parts if isinstance(part, Closed) for datum in part.data]
    xp = common_namespace(arrays)
    return xp, {} if xp is np else {"device": array_api_compat.device(arrays[0])}
