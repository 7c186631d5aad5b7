"""Arrays along an index set X that are read some elements at a time: from memory, from a file, or from elsewhere.

A source travels to another thread, process or machine: of an array in memory the entries that are needed there, of a
memory-mapped file the place where its entries lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from attrs import frozen


class Source(ABC):
    """An array with an entry for each element of X, along some axis."""

    @abstractmethod
    def read(self, start: int, end: int) -> Any:
        """The array of the elements from `start` to `end`, as numpy's."""

    def sent(self, start: int, end: int) -> Source:
        """A source for some elements, that travels."""
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


@final
@frozen
class Shifted(Source):
    """A source whose first element is that of number `first`."""

    source: Source
    first: int

    def read(self, start: int, end: int) -> Any:
        """The elements of the source, by their own numbers."""
        return self.source.read(start - self.first, end - self.first)

    def sent(self, start: int, end: int) -> Source:
        """A source that travels, with the same first element."""
        return Shifted(self.source.sent(start - self.first, end - self.first), self.first)


@final
@frozen
class InFile(Source):
    """An array in a file: its name, and the place, the dtype and the shape of the array there."""

    filename: str
    offset: int
    dtype: str
    shape: tuple[int, ...]
    at: int

    def read(self, start: int, end: int) -> Any:
        """The entries, as they lie in the file."""
        whole = np.memmap(self.filename, self.dtype, "r", self.offset, self.shape)
        return whole[(slice(None),) * self.at + (slice(start, end),)]


def source_of(array: Any, at: int) -> Source:
    """The source of an array: the place in the file, where it is mapped from one."""
    base = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    while base is not None and isinstance(base.base, np.memmap):
        base = base.base
    if base is None or base.filename is None or not array.flags.c_contiguous:
        return Held(array, at)
    offset = base.offset + array.ctypes.data - base.ctypes.data
    return InFile(str(base.filename), int(offset), str(array.dtype), array.shape, at)
