"""Limits of index sets and arrays: the integers that positions are, the addresses of memory, and its size."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from hilbert.errors import AllocationError, SpaceError, shown

F = TypeVar("F", bound=Callable[..., Any])

MOST = 2**63 - 1
"""The elements that an axis has at most: positions along it are integers of 64 bits."""


def countable(size: int) -> int:
    """The size of an index set, if positions count that far; raises SpaceError otherwise."""
    if size > MOST:
        msg = f"{shown(size)} elements are more than positions of 64 bits count: {MOST} would fit"
        raise SpaceError(msg)
    return size


def addressable(entries: int, what: str, of: object = "") -> int:
    """The number of entries of an array, if memory has addresses for so many; raises SpaceError otherwise."""
    if entries > MOST // 8:
        msg = f"{what}{of} takes more entries than memory has addresses: {shown(entries)}"
        raise SpaceError(msg)
    return entries


def room(entries: int, what: str) -> None:
    """Ask for memory for so many integers and give it back, so that an error comes before the work and not after it."""
    np.empty(addressable(entries, what), np.int64)


FORMULA = "a space of any size is a formula, a vector of it is an array"
"""The remedy in an error about a vector that memory does not hold."""


def allocation(error: MemoryError) -> AllocationError:
    """The error for one of numpy's or Python's, with the number of entries that were asked for."""
    if isinstance(error, AllocationError):
        return error
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is None or dtype is None:
        return AllocationError("there is not enough memory")
    size, sizes = math.prod(shape), "×".join(map(str, shape))
    gigabytes = f"{size * dtype.itemsize / 1e9:.3g} GB"
    return AllocationError(f"an array of {size} entries ({sizes} of {dtype}, {gigabytes}) is more than memory holds")


def held(remedy: str) -> Callable[[F], F]:
    """Decorate a function whose arrays memory may not hold: its error tells the remedy."""

    def decorated(function: F) -> F:
        @wraps(function)
        def told(*args: Any, **options: Any) -> Any:
            try:
                return function(*args, **options)
            except MemoryError as error:
                made = allocation(error)
                if not made.remedy:
                    made.args, made.remedy = (f"{made}: {remedy}",), remedy
                if made is error:
                    raise
                raise made from error

        return cast("F", told)

    return decorated
