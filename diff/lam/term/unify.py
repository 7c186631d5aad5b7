"""Unification of types by classes of equal ones (Huet): near-linear, because types are hash-consed and merged once.

An unknown may come to stand for a type that contains it; that is found when types are resolved, not at each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from diff.lam.term.term_error import Place, TermError
from diff.lam.term.type_parts import parts_of, with_parts
from diff.lam.term.types import DataType, TupleType, Ty, Unknown, mentions, unknown
from hilbert.base.once import once
from hilbert.base.term import bottom_up

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 100_000
"""The parts of a type that is written, or that a definition has."""


@once
def size(ty: Ty) -> int:
    """The number of parts of a type, one that stands in several places counted in each; at most `LONGEST` + 1."""

    def step(node: Any, rec: Callable[[Any], int]) -> int:
        return min(LONGEST, sum(map(rec, parts_of(node)))) + 1

    parts: int = bottom_up(ty, step)
    return parts


def require_short(ty: Ty, place: Place | None = None) -> None:
    """Raise TermError `limit` for a type of too many parts to be written."""
    if size(ty) > LONGEST:
        raise TermError("limit", f"a type of more than {LONGEST} parts", place)


def _agree(a: Ty, b: Ty) -> bool:
    """Tell if two types that are made of others have one form."""
    if type(a) is not type(b) or len(parts_of(a)) != len(parts_of(b)) or not (parts_of(a) or isinstance(a, TupleType)):
        return False
    return not isinstance(a, DataType) or (isinstance(b, DataType) and a.declaration is b.declaration)


@final
class Unifier:
    """The equations between types of one item; messages write types by `show`."""

    def __init__(self, show: Callable[[Ty], str] = str) -> None:
        self._show = show
        self._class: dict[Ty, Ty] = {}
        self._place: dict[Ty, Place | None] = {}
        self._asked: dict[Ty, int] = {}  # of classes that are not known

    def ask(self, ty: Ty, count: int) -> None:
        """Note that a type that is not known is that of a tuple, of so many components or more."""
        root = self.find(ty)
        self._asked[root] = max(self._asked.get(root, 0), count)

    def find(self, ty: Ty) -> Ty:
        """Find the type that stands for the class of a type: all that is known of an unknown type."""
        root = self._class.get(ty)
        if root is None:
            return ty
        while root in self._class:
            root = self._class[root]
        while ty is not root:  # path compression
            above = self._class[ty]
            self._class[ty] = root
            ty = above
        return root

    def unify(self, found: Ty, due: Ty, place: Place | None, what: str = "this") -> None:
        """Make two types one; raises TermError `type` where they differ."""
        if found is due:
            return
        stack, merged = [(found, due)], list[Ty]()
        while stack:
            pair = stack.pop()
            a, b = self.find(pair[0]), self.find(pair[1])
            if a is b:
                continue
            if isinstance(b, Unknown) and not isinstance(a, Unknown):
                a, b = b, a
            if isinstance(a, Unknown) and self._stands_for(a, b):
                self._place.setdefault(b, place)
            elif not isinstance(a, Unknown) and _agree(a, b):
                stack.extend(zip(reversed(parts_of(a)), reversed(parts_of(b)), strict=True))
            else:
                for one in merged:  # as they were, for the message
                    del self._class[one]
                message = f"{what} is of type {self.text(found)} where {self.text(due)} is due"
                raise TermError("type", message, place)
            self._class[a] = b
            merged.append(a)

    def _stands_for(self, a: Unknown, b: Ty) -> bool:
        """Tell if a type that is not known may be another; one that is not known either is then asked for as much."""
        count = self._asked.get(a, 0)
        if count and isinstance(b, Unknown):
            self.ask(b, count)
        return not count or isinstance(b, Unknown) or (isinstance(b, TupleType) and len(b.parts) >= count)

    def _so_far(self, ty: Unknown) -> Ty:
        """The shape of a type that is not known yet: a tuple where components are asked for."""
        count = self._asked.get(ty, 0)
        return TupleType(tuple(unknown() for _ in range(max(2, count)))) if count else ty

    def text(self, ty: Ty) -> str:
        """A type as it is known so far, for messages."""
        try:
            return self._show(self.resolve(ty, {}, self._so_far))
        except TermError as error:
            return "an infinite type" if error.code == "infinite" else error.message

    def resolve(self, ty: Ty, memo: dict[Ty, Ty], open_: Callable[[Unknown], Ty]) -> Ty:
        """The type, with `open_` of each unknown left; raises TermError `infinite` for a type that contains itself.

        `memo` keeps the resolved types of classes from one call to the next.
        """
        known = memo.get(self.find(ty)) if mentions(ty, Unknown) else ty
        if known is not None:
            return known
        entered: dict[Any, None] = {}  # on the way to the node at hand, in this order
        stack: list[tuple[Ty, bool]] = [(ty, False)]
        while stack:
            node, ready = stack.pop()
            root = self.find(node)
            if root in memo:
                continue
            parts = parts_of(root)
            if not mentions(root, Unknown):
                memo[root] = root
            elif ready or not parts:
                rebuilt = with_parts(root, tuple(memo[self.find(part)] for part in parts))
                memo[root] = open_(rebuilt) if isinstance(rebuilt, Unknown) else rebuilt
                entered.pop(root, None)
            elif root in entered:
                message = "a type would contain itself: a function is applied to itself, or a list holds itself"
                places = (self._place.get(one) for one in (root, *entered))
                raise TermError("infinite", message, next((one for one in places if one), None))
            else:
                entered[root] = None
                stack.append((root, True))
                stack.extend((part, False) for part in parts)
        return memo[self.find(ty)]
