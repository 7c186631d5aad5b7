"""Linear systems (S + UᵀV) x = b with a sparse S and few rows of U and V, by Woodbury's formula.

x = S⁻¹b − S⁻¹Uᵀ (id + V S⁻¹ Uᵀ)⁻¹ V S⁻¹ b, and the same once more for the residual, which gives the digits back that a
small S may cost.

>>> import numpy as np
>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> from hilbert.arrays.systems.sparse_systems import SparseSystem
>>> base = SparseSystem(np.arange(3), np.arange(3), 3, 3, scipy_of())
>>> u = np.ones((1, 3))
>>> LowRankSystem(base, 1).solved((np.ones(3), u, u), np.asarray([[4.0, 4.0, 4.0]]), "singular").tolist()
[[1.0, 1.0, 1.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from hilbert.arrays.systems.sparse_systems import SparseSystem

ROUNDS = 1
"""The number of times that a system is solved for the residual."""
ENTRY = 3e-9
"""Seconds for an entry of U, for each row of V."""


class SingularBaseError(SpaceError):
    """S is singular, though S + UᵀV need not be."""


@final
class LowRankSystem:
    """Systems whose S has entries at some places only."""

    def __init__(self, base: SparseSystem, rank: int) -> None:
        self.base, self.rank = base, rank
        n = base.size
        self.flops = base.flops + 2 * n * rank**2 + rank**3 // 3
        self.fill = base.fill + 2 * n * rank
        self.seconds = base.seconds * (1 + rank / 4) + ENTRY * n * rank**2

    @property
    def has_room(self) -> bool:
        """True if the factors are small enough to be made."""
        return self.base.has_room

    @property
    def way(self) -> str:
        """The way to solve, as text."""
        return f"by Woodbury's formula, {self.base.way}"

    def solved(self, values: Any, b: Any, singular: str) -> Any:
        """x with A x[k] = b[k] for rows k; raises SpaceError for a singular matrix, with the message `singular`.

        Where S is singular, or so nearly that digits are lost, it is a `SingularBaseError`.
        """
        entries, u, v = values
        if not b.any():
            return np.zeros_like(b)
        try:
            x, w = self._both(entries, b, u.astype(b.dtype, copy=False), singular)
        except SpaceError as error:
            raise SingularBaseError(singular) from error
        small = np.eye(self.rank, dtype=b.dtype) + v @ w.T

        def corrected(x: Any) -> Any:
            return x - np.linalg.solve(small, v @ x.T).T @ w

        try:
            with np.errstate(all="ignore"):
                x = corrected(x)
                for k in range(ROUNDS + 1):
                    rest = b - self.base.applied(entries, x) - (x @ v.T) @ u
                    size = self.base.applied(np.abs(entries), np.abs(x)) + np.abs(b)
                    if k == ROUNDS or (k and _is_small(rest, size, 8.0 * np.finfo(b.dtype).eps)):
                        break
                    x = x + corrected(self.base.solved(entries, rest, singular))
                if _is_small(rest, size, np.finfo(b.dtype).eps ** 0.85):
                    return x
                size = size + (np.abs(x) @ np.abs(v).T) @ np.abs(u)
        except (np.linalg.LinAlgError, SpaceError) as error:
            raise SingularBaseError(singular) from error
        if not _is_small(rest, size, np.finfo(b.dtype).eps ** 0.85):
            raise SingularBaseError(singular)
        return x

    def is_regular(self, entries: Any) -> bool:
        """Tell if S is far from singular, by the size of its inverse: then determinants keep their digits."""
        return self.base.is_regular(entries)

    def _both(self, entries: Any, b: Any, u: Any, singular: str) -> tuple[Any, Any]:
        """S⁻¹ applied to rows b and to rows u, by factors that are made once."""
        if self.base.is_diagonal:
            return self.base.solved(entries, b, singular), self.base.solved(entries, u, singular)
        both = self.base.solved(entries, np.concatenate([b, u]), singular)
        return both[: len(b)], both[len(b) :]


def _is_small(rest: Any, size: Any, part: float) -> bool:
    """True if no entry of a row is above a part of the largest entry of another array's row."""
    return bool(np.all(np.abs(rest) <= part * np.max(size, axis=1, keepdims=True)))
