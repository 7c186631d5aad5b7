"""Where a step was written: a user's line, kept as it was found and told when it is asked for.

>>> def f():
...     return sys._getframe()
>>> import sys
>>> told((f().f_code, f().f_lasti)).endswith(":2 in f")
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from types import CodeType

Place: TypeAlias = "tuple[CodeType, int] | str"
"""Code and an instruction of it; in a pickle its text."""


def told(place: Place) -> str:
    """file:line in function."""
    if isinstance(place, str):
        return place
    name = f" in {place[0].co_name}" if place[0].co_name.isidentifier() else ""
    return f"{place[0].co_filename}:{line_of(place)}{name}"


def computed_by(error: BaseException, place: Place | None) -> None:
    """Say on an error where the step was written that it arose in; the innermost line of several."""
    if place is not None and written(error) is None:
        error.add_note(f"  computed by {told(place)}")
        error.__dict__["written"] = place


def written(error: BaseException) -> Place | None:
    """Where the step was written that an error arose in."""
    return error.__dict__.get("written")


def line_of(place: tuple[CodeType, int]) -> int:
    """The line of an instruction."""
    code, instruction = place
    line = next((line for start, end, line in code.co_lines() if start <= instruction < end and line), 0)
    return line or code.co_firstlineno
