"""Spaces for types: that are given, of values that are given, or chosen."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, assert_never

import numpy as np

from adjoint.languages.caddie.types import text
from adjoint.languages.value_text import described, parts_of
from diff.lam.term.types import Arrow, DataType, Ground, LeafType, Lin, TupleType
from hilbert import Copower, DirectSum, Fin, R, SpaceError, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjoint.languages.value_text import Value
    from diff.lam.term.types import Ty


def fitted(ty: Ty, space: Type) -> Type:
    """A space as one of a type, with each axis by itself; raises SpaceError for one that does not fit."""
    match ty:
        case Ground() if space == R:
            return R
        case TupleType(parts) if isinstance(space, DirectSum) and len(space.parts) == len(parts):
            return DirectSum(tuple(map(fitted, parts, space.parts)))
        case DataType(_, (of,)) if isinstance(space, Copower):
            first, *rest = space.index.axes
            inner = space.base
            for axis in reversed(rest):
                inner = Copower(inner, axis)
            return Copower(fitted(of, inner), first)
        case LeafType() | TupleType() | DataType() | Arrow() | Lin():
            raise SpaceError(f"{space} is no space for {text(ty)}")
        case _:
            assert_never(ty)


def space_of(ty: Ty, value: Value) -> Type:
    """The space of a value of a type; raises SpaceError for one that is none, and for rows of unequal lengths."""
    match ty:
        case Ground() if _is_number(value):
            return R
        case TupleType(parts) if (found := parts_of(value, len(parts))) is not None:
            return DirectSum(tuple(map(space_of, parts, found)))
        case DataType(_, (of,)) if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "iuf":
            return Copower(space_of(of, value[0] if len(value) else np.zeros(value.shape[1:])), Fin.of(len(value)))
        case DataType(_, (of,)) if isinstance(value, (list, np.ndarray)):
            spaces = dict.fromkeys(space_of(of, item) for item in value)
            if len(spaces) > 1:
                raise SpaceError(f"the elements of an array are of one length, not in {' and '.join(map(str, spaces))}")
            return Copower(next(iter(spaces), chosen(of)), Fin.of(len(value)))
        case LeafType() | TupleType() | DataType() | Arrow() | Lin():
            raise SpaceError(f"{text(ty)} is due, not {described(value)}")
        case _:
            assert_never(ty)


def _is_number(value: Value) -> bool:
    is_scalar = isinstance(value, np.ndarray) and not value.shape and value.dtype.kind in "iuf"
    return is_scalar or (isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool))


def open_lengths(ty: Ty) -> int:
    """The number of lengths that a type leaves open."""
    match ty:
        case TupleType(parts):
            return sum(map(open_lengths, parts))
        case DataType(_, (of,)):
            return 1 + open_lengths(of)
        case LeafType() | DataType() | Arrow() | Lin():
            return 0
        case _:
            assert_never(ty)


def chosen(ty: Ty, lengths: Iterator[int] | None = None) -> Type:
    """The space of a type whose arrays have these lengths, the left and outer ones first; without any, all are 0."""
    lengths = repeat(0) if lengths is None else lengths
    match ty:
        case TupleType(parts):
            return DirectSum(tuple([chosen(part, lengths) for part in parts]))
        case DataType(_, (of,)):
            n = next(lengths)
            return Copower(chosen(of, lengths), Fin.of(n))
        case LeafType() | DataType() | Arrow() | Lin():
            return R
        case _:
            assert_never(ty)
