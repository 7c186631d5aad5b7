"""Put off multiplications by masks: what follows is computed without the mask, and the mask is applied to its result.

A branch in a program gives the derivative m·x, an array x with 0 in the lanes where the condition m is false. A product
A·(m·x) that keeps the lanes is m·(A·x). So x is used in place of m·x, and the mask is noted as pending: `Selected(slot
of x, masks)`. This has two reasons. The mask is applied once, at the end, and not in each product on the way; and an
infinite entry of A in a lane that the mask drops never meets a 0, which would give NaN.

The functions of this module say when this works. Products, rearrangements and sums along other axes keep the pending
masks (`kept`, `behind`). A sum of two arrays with the same masks has them (`common`). A sum m·x + (not m)·y is a choice
between x and y in each lane (`Pieces`). In all other cases the masks are applied first. A step m·x that nothing uses in
the end is dropped from the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.operation import Cast, Move, Reduce, Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hilbert.index.leaf import Leaf
    from hilbert.program.line.step_operation import Operation

Mask: TypeAlias = tuple[int, tuple[int, ...]]
"""The slot of truth values, and the axes of an array that are theirs."""


@frozen
class Selected:
    """An array before some masks have selected from it; both have the same axes."""

    slot: int
    masks: tuple[Mask, ...] = ()


def selecting(spec: Spec, left: Leaf, right: Leaf) -> tuple[int, tuple[int, ...]] | None:
    """The side of a mask in a contraction that selects from the other side, and the axes that it has there."""
    for side, mask, its, x, all_ in ((0, left, spec.left, right, spec.right), (1, right, spec.right, left, spec.left)):
        if mask.kind == "b" and mask.entry.index is None and x.is_field and all_ == spec.out and {*its} <= {*all_}:
            return side, tuple(map(all_.index, its))
    return None


def selection(mask: Mask, count: int) -> Spec:
    """The contraction of a mask with an array of so many axes."""
    letters = ALPHABET[:count]
    return Spec.of("".join(letters[k] for k in mask[1]), letters, letters)


def behind(operation: Operation, masks: tuple[Mask, ...]) -> tuple[Mask, ...] | None:
    """The masks that select after an operation on one array what they select before; None if some cannot."""
    if isinstance(operation, (Scale, Cast)):
        return masks
    if isinstance(operation, Move):
        return tuple([(m, tuple(map(operation.order.index, some))) for m, some in masks])
    if not isinstance(operation, Reduce):
        return None
    at, relation = operation.at, operation.relation
    end, more = at + len(relation.dom.axes), len(relation.cod.axes) - len(relation.dom.axes)
    if any(at <= k < end for _, some in masks for k in some):
        return None
    return tuple([(m, tuple([k if k < at else k + more for k in some])) for m, some in masks])


def kept(spec: Spec, its: str, of: Selected) -> tuple[Mask, ...] | None:
    """The masks of an operand as masks of a contraction's result; None if some selects what is summed."""
    if any(its[k] not in spec.out for _, axes in of.masks for k in axes):
        return None
    return tuple([(m, tuple([spec.out.index(its[k]) for k in axes])) for m, axes in of.masks])


def common(a: Selected, b: Selected) -> tuple[Mask, ...] | None:
    """The masks of two arrays, if they have the same ones."""
    return a.masks if {*a.masks} == {*b.masks} else None


@frozen
class Pieces:
    """An array that is one of two where a mask holds, and where its negation does; a piece that is missing is 0.

    `masks` are the slots of the mask and of its negation, `axes` those of the array that are theirs.
    """

    masks: tuple[int, int]
    axes: tuple[int, ...]
    slots: tuple[int | None, int | None]

    def order(self, count: int) -> tuple[int, ...]:
        """So many axes, those of the masks first."""
        return (*self.axes, *(k for k in range(count) if k not in self.axes))


def piece(of: Selected, known: Mapping[int, int]) -> Pieces | None:
    """An array that one mask has selected from as a piece; None for others, and for a mask without a negation.

    `known` has k and −k for truth values of which one is the negation of the other.
    """
    if len(of.masks) != 1:
        return None
    ((m, axes),) = of.masks
    k = known.get(m, 0)
    other = next((slot for slot, j in known.items() if k and j == -k), None)
    if other is None:
        return None
    return Pieces((m, other), axes, (of.slot, None)) if k > 0 else Pieces((other, m), axes, (None, of.slot))
