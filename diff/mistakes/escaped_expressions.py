"""Messages about an expression that is used outside of the body where it was computed: the line where that was."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from hilbert import SpaceError
from hilbert.errors import raised_for
from hilbert.program.line.source_line import told

if TYPE_CHECKING:
    from diff.mistakes.traced import Traced


@final
class TwoFunctionsError(SpaceError):
    """Expressions of two functions in one operation."""


def is_of_two_functions(error: BaseException | None) -> bool:
    """Tell if an error comes from a `TwoFunctionsError`."""
    while error is not None and not isinstance(error, TwoFunctionsError):
        error = raised_for(error)
    return error is not None


def leaked(*exprs: Traced) -> str:
    """For each expression of a body that is complete, where it was computed; the error tells where it is used."""
    return "".join(map(_leaked, exprs))


def _leaked(e: Traced) -> str:
    b, (slot, *_) = e.builder, (*e.slots, -1)
    if not b.traced or slot < 0:
        return ""
    place = b.steps[slot - b.arity].place if slot >= b.arity else None
    where = f" at {told(place)}" if place is not None else " as an argument"
    return f"; that of {e.space} was computed{where}, in a body that is complete: return it from there"
