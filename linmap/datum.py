"""Data: the only places where numbers occur in a linear term; a vector's leaf, or a slot of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert.named import spelled

if TYPE_CHECKING:
    from hilbert import Vec
    from hilbert.space import Leaf


@final
@frozen(repr=False)
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
        name = ".".join([f"{token:032x}", *(f"{hash(part) & 0xFFFFFFFFFFFFFFFF:016x}" for part in what), str(place)])
        return spelled(self, name, f"{self.leaf.dtype}{list(self.leaf.shape)}")


@final
@frozen
class Ref:
    """A slot of the program that computes the point: a datum that is not known yet."""

    slot: int
    leaf: Leaf


Datum: TypeAlias = Const | Ref


def filled(number: float, leaf: Leaf) -> Const:
    """The constant with one number in every entry; it takes the memory of one."""
    array = np.broadcast_to(np.asarray(number, leaf.dtype), leaf.shape)
    return Const(array, leaf, ("filled", float(number)))


def constants(v: Vec[Any]) -> tuple[Const, ...]:
    """The leaves of a vector."""
    return tuple(
        Const(array, leaf, (v.token, k)) for k, (array, leaf) in enumerate(zip(v.leaves, v.space.leaves, strict=True))
    )
