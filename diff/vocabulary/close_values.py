"""Eigenvalues and singular values that are close: the reciprocals of their gaps, and values that are moved apart.

Two values are close where they differ by less than √ε·‖A‖. Values v and w are known to ε·‖A‖, so that it is best to
take no gap below b = √(ε·‖A‖·max(|v|, |w|)), which is √ε·‖A‖ for large ones and far below small ones; for values that
are 0 up to rounding, again √ε·‖A‖.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

# --- in any array namespace ---


def _root(xp: Any, w: Any) -> float:
    """√ε."""
    return 2.0**-26 if w.dtype == xp.float64 else 2.0**-11.5


def _small(xp: Any, w: Any) -> Any:
    """√ε of the largest of some values in order, √ε for 0."""
    size = xp.maximum(xp.abs(w[..., :1]), xp.abs(w[..., -1:]))
    return _root(xp, w) * xp.where(size == 0.0, xp.ones_like(size), size)


def _least(xp: Any, size: Any, small: Any, n: int) -> Any:
    """The least gap b for values of this size, among n values."""
    some = small * _root(xp, size)  # the rounding of all values
    return xp.where(size <= 32.0 * n * some, small + xp.zeros_like(size), xp.sqrt(some * size))


def _least_gaps(xp: Any, w: Any, small: Any) -> Any:
    """The least gap b for each pair."""
    size = xp.abs(w)
    return _least(xp, xp.maximum(size[..., None, :], size[..., :, None]), small[..., None], w.shape[-1])


def _all(xp: Any, found: Any) -> bool:
    """Tell if all are true; False where nobody can know, as under jit."""
    try:
        return bool(xp.all(found))
    except Exception:  # noqa: BLE001 - each library has its own
        return False


def _indices(xp: Any, w: Any) -> tuple[Any, Any]:
    """(i, j) as arrays that broadcast."""
    n = xp.arange(w.shape[-1], device=getattr(w, "device", None))
    return n[:, None], n[None, :]


def _eye(xp: Any, w: Any) -> Any:
    return xp.eye(w.shape[-1], dtype=w.dtype, device=getattr(w, "device", None))


@lru_cache(maxsize=64)
def _numpy_eye(n: int, dtype: Any) -> Any:
    return np.eye(n, dtype=dtype)


# --- values that are moved apart ---


def apart(xp: Any, w: Any) -> Any:
    """Ascending values, those within some b of each other 2b apart, with the same mean."""
    if xp is np and w.shape[-1] > 1:  # quick where none are close, as it is most often
        least = 2.0 * w.shape[-1] * _root(xp, w) * np.maximum(-w[..., 0], w[..., -1])
        if ((w[..., 1:] - w[..., :-1]).min(axis=-1) > least).all():
            return w
    small, size, n = _small(xp, w), xp.abs(w), w.shape[-1]
    step = 2.0 * _least(xp, xp.maximum(size[..., 1:], size[..., :-1]), small, n)
    far = w[..., 1:] - w[..., :-1] > n * step  # so that what is moved stays 2b from all others
    if _all(xp, far):
        return w
    i, j = _indices(xp, w)
    group = xp.sum(xp.where((j[:, :-1] < i) & far[..., None, :], 1, 0), axis=-1)
    same = group[..., :, None] == group[..., None, :]
    below = xp.sum(xp.where(same & (j < i), 1, 0), axis=-1)
    others = xp.sum(xp.where(same & (j != i), 1, 0), axis=-1)
    zeros = xp.zeros_like(w)
    own = 2.0 * _least(xp, size, small, n)
    step = xp.max(xp.where(same, own[..., None, :], zeros[..., None, :]), axis=-1)
    return w + step * ((zeros + below) - 0.5 * (zeros + others))


def apart_from_0(xp: Any, s: Any) -> Any:
    """Descending values s ≥ 0, as half of −s and s."""
    both = xp.concat([-s, xp.flip(s, axis=-1)], axis=-1)
    return xp.flip(apart(xp, both)[..., s.shape[-1] :], axis=-1)


# --- reciprocal gaps ---


def _reciprocals(xp: Any, d: Any, least: Any, small: Any, own: Any = 0.0) -> tuple[Any, Any, Any]:
    """1/d but for small gaps; 1 for these; their reciprocals, no gap below the least one, which has a sign."""
    d = d + own
    close = xp.abs(d) < small * (1.0 - own)
    zeros = xp.zeros_like(d)
    found = 1.0 / xp.where((xp.abs(d) < xp.abs(least)) & close, least + zeros, d)
    return xp.where(close, zeros, found) - own, xp.where(close, zeros + 1.0, zeros), xp.where(close, found, zeros)


def _sign(xp: Any, w: Any) -> Any:
    """The sign of the gap wⱼ − wᵢ of ascending values: −1 for j < i, else 1."""
    i, j = _indices(xp, w)
    ones = xp.ones_like(w[..., None, :])
    return xp.where(j < i, -ones, ones)


def gaps(xp: Any, w: Any) -> tuple[Any, Any, Any]:
    """`_reciprocals` of the gaps wⱼ − wᵢ of ascending values, 0 on the diagonal."""
    if xp is np and w.size:  # quick where none is small, as it is most often
        with np.errstate(all="ignore"):
            found, eye = w[..., None, :] - w[..., :, None], _numpy_eye(w.shape[-1], w.dtype)
            found += eye
            np.reciprocal(found, out=found)
            found -= eye
            least = np.maximum(-w[..., 0], w[..., -1]) * _root(xp, w)
            if (found.max(axis=(-2, -1)) * least <= 1.0).all():
                none = np.zeros_like(found)
                return found, none, none
    small = _small(xp, w)
    least = _sign(xp, w) * _least_gaps(xp, w, small)
    return _reciprocals(xp, w[..., None, :] - w[..., :, None], least, small[..., None], _eye(xp, w))


def gaps_of_pairs(xp: Any, s: Any) -> tuple[Any, ...]:
    """`_reciprocals` for descending values s ≥ 0: of 2·(sⱼ − sᵢ), 0 on the diagonal, of 2·(sⱼ + sᵢ), and of s."""
    row, column = s[..., None, :], s[..., :, None]
    if xp is np and s.size:
        with np.errstate(all="ignore"):
            minus, eye = row - column, _numpy_eye(s.shape[-1], s.dtype)
            minus += eye
            np.divide(0.5, minus, out=minus)
            minus -= 0.5 * eye
            least = s[..., 0] * _root(xp, s)
            if ((2.0 * minus.max(axis=(-2, -1)) * least <= 1.0) & (s[..., -1] >= least)).all():
                none = np.zeros_like(minus)
                return minus, none, none, 0.5 / (row + column), none, none, 1.0 / s, none[..., 0, :], none[..., 0, :]
    small = _small(xp, s)
    several, least = 2.0 * small[..., None], 2.0 * _least_gaps(xp, s, small)
    return (
        *_reciprocals(xp, 2.0 * (row - column), -_sign(xp, s) * least, several, _eye(xp, s)),
        *_reciprocals(xp, 2.0 * (row + column), least, several),
        *_reciprocals(xp, s, _least(xp, s, small, s.shape[-1]), small),
    )


def all_gaps(xp: Any, w: Any) -> Any:
    """The reciprocals, small or not."""
    away, _, near = gaps(xp, w)
    return away + near


def all_gaps_of_pairs(xp: Any, s: Any) -> Any:
    """The reciprocals for `svd`, small or not."""
    found = gaps_of_pairs(xp, s)
    return found[0] + found[2], found[3] + found[5], found[6] + found[8]


def _unknown(xp: Any, d: Any, least: Any, own: Any = 0.0) -> Any:
    zeros = xp.zeros_like(d)
    return xp.where(xp.abs(d) + 2.0 * least * own < least, zeros + float("nan"), zeros)


def unknown(xp: Any, w: Any) -> Any:
    """NaN for pairs of ascending values that may have been moved apart, 0 for the others."""
    least = 2.0 * w.shape[-1] * _least_gaps(xp, w, _small(xp, w))
    return _unknown(xp, w[..., None, :] - w[..., :, None], least, _eye(xp, w))


def unknown_of_pairs(xp: Any, s: Any) -> tuple[Any, ...]:
    """Likewise of descending values s ≥ 0: for the three kinds of gaps."""
    small, row, column, eye = _small(xp, s), s[..., None, :], s[..., :, None], _eye(xp, s)
    n, least = 4.0 * s.shape[-1], _least_gaps(xp, s, small)
    return (
        _unknown(xp, row - column, n * least, eye),
        _unknown(xp, row + column, n * least, eye),
        _unknown(xp, s, n * _least(xp, s, small, s.shape[-1])),
    )
