"""Linear functions along an axis: sums, padding, slices, rotations, windows, differences.

Each acts on V^X in the flat order of X. Another axis of an array is reached by `f ** Z` (axes in front) and by a base
space V = R ** Z (axes behind), several at once by red of a product of relations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from hilbert import Copower, Coproduct, DirectSum, Fin, Index, Product, SpaceError, Type
from hilbert.errors import integer, shown
from hilbert.index import require_index
from hilbert.relation import geq, greater, leq, less, reversal, rotation, run, sliding, window
from hilbert.relation.make import whole
from linmap.term.maps import join, red

if TYPE_CHECKING:
    from hilbert.index import Anonymous
    from linmap.term.nodes import LinMap

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
H = TypeVar("H", bound=Index)
K = TypeVar("K", bound=Index)
W = TypeVar("W", bound=Type)


def cumsum(V: W, X: I, *, reverse: bool = False, exclusive: bool = False) -> LinMap[Copower[W, I], Copower[W, I]]:
    """cumsum : V^X ⊸ V^X, v ↦ (Σ_{y≤x} v_y)_x; y ≥ x if `reverse`, < and > if `exclusive`. Its adjoint runs back.

    Without options it is `scan`, reversed it is `suffix`.
    """
    forward, back = (less, greater) if exclusive else (leq, geq)
    return red(back(X) if reverse else forward(X), V)


@overload
def pad(V: W, X: I, before: int, after: int) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def pad(V: W, X: I, before: int, after: int, *, to: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
def pad(V: Any, X: Any, before: int, after: int, *, to: Any = None) -> Any:
    """pad : V^X ⊸ V^Y, zeros before and after, |Y| = before + |X| + after; its adjoint is a slice.

    `to` is Y. Raises SpaceError for widths that are no integers ≥ 0, and for a Y of another size.
    """
    require_index(X, "pad")
    low, high = (whole(width, "the width of padding", least=0) for width in (before, after))
    return red(run(X, _named(to, low + X.size + high, "pad"), low), V)


@overload
def slice_(
    V: W, X: I, start: int | None, stop: int | None, step: int = ...
) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def slice_(
    V: W, X: I, start: int | None, stop: int | None, step: int = ..., *, to: J
) -> LinMap[Copower[W, I], Copower[W, J]]: ...
def slice_(V: Any, X: Any, start: int | None, stop: int | None, step: int = 1, *, to: Any = None) -> Any:
    """slice_ : V^X ⊸ V^Y, the elements start:stop:step as Python counts them; a view. Its adjoint puts zeros around.

    `to` is Y. Raises SpaceError for bounds that are no integers or None, for step 0, and for a Y of another size.
    """
    require_index(X, "slice_")
    low, high = _bound(start), _bound(stop)
    stride = whole(step, "the step of a slice")
    if not stride:
        msg = "the step of a slice is not 0"
        raise SpaceError(msg)
    places = range(X.size)[low:high:stride]
    Y = _named(to, len(places), "slice_")
    return red(run(Y, X, places.start if places else 0, places.step if len(places) > 1 else 1).T, V)


def roll(V: W, X: I, by: int) -> LinMap[Copower[W, I], Copower[W, I]]:
    """roll : V^X ⊸ V^X, (roll v)_{x + by mod |X|} = v_x; unitary. Raises SpaceError unless `by` is an integer."""
    return red(rotation(X, by), V)


def flip(V: W, X: I) -> LinMap[Copower[W, I], Copower[W, I]]:
    """flip : V^X ⊸ V^X, the elements backwards; unitary, its own inverse."""
    return red(reversal(X), V)


def reshape(V: W, X: I, Y: J) -> LinMap[Copower[W, I], Copower[W, J]]:
    """reshape : V^X ⊸ V^Y for |X| = |Y|, in the flat orders; unitary, moves nothing.

    Raises SpaceError for index sets of unequal sizes.
    """
    require_index(X, "reshape")
    require_index(Y, "reshape")
    if X.size != Y.size:
        msg = f"{X} of {X.size} elements has not the shape {Y} of {Y.size}: reshape keeps their number"
        raise SpaceError(msg)
    return red(run(X, Y, 0), V)


@overload
def concatenate(
    V: W, X: I, Y: J, /
) -> LinMap[DirectSum[Copower[W, I], Copower[W, J]], Copower[W, Coproduct[I, J]]]: ...
@overload
def concatenate(
    V: W, X: I, Y: J, Z: H, /
) -> LinMap[DirectSum[Copower[W, I], Copower[W, J], Copower[W, H]], Copower[W, Coproduct[Coproduct[I, J], H]]]: ...
@overload
def concatenate(V: W, /, *sets: Index) -> LinMap[Any, Copower[W, Any]]: ...
@overload
def concatenate(V: W, X: I, Y: J, /, *, to: K) -> LinMap[DirectSum[Copower[W, I], Copower[W, J]], Copower[W, K]]: ...
@overload
def concatenate(
    V: W, X: I, Y: J, Z: H, /, *, to: K
) -> LinMap[DirectSum[Copower[W, I], Copower[W, J], Copower[W, H]], Copower[W, K]]: ...
@overload
def concatenate(V: W, /, *sets: Index, to: K) -> LinMap[Any, Copower[W, K]]: ...
def concatenate(V: Any, /, *sets: Any, to: Any = None) -> Any:
    """concatenate : V^X ⊕ … ⊕ V^Z ⊸ V^{X+…+Z}, one after the other; unitary. `concat` and `split` for two.

    `to` is another index set of that size. Raises SpaceError for no index sets, and for a `to` of another size.
    """
    for X in sets:
        require_index(X, "concatenate")
    if not sets:
        msg = "concatenate(V, X, Y, …) takes one index set at least"
        raise SpaceError(msg)
    size = sum(X.size for X in sets)
    if to is None:
        to = sets[0]
        for X in sets[1:]:
            to = to + X
    Y, place, parts = _named(to, size, "concatenate"), 0, []
    for X in sets:
        parts.append(red(run(X, Y, place), V))
        place += X.size
    return join(*parts)


@overload
def windows(
    V: W, X: I, width: int, *, stride: int = ..., dilation: int = ...
) -> LinMap[Copower[W, I], Copower[W, Product[Fin[Anonymous], Fin[Anonymous]]]]: ...
@overload
def windows(
    V: W, X: I, width: int, *, stride: int = ..., dilation: int = ..., to: Product[J, K]
) -> LinMap[Copower[W, I], Copower[W, Product[J, K]]]: ...
def windows(V: Any, X: Any, width: int, *, stride: int = 1, dilation: int = 1, to: Any = None) -> Any:
    """windows : V^X ⊸ V^{Y×K}, v ↦ (v_{stride·y + dilation·k})_{y,k}: all windows in X side by side; a view in numpy.

    `to` is Y×K. Raises SpaceError for a width, stride or dilation below 1, and for a Y×K of another size.
    """
    return red(sliding(X, width, stride=stride, dilation=dilation, to=to).T, V)


@overload
def pool(V: W, X: I, width: int, *, stride: int | None = ...) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def pool(V: W, X: I, width: int, *, stride: int | None = ..., to: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
def pool(V: Any, X: Any, width: int, *, stride: int | None = None, to: Any = None) -> Any:
    """pool : V^X ⊸ V^Y, v ↦ (Σ_{k<width} v_{stride·y + k})_y: sums of windows; the stride is the width unless given.

    Y is `to` (windows over the end of X are cut off there), or as many windows as lie in X. Raises SpaceError for a
    width or stride below 1.
    """
    return red(window(X, width, stride=width if stride is None else stride, to=to), V)


@overload
def differences(V: W, X: I) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def differences(V: W, X: I, *, to: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
def differences(V: Any, X: Any, *, to: Any = None) -> Any:
    """differences : V^X ⊸ V^Y, v ↦ (v_{x+1} − v_x)_x, |Y| = |X| − 1, as `diff` in numpy.

    `to` is Y. Raises SpaceError for a Y of another size.
    """
    require_index(X, "differences")
    Y = _named(to, max(X.size - 1, 0), "differences")
    return slice_(V, X, 1, None, to=Y) - slice_(V, X, 0, max(X.size - 1, 0), to=Y)


def _named(to: Any, size: int, name: str) -> Any:
    """The index set `to` if it has the right size; the anonymous one where none is given."""
    if to is None:
        return Fin.of(size)
    require_index(to, f"{name}(…, to=Y)")
    if to.size != size:
        msg = f"{name} has {size} elements, but {to} has {to.size}"
        raise SpaceError(msg)
    return to


def _bound(bound: Any) -> int | None:
    found = None if bound is None else integer(bound)
    if found is None and bound is not None:
        msg = f"the bounds of a slice are integers or None, not {shown(bound)}"
        raise SpaceError(msg)
    return found
