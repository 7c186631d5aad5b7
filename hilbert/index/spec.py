"""Labelled contractions: the one bilinear constant ∗ (paper §3.1), closed under adjoint and under lifting.

>>> matvec = Spec.of("ij", "j", "i")
>>> str(matvec.section_adjoint(0)), str(matvec.section_adjoint(1))   # (W⋆)* = (Wᵀ⋆), (⋆x)* = (⊗x)
('ij,i->j', 'i,j->ij')
>>> str(matvec.lifted(1, left=False, right=True))                     # shared matrix, a batch of vectors
'ij,kj->ki'
"""

from __future__ import annotations

from functools import cache
from typing import final

from attrs import frozen

from hilbert.base.once import OfFields, cached_property
from hilbert.errors import SpaceError

ALPHABET = "ijklmnopqrstuvwxyzabcdefghIJKLMNOPQRSTUVWXYZABCDEFGH"


@final
@frozen(slots=False, cache_hash=True)
class Spec(OfFields):
    """out[o] = Σ left[l]·right[r]; no label twice in one list, each label in at least two of the three lists.

    Labels are canonical (numbered by first occurrence), so that equal contractions are equal. Built by `Spec.of`.
    """

    left: str
    right: str
    out: str

    @staticmethod
    def of(left: str, right: str, out: str) -> Spec:
        """The canonical spec of three label lists; raises SpaceError if the invariant fails."""
        return _spec(left, right, out)

    @staticmethod
    def pointwise(n: int) -> Spec:
        """The Hadamard product of arrays with n axes."""
        return _spec(ALPHABET[:n], ALPHABET[:n], ALPHABET[:n])

    @staticmethod
    def scalar(n: int) -> Spec:
        """A scalar times an array with n axes."""
        return _spec("", ALPHABET[:n], ALPHABET[:n])

    def section_adjoint(self, side: int) -> Spec:
        """The spec of the adjoint of the section with the fixed operand on `side` (0: (u⋄), 1: (⋄v)), Thm 6.5."""
        if side == 0:
            return _spec(self.left, self.out, self.right)
        return _spec(self.out, self.right, self.left)

    def lifted(self, axes: int, *, left: bool, right: bool) -> Spec:
        """The spec with `axes` more axes in front of the operands that vary over them, and of the result."""
        return _lifted(self, axes, left, right)

    @cached_property
    def summed(self) -> Spec:
        """The spec of the sum over one more axis in front of both operands."""
        new = next(c for c in ALPHABET if c not in self.left + self.right)
        return _spec(new + self.left, new + self.right, self.out)

    @cached_property
    def mirrored(self) -> Spec:
        """The spec with the operands exchanged."""
        return _spec(self.right, self.left, self.out)

    @cached_property
    def met(self) -> tuple[tuple[int, int], ...]:
        """The axes of the left operand and those of the right one that have a label in common."""
        return tuple((i, self.right.index(c)) for i, c in enumerate(self.left) if c in self.right)

    @cached_property
    def taken(self) -> tuple[int, ...]:
        """For each axis of the result its place among the axes of the left operand followed by those of the right."""
        both = self.left + self.right
        return tuple(both.index(c) for c in self.out)

    @cached_property
    def is_pointwise(self) -> bool:
        """True for the Hadamard product."""
        return self.left == self.right == self.out

    @cached_property
    def contracted(self) -> str:
        """The labels that are summed over."""
        return "".join(c for c in self.left if c not in self.out)

    @cached_property
    def shared(self) -> str:
        """The labels that stand in all three lists."""
        return "".join(c for c in self.out if c in self.left and c in self.right)

    def __str__(self) -> str:
        return f"{self.left},{self.right}->{self.out}"


@cache
def _spec(left: str, right: str, out: str) -> Spec:
    lists = (left, right, out)
    for labels in lists:
        if len(set(labels)) != len(labels):
            msg = f"{left},{right}->{out}: a label stands twice in one list; take a diagonal first"
            raise SpaceError(msg)
    for label in set(left + right + out):
        if sum(label in labels for labels in lists) < 2:  # at least two of the three
            msg = f"{left},{right}->{out}: label {label} stands in one list only; sum or replicate separately"
            raise SpaceError(msg)
    names = {label: ALPHABET[k] for k, label in enumerate(dict.fromkeys(left + right))}
    return Spec(*("".join(names[label] for label in labels) for labels in lists))


@cache
def _lifted(spec: Spec, axes: int, left: bool, right: bool) -> Spec:  # noqa: FBT001 - cached, called by name above
    used = spec.left + spec.right
    new = "".join([c for c in ALPHABET if c not in used][:axes])
    return _spec(new * left + spec.left, new * right + spec.right, new * (left or right) + spec.out)
