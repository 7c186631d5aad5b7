"""Base classes of terms that are no linear maps and are simplified, costed and explained like them: `diff` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hilbert.base.attach import declared

if TYPE_CHECKING:
    from linmap.laws.engine.engine import Rewriting
    from linmap.term.net import Net

S = TypeVar("S", bound="Simplifiable")


class Simplifiable:
    """A linear map in the point, such as a derivative: its body is a net, which has laws and a structure."""

    __slots__ = ()
    body: Net

    def simplified(self: S, steps: list[Rewriting] | None = None) -> S:
        """A smaller term with the same meaning, or this object; the steps are recorded if there is a list."""
        raise TypeError(type(self).__name__)


class Runs:
    """A term that runs as a program: a function."""

    __slots__ = ()

    @declared
    def orders(self) -> tuple[Any, ...]:
        """The contractions that run in another order than they are written in, with what that saves."""
        raise NotImplementedError

    @declared
    def costed(self) -> Any:
        """The cost of running the program, as it is written and as it runs."""
        raise NotImplementedError
