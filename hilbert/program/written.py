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
    code, instruction = place
    line = next((line for start, end, line in code.co_lines() if start <= instruction < end and line), 0)
    name = f" in {code.co_name}" if code.co_name.isidentifier() else ""
    return f"{code.co_filename}:{line or code.co_firstlineno}{name}"
