"""The types that a type is made of, and the same former of other ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from diff.lam.term.types import Arrow, DataType, Declaration, LeafType, Lin, TupleType, Ty
from hilbert.base.term import bottom_up

if TYPE_CHECKING:
    from collections.abc import Callable


def parts_of(ty: Ty) -> tuple[Ty, ...]:
    """The types that a type is made of."""
    match ty:
        case TupleType(parts):
            return parts
        case Arrow(dom, cod) | Lin(dom, cod):
            return dom, cod
        case DataType(_, args):
            return args
        case LeafType():
            return ()
        case _:
            assert_never(ty)


def with_parts(ty: Ty, parts: tuple[Ty, ...]) -> Ty:
    """The type of the same form with other parts."""
    match ty:
        case TupleType():
            return TupleType(parts)
        case Arrow():
            return Arrow(*parts)
        case Lin():
            return Lin(*parts)
        case DataType(declaration, _):
            return DataType(declaration, parts)
        case LeafType():
            return ty
        case _:
            assert_never(ty)


def rebuilt(ty: Ty, leaf: Callable[[Ty], Ty], declared: Callable[[Declaration], Declaration] = lambda d: d) -> Ty:
    """The type with `leaf` in place of its leaves (spaces, ℤ, parameters, X, unknowns)."""

    def step(node: Ty, rec: Callable[[Ty], Ty]) -> Ty:
        if isinstance(node, LeafType):
            return leaf(node)
        parts = tuple(map(rec, parts_of(node)))
        return DataType(declared(node.declaration), parts) if isinstance(node, DataType) else with_parts(node, parts)

    result: Ty = bottom_up(ty, step)
    return result
