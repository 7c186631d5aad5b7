"""Values that are given: as values of a type; spaces and values that are chosen for a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from adjoint.languages.ks.value.ks_values import items_of, stacked
from adjoint.languages.ks.value.types import BOOL, STRING, depth, element, indices, is_real, order, text
from adjoint.languages.ks.value.value_classes import Arr, Items, Table
from adjoint.languages.value_spaces import value_of
from adjoint.languages.value_text import described, is_tuple, parts_of
from diff.lam.term.term_error import TermError
from diff.lam.term.types import Arrow, DataType, Ground, Int, LeafType, Lin, TupleType, Ty
from hilbert import Copower, DirectSum, Fin, R, SpaceError, Type, Vec
from hilbert.errors import double, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint.languages.ks.value.value_classes import Value

LENGTH = 3
"""The length of vectors that are chosen."""
INTEGER = 2
"""An integer that is chosen."""
DEEPEST = 60
"""The depth of tuples and tensors in the types of values that are computed with."""
KINDS: dict[Ty, str] = {BOOL: "b", STRING: "U"}
"""The kinds of the dtypes of numpy's arrays of these types."""
LARGEST = 10**5
"""The elements that a tensor which is chosen may have."""


def arguments_of(ty: Ty, args: Sequence[Any]) -> Value:
    """Arguments as a value of a type: several are one tuple, none is (); raises SpaceError for others."""
    is_one = len(args) == 1 and (not isinstance(ty, TupleType) or is_tuple(args[0]))
    if is_one:
        return given(ty, args[0])
    if not isinstance(ty, TupleType):
        raise SpaceError(f"one argument is due, {text(ty)}, and {len(args)} were given")
    if len(args) != len(ty.parts):
        count = {0: "none was", 1: "1 was"}.get(len(args), f"{len(args)} were")
        raise SpaceError(f"{len(ty.parts)} arguments, or one tuple, are due, {text(ty)}: {count} given")
    return tuple([_argument(k, part, arg) for k, (part, arg) in enumerate(zip(ty.parts, args, strict=True), 1)])


def _argument(k: int, ty: Ty, value: Any) -> Value:
    try:
        return given(ty, value)
    except SpaceError as error:
        raise SpaceError(f"argument {k}: {error}") from error


def given(ty: Ty, value: Any) -> Value:
    """A value as one of a type; raises SpaceError for one that is none."""
    if isinstance(value, Vec):
        value = value_of(value)
    if isinstance(value, np.ndarray):
        value = value.item() if not value.shape else value
    value = value.item() if isinstance(value, np.generic) else value
    match ty:
        case Ground() if isinstance(value, (int, float)) and not isinstance(value, bool):
            return R.vec(double(value) if isinstance(value, int) else value)
        case Int() if isinstance(value, int) and not isinstance(value, bool):
            if not -(2**63) <= value < 2**63:
                raise SpaceError(f"{value} does not fit into 64 bits")
            return value
        case TupleType(parts) if (found := parts_of(value, len(parts))) is not None:
            return tuple(map(given, parts, found))
        case DataType() if order(ty):
            return _tensor(ty, value)
        case DataType(declaration) if type(value) is {"Bool": bool, "String": str}.get(declaration.name):
            return value
        case LeafType() | TupleType() | DataType() | Arrow() | Lin():
            raise SpaceError(f"{text(ty)} is due, not {described(value)}")
        case _:
            assert_never(ty)


def _tensor(ty: Ty, value: Any) -> Value:
    n, of = order(ty), element(ty)
    if isinstance(value, np.ndarray):
        return _array(ty, value)
    dims, items = [], [value]
    for _ in range(n):
        wrong = next((one for one in items if not isinstance(one, list) and not _is_array(one)), None)
        if wrong is not None:
            raise SpaceError(f"{text(ty)} is due, not {described(wrong)}")
        lengths = {len(one) for one in items}
        if len(lengths) > 1:
            raise SpaceError(
                f"{text(ty)} is due: its rows are of one length, not of {' and '.join(map(str, sorted(lengths)))}"
            )
        dims.append(lengths.pop() if lengths else 0)
        items = [inner for one in items for inner in one]
    if isinstance(of, Ground) and all(type(x) in (int, float) for x in items):
        return Arr(tuple(dims), _nested(dims).vec(np.array(items, np.float64).reshape(dims)))
    made = [given(of, one) for one in items]
    if isinstance(of, Int) and not made:
        return Arr(tuple(dims), Table((), np.zeros(dims, np.int64)))
    return stacked(tuple(dims), made)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _array(ty: Ty, value: Any, lead: int = 0) -> Value:
    """A tensor of numbers, of an array that was read, under its first axes."""
    n, of = order(ty), element(ty)
    mine, rest = value.shape[lead : lead + n], value.ndim - lead - n
    if isinstance(of, Ground) and not rest and value.dtype.kind in "iuf":
        return Arr(mine, _nested(value.shape).vec(value.astype(np.float64)))
    if isinstance(of, Int) and not rest and value.dtype.kind in "iu" and not lead:
        if value.size and value.max() >= 2**63:
            raise SpaceError(f"{value.max()} does not fit into 64 bits")
        return Arr(mine, Table((), value.astype(np.int64)))
    if value.dtype.kind == KINDS.get(_bottom(ty)):
        return _tensor(ty, value.tolist())
    if order(of) and rest > 0 and value.size and isinstance(_bottom(of), Ground):
        return Arr(mine, _array(of, value, lead + n))
    if rest > 0 and (order(of) or isinstance(of, TupleType)):
        return stacked(mine, [given(of, row) for row in value.reshape(int(np.prod(mine)), *value.shape[n:])])
    raise SpaceError(f"{text(ty)} is due, not {shown(value)}")


def _bottom(ty: Ty) -> Ty:
    """The type of the elements of tensors in tensors."""
    while order(ty):
        ty = element(ty)
    return ty


def _nested(dims: Sequence[int]) -> Type:
    space: Type = R
    for n in reversed(dims):
        space = Copower(space, Fin.of(n))
    return space


# --- chosen values ---


def require_shallow(*types: Ty) -> None:
    """Raise TermError for a type that is nested too deep."""
    if any(depth(ty) > DEEPEST for ty in types):
        raise TermError("limit", f"a type that is nested more than {DEEPEST} deep")


def drawn(ty: Ty, rng: np.random.Generator) -> Value:
    """A value of a type with vectors of three elements; SpaceError for functions, TermError for large ones."""
    if LENGTH ** indices(ty) > LARGEST:
        raise TermError("limit", f"a value of type {text(ty)[:100]} has many elements: give one by --at")
    return chosen(ty, rng)


def chosen(ty: Ty, rng: np.random.Generator, n: int = LENGTH) -> Value:
    """A value of a type with vectors of n elements; raises SpaceError for a type of functions."""
    match ty:
        case Ground():
            return R.vec(float(rng.standard_normal()))
        case Int():
            return INTEGER
        case TupleType(parts):
            return tuple(chosen(part, rng, n) for part in parts)
        case DataType() if order(ty):
            dims = (n,) * order(ty)
            return stacked(dims, [chosen(element(ty), rng, n) for _ in range(n ** order(ty))])
        case DataType(declaration) if declaration.name in ("Bool", "String"):
            return True if declaration.name == "Bool" else "text"
        case LeafType() | DataType() | Arrow() | Lin():  # a function, or the record of one
            raise SpaceError(
                f"no value of type {text(ty)} is chosen or given: write a function that makes one, and calls this"
            )
        case _:
            assert_never(ty)


def is_sized(ty: Ty) -> bool:
    """Tell if no size and no integer is left open by a type."""
    match ty:
        case Ground():
            return True
        case TupleType(parts):
            return all(map(is_sized, parts))
        case LeafType() | DataType() | Arrow() | Lin():
            return False
        case _:
            assert_never(ty)


def require_shape(value: Value, along: Value) -> None:
    """Raise SpaceError unless a tangent has the sizes of a value."""
    if isinstance(value, tuple):
        for x, y in zip(value, along, strict=False):
            require_shape(x, y)
    elif isinstance(value, (Arr, Items)):
        if value.dims != along.dims:
            sizes = " and ".join("×".join(map(str, x.dims)) for x in (value, along))
            raise SpaceError(f"a tangent has the sizes of the point: these are {sizes}")
        if isinstance(value, Arr) and isinstance(along, Arr):
            require_shape(value.item, along.item)
        else:
            for x, y in zip(items_of(value).items, items_of(along).items, strict=True):
                require_shape(x, y)
    elif isinstance(value, Vec) and isinstance(along, Vec) and value.space != along.space:
        raise SpaceError("a tangent has the sizes of the point")


# --- spaces ---


def zeros_of(ty: Ty, space: Type) -> Value:
    """The zero of a space as a value of a type; raises SpaceError for a space that does not fit."""
    match ty:
        case Ground() if space == R:
            return R.zeros()
        case TupleType(parts) if isinstance(space, DirectSum) and len(space.parts) == len(parts):
            return tuple(map(zeros_of, parts, space.parts))
        case DataType() if order(ty):
            found = _axes(order(ty), space)
            if found is not None:
                dims, inner = found
                return stacked(dims, [zeros_of(element(ty), inner)] * int(np.prod(dims)))
            if isinstance(space, Copower) and len(space.index.axes) > 1:
                message = "a space over one index set after the other is, as (R ** I) ** J for R ** (J * I)"
                raise SpaceError(f"{space} is no space for {text(ty)}: {message}")
        case LeafType() | TupleType() | DataType() | Arrow() | Lin():
            pass
        case _:
            assert_never(ty)
    raise SpaceError(f"{space} is no space for {text(ty)}")


def zeros_at(ty: Ty, spaces: Sequence[Any]) -> Value:
    """The zero of spaces, one for each component of a type, in whose place stands the value of what is discrete."""
    if all(isinstance(space, Type) for space in spaces):
        return zeros_of(ty, spaces[0] if len(spaces) == 1 else DirectSum(tuple(spaces)))
    if not isinstance(ty, TupleType) or len(ty.parts) != len(spaces):
        raise SpaceError(f"a space for each component is due, or its value where it is discrete, not {len(spaces)}")
    made = []
    for part, space in zip(ty.parts, spaces, strict=True):
        if not isinstance(space, Type) and is_real(part):
            raise SpaceError(f"a space, or a vector, is due for {text(part)}, not {described(space)}")
        made.append(zeros_of(part, space) if isinstance(space, Type) else given(part, space))
    return tuple(made)


def _axes(n: int, space: Type) -> tuple[tuple[int, ...], Type] | None:
    """The sizes of the first n axes of a space, and the space behind them."""
    dims: tuple[int, ...] = ()
    while len(dims) < n and isinstance(space, Copower):
        dims += tuple([axis.size for axis in space.index.axes])
        space = space.base
    return (dims, space) if len(dims) == n else None
