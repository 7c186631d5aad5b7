"""Linear systems (S + UᵀV) x = b with a sparse S and few rows of U and V, by Woodbury's formula.

x = S⁻¹b − S⁻¹Uᵀ K⁻¹ V S⁻¹ b for the small matrix K = id + V S⁻¹ Uᵀ, and the same once more for the residual where that
is not small, which gives the digits back that a small S may cost. det(S + UᵀV) is det S · det K.

>>> import numpy as np
>>> from hilbert.arrays.systems.scipy_modules import scipy_of
>>> from hilbert.arrays.systems.sparse_systems import SparseSystem
>>> base = SparseSystem(np.arange(3), np.arange(3), 3, 3, scipy_of())
>>> u, some = np.ones((1, 3)), LowRankSystem(base, 1)
>>> some.solved((np.ones(3), u, u), np.asarray([[4.0, 4.0, 4.0]]), "singular").tolist()
[[1.0, 1.0, 1.0]]
>>> bool(np.isclose(some.logdet((np.ones(3), u, u)), np.log(4.0)))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from hilbert.arrays.elimination.kept_factors import factors_of
from hilbert.arrays.systems.linear_systems import factors_in_full
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

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
        entries, u, v = (a.astype(b.dtype, copy=False) for a in values)
        if not b.any():
            return np.zeros_like(b)
        if not np.isfinite(entries).all():
            return np.full_like(b, np.nan)
        try:
            with np.errstate(all="ignore"):
                factors, flipped = self.factors((entries, u, v))
                x = factors.solve(u, v, b, flipped)
                for k in range(ROUNDS + 1):
                    rest = b - self.base.applied(entries, x) - (x @ v.T) @ u
                    size = self.base.applied(np.abs(entries), np.abs(x)) + np.abs(b)
                    if k == ROUNDS or _is_small(rest, size, 8.0 * np.finfo(b.dtype).eps):
                        break
                    x = x + factors.solve(u, v, rest, flipped)
                if _is_small(rest, size, np.finfo(b.dtype).eps ** 0.85):
                    return x
                size = size + (np.abs(x) @ np.abs(v).T) @ np.abs(u)
        except np.linalg.LinAlgError as error:
            raise SingularBaseError(singular) from error
        if not _is_small(rest, size, np.finfo(b.dtype).eps ** 0.85):
            raise SingularBaseError(singular)
        return x

    def factors(self, values: Any) -> tuple[LowRankFactors, bool]:
        """The factors of S and K, or those of the transpose and True; raises LinAlgError where S is singular."""
        entries, u, v = values

        def numbers(flipped: bool) -> tuple[Any, ...]:  # noqa: FBT001 - see `factors_of`
            return (self.base.numbers(entries, flipped), *((v, u) if flipped else (u, v)))

        one, other = self.base.names
        return factors_of(
            (("low rank", one), ("low rank", other)), numbers, lambda: LowRankFactors(self.base, entries, u, v)
        )

    def logdet(self, values: Any) -> float:
        """log |det A|, as det S · det K where S is far from singular; otherwise by the matrix in full."""
        entries = values[0]
        if not all(np.isfinite(a).all() for a in values):
            return np.nan
        if self.base.is_regular(entries):
            return self.base.logdet(entries) + self.factors(values)[0].small.logdet()
        return float(np.linalg.slogdet(self._in_full(values))[1])

    def slopes(self, values: Any) -> tuple[Any, Any, Any]:
        """The derivative of log |det A| in the entries of S, in U and in V: (A⁻¹)_ji for places (i, j), VA⁻¹, UA⁻ᵀ.

        Raises LinAlgError where A is singular.
        """
        entries, u, v = values
        rows, cols = self.base.rows, self.base.cols
        if not self.base.is_regular(entries):
            undone = self.inverse(values)
            return undone[cols, rows], v @ undone, u @ undone.T
        left, right, undone = self._parts(values)
        of_u, of_v = undone @ right, undone.T @ left
        if self.base.is_diagonal:
            near = (of_v * right).sum(axis=0)[cols]
        else:
            near = np.einsum("ke,ke->e", of_v[:, cols], right[:, rows])
        return self.base.near_inverse(entries) - near, of_u, of_v

    def inverse(self, values: Any) -> Any:
        """A⁻¹ in full; raises LinAlgError where A is singular."""
        if not self.base.is_regular(values[0]):
            return np.linalg.inv(self._in_full(values))
        left, right, undone = self._parts(values)
        eye = np.eye(self.base.size, dtype=left.dtype)
        return self.base.solver(values[0])(eye).T - left.T @ (undone @ right)

    def _parts(self, values: Any) -> tuple[Any, Any, Any]:
        """US⁻ᵀ, VS⁻¹ and K⁻¹."""
        (_, u, v), (factors, flipped) = values, self.factors(values)
        eye = np.eye(self.rank, dtype=u.dtype)
        return factors.side(u, flipped), factors.side(v, not flipped), factors.small.solve(eye, not flipped)

    def _in_full(self, values: Any) -> Any:
        entries, u, v = values
        made = u.T @ v
        np.add.at(made, (self.base.rows, self.base.cols), entries)
        return made


@final
class LowRankFactors:
    """The factors of S, and those of K = id + V S⁻¹ Uᵀ; U and V are given again where they are asked for."""

    def __init__(self, base: SparseSystem, entries: Any, u: Any, v: Any) -> None:
        self.base: Callable[[Any, bool], Any]
        if base.is_diagonal:
            solve = base.solver(np.array(entries))  # a copy, for the array may change while the factors are kept
            self.base, entries_of_base = lambda b, _: solve(b), base.size
        else:
            found, turned = base.factors(entries)
            self.base, entries_of_base = lambda b, flipped: found.solve(b, flipped != turned), found.entries
        self._sides: list[Any] = [self.base(u, False), None]  # noqa: FBT003 - see `Factors`
        small = np.eye(len(u), dtype=u.dtype) + v @ self._sides[0].T
        self.small = factors_in_full(base.sp, small)
        self.entries = entries_of_base + 2 * u.size + small.size

    def side(self, u: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `solve`
        """S⁻¹ applied to rows u, or S⁻ᵀ for a transpose, made once."""
        made = self._sides[flipped]
        if made is None:
            made = self._sides[flipped] = self.base(u, flipped)
        return made

    def solve(self, u: Any, v: Any, b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
        """x for rows b of the matrix with these u and v: that of the factors, or its transpose if `flipped`."""
        x = self.base(b, flipped)
        return x - self.small.solve(x @ v.T, flipped) @ self.side(u, flipped)


def _is_small(rest: Any, size: Any, part: float) -> bool:
    """True if no entry of a row is above a part of the largest entry of another array's row."""
    return bool(np.all(np.abs(rest) <= part * np.max(size, axis=1, keepdims=True)))
