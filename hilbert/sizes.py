"""How large index sets and arrays may be: what positions count, and what memory has addresses for."""

from __future__ import annotations

from hilbert.errors import SpaceError, shown

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
