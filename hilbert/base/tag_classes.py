"""The classes that users name axes and records by: checked, and found again by their names in another process."""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any

from hilbert.errors import SpaceError, shown


class SizedTag:
    """The base of the tags that know their index sets: see `hilbert.index.axis`."""


def as_tag(_: Any, __: Any, tag: Any) -> None:
    """An attrs validator: the tag of an axis is a class."""
    if not isinstance(tag, type):
        msg = f"the tag of an axis is a class (class Pixel: ...), not {shown(tag)}"
        raise SpaceError(msg)


def index_set_of(value: object, other: str) -> str:
    """The text of an index set in place of a value that is none: that of a tag, or `other`."""
    if not isinstance(value, type):
        return other
    return f"{value.__name__}.set" if issubclass(value, SizedTag) else f"Fin({value.__name__}, n)"


def require_importable(tag: type, what: str) -> None:
    """Raise SpaceError unless another process finds a class by its name; `what` says which class it is."""
    module = sys.modules.get(tag.__module__)
    try:
        found: object = reduce(getattr, tag.__qualname__.split("."), module)
    except AttributeError:
        found = None
    if found is not tag:
        msg = (
            f"{what} cannot be pickled: it is not importable as "
            f"{tag.__module__}.{tag.__qualname__}; define the class at the top level of a module"
        )
        raise SpaceError(msg)
