"""The number of arguments that a user's function takes, checked before it is called.

>>> require_taken("the rule", lambda path, space: space, ["path", "space", "rng"])
Traceback (most recent call last):
hilbert.errors.SpaceError: the rule takes (path, space, rng), not (path, space)
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Sequence


def require_taken(what: str, function: Any, given: Sequence[str]) -> None:
    """Raise SpaceError for a function that does not take so many arguments."""
    try:
        parameters = signature(function)
    except (TypeError, ValueError):  # none, or a builtin that does not tell
        return
    try:
        parameters.bind(*given)
    except TypeError as error:
        msg = f"{what} takes ({', '.join(given)}), not {parameters}"
        raise SpaceError(msg) from error
