"""Linear functions along an axis: sums, padding, cropping, rotations, windows, differences.

Each acts on V^X in the flat order of X. Another axis of an array is reached by `f ** Z` (axes in front) and by a base
space V = R ** Z (axes behind), several at once by red of a product of relations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert import Fin, Index, R, SpaceError
from hilbert.base.attach import overloaded
from hilbert.base.notarray import NotArray
from hilbert.errors import integer, shown, truth, written
from hilbert.index.index import require_index
from hilbert.relation import geq, greater, leq, less, reversal, rotation, run, sliding, window
from hilbert.relation.relation_checks import whole
from linmap.term.maps import in_order, join, red

if TYPE_CHECKING:
    from hilbert.relation.relation import AnyRelation
    from linmap import _calls


@overloaded(lambda: _calls.cumsum)
def cumsum(X: Any, V: Any = R, *, reverse: bool = False, exclusive: bool = False) -> Any:
    """cumsum : V^X ⊸ V^X, v ↦ (Σ_{y≤x} v_y)_x; y ≥ x if `reverse`, < and > if `exclusive`. Its adjoint runs back.

    It is the paper's scan (§2.1), reversed scan* (§6), and prints as such.
    """
    in_order("cumsum(X, V)", V, X)
    return red(prefix(X, reverse=reverse, exclusive=exclusive), V)


def prefix(X: Index, *, reverse: bool, exclusive: bool) -> AnyRelation:
    """y ≤ x, ≥ if `reverse`, < and > if `exclusive`."""
    truth(reverse, "cumsum(X, reverse=…)")
    truth(exclusive, "cumsum(X, exclusive=…)")
    forward, back = (less, greater) if exclusive else (leq, geq)
    return back(X) if reverse else forward(X)


@overloaded(lambda: _calls.pad)
def pad(X: Any, before: int, after: int, V: Any = R, *, to: Any = None) -> Any:
    """pad : V^X ⊸ V^Y, zeros before and after, |Y| = before + |X| + after; its adjoint is `crop`.

    `to` is Y. Raises SpaceError for widths that are no integers ≥ 0, and for a Y of another size.
    """
    in_order("pad(X, before, after, V)", V, X, before, after)
    return red(padding(X, before, after, to=to), V)


def padding(X: Any, before: int, after: int, *, to: Any = None) -> AnyRelation:
    """X as positions of Y, `before` of them before and `after` behind."""
    require_index(X, "pad")
    low, high = (whole(width, "the width of padding", least=0) for width in (before, after))
    return run(X, _named(to, low + X.size + high, "pad"), low)


@overloaded(lambda: _calls.crop)
def crop(X: Any, start: int | None, stop: int | None, V: Any = R, *, step: int = 1, to: Any = None) -> Any:
    """crop : V^X ⊸ V^Y, the elements start:stop:step as Python counts them; a view. Its adjoint puts zeros around.

    `to` is Y. Raises SpaceError for bounds that are no integers or None, for step 0, and for a Y of another size.
    """
    in_order("crop(X, start, stop, V)", V, X, start, stop)
    return red(cropping(X, start, stop, step=step, to=to), V)


def cropping(X: Any, start: int | None, stop: int | None, *, step: int = 1, to: Any = None) -> AnyRelation:
    """The positions start:stop:step of X as Y."""
    require_index(X, "crop")
    low, high = _bound(start), _bound(stop)
    stride = whole(step, "the step of crop")
    if not stride:
        msg = "the step of crop is not 0"
        raise SpaceError(msg)
    places = range(X.size)[low:high:stride]
    Y = _named(to, len(places), "crop")
    return run(Y, X, places.start if places else 0, places.step if len(places) > 1 else 1).T


@overloaded(lambda: _calls.roll)
def roll(X: Any, by: int, V: Any = R) -> Any:
    """roll : V^X ⊸ V^X, (roll v)_{x + by mod |X|} = v_x; unitary. Raises SpaceError unless `by` is an integer."""
    in_order("roll(X, by, V)", V, X, by)
    return red(rotation(X, by), V)


@overloaded(lambda: _calls.flip)
def flip(X: Any, V: Any = R) -> Any:
    """flip : V^X ⊸ V^X, the elements backwards; unitary, its own inverse."""
    in_order("flip(X, V)", V, X)
    return red(reversal(X), V)


@overloaded(lambda: _calls.reshape)
def reshape(X: Any, Y: Any, V: Any = R) -> Any:
    """reshape : V^X ⊸ V^Y for |X| = |Y|, in the flat orders; unitary, moves nothing.

    Raises SpaceError for index sets of unequal sizes.
    """
    in_order("reshape(X, Y, V)", V, X, Y)
    require_index(X, "reshape")
    if isinstance(Y, (tuple, list)):
        msg = f"reshape takes an index set, not {shown(Y)}: write Fin.of(n) * Fin.of(m) for the shape (n, m)"
        raise SpaceError(msg)
    require_index(Y, "reshape")
    if X.size != Y.size:
        msg = f"{X} of {X.size} elements has not the shape {Y} of {Y.size}: reshape keeps their number"
        raise SpaceError(msg)
    return red(run(X, Y, 0), V)


@overloaded(lambda: _calls.concatenate)
@written("concatenate(X, Y) for index sets, x.concatenate(y) for vectors over X and Y, whose result is over X + Y")
def concatenate(*sets: Any, V: Any = R, to: Any = None) -> Any:
    """concatenate : V^X ⊕ … ⊕ V^Z ⊸ V^{X+…+Z}, one after the other; unitary, `split` is the inverse for two.

    `to` is another index set of that size. Raises SpaceError for no index sets, and for a `to` of another size.
    """
    for X in sets:
        if isinstance(X, NotArray) or (isinstance(X, (tuple, list)) and any(isinstance(x, NotArray) for x in X)):
            msg = f"concatenate(X, Y, …, V=V) takes index sets, not {shown(X)}: write x.concatenate(y) for vectors"
            raise SpaceError(msg)
    in_order("concatenate(X, Y, …, V=V)", V, *sets)
    for X in sets:
        require_index(X, "concatenate")
    if not sets:
        msg = "concatenate(X, Y, …, V=V) takes one index set at least"
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


@overloaded(lambda: _calls.windows)
def windows(X: Any, width: int, V: Any = R, *, stride: int = 1, dilation: int = 1, to: Any = None) -> Any:
    """windows : V^X ⊸ V^{Y×K}, v ↦ (v_{stride·y + dilation·k})_{y,k}: all windows in X side by side; a view in numpy.

    `to` is Y×K. Raises SpaceError for a width, stride or dilation below 1, and for a Y×K of another size.
    """
    in_order("windows(X, width, V)", V, X, width)
    return red(sliding(X, width, stride=stride, dilation=dilation, to=to).T, V)


@overloaded(lambda: _calls.pool)
def pool(X: Any, width: int, V: Any = R, *, stride: int | None = None, to: Any = None) -> Any:
    """pool : V^X ⊸ V^Y, v ↦ (Σ_{k<width} v_{stride·y + k})_y: sums of windows; the stride is the width unless given.

    Y is `to` (windows over the end of X are cut off there), or as many windows as lie in X. Raises SpaceError for a
    width or stride below 1.
    """
    in_order("pool(X, width, V)", V, X, width)
    return red(window(X, width, stride=width if stride is None else stride, to=to), V)


@overloaded(lambda: _calls.differences)
def differences(X: Any, V: Any = R, *, to: Any = None) -> Any:
    """differences : V^X ⊸ V^Y, v ↦ (v_{x+1} − v_x)_x, |Y| = |X| − 1, as `diff` in numpy.

    `to` is Y. Raises SpaceError for a Y of another size.
    """
    in_order("differences(X, V)", V, X)
    require_index(X, "differences")
    Y = _named(to, max(X.size - 1, 0), "differences")
    return crop(X, 1, None, V, to=Y) - crop(X, 0, max(X.size - 1, 0), V, to=Y)


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
        msg = f"the bounds of crop are integers or None, not {shown(bound)}"
        raise SpaceError(msg)
    return found
