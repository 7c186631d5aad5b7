"""Functions that texts carry along for cumulative sums, branches and functions along axes: each uses numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np


def sums_before(x: Any, axis: int) -> Any:
    """The sums of all entries before each one."""
    sums = np.cumsum(x, axis)
    first = np.zeros_like(np.take(x, [0], axis))
    return np.concatenate([first, np.delete(sums, -1, axis)], axis)


def sums_behind(x: Any, axis: int) -> Any:
    """The sums of all entries behind each one."""
    return np.flip(sums_before(np.flip(x, axis), axis), axis)


def logsumexp(x: Any, axis: Any) -> Any:
    """log Σ exp x along axes; −∞ where all entries are."""
    m = np.max(x, axis, keepdims=True, initial=-np.inf)
    m = np.where(np.isfinite(m), m, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.sum(np.exp(x - m), axis)) + np.squeeze(m, axis)


def softmax(x: Any, axis: Any) -> Any:
    """exp x / Σ exp x along axes; 0 where all entries are −∞."""
    m = np.max(x, axis, keepdims=True, initial=-np.inf)
    e = np.exp(x - np.where(np.isfinite(m), m, 0.0))
    s = np.sum(e, axis, keepdims=True)
    return e / np.where(s == 0.0, 1.0, s)


def log_softmax(x: Any, axis: Any) -> Any:
    """x − log Σ exp x along axes; −∞ where all entries are."""
    m = np.max(x, axis, keepdims=True, initial=-np.inf)
    d = x - np.where(np.isfinite(m), m, 0.0)
    s = np.sum(np.exp(d), axis, keepdims=True)
    return d - np.log(np.where(s == 0.0, 1.0, s))


def lanes_filled(c: Any, a: Any, at: int) -> Any:
    """The lanes of a, the axes of c from `at` on, where c does not hold filled with the first one where c does."""
    if not c.size:
        return a
    taken = c.reshape(*c.shape[:at], -1)
    rows = a.reshape(*taken.shape, *a.shape[c.ndim :])
    ones = (1,) * (rows.ndim - taken.ndim)
    first = taken.argmax(-1).reshape(*c.shape[:at], 1, *ones)
    return np.where(taken.reshape(*taken.shape, *ones), rows, np.take_along_axis(rows, first, at)).reshape(a.shape)
