"""Places of steps: a user's line of code, kept as code and instruction, and made a text when it is asked for.

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

Place: TypeAlias = "tuple[CodeType, int] | tuple[CodeType, int, str] | str"
"""Code and an instruction of it, and the operation whose derivative a step belongs to; in a pickle its text."""
MADE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
"""Code of a list, set or dict that is made item by item; since Python 3.12 it is a part of that of its function."""


def name_of(code: CodeType) -> str:
    """The name of the function that code is of; of a comprehension, that of the function in which it stands."""
    parts = [part for part in code.co_qualname.split(".") if part != "<locals>"]
    while parts and parts[-1] in MADE | {"<genexpr>"}:
        parts.pop()
    return parts[-1] if parts else "<module>"


def in_derivative(place: Place | None, name: str) -> Place | None:
    """The place of a step of the derivative of an operation; of several the one that was written there."""
    return (*place, name) if isinstance(place, tuple) and len(place) == 2 else place


def _derived(place: Place) -> str:
    """The end of a message on a step of a derivative."""
    return f", in the derivative of {place[2]}" if not isinstance(place, str) and len(place) > 2 else ""


def told(place: Place) -> str:
    """file:line in function."""
    if isinstance(place, str):
        return place
    name = name_of(place[0])
    return f"{place[0].co_filename}:{line_of(place)}{f' in {name}' if name.isidentifier() else ''}"


def computed_by(error: BaseException, place: Place | None) -> None:
    """Add to an error the place of the step in which it arose; of several steps within each other, the innermost."""
    if place is not None and written(error) is None:
        if _derived(place) and error.args and isinstance(error.args[0], str):
            error.args = (error.args[0] + _derived(place), *error.args[1:])
        error.add_note(f"  computed by {told(place)}")
        error.__dict__["written"] = place


def written(error: BaseException) -> Place | None:
    """The place of the step in which an error arose; None if the error has none."""
    return error.__dict__.get("written")


def line_of(place: tuple[CodeType, int] | tuple[CodeType, int, str]) -> int:
    """The line of an instruction."""
    code, instruction = place[:2]
    line = next((line for start, end, line in code.co_lines() if start <= instruction < end and line), 0)
    return line or code.co_firstlineno
