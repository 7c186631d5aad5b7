"""Arrays along an index set X that are read some elements at a time: from memory, from a file, or from elsewhere.

A source travels to another thread, process or machine: of an array in memory the entries that are needed there, of a
memory-mapped file the place where its entries lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import frozen

from hilbert.errors import SpaceError


class Source(ABC):
    """An array with an entry for each element of X, along some axis."""

    @abstractmethod
    def read(self, start: int, end: int) -> Any:
        """The array of the elements from `start` to `end`, as numpy's."""

    def sent(self, start: int, end: int) -> Source:
        """A source for some elements, that travels."""
        return self

    def copied(self) -> Source:
        """A source of the same entries that stays as it is when arrays in memory are written into."""
        return self


@final
@frozen
class Held(Source):
    """An array in memory, along its axis `at`."""

    array: Any
    at: int

    def read(self, start: int, end: int) -> Any:
        """A view."""
        return self.array[(slice(None),) * self.at + (slice(start, end),)]

    def sent(self, start: int, end: int) -> Source:
        """The entries of these elements."""
        return Shifted(Held(self.read(start, end), self.at), start)

    def copied(self) -> Source:
        """A copy of the array."""
        return Held(np.array(self.array), self.at)


@final
@frozen
class Shifted(Source):
    """A source whose first element is that of number `first`."""

    source: Source
    first: int

    def read(self, start: int, end: int) -> Any:
        """The elements of the source, whose numbers there are less by that of the first."""
        return self.source.read(start - self.first, end - self.first)

    def sent(self, start: int, end: int) -> Source:
        """A source that travels, with the same first element."""
        return Shifted(self.source.sent(start - self.first, end - self.first), self.first)

    def copied(self) -> Source:
        """The copy of the source, with the same first element."""
        return Shifted(self.source.copied(), self.first)


@final
@frozen
class InFile(Source):
    """An array in a file: its name and the time of its last change, and where the array lies there.

    Raises SpaceError where the file has changed since.
    """

    filename: str
    changed: int
    offset: int
    dtype: str
    shape: tuple[int, ...]
    at: int

    def read(self, start: int, end: int) -> Any:
        """The entries, as they lie in the file."""
        if self.changed != Path(self.filename).stat().st_mtime_ns:
            msg = f"{self.filename} has changed while blocks were read from it"
            raise SpaceError(msg)
        whole = np.memmap(self.filename, self.dtype, "r", self.offset, self.shape)
        return whole[(slice(None),) * self.at + (slice(start, end),)]


@final
@frozen
class Mapped(Source):
    """An array that is mapped from a file: it is read where it is, and travels as the place in the file."""

    array: Any
    place: InFile

    def read(self, start: int, end: int) -> Any:
        """A view, whose entries are read from the file when they are looked at."""
        return Held(self.array, self.place.at).read(start, end)

    def sent(self, start: int, end: int) -> Source:
        """The place in the file; or the entries themselves, if a file with other entries was put there since."""
        try:
            ends = [(k, k + 1) for k in (start, end - 1) if start < end]
            same = all(np.array_equal(self.read(*of), self.place.read(*of), equal_nan=True) for of in ends)
        except (OSError, ValueError):  # there is no file of this name, or it is shorter
            same = False
        return self.place if same else Held(self.array, self.place.at).sent(start, end)


def source_of(array: Any, at: int) -> Source:
    """The source of an array: the place in the file, where it is mapped from one, and not changed in memory alone."""
    base = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    while base is not None and isinstance(base.base, np.memmap):
        base = base.base
    if base is None or base.filename is None or base.mode == "c" or not array.flags.c_contiguous:
        return Held(array, at)
    offset = base.offset + array.ctypes.data - base.ctypes.data
    try:
        changed = Path(base.filename).stat().st_mtime_ns
    except OSError:
        return Held(array, at)
    return Mapped(array, InFile(str(base.filename), changed, int(offset), str(array.dtype), array.shape, at))
