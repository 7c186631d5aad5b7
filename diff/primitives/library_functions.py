"""Values that an array library has: scipy for numpy's arrays, JAX's and torch's own; what they lack is written here.

sinc and its derivatives need no library: with cₙ(z) = jₙ(z)/zⁿ for the spherical Bessel functions jₙ, sinc x is c₀(πx),
and cₙ' = −z·cₙ₊₁. For |z| < n + 1, cₙ is its series; beyond, z²·cₙ₊₁ = (2n + 1)·cₙ − cₙ₋₁ leads there from c₋₁ = cos.
"""

from __future__ import annotations

import math
from typing import Any

from hilbert.arrays.kernels.library import library

PI = math.pi


def special(x: Any, name: str) -> Any:
    """The special function of that name, scipy's, for arrays of x's library."""
    return library(x).special(name)


def polygamma(xp: Any, x: Any, k: float) -> Any:
    """The derivative of order k ≥ 1 of digamma: that of 1 − x, and of −π·cot(πx), for x < 0."""
    positive = xp.where(x < 0.0, 1.0 - x, x)
    right = special(x, "polygamma")(int(k), positive)
    r = xp.where(x < 0.0, x - xp.round(x), xp.full_like(x, 0.25))
    h = 0.5 - xp.abs(r)  # exact where r is near ±1/2, a zero of the cotangent
    inner = xp.cos(PI * r) / xp.sin(PI * r)
    c = xp.where(h < 0.25, xp.sign(r) * xp.sin(PI * h) / xp.cos(PI * h), inner)
    reflected = polynomial_of_cotangent(k)
    slope = xp.zeros_like(c)
    for a in reflected:
        slope = slope * c + a
    return xp.where(x < 0.0, (-1.0) ** k * right - PI * slope, right)


def polynomial_of_cotangent(k: float) -> list[float]:
    """The coefficients, the highest first, of the derivative of order k of cot(πx) in c = cot(πx): c' = −π·(1 + c²)."""
    lowest_first = [0.0, 1.0]
    for _ in range(int(k)):
        slope = [-PI * j * a for j, a in enumerate(lowest_first)][1:]
        lowest_first = [a + b for a, b in zip([*slope, 0.0, 0.0], [0.0, 0.0, *slope], strict=True)]
    return lowest_first[::-1]


def first_bessel_ratio(xp: Any, x: Any) -> Any:
    """exp(−|x|)·I₁(x)/x; 1/2 at 0."""
    nowhere = x == 0.0
    return xp.where(nowhere, xp.full_like(x, 0.5), special(x, "i1e")(x) / xp.where(nowhere, xp.ones_like(x), x))


def second_bessel_ratio(xp: Any, x: Any) -> Any:
    """exp(−|x|)·I₂(x)/x, by its series for |x| < 2."""
    a = xp.minimum(xp.abs(x), xp.full_like(x, 2.0))
    square, near = 0.25 * a * a, xp.zeros_like(x)
    for j in range(14, -1, -1):
        near = near * square / ((j + 1.0) * (j + 3.0)) + 1.0
    far = xp.where(xp.abs(x) < 2.0, xp.ones_like(x), x)
    ratio = (special(x, "i0e")(far) - 2.0 * special(x, "i1e")(far) / far) / far
    return xp.where(xp.abs(x) < 2.0, 0.125 * x * xp.exp(-a) * near, ratio)


def sinc(xp: Any, x: Any, k: float = 0.0) -> Any:
    """cₖ(πx); for k = 0 this is sin(πx)/(πx)."""
    small = xp.abs(x) < (k + 1.0) / PI
    z = PI * xp.where(small, xp.ones_like(x), x)
    nearest = xp.round(x)
    half = 0.5 * nearest
    sign = xp.where(xp.round(half) == half, xp.ones_like(x), -xp.ones_like(x))
    r = PI * (x - nearest)
    before, now = sign * xp.cos(r), sign * xp.sin(r) / z
    for j in range(int(k)):
        before, now = now, ((2.0 * j + 1.0) * now - before) / z / z
    square = 0.5 * (PI * xp.where(small, x, xp.zeros_like(x))) ** 2
    series = xp.zeros_like(x)
    for j in range(15 + int(k), 0, -1):
        series = (1.0 - series) * square / (j * (2.0 * j + 2.0 * k + 1.0))
    return xp.where(small, (1.0 - series) / odd_factorial(k), now)


def odd_factorial(k: float) -> float:
    """1·3·5·…·(2k + 1)."""
    return float(math.prod(range(1, 2 * int(k) + 2, 2)))


# --- logarithms that are 0 at 0 ---


def xlogy(xp: Any, x: Any, y: Any) -> Any:
    """x·ln y; 0 where x is 0 and y is a number."""
    nowhere = (x == 0.0) & (y == y)  # noqa: PLR0124 - only NaN is not itself
    return xp.where(nowhere, xp.zeros_like(x), x * xp.log(xp.where(nowhere, xp.ones_like(y), y)))


def xdivy(xp: Any, x: Any, y: Any) -> Any:
    """x/y; 0 where x is 0 and y is a number."""
    nowhere = (x == 0.0) & (y == y)  # noqa: PLR0124 - likewise
    return xp.where(nowhere, xp.zeros_like(x), x / xp.where(nowhere, xp.ones_like(y), y))


def entr(xp: Any, x: Any) -> Any:
    """−x·ln x; 0 at 0, and −∞ for x < 0."""
    inside = xp.where(x > 0.0, x, xp.ones_like(x))
    value = xp.where(x > 0.0, -x * xp.log(inside), xp.where(x < 0.0, -float("inf") * xp.ones_like(x), x))
    return xp.where(x == 0.0, xp.zeros_like(x), value)
