"""The variables that names stand for at a point of a text.

>>> from diff.lam.term.types import REAL
>>> bound = Bound()
>>> outer = bound.bind("x", REAL)
>>> inner = bound.bind("x", REAL)
>>> bound.unbind(inner)
>>> bound["x"] is outer
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from diff.lam.term.terms import Var, fresh

if TYPE_CHECKING:
    from diff.lam.term.term_error import Place
    from diff.lam.term.types import Ty


@final
class Bound(dict[str, Var]):
    """The variables of names; those that are bound inside hide those around them."""

    def __init__(self) -> None:
        super().__init__()
        self._hidden: dict[int, Var | None] = {}

    def bind(self, name: str, ty: Ty, place: Place | None = None) -> Var:
        """A new variable for a name."""
        x = fresh(name, ty, place)
        self._hidden[x.number] = self.get(name)
        self[name] = x
        return x

    def unbind(self, *xs: Var) -> None:
        """Let the names of variables, bound in this order, stand for what they stood for before."""
        for x in reversed(xs):
            old = self._hidden.pop(x.number)
            if old is None:
                del self[x.name]
            else:
                self[x.name] = old
