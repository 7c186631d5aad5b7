"""Random entries of one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.base.sizes import FORMULA, held
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf


@held(FORMULA)
def drawn(rng: np.random.Generator, leaf: Leaf, scale: float = 1.0) -> Any:
    """Normal numbers with standard deviation `scale`, fair coins, small integers, uniform elements of an index set."""
    index, shape = leaf.entry.index, leaf.shape
    if index is not None:
        if not index.size and 0 not in shape:
            msg = f"{index} has no elements to draw"
            raise SpaceError(msg)
        return np.asarray(rng.integers(0, max(index.size, 1), shape))
    match leaf.kind:
        case "b":
            return rng.integers(0, 2, shape).astype(bool)
        case "i":
            return np.asarray(rng.integers(-9, 10, shape))
        case _:  # "f", the one other kind
            with np.errstate(over="ignore"):
                numbers = np.asarray(scale * np.asarray(rng.standard_normal(shape)).astype(leaf.dtype), leaf.dtype)
            if not np.isfinite(numbers).all():
                msg = f"random numbers of standard deviation {scale:g} are beyond those of {leaf}"
                raise SpaceError(msg)
            return numbers
