"""The modules of scipy that solve linear systems, where scipy is installed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

if TYPE_CHECKING:
    from types import ModuleType


@final
@frozen
class Scipy:
    """The modules of scipy that solve systems."""

    linalg: ModuleType
    sparse: ModuleType
    graphs: ModuleType
    factors: ModuleType

    def lapack(self, names: tuple[str, ...], a: Any) -> tuple[Any, ...]:
        """Functions of LAPACK for the numbers of an array."""
        return _lapack(self.linalg, names, a.dtype)


@cache
def _lapack(linalg: ModuleType, names: tuple[str, ...], dtype: Any) -> tuple[Any, ...]:
    return tuple(linalg.get_lapack_funcs(names, dtype=dtype))


def scipy_of() -> Scipy | None:
    """scipy, or None where it is not installed: it is an extra."""
    try:
        from scipy import linalg, sparse  # imported where it is first needed: it takes a while to load
        from scipy.sparse import csgraph
        from scipy.sparse import linalg as factors
    except ImportError:
        return None
    return Scipy(linalg, sparse, csgraph, factors)
