"""Tracebacks of mistakes: the frames of the user's callers and the message, without those of the library below.

`HILBERT_TRACEBACK=full` in the environment keeps all of them, and the errors that led to this one.
"""

from __future__ import annotations

import os
import sysconfig
from contextvars import ContextVar
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

F = TypeVar("F", bound="Callable[..., Any]")
HERE = tuple(str(Path(__file__).parents[1] / name / "_")[:-1] for name in ("hilbert", "linmap", "diff", "adjoint"))
NUMPY = str(Path(np.__file__).parent / "_")[:-1]
STANDARD = str(Path(sysconfig.get_paths()["stdlib"]) / "_")[:-1]
INSTALLED = ("site-packages", "dist-packages")
LIBRARIES = tuple(f"{place}{os.sep}{name}{os.sep}" for place in INSTALLED for name in ("jax", "torch", "cupy", "scipy"))
"""The folders of other array libraries."""
tracing: ContextVar[tuple[Any, ...]] = ContextVar("tracing", default=())
"""The programs being traced here, innermost last; each thread and each task has its own."""


@cache
def is_users(file: str) -> bool:
    """Tell if a file is a user's: none of this library, of array libraries or of Python itself."""
    if file.startswith((*HERE, NUMPY, "<attrs generated", "<frozen")) or any(name in file for name in LIBRARIES):
        return False
    return not file.startswith(STANDARD) or any(name in file for name in INSTALLED)


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


def called(entrance: F) -> F:
    """A function that users call with vectors or maps; a SpaceError comes out of it as `cut` leaves it."""

    @wraps(entrance)
    def entered(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        try:
            return entrance(*args, **options)
        except SpaceError as error:
            cut(error)
            raise

    return cast("F", entered)


def of_two(operator: F) -> F:
    """The method of an operator with a right side; a SpaceError comes out of it as `cut` leaves it.

    The arguments are two, so that a call costs less than one of what `called` gives.
    """

    @wraps(operator)
    def entered(left: Any, right: Any) -> Any:
        __tracebackhide__ = True
        try:
            return operator(left, right)
        except SpaceError as error:
            cut(error)
            raise

    return cast("F", entered)


def cut(error: SpaceError) -> None:
    """Leave the frames of an error out, if all are the library's and no user's function is being traced.

    The place in a message about a traced function is found by them. Debuggers find them on the `__context__`.
    """
    entry = error.__traceback__
    if entry is None or tracing.get() or os.environ.get("HILBERT_TRACEBACK") == "full":
        return
    cause = error.__cause__
    if any(map(_is_in_users_file, (entry.tb_next, None if cause is None else cause.__traceback__))):
        return
    first = SpaceError(*error.args).with_traceback(entry)
    first.__context__, first.__cause__ = error.__context__, cause
    error.__context__, error._is_short = first, cause is not None
    error.__cause__ = None  # which suppresses the context, too
    error.__traceback__ = None


def without_frames(error: BaseException) -> TracebackType | None:
    """The frames that `cut` left out of an error; None for an error that still has its frames."""
    first = error.__context__ if isinstance(error, SpaceError) else None
    is_cut = isinstance(first, SpaceError) and error.__suppress_context__ and first.args == error.args
    return first.__traceback__ if is_cut and first is not None else None


def _is_in_users_file(entry: TracebackType | None) -> bool:
    """Tell if a frame from this one on is of a user's file; those of emitted lines are not."""
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if is_users(file) and not file.startswith("<hilbert"):
            return True
        entry = entry.tb_next
    return False
