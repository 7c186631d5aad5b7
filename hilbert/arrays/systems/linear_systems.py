"""Linear systems on the arrays of any library: by elimination of known matrices, or from products with vectors.

The factors of one large matrix of numpy are kept: they solve, invert, and give the determinant.

>>> a = np.eye(100) + 1.0
>>> solution(np, a, np.ones((100, 1)))[0].round(12).tolist(), bool(np.isclose(logdet(np, a), np.log(101.0)))
([0.009900990099], True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.elimination.kept_factors import Factors, factors_of, log_of, require_pivots
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.systems.scipy_modules import Scipy

ENTRIES = 2**24
"""The matrices of all lanes have at most so many entries, unless GMRES would keep as many."""
WIDTH, RESTARTS = 80, 40
"""The vectors that GMRES keeps, and how often it starts again."""
TRIED = 20
"""The number of vectors that GMRES keeps, without a restart, where there is room for the matrices."""


def has_room(unknowns: int, lanes: int) -> bool:
    """True if the matrices of systems of so many unknowns, one for each lane, are small enough to be made."""
    return unknowns <= WIDTH or unknowns**2 * lanes <= ENTRIES


def no_room(unknowns: int, lanes: int) -> str:
    """The reason why matrices of systems are not made, with the limit."""
    many = f" of {lanes} systems" if lanes > 1 else ""
    most = f"at most {ENTRIES} ({8e-6 * ENTRIES:.0f} MB) are made of a map: "
    way = 'for a map A on R ** X write solve((R ** (X * X)).vec(matrix(A, "array")), b)'
    return f"its matrix{many} has {unknowns**2 * lanes} entries, and {most}{way}"


def direct(xp: Any, a: Any, b: Any, singular: str, *, positive: bool = False) -> Any:
    """x with a[l] x[k, l] = b[k, l] for matrices a[l] and rows k; 0 where all b[·, l] are 0, whatever a[l] is.

    By LU; one large matrix of numpy that is symmetric and `positive` by Cholesky's factor, unless rounding has made it
    another one. Raises SpaceError for a singular matrix, with the message `singular`.
    """
    try:
        found = kept_in_full(xp, a[0], positive=positive) if xp is np and a.shape[0] == 1 and np.any(b) else None
        if found is not None:
            factors, flipped = found
            return factors.solve(b[:, 0], flipped)[:, None]
        idle = xp.all(b == 0, axis=(0, 2))
        eye = xp.eye(a.shape[-1], dtype=a.dtype, device=getattr(a, "device", None))
        a = xp.where(idle[:, None, None], eye, a)
        return xp.permute_dims(xp.linalg.solve(a, xp.permute_dims(b, (1, 2, 0))), (2, 0, 1))
    except (np.linalg.LinAlgError, RuntimeError) as error:
        raise SpaceError(singular) from error


def factors_in_full(sp: Scipy, a: Any, *, positive: bool = False) -> Factors:
    """The factors of a matrix: Cholesky's of one that is symmetric and `positive`, unless rounding changed that."""
    size = len(a)
    if positive:
        factor, solve = sp.lapack(("potrf", "potrs"), a)
        lower, info = factor(a, lower=True, clean=False)
        if not info:
            return Factors(
                lambda b, _: solve(lower, b.T, lower=True)[0].T, lambda: 2.0 * log_of(np.diagonal(lower)), size**2
            )
    factor, solve = sp.lapack(("getrf", "getrs"), a)
    lu, exchanged, info = factor(a)

    def solved(b: Any, flipped: bool) -> Any:  # noqa: FBT001 - see `Factors`
        require_pivots(bool(info))
        return solve(lu, exchanged.copy(), b.T, trans=int(flipped))[0].T  # counted from 1 meanwhile, in place

    return Factors(solved, lambda: log_of(np.diagonal(lu)), size**2)


def kept_in_full(xp: Any, a: Any, *, positive: bool = False) -> tuple[Factors, bool] | None:
    """The factors of one large matrix of numpy, or those of its transpose and True; None for all others."""
    if xp is not np or a.ndim != 2 or len(a) <= WIDTH:
        return None
    sp = scipy_of()
    if sp is None or not np.isfinite(a).all():
        return None

    def numbers(flipped: bool) -> tuple[Any, ...]:  # noqa: FBT001 - see `factors_of`
        return (a.T if flipped else a,)

    return factors_of(("in full",) * 2, numbers, lambda: factors_in_full(sp, a, positive=positive))


def solution(xp: Any, a: Any, b: Any) -> Any:
    """A⁻¹b for matrices; raises LinAlgError, or what the library does, for a singular matrix."""
    found = kept_in_full(xp, a)
    if found is None:
        return xp.linalg.solve(a, b)
    factors, flipped = found
    return factors.solve(b.T, flipped).T


def logdet(xp: Any, a: Any) -> Any:
    """log |det A| for matrices; −∞ where A is singular."""
    found = kept_in_full(xp, a)
    return xp.linalg.slogdet(a)[1] if found is None else a.dtype.type(found[0].logdet())


def inverse(xp: Any, a: Any) -> Any:
    """A⁻¹ for matrices."""
    return xp.linalg.inv(a) if kept_in_full(xp, a) is None else solution(xp, a, np.eye(len(a), dtype=a.dtype))


def divided(xp: Any, d: Any, b: Any, singular: str, *, known: bool) -> Any:
    """x with d[l, i] x[k, l, i] = b[k, l, i]; 0 where all b[·, l] are 0, whatever d[l] is.

    Raises SpaceError where some d is 0, if its entries are `known`, with the message `singular`.
    """
    if known and bool(xp.all(xp.isfinite(d) & (d != 0))):
        return b / d
    idle = xp.all(b == 0, axis=(0, 2))
    d = xp.where(idle[:, None], xp.ones_like(d), d)
    if known and bool(xp.any(d == 0)):
        raise SpaceError(singular)
    return b / d


def gmres(xp: Any, apply: Callable[[Any], Any], b: Any, *, once: bool = False) -> tuple[Any, float]:
    """x with apply(x) = b, for each row of b (Saad and Schultz, SIAM J. Sci. Stat. Comput. 7, 1986).

    Restarted, or tried `once`, as long as the residual falls at half the rate that is needed; the number is 0, or the
    largest ratio of residual to b where the tolerance is missed.
    """
    tolerance = float(xp.finfo(b.dtype).eps) ** 0.75
    x, due = xp.zeros_like(b), _norm(xp, b)
    left = due
    restarts, width = (1, TRIED) if once else (RESTARTS, WIDTH)
    for k in range(restarts + 1):
        r = b - apply(x)
        left = _norm(xp, r)
        if bool(xp.all(left <= tolerance * due)):
            return x, 0.0
        if k < restarts:
            x = x + _cycle(xp, apply, r, left, tolerance * due, min(width, b.shape[-1]), is_paced=once)
    return x, float(xp.max(left / xp.where(due > 0, due, xp.ones_like(due))))


def _cycle(xp: Any, apply: Callable[[Any], Any], r: Any, beta: Any, enough: Any, width: int, *, is_paced: bool) -> Any:
    """The best x in the Krylov space of r: Arnoldi's basis, orthogonalised twice, and small least squares."""
    basis, columns = [_scaled(xp, r, beta)], list[Any]()
    y: Any = None
    for k in range(1, width + 1):
        w, h = apply(basis[-1]), 0.0
        q = xp.stack(basis, axis=1)
        for _ in range(2):
            some = xp.sum(q * w[:, None, :], axis=-1)
            w, h = w - xp.sum(some[:, :, None] * q, axis=1), h + some
        size = _norm(xp, w)
        columns.append(xp.concat([h, size[:, None]], axis=1))
        basis.append(_scaled(xp, w, size))
        if k % 5 == 0 or k == width:
            y, left = _least(xp, columns, beta)
            due = k / (2 * width)
            if bool(xp.all(left <= enough)) or (is_paced and bool(xp.any(left > beta ** (1.0 - due) * enough**due))):
                break
    q = xp.stack(basis[: len(columns)], axis=1)
    return xp.sum(y[:, :, None] * q, axis=1)


def _least(xp: Any, columns: list[Any], beta: Any) -> tuple[Any, Any]:
    """y for which |beta e₁ − H y| is least, H of these columns, and the residual's norm."""
    k = len(columns)
    padded = [_extended(xp, c, k + 1) for c in columns]
    h = xp.stack(padded, axis=2)
    first = _extended(xp, beta[:, None], k + 1)
    y = xp.linalg.pinv(h) @ first[:, :, None]
    return y[:, :, 0], _norm(xp, first - (h @ y)[:, :, 0])


def _extended(xp: Any, a: Any, length: int) -> Any:
    """The rows of an array, with zeros behind them, where it lives."""
    zeros = xp.zeros((a.shape[0], length - a.shape[1]), dtype=a.dtype, device=getattr(a, "device", None))
    return xp.concat([a, zeros], axis=1)


def _norm(xp: Any, a: Any) -> Any:
    return xp.sqrt(xp.sum(a * a, axis=-1))


def _scaled(xp: Any, a: Any, size: Any) -> Any:
    """a / size, and 0 where that is 0."""
    safe = xp.where(size > 0, size, xp.ones_like(size))
    return a / safe[:, None]
