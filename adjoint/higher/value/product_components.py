"""Nested products as terms: their components, the way to a leaf, variables for the leaves, tuples of leaves."""

from __future__ import annotations

from typing import assert_never

from adjoint.higher.value.pullback_values import Stuck
from diff.lam.term.terms import AnyTerm, Pattern, Proj, Tuple, fresh
from diff.lam.term.types import Arrow, DataType, Ground, Int, Lin, TupleType, Ty, TypeVariable
from hilbert import DirectSum, Type


def component(term: AnyTerm, index: int) -> AnyTerm:
    """π_i t, without the tuple where t is one."""
    return term.parts[index] if isinstance(term, Tuple) else Proj(index, term)


def way(ty: Ty, index: int) -> list[int]:
    """The projections to a leaf of nested tuples; raises Stuck where the leaf is in a constructor."""
    indices: list[int] = []
    while isinstance(ty, TupleType):
        for k, part in enumerate(ty.parts):
            width = _width(part)
            if index < width:
                indices.append(k)
                ty = part
                break
            index -= width
    if index:
        raise Stuck
    return indices


def _width(ty: Ty) -> int:
    """The number of leaves of nested tuples, 0 for what is discrete; raises Stuck for a data type."""
    match ty:
        case TupleType(parts):
            return sum(map(_width, parts))
        case DataType():
            raise Stuck
        case Ground(space):
            return int(space.is_space)
        case Int():
            return 0
        case Arrow() | Lin() | TypeVariable():
            return 1
        case _:
            assert_never(ty)


def leaf_pattern(ty: Ty) -> Pattern:
    """Fresh variables for the leaves of nested tuples; raises Stuck where one is in a constructor."""
    if isinstance(ty, DataType):
        raise Stuck
    return Tuple(tuple(map(leaf_pattern, ty.parts))) if isinstance(ty, TupleType) else fresh("v", ty)


def shaped(space: Type, terms: list[AnyTerm]) -> AnyTerm:
    """Terms as a tuple of the form of a space."""
    it = iter(terms)

    def build(one: Type) -> AnyTerm:
        return Tuple(tuple(map(build, one.parts))) if isinstance(one, DirectSum) else next(it)

    return build(space)
