"""The base class of linear maps, also in the point of a function, as matrices of linear systems: `diff` solves them."""

from __future__ import annotations

from typing import Any

from hilbert.base.attach import declared


class Invertible:
    """A linear map, also in the point of a function, as the matrix of a linear system."""

    __slots__ = ()

    @declared
    def inverted(self, how: Any = None) -> Any:
        """The inverse."""
        raise NotImplementedError

    @declared
    def solved(self, b: Any = None, how: Any = None) -> Any:
        """The solution of the system with a right side, or, of a map in the point, the function of the point and b."""
        raise NotImplementedError

    @declared
    def fitted(self, b: Any = None, how: Any = None) -> Any:
        """The point whose image is nearest to a vector."""
        raise NotImplementedError

    @declared
    def log_determinant(self, how: Any = None) -> Any:
        """The logarithm of the absolute value of the determinant."""
        raise NotImplementedError
