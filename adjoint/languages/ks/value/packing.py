"""The leaves of a value as one vector or expression, and their tangents: that of a truth value or an index is 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.languages.ks.value.ks_values import NO_COTANGENT, is_real, leaves_of, tangent
from adjoint.languages.ks.value.tensor_lanes import zipped
from adjoint.languages.ks.value.value_classes import Value
from diff import const
from hilbert import DirectSum, Vec

if TYPE_CHECKING:
    from collections.abc import Sequence


def packed(leaves: Sequence[Any], *, expressions: bool = False) -> Any:
    """Leaves as one vector or expression."""
    given = [const(leaf) if expressions and isinstance(leaf, Vec) else leaf for leaf in leaves]
    return zipped(given, packed_space(given))


def packed_space(leaves: Sequence[Any]) -> Any:
    """The space of what is packed."""
    return leaves[0].space if len(leaves) == 1 else DirectSum(tuple([leaf.space for leaf in leaves]))


def split(v: Any, count: int) -> Sequence[Any]:
    """The leaves of what is packed."""
    return [v] if count == 1 else list(v.split())


def reals(value: Value) -> list[Any]:
    """The leaves that are reals."""
    return [leaf for leaf in leaves_of(value) if is_real(leaf)]


def with_reals(value: Value, leaves: Sequence[Any], why: str = NO_COTANGENT) -> Value:
    """The tangent at a value with these reals; what it says of linear maps, which it has none for."""
    rest = iter(leaves)
    return tangent(lambda _: next(rest), value, why)


def along(value: Value, dv: Value) -> list[Any]:
    """A tangent for each leaf of a value; for those without entries the tangent may have no leaf."""
    rest = iter([leaf for leaf in reals(dv) if leaf.space.dim])
    return [next(rest) if is_real(leaf) and leaf.space.dim else leaf.space.tangent.zeros() for leaf in leaves_of(value)]


def parts(value: Value, v: Any) -> list[Any]:
    """Those of a packed tangent that belong to the reals of a value."""
    leaves = leaves_of(value)
    return [part for leaf, part in zip(leaves, split(v, len(leaves)), strict=True) if is_real(leaf)]
