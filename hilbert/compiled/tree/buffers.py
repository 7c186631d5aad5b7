"""Buffers: the arrays of a compiled program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, final

if TYPE_CHECKING:
    import numpy.typing as npt

BYTES = {"float64": 8, "float32": 4, "bool": 1, "int64": 8, "int32": 4}
FEW = 256
"""The entries of a constant that may stand in the program as numbers."""
Kind = Literal["in", "out", "constant", "work"]


@final
class Buffer:
    """An array of numbers: an input or output, a constant, or the program's own. Buffers are compared by identity.

    `order` says how it is stored: storage axis k is axis order[k]; where it `is_ordered`, that stays. Some axes of the
    program's own buffers go as loops are merged: `shape` is that of the axes that are left.
    """

    __slots__ = ("dtype", "few", "is_local", "is_ordered", "is_whole", "kind", "name", "order", "shape", "values")

    def __init__(
        self, name: str, shape: tuple[int, ...], dtype: str, kind: Kind = "work", values: npt.NDArray[Any] | None = None
    ) -> None:
        self.name, self.shape, self.dtype, self.kind, self.values = name, shape, dtype, kind, values
        self.order = tuple(range(len(shape)))
        self.is_local = self.is_ordered = self.is_whole = False
        self.few = values if values is not None and values.size <= FEW else None

    @property
    def strides(self) -> tuple[int, ...]:
        """The entries from one place along an axis to the next."""
        made, n = [0] * len(self.shape), 1
        for k in reversed(self.order):
            made[k] = n
            n *= self.shape[k]
        return tuple(made)

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return self.size * BYTES[self.dtype]

    def __repr__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"
