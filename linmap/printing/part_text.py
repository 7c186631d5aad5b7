"""Parts of direct sums and records in texts: the projections that lead to an array, brackets around a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from hilbert import Copower, TensorProduct
from hilbert.space.direct_sum import Biproduct
from linmap.printing.notation import Bracket, Doc, Word, line, subscript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type

Way: TypeAlias = tuple[int | str, ...]
"""Positions of direct sums and names of records, one after the other."""


def path(space: Type) -> list[Way]:
    """For each leaf of a space, what leads to it through direct sums and records."""
    match space:
        case Biproduct():
            keys: Sequence[int | str] = space._part_names or range(len(space.parts))
            return [(key, *rest) for key, part in zip(keys, space.parts, strict=True) for rest in path(part)]
        case Copower(base, _):
            return path(base)
        case TensorProduct() if len(space.leaves) > 1:
            return [(k,) for k in range(len(space.leaves))]
        case _:  # one array, or none
            return [()] * len(space.leaves)


def projection(way: Way) -> Doc | None:
    """π₁, π₂•π₁, π_weights, …; None for the whole."""
    if not way:
        return None
    return line("•", [Word(f"π{key(k)}") for k in reversed(way)])


def key(k: int | str) -> str:
    """₁, or _weights: what tells a part in the signs π and ι."""
    return f"_{k}" if isinstance(k, str) else subscript(k + 1)


def key_of(space: Any, position: int) -> str:
    """The same for a part of a direct sum or of a record."""
    return key(position if space._part_names is None else space._part_names[position])


def nested(space: Type, docs: list[Doc]) -> Doc:
    """⟨…⟩ around the leaves of a space, as its direct sums nest."""
    it = iter(docs)

    def build(s: Any) -> Doc:
        match s:
            case Biproduct():
                return Bracket("⟨", tuple(build(part) for part in s.parts), "⟩", s.names)
            case Copower(base, _):
                return build(base)
            case _ if len(s.leaves) == 1:
                return next(it)
            case _ if not s.leaves:
                return Word("0")
            case _:  # a tensor product: in the order of its arrays
                return Bracket("⟨", tuple(next(it) for _ in s.leaves), "⟩")

    return build(space)
