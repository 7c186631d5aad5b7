"""Base classes of terms that are no linear maps and are simplified, costed and explained like them: `diff` has them.

A step of simplifying is a `Rewriting`, the same for these terms and for linear maps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, final

from attrs import frozen

from hilbert.base.attach import declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.program.line.line import Line
    from linmap.term.net import Net

S = TypeVar("S", bound="Simplifiable")


class Postponed:
    """A term that is put together when it is asked for."""

    __slots__ = ()

    def term(self) -> Any:
        """The term."""
        raise NotImplementedError


@final
@frozen
class Rewriting:
    """One rewriting: at `position` of the term as it then was, `before` became `after` by a law.

    A position is a path of part numbers, counted from 0. In a composition or a sum `before` may be some of the parts
    only: the neighbours from the last number of the position on, or the terms that are alike. In a net the last number
    is that of a wire.
    """

    law: str
    position: tuple[int, ...]
    _before: Any
    _after: Any

    @property
    def before(self) -> Any:
        """The left side; a whole sequence is put together when it is asked for."""
        return self._before.term() if isinstance(self._before, Postponed) else self._before

    @property
    def after(self) -> Any:
        """The right side."""
        return self._after.term() if isinstance(self._after, Postponed) else self._after


class Simplifiable:
    """A linear map in the point, such as a derivative: its body is a net, which has laws and a structure."""

    __slots__ = ()
    body: Net
    program: Any

    def simplified(self: S, steps: list[Rewriting] | None = None) -> S:
        """A smaller term with the same meaning, or this object; the steps are recorded if there is a list."""
        raise TypeError(type(self).__name__)


class Elsewhere:
    """A runner of a function that is not a call of the function alone: on data, or on other machines."""

    __slots__ = ()

    @property
    def function(self) -> Any:
        """The function."""
        raise NotImplementedError

    def orders(self) -> tuple[Any, ...]:
        """The lines about the running, behind those about contractions that run in another order."""
        raise NotImplementedError

    def costed(self) -> Any:
        """The cost of running the function so."""
        raise NotImplementedError


class Runs:
    """A term that runs as a program: a function."""

    __slots__ = ()

    @declared
    def proves_positive(self, body: Net, signs: Sequence[int] = ()) -> bool:
        """Tell if a net with references to slots of the program is symmetric and positive, at any point.

        The signs of the first inputs are 2 if all entries are positive, and 1 if none is negative.
        """
        raise NotImplementedError

    @declared
    def orders(self) -> tuple[Any, ...]:
        """The contractions that run in another order than they are written in, with what that saves."""
        raise NotImplementedError

    @declared
    def lines(self) -> tuple[Line, ...]:
        """The lines that are run."""
        raise NotImplementedError

    @declared
    def costed(self) -> Any:
        """The cost of running the program, as it is written and as it runs."""
        raise NotImplementedError
