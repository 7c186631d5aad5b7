"""The meaning of methods along axes: sums, products, extremes, orders and softmax of expressions.

>>> from diff import fun
>>> from hilbert import Fin, R
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(fun(R ** (Y * X))(lambda A: A.max(over=X)))
A ↦ [i] ↦ A[i, argmax_j(A[i, j])]
>>> (R ** X).vec([3.0, 1.0, 2.0]).sort().array.tolist()
[1.0, 2.0, 3.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from diff.mistakes.axis_hints import no_options
from diff.terms.elementwise import Binary, Comparison, Primitive
from diff.trace.axes import Axis, axis
from diff.trace.expr import Expr, bilinear, elementwise, operand
from diff.vocabulary import axis_products, named_axes
from hilbert import Copower, Elements, Field, Fin, Index, SpaceError, Type, Unit
from hilbert.errors import integer, number, shown
from hilbert.index.index import require_index
from hilbert.index.spec import ALPHABET, Spec
from hilbert.map.matrix_product import no_matrix
from hilbert.program.line.constant import filled
from hilbert.program.line.operation import Along, Reduce
from hilbert.relation import Full, agreement, run
from hilbert.relation.relation_checks import whole
from hilbert.space.space import atom, require_space, type_of
from linmap import contraction, red

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.program.line.builder import Builder


def _whole(x: Expr[Any], over: Any, name: str) -> Axis:
    """The axis that `over` is, or all axes of the one array of a space."""
    require_space(x.space, f".{name}()")
    if over is not None:
        return axis(x, over, name, f".{name}() is about all entries")
    if len(x.space.leaves) != 1 or not x.space.leaves[0].axes:
        msg = f".{name}() of {shown(x)} is about the entries along axes of one array: it has {len(x.space.leaves)} "
        raise SpaceError(f"{msg}arrays" if len(x.space.leaves) != 1 else f".{name}() of {shown(x)}: it has no axes")
    space: Any = type_of(x.space.leaves[0])
    return Axis(space.index, 0, space.base)


def _all(x: Expr[Any]) -> list[tuple[int, Axis | None]]:
    """The slots of an expression with all their axes; None for a number."""
    found: list[tuple[int, Axis | None]] = []
    for leaf, slot in zip(x.space.leaves, x.slots, strict=True):
        space = type_of(leaf)
        found.append((slot, Axis(space.index, 0, space.base) if isinstance(space, Copower) else None))
    return found


def _field(x: Expr[Any], name: str) -> Field:
    """The one field of all entries."""
    fields = {leaf.entry: atom(leaf.entry) for leaf in x.space.leaves} or {Field().entry: Field()}
    if len(fields) > 1:
        msg = f".{name}() of {shown(x)} adds over one field, not {' and '.join(sorted(map(str, fields)))}; see cast"
        raise SpaceError(msg)
    (field,) = fields.values()
    assert isinstance(field, Field)  # of a space
    return field


def _reduced(
    x: Expr[Any],
    over: Any,
    name: str,
    one: Callable[[Builder, int, Axis], int],
    two: Callable[[Builder, int, int], int],
    none: float | None,
) -> Expr[Any]:
    """A reduction along an axis, or of all entries, the results for several arrays put together by `two`."""
    b = x.builder
    require_space(x.space, f".{name}()")
    if over is not None:
        place = axis(x, over, name, EVERY.get(name, f".{name}() is that of all entries"))
        if none is None and not place.index.size:
            _undefined(name, place.index)
        return Expr(b, place.space, tuple(one(b, slot, place) for slot in x.slots))
    field = _field(x, name)
    found: int | None = None
    for slot, axes in _all(x):
        if none is None and not b.slots[slot].size:
            continue
        made = slot if axes is None else one(b, slot, axes)
        found = made if found is None else two(b, found, made)
    if found is None:
        if none is None:
            _undefined(name, x.space)
        found = b.number(none, field.leaves[0])
    return Expr(b, field, (found,))


def _undefined(name: str, where: Any) -> NoReturn:
    article = "an" if name[0] == "a" else "the"
    msg = f"{article} {name} over {where} is not defined: it has no elements"
    raise SpaceError(msg)


EVERY = {"sum": ".sum() adds all entries, total(X, V) ** Y is the map on (V^X)^Y"}


def _added(b: Builder, slot: int, place: Axis) -> int:
    return b.apply(Reduce(Full(place.index, Unit()), place.at), slot)


def _plus(b: Builder, p: int, q: int) -> int:
    return b.add(p, q)


def total(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """Σ."""
    no_options(x, "sum", options)
    return _reduced(x, over, "sum", _added, _plus, 0.0)


def mean(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """Σ, divided by the number of terms."""
    no_options(x, "mean", options)
    sums = _reduced(x, over, "mean", _added, _plus, 0.0)
    size = x.space.dim if over is None else axis(x, over, "mean", "").index.size
    if not size:
        _undefined("mean", x.space if over is None else over)
    return sums * (1.0 / size)


def norm(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """√Σ v², with the derivative 0 at 0."""
    no_options(x, "norm", options)

    if over is None:
        return elementwise(Primitive("length"), bilinear(contraction.inner(x.space, _field(x, "norm")), x, x))
    return elementwise(Primitive("length"), _reduced(x, over, "norm", _squares, _plus, 0.0))


def _squares(b: Builder, slot: int, place: Axis) -> int:
    whole = Spec.pointwise(len(b.slots[slot].axes)).left
    return b.contract(Spec.of(whole, whole, whole[: place.at] + whole[place.end :]), slot, slot)


def product(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """Π."""
    no_options(x, "product", options)
    return _reduced(x, over, "product", axis_products.multiplied, axis_products.times, 1.0)


def cumprod(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """(Π_{y≤x} v_y)_x."""
    no_options(x, "cumprod", options)
    return _kept(x, over, "cumprod", axis_products.running)


# --- extremes and orders ---


def _picked(b: Builder, slot: int, place: Axis, ids: int, *, ordered: bool) -> int:
    """The entries along axes at elements of their index set; `ordered`: at one for each position there."""
    count, n = len(b.slots[slot].axes), len(place.index.axes)
    letters = Spec.pointwise(count + n).left
    whole, new = letters[:count], letters[count:]
    here = whole[place.at : place.end]
    along = whole[: place.at] + (new if ordered else "") + whole[place.end :]
    return b.contract(Spec.of(whole, along + here, along), slot, ids)


def _extreme(name: str) -> Callable[[Builder, int, Axis], int]:
    def one(b: Builder, slot: int, place: Axis) -> int:
        return _picked(b, slot, place, b.step(Along(name, place.index, place.at), (slot,)), ordered=False)

    return one


def largest(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """v[argmax v]."""
    no_options(x, "max", options)
    return _reduced(x, over, "max", _extreme("argmax"), lambda b, p, q: b.step(Binary("maximum"), (p, q)), None)


def least(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """v[argmin v]."""
    no_options(x, "min", options)
    return _reduced(x, over, "min", _extreme("argmin"), lambda b, p, q: b.step(Binary("minimum"), (p, q)), None)


def _along(name: str) -> Callable[[Builder, int, Axis], int]:
    return lambda b, slot, place: b.step(Along(name, place.index, place.at), (slot,))


def logsumexp(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """ln Σ exp."""
    no_options(x, "logsumexp", options)
    both = _along("logsumexp")
    return _reduced(x, over, "logsumexp", both, lambda b, p, q: b.step(Binary("logaddexp"), (p, q)), -float("inf"))


def _kept(x: Expr[Any], over: Any, name: str, one: Callable[[Builder, int, Axis], int]) -> Expr[Any]:
    place = _whole(x, over, name)
    return Expr(x.builder, x.space, tuple(one(x.builder, slot, place) for slot in x.slots))


def softmax(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """exp v / Σ exp v."""
    no_options(x, "softmax", options)
    return _kept(x, over, "softmax", _along("softmax"))


def log_softmax(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """v − ln Σ exp v."""
    no_options(x, "log_softmax", options)
    return _kept(x, over, "log_softmax", _along("log_softmax"))


def sort(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """v[argsort v]."""
    no_options(x, "sort", options)

    def one(b: Builder, slot: int, place: Axis) -> int:
        order = b.step(Along("argsort", place.index, place.at), (slot,))
        return _picked(b, slot, place, order, ordered=True)

    return _kept(x, over, "sort", one)


def _found(x: Expr[Any], over: Any, name: str) -> tuple[int, Axis]:
    """The slot of the elements found in one array, and the axis along which they are found."""
    place = _whole(x, over, name)
    if len(x.slots) != 1:
        msg = f".{name}() of {shown(x)} finds elements for one array, and it has {len(x.slots)}"
        raise SpaceError(msg)
    if name in {"argmax", "argmin"} and not place.index.size:
        _undefined(name, place.index)
    return x.builder.step(Along(name if name != "top" else "argsort", place.index, place.at), x.slots), place


def _discrete(space: Type, index: Index) -> Type:
    """The type of elements of an index set where a space has numbers."""
    if isinstance(space, Copower):
        return Copower(_discrete(space.base, index), space.index)
    return Elements(index)


def argmax(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """The element of the largest entry."""
    no_options(x, "argmax", options)
    slot, place = _found(x, over, "argmax")
    return Expr(x.builder, _discrete(place.space, place.index), (slot,))


def argmin(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """The element of the least entry."""
    no_options(x, "argmin", options)
    slot, place = _found(x, over, "argmin")
    return Expr(x.builder, _discrete(place.space, place.index), (slot,))


def argsort(x: Expr[Any], over: Any = None, **options: Any) -> Expr[Any]:
    """The elements in order."""
    no_options(x, "argsort", options)
    slot, place = _found(x, over, "argsort")
    return Expr(x.builder, _discrete(x.space, place.index), (slot,))


def top(x: Expr[Any], k: int, over: Any = None, *, to: Any = None) -> Expr[Any]:
    """The elements of the k largest entries: the first of the order of −v, which is stable."""
    place = _whole(x, over, "top")
    count = whole(k, "the k of .top(k)", least=0)
    if count > place.index.size:
        msg = f".top({shown(count)}) of {shown(x)}: {place.index} has {place.index.size} elements only"
        raise SpaceError(msg)
    if to is not None:
        require_index(to, ".top(k, to=Y)")
    Y: Index = Fin.of(count) if to is None else to
    if Y.size != count:
        msg = f".top({count}, to={Y}): {Y} has {Y.size} elements"
        raise SpaceError(msg)
    b, (order, place) = x.builder, _found(-x, over, "top")
    slot = b.apply(Reduce(run(Y, place.index, 0).T, place.at), order)
    return Expr(b, type_of(b.slots[slot]), (slot,))


# --- comparisons, and operations entry by entry ---


def _compared(name: str, x: Expr[Any], o: Any) -> Expr[Any]:
    other = o
    if number(o) is not None:
        entries = {leaf.kind for leaf in x.space.leaves}
        if entries != {"f"}:
            k = integer(o)
            kinds = {leaf.entry for leaf in x.space.leaves}
            if k is None or entries != {"i"}:
                msg = f".{name}s of {shown(x)} and {shown(o)}: a value of {x.space} would fit, or an integer"
                raise SpaceError(msg)
            for entry in kinds:
                if entry.index is not None and not 0 <= k < entry.index.size:
                    msg = (
                        f"{k} is not an element of {entry.index}: positions from 0 to {entry.index.size - 1} would fit"
                    )
                    raise SpaceError(msg)
        other = Expr(x.builder, x.space, tuple(x.builder.literal(filled(o, leaf)) for leaf in x.space.leaves))
    return elementwise(Comparison(name), x, operand(x, other, name))


def equals(x: Expr[Any], o: Any) -> Expr[Any]:
    """=."""
    return _compared("equal", x, o)


def differs(x: Expr[Any], o: Any) -> Expr[Any]:
    """≠."""
    return _compared("not_equal", x, o)


def _square(x: Expr[Any], name: str) -> tuple[Any, Any]:
    """V and X of V^{X×X}."""
    X = getattr(getattr(x.space, "index", None), "left", None)
    if X is None or x.space.index != X * X:
        msg = f".{name}() is of a matrix A ∈ V^{{X×X}}, not of {shown(x)}{no_matrix(x.space)}"
        hint = ": v.diag() is the matrix with v on its diagonal" if isinstance(x.space, Copower) else ""
        raise SpaceError(msg + hint)
    return x.space.base, X


def diagonal(x: Expr[Any]) -> Expr[Any]:
    """red of {((x, x), x)}."""
    V, X = _square(x, "diagonal")
    labels = ALPHABET[: len(X.axes)]
    return red(agreement(f"{labels}{labels}->{labels}", X * X, X), V)(x)


def trace(x: Expr[Any]) -> Expr[Any]:
    """red of {((x, x), ∗)}."""
    V, X = _square(x, "trace")
    labels = ALPHABET[: len(X.axes)]
    return red(agreement(f"{labels}{labels}->", X * X, Unit()), V)(x)


def diag(x: Expr[Any]) -> Expr[Any]:
    """red of {(x, (x, x))}."""
    if not isinstance(x.space, Copower):
        msg = f".diag() is of a vector of V^X, not of {shown(x)}"
        raise SpaceError(msg)
    X = x.space.index
    labels = ALPHABET[: len(X.axes)]
    return red(agreement(f"{labels}->{labels}{labels}", X, X * X), x.space.base)(x)


MEANING: dict[str, Callable[..., Expr[Any]]] = {
    "sum": total,
    "mean": mean,
    "product": product,
    "max": largest,
    "min": least,
    "norm": norm,
    "logsumexp": logsumexp,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "sort": sort,
    "cumprod": cumprod,
    "argmax": argmax,
    "argmin": argmin,
    "argsort": argsort,
    "top": top,
    "equals": equals,
    "differs": differs,
    "diagonal": diagonal,
    "trace": trace,
    "diag": diag,
    "named": named_axes.named,
    "pad": named_axes.pad,
    "crop": named_axes.crop,
    "add": named_axes.add,
    "times": named_axes.times,
}
"""The functions that give methods of expressions their meaning, by the names of the methods."""


def method(name: str) -> Callable[..., Expr[Any]]:
    """The meaning of a declared method of expressions."""
    return MEANING[name]
