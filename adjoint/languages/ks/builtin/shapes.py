"""Shapes of values: of a scalar `()`, of a tensor of scalars its size, or the tensor of the shapes of its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from adjoint.languages.ks.builtin.zeros import zero
from adjoint.languages.ks.value.ks_values import items_of, repeated, stacked
from adjoint.languages.ks.value.types import element, order, shape_type
from adjoint.languages.ks.value.value_classes import Arr, Items, Value
from diff.lam.term.types import UNIT, Arrow, DataType, LeafType, Lin, TupleType

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.types import Ty


def shape_of(value: Value, ty: Ty) -> Value:
    """The compressed shape of a value of a type."""
    match ty:
        case TupleType(parts):
            return tuple(shape_of(v, part) for v, part in zip(value, parts, strict=True))
        case DataType() if order(ty):
            if shape_is_unit(element(ty)):
                return value.dims[0] if len(value.dims) == 1 else value.dims
            if isinstance(value, Arr) and value.dims and all(value.dims):
                one = shape_of(items_of(value).items[0], element(ty))
                return repeated(value.dims, one)
            return stacked(value.dims, [shape_of(item, element(ty)) for item in items_of(value).items])
        case LeafType() | DataType() | Arrow() | Lin():  # a scalar
            return ()
        case _:
            assert_never(ty)


def shape_is_unit(ty: Ty) -> bool:
    """Tell if the shape of a type says nothing."""
    return shape_type(ty) is UNIT


def zero_of(shape: Value, ty: Ty, sizes: Callable[[Value], tuple[int, ...]]) -> Value:
    """0 of a type and a shape; `sizes` checks a size and makes a tuple of it."""
    match ty:
        case TupleType(parts):
            return tuple(zero_of(s, part, sizes) for s, part in zip(shape, parts, strict=True))
        case DataType() if order(ty) and not isinstance(shape, (Arr, Items)):
            return repeated(sizes(shape), zero(element(ty)))
        case DataType() if order(ty) and shape_is_unit(element(ty)):
            return repeated(sizes(shape.dims), zero(element(ty)))
        case DataType() if order(ty):
            return stacked(shape.dims, [zero_of(s, element(ty), sizes) for s in items_of(shape).items])
        case LeafType() | DataType() | Arrow() | Lin():  # a scalar
            return zero(ty)
        case _:
            assert_never(ty)
