"""The one error of the library: something does not fit the space it is meant for; and what its messages say."""

from __future__ import annotations

import operator
from functools import singledispatch
from numbers import Complex, Real
from typing import Any


class SpaceError(ValueError):
    """A space, axis, arity, dtype or shape that does not fit; the message names both sides and what would fit."""


class MissingError(SpaceError, AttributeError):
    """An attribute that values of another library have; the message says what to write here."""


class OperatorError(SpaceError, TypeError):
    """An operator that numbers or arrays have; the message says what to write here."""


@singledispatch
def shown(value: object) -> str:
    """What a message says of what was given: numbers and short strings as they are written, of an array its shape.

    Index sets, spaces, vectors, maps and expressions register how they are named: by their space, never by contents.
    """
    if value is None or isinstance(value, (bool, Complex)) or (isinstance(value, str) and len(value) <= 40):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"an array of shape {tuple(shape)} and dtype {dtype}"
    return f"a value of type {type(value).__name__}"


def integer(value: Any) -> int | None:
    """The integer that a value is, numpy's integers included; None for everything else, and for truth values."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def number(value: Any) -> float | None:
    """The real number that a value is, or an array without axes; None for everything else, and for truth values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Real):
        return float(value)
    dtype = getattr(value, "dtype", None)
    if dtype is None or getattr(value, "shape", None) != () or getattr(dtype, "kind", "f") not in "iuf":
        return None
    return float(value)
