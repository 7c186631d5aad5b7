"""lgamma and its derivatives, the polygamma functions ψ⁽ⁿ⁾, in double precision; abs, whose derivative at 0 is −1.

>>> print(lgamma(R.vec(1.0)), round(float(digamma(R.vec(1.0))), 14))
0.0 ∈ ℝ -0.57721566490153
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from diff import operation
from hilbert import R

if TYPE_CHECKING:
    from hilbert.map.map import AnyMap

_EVEN = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510]
"""The Bernoulli numbers B₂, B₄, …"""
_FAR = 16.0
"""From here on the asymptotic series is exact to rounding."""
_MOST = 4
"""The highest order that has a derivative."""


def _polygamma(n: int, x: float) -> float:
    """ψ⁽ⁿ⁾(x): moved up by its recurrence, then its asymptotic series (Abramowitz & Stegun 6.4)."""
    if math.isnan(x) or x == -math.inf:
        return math.nan
    if x <= 0.0 and x == math.floor(x):
        return math.nan
    if x == math.inf:
        return math.inf if n == 0 else 0.0
    found, sign = 0.0, -1.0 if n % 2 == 0 else 1.0
    while x < _FAR:
        if x < -1e4:
            return math.nan
        found += sign * math.factorial(n) / x ** (n + 1)
        x += 1.0
    if n == 0:
        series = math.log(x) - 0.5 / x - sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_EVEN, 1))
        return found + series
    series = math.factorial(n - 1) / x**n + math.factorial(n) / (2 * x ** (n + 1))
    for k, b in enumerate(_EVEN, 1):
        series += b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
    return found + sign * series


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def _everywhere(f: Any) -> Any:
    vectorized = np.vectorize(f, otypes=[np.float64])
    return lambda xp, x: xp.asarray(vectorized(np.asarray(x)))


def _made(n: int) -> AnyMap:
    name = ("lgamma", "digamma", "trigamma")[n] if n < 3 else f"polygamma{n - 1}"
    of = _lgamma if n == 0 else lambda x: _polygamma(n - 1, x)
    if n > _MOST:
        return operation(name, R, to=R, value=_everywhere(of))
    above: Any = _made(n + 1)
    return operation(name, R, to=R, value=_everywhere(of), tangent=lambda x, _, dx: above(x) * dx)


lgamma: Any = _made(0)
digamma: Any = _made(1)
_side: Any = operation(
    "side", R, to=R, value=lambda xp, x: xp.where(x > 0.0, 1.0, -1.0), tangent=lambda _, __, dx: 0.0 * dx
)
"""1 where x > 0, else −1."""
magnitude: Any = operation("abs", R, to=R, value=lambda xp, x: xp.abs(x), tangent=lambda x, _, dx: _side(x) * dx)
