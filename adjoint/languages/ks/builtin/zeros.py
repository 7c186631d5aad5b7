"""Zeros by type alone: of a tensor the size would be due, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from diff.lam.term.term_error import TermError
from diff.lam.term.types import Arrow, DataType, Ground, Int, LeafType, Lin, TupleType
from hilbert import R

if TYPE_CHECKING:
    from adjoint.languages.ks.value.value_classes import Value
    from diff.lam.term.types import Ty


def zero(ty: Ty) -> Value:
    """0 of a type that has one shape; raises TermError for another."""
    match ty:
        case Ground():
            return R.zeros()
        case Int():
            return 0
        case TupleType(parts):
            return tuple(map(zero, parts))
        case DataType(declaration) if declaration.name == "Bool":
            return False
        case DataType(declaration) if declaration.name == "String":
            return ""
        case LeafType() | DataType() | Arrow() | Lin():
            raise TermError("shape", "the zero of a tensor whose size is not known")
        case _:
            assert_never(ty)
