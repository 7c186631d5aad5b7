"""Components of tuples whose type is found later: πᵢ t asks for the i-th of a tuple that is not known yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from diff.lam.term.term_error import Place, TermError
from diff.lam.term.types import TupleType, Ty, Unknown, unknown

if TYPE_CHECKING:
    from diff.lam.term.unify import Unifier

Asked: TypeAlias = tuple[Ty, int, Ty, Place | None]
"""The type of a tuple, which of its components is asked for, the type of that, and where."""


@final
class Components:
    """The components of tuples that a term asks for; `sign` stands for a projection in messages.

    A tuple of unknown length has the components that are asked for, at least `least`; without `least` that is an error.
    """

    def __init__(self, types: Unifier, sign: str, least: int | None) -> None:
        self.types, self.sign, self.least = types, sign, least
        self._later: list[Asked] = []

    def of(self, ty: Ty, index: int, place: Place | None) -> Ty:
        """Component i of a tuple, which may be known later only."""
        result = unknown()
        if not self._settled(ty, index, result, place):
            self.types.ask(ty, index + 1)
            self._later.append((ty, index, result, place))
        return result

    def _settled(self, ty: Ty, index: int, result: Ty, place: Place | None) -> bool:
        known = self.types.find(ty)
        if isinstance(known, TupleType) and index < len(known.parts):
            self.types.unify(result, known.parts[index], place)
        elif not isinstance(known, Unknown):
            what = f"{self.sign}{index + 1} of a term of type {self.types.text(known)}"
            raise TermError("type", what, place)
        return not isinstance(known, Unknown)

    def settle(self) -> None:
        """Find the components that were not known; raises TermError `type` for a tuple of unknown length."""
        while self._later:
            left = [one for one in self._later if not self._settled(*one)]
            if len(left) == len(self._later) and self.least is not None:
                if not self._join(left):
                    self._lengthen(left, self.least)
            elif len(left) == len(self._later):
                _, index, _, place = left[0]
                message = (
                    f"π{index + 1} of a tuple whose length is not known: annotate it, or take it apart by a pattern"
                )
                raise TermError("type", message, place)
            self._later = left

    def _join(self, components: list[Asked]) -> bool:
        """Unify the types that are asked for as one component of one tuple; True if two of them were not one before."""
        results: dict[tuple[Ty, int], Ty] = {}
        joined = False
        for ty, index, result, place in components:
            known = results.setdefault((self.types.find(ty), index), result)
            if self.types.find(known) is not self.types.find(result):
                self.types.unify(result, known, place)
                joined = True
        return joined

    def _lengthen(self, components: list[Asked], least: int) -> None:
        """Give tuples of unknown length as many components as are asked for."""
        lengths: dict[Ty, int] = {}
        for ty, index, _, _ in components:
            root = self.types.find(ty)
            lengths[root] = max(lengths.get(root, least), index + 1)
        for root, length in lengths.items():
            self.types.unify(root, TupleType(tuple(unknown() for _ in range(length))), None)
