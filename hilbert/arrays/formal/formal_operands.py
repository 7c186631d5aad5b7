"""Operands of the kernels of formal arrays: labelled pieces, and constants that repeat one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, frozen

from hilbert.arrays.formal.factors import Factor, real
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.kernels.library import Compound
from hilbert.arrays.libraries.namespace import namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.arrays.formal.formal_array import Block
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec


def factors_of(b: Block) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """The factors of a block, each with the places of its axes."""
    return zip(b.arrays, b.axes, strict=True)


@final
@frozen(eq=False)
class Filled(Compound):
    """A constant with one number in every entry, as a loose formal array of rank 1."""

    formal: Formal

    @property
    def number(self) -> float:
        """The number."""
        return float(self.formal.blocks[0].k)

    def of(self, number: float) -> Filled:
        """The constant with another number."""
        return Filled(evolve(self.formal, blocks=(evolve(self.formal.blocks[0], k=number),)))

    @property
    def array(self) -> Any:
        """The plain array; a view of one number, where the library has such views."""
        first = self.formal.blocks[0].arrays[0]
        one = namespace(first).ones((), dtype=first.dtype) * self.number
        return namespace(first).broadcast_to(one, self.formal.shape)


def splits(spec: Spec) -> bool:
    """True if the result's axes are some of the left operand and some of the right, with none in common."""
    own = [set(one) & set(spec.out) for one in (spec.left, spec.right)]
    return all(own) and not own[0] & own[1]


@frozen
class Piece:
    """A block, or a plain array, with labels; `lazy` if it is a sum of vectors."""

    k: Any
    factors: list[Factor]
    ranks: dict[str, int]
    lazy: bool = False


def pieces_of(a: Any, labels: str, rank: str, leaf: Leaf) -> Iterator[Piece]:
    """The blocks and the dense part of an operand."""
    if not isinstance(a, Formal):
        yield Piece(1.0, [Factor(a, labels, entry=leaf.entry)], {})
        return
    for b in a.blocks:
        factors = [real(array, rank + "".join(labels[k] for k in axes)) for array, axes in factors_of(b)]
        yield Piece(b.k, factors, {rank: b.rank}, len(b.grouping) <= 1)
    if a.dense is not None:
        yield Piece(1.0, [real(a.dense, labels)], {})


def sizes_of(labels: str, leaf: Leaf) -> dict[str, int]:
    """The size of each label of an operand."""
    return dict(zip(labels, leaf.shape + leaf.entry.shape, strict=True))
