"""Inner products along one axis that both operands have, by its index set.

>>> import hilbert.all as hb
>>> X, Y = hb.Fin.of(3), hb.Fin.of(2)
>>> A, x = (hb.R ** (X * Y)).ones(), (hb.R ** X).ones()
>>> hb.dot(A, x, over=X).space, hb.dot(A, A, over=X).space
(R ** Fin.of(2), R ** (Fin.of(2) * Fin.of(2)))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.trace.axes import axis
from diff.trace.expr import Expr, bilinear
from diff.vocabulary.eager import eager
from hilbert import Index, SpaceError
from hilbert.base.attach import overloaded
from hilbert.errors import shown
from hilbert.index.leaf import Leaf
from hilbert.index.spec import Spec
from hilbert.space.space import require_space, type_of
from linmap.contraction import Contraction
from linmap.term.maps import functional

if TYPE_CHECKING:
    from diff import _calls


@overloaded(lambda: _calls.dot)
def dot(a: Any, b: Any = None, *, over: Any = None) -> Any:
    """Σ_x a_x·b_x over the axis X of both, in ℝ^{the other axes of a, then those of b}; of one vector (⊙v) : V ⊸ K.

    Raises SpaceError where X is no axis of both, or stands twice in one, and for spaces of several arrays.
    """
    if b is None and over is None:
        return functional(a)
    if not isinstance(over, Index):
        msg = f"dot(a, b, over=X) of {shown(a)} and {shown(b)} takes the index set X of an axis, not {shown(over)}"
        raise SpaceError(f"{msg}; a @ b and inner(a, b) need none")
    return _along(a, b, over)


@eager
def _along(a: Any, b: Any, over: Index) -> Any:
    left, right = (_at(x, over) for x in (a, b))
    (p,), (q,) = a.space.leaves, b.space.leaves
    n, count = len(over.axes), len(p.axes)
    letters = Spec.pointwise(count + len(q.axes) - n).left
    first, rest = letters[:count], letters[count:]
    inner = first[left : left + n]
    second = rest[:right] + inner + rest[right:]
    out = first.replace(inner, "") + rest
    spec = Spec.of(first, second, out)
    return bilinear(Contraction(a.space, b.space, _cod(p, left, q, right, n), ((0, 0, 0, spec),)), a, b)


def _at(x: Any, over: Index) -> int:
    """The place where the axes of `over` begin; raises SpaceError for what has no such axes."""
    if not isinstance(x, Expr):
        msg = f"dot(a, b, over={over}) takes vectors, not {shown(x)}"
        raise SpaceError(msg)
    require_space(x.space, "dot")
    if len(x.space.leaves) != 1:
        msg = f"dot(a, b, over={over}) is for vectors of one array each, not for {shown(x)}: take its parts"
        raise SpaceError(msg)
    return axis(x, over, "dot", "dot(a, b, over=X) sums along an axis of both", "contract(labels, a, b) says which").at


def _cod(p: Leaf, left: int, q: Leaf, right: int, n: int) -> Any:
    """The space of the axes that are left."""
    axes = p.axes[:left] + p.axes[left + n :] + q.axes[:right] + q.axes[right + n :]
    return type_of(Leaf(p.entry, axes))
