"""The one error of the library: something does not fit the space that is meant; and the texts of its messages."""

from __future__ import annotations

import operator
import os
import re
import sys
from functools import singledispatch, wraps
from numbers import Complex, Integral, Real
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeGuard, TypeVar, cast, get_origin

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
LONG = 40
"""An integer or a string of more characters is not written out in a message."""
LONGEST = 2_000
"""A message of more characters about a text is cut in the middle."""
BYTES = (bytes, bytearray, memoryview)
"""Types that numpy takes for arrays of bytes, although the type of their numbers is unknown."""
FROM_BYTES = "numbers are read from bytes by np.frombuffer(data, dtype)"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""U+0000–001F and 007F–009F, but for tabs and the ends of lines."""


def visible(text: str) -> str:
    """The text with its control characters as escapes, which read back in the texts of values."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class SpaceError(ValueError):
    """A space, axis, arity, dtype or shape that does not fit; the message names both sides and what would fit."""

    _is_short = False
    """True if the cause is the context, which is not printed: the message says all of it."""

    def __str__(self) -> str:
        """The message, control characters of names and texts as escapes."""
        return visible(super().__str__())


class MissingError(SpaceError, AttributeError):
    """An attribute that values of another library have; the message says what to write here."""


class OperatorError(SpaceError, TypeError):
    """An operator that numbers or arrays have; the message says what to write here."""


class AllocationError(SpaceError, MemoryError):
    """An array that this machine's memory does not hold; numpy says so before it makes it."""

    remedy = ""


def raised_for(error: BaseException) -> BaseException | None:
    """The error that led to this one: its cause, printed or not."""
    return error.__cause__ or (error.__context__ if getattr(error, "_is_short", False) else None)


@singledispatch
def shown(value: object) -> str:
    """The text of a value in a message: numbers and short strings as they are written, of an array its shape.

    Index sets, spaces, vectors, maps and expressions register how they are named: by their space, never by contents.
    """
    if isinstance(value, np.generic):  # as Python's own
        value = value.item()
    if isinstance(value, Integral) and abs(int(value)) >= 10**LONG:
        return f"an integer of {int(value).bit_length()} bits"
    if value is None or isinstance(value, (bool, Complex)) or (isinstance(value, str) and len(value) <= LONG):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"a {'tuple' if isinstance(value, tuple) else 'list'} of {len(value)}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if get_origin(value) is not None:  # an alias has the attributes of its class
        return f"the annotation {getattr(get_origin(value), '__name__', value)}[…]"
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    if is_masked(value):
        return f"a masked array of shape {value.shape}: fill it first"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"an array of shape {tuple(shape)} and dtype {dtype}"
    return f"a value of type {type(value).__name__}"


def cut(message: str) -> str:
    """A message without its middle, if it is longer than anyone reads; the end, with the remedy, stays."""
    return message if len(message) <= LONGEST else f"{message[: LONGEST // 2]} … {message[-LONGEST // 4 :]}"


def alike(have: object, want: object) -> str:
    """The end of an error about two index sets or spaces that differ and are printed alike; otherwise empty."""
    if have == want or str(have) != str(want):
        return ""
    return "; they are printed alike, but their index sets have other tags or labels: give both the same index set"


def other_index_sets(have: Any, want: Any) -> str:
    """The end of an error about two spaces of the same shape; of V^X and V^Y it gives the method that names axes."""
    msg = "; they have the same shape, but other index sets: give both the same index set"
    bases = [getattr(space, "base", None) for space in (have, want)]
    if None in bases or bases[0] != bases[1]:
        return msg
    return f"{msg}, as v.named(X) does, with X = {want.index} for v of {have}"


def is_masked(value: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Tell if a value is a masked array; where there is one, numpy has its module imported."""
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)  # none before another thread has imported it
    return masked is not None and isinstance(value, masked)


def integer(value: Any) -> int | None:
    """The integer that a value is, numpy's integers included; None for everything else, and for truth values."""
    if isinstance(value, bool) or is_masked(value):
        return None
    try:
        return operator.index(value)
    except TypeError:  # tracers of JAX, too
        return None


def number(value: Any) -> float | None:
    """The real number that a value is, or an array without axes; None for everything else, and for truth values.

    Raises SpaceError for a number beyond those of double precision.
    """
    if isinstance(value, bool) or is_masked(value):
        return None
    if isinstance(value, Real):
        return double(value)
    dtype = getattr(value, "dtype", None)
    if dtype is None or getattr(value, "shape", None) != () or getattr(dtype, "kind", "f") not in "iuf":
        return None
    try:
        return float(value)
    except TypeError:  # a tracer of JAX has no value yet
        return None


def is_number(value: object) -> TypeGuard[SupportsFloat]:
    """Tell if a value is a real number of Python or numpy, or an array of numpy's without axes; no truth value."""
    if type(value) is np.ndarray:
        return not value.shape and value.dtype.kind in "iuf"
    return isinstance(value, Real) and not isinstance(value, bool)


def is_complex(value: object) -> bool:
    """Tell if a value is a complex number, or an array of complex numbers."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def fitting(value: object, fits: str) -> str:
    """The remedy where a value is no operand of a vector: `fits` describes one that would be."""
    if is_complex(value):
        return "numbers are real, a complex one is two of them"
    if hasattr(value, "dtype"):
        return f"{fits}; a plain array has no space: make it a vector by V.vec(array)"
    return fits + as_float(value)


def as_float(value: object) -> str:
    """The end of an error where an operand is a truth value or a decimal, which float turns to a number; else empty."""
    is_one = not hasattr(value, "dtype") and not is_number(value) and hasattr(value, "__float__")
    return "; float(k) is a number" if is_one else ""


def double(value: SupportsFloat) -> float:
    """A real number in double precision; raises SpaceError where it is beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        msg = f"{shown(value)} is beyond the numbers of double precision, which end at 1.8e308"
        raise SpaceError(msg) from None


def written(how: str) -> Callable[[F], F]:
    """Decorate a function so that a call with wrong arguments raises a SpaceError that says how to write the call."""

    def decorated(function: F) -> F:
        @wraps(function)
        def told(*args: Any, **options: Any) -> Any:
            try:
                return function(*args, **options)
            except TypeError as error:
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # of the function itself
                    raise
                msg = f"{error}: write {how}"
                raise SpaceError(msg) from None

        return cast("F", told)

    return decorated


def require_axes(ax: Any, what: str) -> None:
    """Raise SpaceError unless a value has the methods of matplotlib's axes."""
    if not (callable(getattr(ax, "imshow", None)) and callable(getattr(ax, "set_title", None))):
        name = f", and ax.figure.savefig({ax!r}) writes the file" if isinstance(ax, str) and len(ax) <= LONG else ""
        msg = f"{what} draws into axes of matplotlib, not into {shown(ax)}: without an argument new axes are made, "
        raise SpaceError(f"{msg}which are the result{name}")


def path_of(value: Any, what: str) -> Path:
    """The path that a value names; raises SpaceError for what is neither a text nor a path."""
    if isinstance(value, (str, os.PathLike)) and value != "":
        return Path(os.fsdecode(value))
    msg = f"{what} takes the name of a file or folder, not {shown(value)}"
    raise SpaceError(msg)


def truth(value: Any, what: str) -> bool:
    """A truth value, as an option that is on or off; raises SpaceError for anything else."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    msg = f"{what} is True or False, not {shown(value)}"
    raise SpaceError(msg)
