"""Tracebacks of mistakes in users' functions: the message has the place there, and no frame below it is left.

`HILBERT_TRACEBACK=full` in the environment keeps all of them, and the errors that led to this one.
"""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hilbert import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def shortened(entrance: F) -> F:
    """The function that traces a user's function; a SpaceError comes out of it with the frames of its callers alone.

    The error that it was raised for is its `__context__`, where debuggers find the frames. Other errors stay as they
    are.
    """

    @wraps(entrance)
    def entered(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True  # pytest shows no frame of this, where all are kept
        try:
            return entrance(*args, **options)
        except SpaceError as error:
            if os.environ.get("HILBERT_TRACEBACK") != "full":
                if error.__cause__ is not None:
                    error.__context__, error._is_short = error.__cause__, True
                error.__cause__ = None  # which suppresses the context, too
                error.__traceback__ = None  # `raise` alone adds no entry for this frame
            raise

    return cast("F", entered)
