"""Values of the error functions in any array namespace: erfc, erfcx, the logarithm of the normal distribution, slopes.

E₀(t), E₁(t), E₂(t) = 2/√π ∫₀^∞ uⁿ·exp(−u² − 2tu) du are positive: E₀ = erfcx, erfcx' = −2·E₁, erfcx'' = 4·E₂.
For t ≥ 0 they are p(s) divided by 1 + 2t, (1 + t)² and (1 + t)³, with s = (t − 3.5)/(t + 3.5) and p of degree 23, 25
and 26, which interpolates at Chebyshev's points within 10⁻¹⁶; for t < 0 sums without cancellation remain. With φ and Φ,
density and distribution of the normal law, and t = −x/√2 ≥ 0: φ/Φ = √(2/π)/E₀, x + φ/Φ = √2·E₁/E₀, and the derivative
of this one is 2·(E₂/E₀ − (E₁/E₀)²).
"""

from __future__ import annotations

from typing import Any

from diff.primitives.special_functions import DENSITY, FAR, capped, polynomial

FIRST = (
    -1.2155186967957756e-09, 5.811094619015422e-11, 1.3911592311296799e-08, 6.778448793564802e-10,
    -9.711971328975727e-08, -8.641744973204816e-09, 6.025096057081062e-07, -4.3051702801470573e-08,
    -3.814933907984698e-06, 2.3272968965569266e-06, 2.4260839884956625e-05, -4.2781721628905614e-05,
    -0.00012151232760165049, 0.0005643842605299897, -0.00030226790250868746, -0.004215019878405747,
    0.019099330945601945, -0.0488233258310565, 0.08798315382467885, -0.11508959816001958, 0.09751909515326224,
    -0.010555596332221952, -0.14000918013761943, 1.2423492448711544,
)  # fmt: skip
SECOND = (
    2.3772389239194483e-10, -2.6656081436892357e-09, -3.849794384536188e-09, 2.9435529409816525e-08,
    3.3638419316349525e-08, -1.8863422948273017e-07, -2.1568037372730096e-07, 1.0377002523152484e-06,
    1.1075607906163408e-06, -5.885649502346519e-06, -3.9207459052598515e-06, 3.558427486306154e-05,
    -6.685154440581708e-06, -0.00020380707588160132, 0.0003334870099283362, 0.0006520627162137366,
    -0.0035653212377875754, 0.006062817133447705, -0.0008423100355475626, -0.019330472636119148,
    0.04916171480696796, -0.06235237233104726, 0.02339764585400042, 0.07988215983121746, -0.20952292829092053,
    0.4184012255616815,
)  # fmt: skip
THIRD = (
    3.479165646562866e-09, -1.2847496061506571e-08, -4.433601684550591e-08, 1.3495075332474712e-07,
    3.165194563040831e-07, -7.880080677391306e-07, -1.7489522497306627e-06, 3.8098669994167376e-06,
    8.44828488155592e-06, -1.9084646927957316e-05, -3.59348888981898e-05, 0.0001069482454615331,
    0.00011015673941958846, -0.0006159773297285558, 0.0001298014741767317, 0.0028080541868365453,
    -0.005325513211082202, -0.0015840552900576509, 0.022252828300858552, -0.03798594182468027,
    0.009890136631752276, 0.07702001379363128, -0.16445774503869562, 0.1421218870141952, 0.04272880980040793,
    -0.29080759222398006, 0.4857478810837631,
)  # fmt: skip
"""The numerators of E₀, E₁, E₂ in powers of s, the highest first."""
MIDDLE = 3.5
"""The argument at which s is 0."""
ROOT_HALF = 0.7071067811865476
"""1/√2."""
ROOT_TWO = 1.4142135623730951
"""√2."""
LEVEL = 1.1283791670955126
"""2/√π."""


def erfc(xp: Any, x: Any) -> Any:
    """1 − erf x, with all digits of its tail."""
    a = xp.abs(x)
    tail = gaussian(xp, a, -1.0) * first(a)
    return xp.where(x < 0.0, 2.0 - tail, tail)


def erfcx(xp: Any, x: Any) -> Any:
    """exp(x²)·erfc x."""
    a = xp.abs(x)
    tail = first(a)
    return xp.where(x < 0.0, 2.0 * gaussian(xp, xp.minimum(x, xp.zeros_like(x)), 1.0) - tail, tail)


def erfcx_slope(xp: Any, x: Any) -> Any:
    """erfcx' x."""
    zero = xp.zeros_like(x)
    below = xp.minimum(x, zero)
    left = 2.0 * below * erfcx(xp, below) - LEVEL
    return xp.where(x < 0.0, left, -2.0 * second(xp.maximum(x, zero)))


def erfcx_bend(xp: Any, x: Any) -> Any:
    """erfcx'' x."""
    zero = xp.zeros_like(x)
    below = xp.minimum(x, zero)
    value = erfcx(xp, below)
    left = 2.0 * value + 2.0 * below * (2.0 * below * value - LEVEL)
    return xp.where(x < 0.0, left, 4.0 * third(xp.maximum(x, zero)))


def gaussian(xp: Any, x: Any, k: float) -> Any:
    """exp(k·x²), to the last digits: the square of x rounded to 16ths is exact."""
    a = capped(xp, xp.abs(x), FAR)
    coarse = xp.round(16.0 * a) * 0.0625
    return xp.exp(k * (a - coarse) * (a + coarse)) * xp.exp(k * coarse * coarse)


def first(t: Any) -> Any:
    """E₀(t) for t ≥ 0."""
    return polynomial(FIRST, place(t)) / (2.0 * t + 1.0)


def second(t: Any) -> Any:
    """E₁(t), likewise."""
    return polynomial(SECOND, place(t)) / (t + 1.0) / (t + 1.0)


def third(t: Any) -> Any:
    """E₂(t), likewise."""
    return polynomial(THIRD, place(t)) / (t + 1.0) / (t + 1.0) / (t + 1.0)


def place(t: Any) -> Any:
    """s, which is 1 for t = ∞."""
    return 1.0 - 2.0 * MIDDLE / (t + MIDDLE)


# --- the normal distribution Φ and its density φ ---


def log_ndtr(xp: Any, x: Any) -> Any:
    """ln Φ(x)."""
    a, below = xp.abs(x), xp.minimum(x, xp.zeros_like(x))
    t = ROOT_HALF * a
    half, d = 0.5 * polynomial(FIRST, place(t)), 2.0 * t + 1.0
    right = xp.log1p(-(gaussian(xp, a, -0.5) * half / d))
    return xp.where(x < 0.0, (-0.5 * below) * below + (xp.log(half) - xp.log(d)), right)


def mills(xp: Any, x: Any) -> Any:
    """φ(x)/Φ(x), the slope of ln Φ."""
    a = xp.abs(x)
    t = ROOT_HALF * a
    half, d = 0.5 * polynomial(FIRST, place(t)), 2.0 * t + 1.0
    density = gaussian(xp, a, -0.5)
    return DENSITY * xp.where(x < 0.0, d / half, density / (1.0 - density * half / d))


def excess(xp: Any, x: Any) -> Any:
    """x + φ(x)/Φ(x)."""
    above = xp.maximum(x, xp.zeros_like(x))
    return xp.where(x < 0.0, ROOT_TWO * _quotient(SECOND, ROOT_HALF * xp.abs(x)), above + mills(xp, above))


def excess_slope(xp: Any, x: Any) -> Any:
    """1 − φ(x)/Φ(x)·(x + φ(x)/Φ(x)), the slope of the latter."""
    above = xp.maximum(x, xp.zeros_like(x))
    t, m = ROOT_HALF * xp.abs(x), mills(xp, above)
    q = _quotient(SECOND, t)
    right = 1.0 - m * (xp.where(m == 0.0, m, above) + m)
    return xp.where(x < 0.0, 2.0 * (_quotient(THIRD, t) / (t + 1.0) - q * q), right)


def _quotient(numerator: tuple[float, ...], t: Any) -> Any:
    """E₁(t)/E₀(t), or (1 + t)·E₂(t)/E₀(t); 0 for t = ∞."""
    s = place(t)
    return polynomial(numerator, s) / polynomial(FIRST, s) * ((2.0 - 1.0 / (t + 1.0)) / (t + 1.0))
