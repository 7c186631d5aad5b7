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
from typing import TYPE_CHECKING, Any

from adjoint.reverse.jacobian_program import derived, program_of
from adjoint.reverse.wrt import takes_wrt
from diff.derive.varying_parts import Wrt
from diff.terms.linearization import AnyLinearization
from hilbert import Field, Map, SpaceError, Type, Vec
from hilbert.base.attach import overloaded
from hilbert.errors import truth
from hilbert.map.map import AnyMap, argument, require_map
from linmap import matrix
from linmap.matrices.made.matrix import As

if TYPE_CHECKING:
    from adjoint import _calls


@overloaded(lambda: _calls.jacobian)
@takes_wrt
def jacobian(
    f: AnyMap, *x: Vec[Any], wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None
) -> Any:
    """The matrix of f'(x) in the standard bases: an array of shape (dim W, dim V), or one for each pair of leaves.

    `as_` names another form, see `linmap.matrix`: "sparse", say, and `limit` is that of it, a bound on intermediate
    arrays. Work that does not depend on the point is done once for each function. `wrt` restricts V to one part of
    the domain, or to several. Raises SpaceError for a point of another space, for a position that does not exist, for
    `blocks`, the pairs of leaves, of another form than "array", and for a limit that no order keeps.
    """
    require_map(f, "jacobian")
    _require_array(as_, blocks=blocks)
    d = derived(f, wrt)
    return _made(d, argument(f, x, "jacobian"), as_, limit, blocks=blocks)


def _require_array(as_: As, *, blocks: bool) -> None:
    """Raise SpaceError for blocks of another form than a dense array."""
    truth(blocks, "blocks=…")
    if blocks and as_ != "array":
        raise SpaceError(
            f'blocks=True cuts a dense array, not as_={as_!r}: as_="blocks" has the blocks of a sparse one'
        )


def _made(d: AnyLinearization, x: Vec[Any], as_: As, limit: int | None, *, blocks: bool) -> Any:
    """The matrix of a derivative at a point: by its program, if it has one, or planned there."""
    p = None if x.is_formal else program_of(d, as_, limit)
    whole = matrix(d.at(x), as_=as_, limit=limit) if p is None else p.at_leaves(x.leaves)
    if not blocks:
        return whole
    rows, cols = _ends(d.cod), _ends(d.dom)
    return tuple(tuple(whole[a:b, c:e] for c, e in cols) for a, b in rows)


def _ends(space: Type) -> list[tuple[int, int]]:
    """The positions where the entries of each leaf begin and end."""
    ends = itertools.accumulate((leaf.size for leaf in space.leaves), initial=0)
    return list(itertools.pairwise(ends))


@overloaded(lambda: _calls.hessian)
@takes_wrt
def hessian(
    f: Map[Any, Field], *x: Vec[Any], wrt: Wrt = None, blocks: bool = False, as_: As = "array", limit: int | None = None
) -> Any:
    """The matrix of the second derivative of f : V → K at a point: the `jacobian` of its gradient, both in `wrt`."""
    require_map(f, "hessian")
    point = argument(f, x, "hessian")
    d = derived(f, wrt, twice=True)
    _require_array(as_, blocks=blocks)
    return _made(d, point, as_, limit, blocks=blocks)
