"""Functions of values: at the leaves of trees, their forms, arithmetic of reals, tensors and their elements."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from adjoint.languages.ks.value.value_classes import LEAF, AnyValue, Arr, Items, Lane, Linear, Table, Value
from diff.lam.term.lam_values import Closure, Native
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr
from hilbert import Copower, Elements, Fin, R, Type, Vec
from hilbert.space.space import Bool
from linmap import rep, stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# --- trees ---


def mapped(f: Callable[..., Value], value: Value, *others: Value) -> Value:
    """f at the leaves, and at constants, of values of one form."""
    if isinstance(value, tuple):
        _require_alike(value, others)
        return tuple([mapped(f, *parts) for parts in zip(value, *others, strict=True)])
    if isinstance(value, Arr) and all(isinstance(o, Arr) for o in others):
        if any(o.dims != value.dims for o in others):
            sizes = " and ".join("×".join(map(str, o.dims)) for o in (value, *others))
            raise TermError("shape", f"tensors of {sizes} elements: one size is due")
        return Arr(value.dims, mapped(f, value.item, *(o.item for o in others)))
    tensors = [value, *others]
    if any(isinstance(one, Items) for one in tensors):
        listed = [items_of(one) for one in tensors]
        _require_alike(listed[0].items, [one.items for one in listed])
        rows = zip(*(one.items for one in listed), strict=True)
        return Items(listed[0].dims, tuple([mapped(f, *row) for row in rows]))
    return f(value, *others)


def _require_alike(value: Sequence[Value], others: Sequence[Sequence[Value]]) -> None:
    if any(len(other) != len(value) for other in others):
        sizes = " and ".join(str(len(one)) for one in (value, *others))
        raise TermError("shape", f"tensors of {sizes} elements: one size is due")


def leaves_of(value: Value) -> list[Any]:
    """The vectors and expressions in a value."""
    found: list[Any] = []
    mapped(lambda leaf: found.append(leaf) if isinstance(leaf, LEAF) else None, value)
    return found


def is_map(leaf: Any) -> bool:
    """Tell if a leaf is a linear map, and no record of suffwdpass."""
    return isinstance(leaf, Linear) and not leaf.is_record


def linear_maps(value: Value) -> list[Linear]:
    """The linear maps in a value."""
    found: list[Linear] = []
    mapped(lambda leaf: found.append(leaf) if is_map(leaf) else None, value)
    return found


def filled(value: Value, leaves: Iterator[Any]) -> Value:
    """The value with other leaves."""
    return mapped(lambda leaf: next(leaves) if isinstance(leaf, LEAF) else leaf, value)


def form(value: AnyValue) -> Any:
    """The form of a value: hashable, equal for values of one type that differ in their leaves only."""
    match value:
        case Vec() | Expr():
            return value.space
        case tuple():
            return ("tuple", *map(form, value))
        case Arr(dims, item):
            return ("arr", dims, form(item))
        case Items(dims, items):
            return ("items", dims, tuple(map(form, items)))
        case Table(lanes, array):
            return ("table", tuple(map(id, lanes)), array.tobytes())
        case int() | str():
            return value
        case Linear() | Closure() | Native():  # each is what it is
            return ("function", id(value))
        case _:
            assert_never(value)


def outline(value: Value) -> Any:
    """The form of a value without the constants in it: equal for values of one shape."""
    return form(mapped(lambda leaf: leaf if isinstance(leaf, LEAF) else (), value))


def signature(value: AnyValue) -> Any:
    """The form of a value, the same for other lanes of as many elements, and for functions of one term."""
    match value:
        case tuple():
            return ("tuple", *map(signature, value))
        case Arr(dims, item):
            return ("arr", dims, signature(item))
        case Items(dims, items):
            return ("items", dims, tuple(map(signature, items)))
        case Table(lanes, array):
            return ("table", tuple(lane.depth for lane in lanes), array.tobytes())
        case Closure(lam, values):
            return ("closure", lam, tuple((k, signature(v)) for k, v in values.items()))
        case Linear() | Native():
            return value
        case Vec() | Expr() | int() | str():
            return form(value)
        case _:
            assert_never(value)


def has_function(value: AnyValue) -> bool:
    """Tell if a function or a linear map is in it."""
    match value:
        case Vec() | Expr() | Table() | int() | str():
            return False
        case tuple():
            return any(map(has_function, value))
        case Arr(_, item):
            return has_function(item)
        case Items(_, items):
            return any(map(has_function, items))
        case Linear() | Closure() | Native():
            return True
        case _:
            assert_never(value)


# --- reals ---


def real(x: float) -> Vec[Any]:
    """A number."""
    return R.vec(float(x))


def is_real(leaf: Any) -> bool:
    """Tell if a leaf is of reals, not of truth values."""
    return isinstance(leaf, LEAF) and all(f.is_field for f in leaf.space.leaves)


def zero_like(value: Value) -> Value:
    """The zero tangent of a value."""

    def leaf(v: Value) -> Value:
        if is_map(v):
            return Linear(lambda x: zero_like(v.apply(x)), lambda r: zero_like(v.transposed(r)))
        return v.space.zeros() if is_real(v) else ()

    return mapped(leaf, value)


NO_COTANGENT = "the cotangent of a linear map is not computed: make the map in the function that is derived"


def tangent(f: Callable[[Any], Value], value: Value, why: str = NO_COTANGENT) -> Value:
    """f at the reals of a value, () for what is discrete; that of a linear map is not computed, and not applied."""
    return mapped(lambda leaf: f(leaf) if is_real(leaf) else _missing(why) if is_map(leaf) else (), value)


def _missing(why: str) -> Linear:
    """A linear map that is not computed."""

    def refused(_: Value) -> Value:
        raise TermError("linear", why)

    return Linear(refused, refused, missing=why)


def plus(a: Value, b: Value) -> Value:
    """v + dv: what is discrete stays."""
    if isinstance(a, Linear):
        return Linear(lambda x: plus(a.apply(x), b.apply(x)), lambda r: plus(a.transposed(r), b.transposed(r)))
    return _over(lambda x, y: x + y, a, b)


def _over(f: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple([_over(f, x, y) for x, y in zip(a, b, strict=True)])
    if isinstance(a, (Arr, Items)):
        if isinstance(a, Arr) and isinstance(b, Arr):
            if a.dims != b.dims:
                return mapped(f, a, b)
            return Arr(a.dims, _over(f, a.item, b.item))
        left, right = items_of(a), items_of(b)
        _require_alike(left.items, [right.items])
        return Items(left.dims, tuple([_over(f, x, y) for x, y in zip(left.items, right.items, strict=True)]))
    return f(a, b) if is_real(a) else a


def scaled(k: Value, v: Value) -> Value:
    """k·v."""
    return mapped(lambda leaf: k * leaf if is_real(leaf) else leaf, v)


# --- tensors ---


def stacked(dims: tuple[int, ...], items: Sequence[Value]) -> Value:
    """A tensor of its elements: an Arr where they have one shape."""
    if not items:
        return Items(dims, ())
    shapes = {_kind(item) for item in items}
    if len(shapes) > 1 or None in shapes:
        return Items(dims, tuple(items))
    return Arr(dims, mapped(lambda *leaves: _stacked(dims, leaves), *items))


def _kind(value: AnyValue) -> Any:
    """The shape of an element that can be stacked; None for one that cannot."""
    match value:
        case Vec() | Expr():
            return value.space if is_real(value) else None
        case tuple():
            parts = tuple(map(_kind, value))
            return None if None in parts else ("tuple", *parts)
        case Arr(dims, item):
            of = _kind(item)
            return None if of is None else ("arr", dims, of)
        case Table((), _) | int():
            return "constant"
        case Table() | str() | Items() | Linear() | Closure() | Native():
            return None
        case _:
            assert_never(value)


def _stacked(dims: tuple[int, ...], leaves: Sequence[Any]) -> Any:
    first = leaves[0]
    if not isinstance(first, LEAF):
        arrays = [leaf.array if isinstance(leaf, Table) else np.asarray(leaf) for leaf in leaves]
        made = np.stack(arrays)
        return Table((), made.reshape(*dims, *made.shape[1:]))
    return _rows(dims, list(leaves), first.space)


def _rows(dims: tuple[int, ...], leaves: list[Any], space: Type) -> Any:
    n, *rest = dims
    if rest:
        m = len(leaves) // n if n else 0
        leaves = [_rows(tuple(rest), leaves[k * m : (k + 1) * m], space) for k in range(n)]
        space = leaves[0].space
    X = Fin.of(n)
    if all(isinstance(leaf, Vec) for leaf in leaves) and len(space.leaves) == 1:
        return Copower(space, X).vec(np.stack([leaf.dense().leaves[0] for leaf in leaves]))
    return stack(X, space)(*leaves) if n > 1 else rep(X, space)(leaves[0])


def repeated(dims: tuple[int, ...], value: Value) -> Value:
    """The tensor with one element everywhere."""
    if _kind(value) is None:
        return Items(dims, (value,) * int(np.prod(dims)))
    return Arr(dims, mapped(lambda leaf: _repeated(dims, leaf), value))


def _repeated(dims: tuple[int, ...], leaf: Any) -> Any:
    if not isinstance(leaf, LEAF):
        array = leaf.array if isinstance(leaf, Table) else np.asarray(leaf)
        return Table((), np.broadcast_to(array, (*dims, *array.shape)))
    for n in reversed(dims):
        leaf = rep(Fin.of(n), leaf.space)(leaf)
    return leaf


def items_of(x: Arr | Items) -> Items:
    """The elements of a tensor, one by one."""
    if isinstance(x, Items):
        return x
    return Items(x.dims, tuple([element(x, at) for at in product(*map(range, x.dims))]))


def element(x: Arr, at: tuple[int, ...]) -> Value:
    """The element at a position that is known and in range."""
    return mapped(lambda leaf: _at(leaf, at), x.item)


def _at(leaf: Any, at: tuple[int, ...]) -> Any:
    if isinstance(leaf, Table):
        n = len(leaf.lanes)
        return constant(leaf.lanes, leaf.array[(slice(None),) * n + at])
    for k in at:
        leaf = leaf[k]
    return leaf


def settled(value: Value) -> Value:
    """A value whose integers and truth values are constants where they are known."""
    return mapped(lambda v: constant((), v.array) if isinstance(v, Vec) and not is_real(v) else v, value)


def constant(lanes: tuple[Lane, ...], array: Any) -> Value:
    """A table, or what it is where it has no axis."""
    return Table(lanes, array) if array.ndim else array.item()


def entries(n: int) -> Type:
    """The type of the positions in n elements."""
    return Elements(Fin.of(n))


def truth(*, c: bool) -> Vec[Any]:
    """A truth value as a vector."""
    return Bool.vec(c)
