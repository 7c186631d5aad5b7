"""Jacobians and Hessians as matrices, in the form that is asked for (paper §6.1, theory §9).

>>> from diff import fun
>>> from hilbert import Fin, R
>>> f = fun(R ** Fin.of(2))(lambda x: x * x * x)
>>> jacobian(f, (R ** Fin.of(2)).vec([1.0, 2.0]))
array([[ 3.,  0.],
       [ 0., 12.]])
"""

from __future__ import annotations

import itertools
from typing import Any, TypeVar, TypeVarTuple, overload

from adjoint.reverse.gradient import of_scalar
from adjoint.reverse.wrt import restricted, takes_wrt
from diff import derivative
from diff.derive.varying_parts import Wrt
from hilbert import DirectSum, Field, Map, SpaceError, Type, Vec
from hilbert.errors import truth
from hilbert.map.map import AnyMap, argument, require_map
from linmap import matrix
from linmap.matrices.made.matrix import As

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
V = TypeVar("V", bound=Type)
Rest = TypeVarTuple("Rest")


@overload
def jacobian(
    f: Map[V, Any], x: Vec[V], /, *, wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None
) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B], Any],
    a: Vec[A],
    b: Vec[B],
    /,
    *,
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
) -> Any: ...
@overload
def jacobian(
    f: Map[DirectSum[A, B, C], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    /,
    *,
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
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
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
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
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
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
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
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
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
) -> Any: ...
@takes_wrt
def jacobian(
    f: AnyMap, *x: Vec[Any], wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None
) -> Any:
    """The matrix of f'(x) in the standard bases: an array of shape (dim W, dim V), or one for each pair of leaves.

    `as_` names another form, see `linmap.matrix`: "sparse", say, and `limit` is that of it, a bound on intermediate
    arrays. What does not depend on the point is done once for each function. `wrt` restricts V to one part of the
    domain, or to several. Raises SpaceError for a point of another space, for a position that does not exist, for
    `blocks`, the pairs of leaves, of another form than "array", and for a limit that no order keeps.
    """
    require_map(f, "jacobian")
    truth(blocks, "blocks=…")
    if blocks and as_ != "array":
        raise SpaceError(
            f'blocks=True cuts a dense array, not as_={as_!r}: as_="blocks" has the blocks of a sparse one'
        )
    d = restricted(derivative(f), wrt)
    linear = d.at(argument(f, x, "jacobian"))
    whole = matrix(linear, as_=as_, limit=limit)
    if not blocks:
        return whole
    rows, cols = _ends(linear.cod), _ends(linear.dom)
    return tuple(tuple(whole[a:b, c:e] for c, e in cols) for a, b in rows)


def _ends(space: Type) -> list[tuple[int, int]]:
    """Where the entries of each leaf begin and end."""
    ends = itertools.accumulate((leaf.size for leaf in space.leaves), initial=0)
    return list(itertools.pairwise(ends))


@overload
def hessian(
    f: Map[V, Field],
    x: Vec[V],
    /,
    *,
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
) -> Any: ...
@overload
def hessian(
    f: Map[DirectSum[A, B], Field],
    a: Vec[A],
    b: Vec[B],
    /,
    *,
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
) -> Any: ...
@overload
def hessian(
    f: Map[DirectSum[A, B, C], Field],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    /,
    *,
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
) -> Any: ...
@overload
def hessian(
    f: Map[DirectSum[A, B, C, D], Field],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    /,
    *,
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
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
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
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
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
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
    wrt: Wrt = None,
    blocks: bool = False,
    as_: As = "array",
    limit: int | None = None,
) -> Any: ...
@takes_wrt
def hessian(
    f: Map[Any, Field], *x: Vec[Any], wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None
) -> Any:
    """The matrix of the second derivative of f : V → K at a point: the `jacobian` of its gradient, both in `wrt`."""
    require_map(f, "hessian")
    argument(f, x, "hessian")
    return jacobian(of_scalar(f, wrt), *x, wrt=wrt, blocks=blocks, as_=as_, limit=limit)
