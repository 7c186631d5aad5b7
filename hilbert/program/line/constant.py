"""Constants of a straight line: an array, its leaf, and the key by which two are equal."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from attrs import field, frozen

from hilbert.base.repr_names import spelled
from hilbert.index.leaf import Leaf


@final
@frozen(repr=False, cache_hash=True)
class Const:
    """A leaf of a vector. Two are equal if they come from the same vector, or repeat the same number."""

    array: Any = field(eq=False)
    leaf: Leaf
    key: tuple[Any, ...]

    @property
    def number(self) -> float | None:
        """The number that stands in every entry, if the constant was made of one."""
        return self.key[1] if self.key[0] == "filled" else None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.number is not None:
            return filled, (self.number, self.leaf)
        return Const, (self.array, self.leaf, self.key)

    def __repr__(self) -> str:
        if self.number is not None:
            return f"filled({self.number!r}, {self.leaf!r})"
        *what, token, place = self.key
        if isinstance(token, str):  # a constant that was computed when a line was bound
            return spelled(self, f"{token} {place}", f"{self.leaf.dtype}{list(self.leaf.shape)}")
        name = ".".join([f"{token:032x}", *(f"{hash(part) & 0xFFFFFFFFFFFFFFFF:016x}" for part in what), str(place)])
        return spelled(self, name, f"{self.leaf.dtype}{list(self.leaf.shape)}")


def signed(k: float) -> tuple[float, float]:
    """A number and its sign, which tells −0 from 0."""
    return k, math.copysign(1.0, k)


def filled(number: float, leaf: Leaf) -> Const:
    """The constant with one number in every entry, stored once."""
    array = np.array(number, leaf.dtype)
    array.flags.writeable = False
    shape = leaf.stored().shape
    return Const(np.broadcast_to(array, shape) if shape else array, leaf, ("filled", *signed(float(number))))
