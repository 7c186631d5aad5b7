"""Numbers of the elementary functions; `python -m tests.compiled.make_coefficients` writes them.

Polynomials begin with the highest power.
"""

from __future__ import annotations

from typing import NamedTuple


class Coefficients(NamedTuple):
    """The numbers in the formulas of `elementary.py` that depend on the type."""

    log2_e: float
    """1/ln 2."""
    ln2: tuple[float, float]
    """ln 2 as a sum; n times the first is exact for each exponent n."""
    exp: tuple[float, ...]
    """P in eʳ ≈ 1 + r + r²·P(r), |r| ≤ ½ ln 2."""
    log: tuple[float, ...]
    """L in ln(1 + s) − ln(1 − s) ≈ 2s + s·z·L(z), z = s², √½ ≤ (1 + s)/(1 − s) ≤ √2."""
    sin: tuple[float, ...]
    """S in sin r ≈ r + r·q·S(q), q = r², |r| ≤ π/4."""
    cos: tuple[float, ...]
    """C in cos r ≈ 1 − q/2 + q²·C(q)."""
    two_over_pi: float
    """2/π."""
    half_pi: tuple[float, ...]
    """π/2 as a sum of rounded parts, for multiplications that are not rounded."""
    half_pi_short: tuple[float, ...]
    """π/2 as a sum in float64; n times each part but the last is exact for n < 2¹⁶."""


FLOAT64 = Coefficients(
    log2_e=1.4426950408889634,
    ln2=(0.6931471805598903, 5.497923018708371e-14),
    exp=(
        2.4999983010979407e-08,
        2.7630247090909264e-07,
        2.755758658883914e-06,
        2.480149310280147e-05,
        0.00019841269506397477,
        0.001388888894362601,
        0.0083333333334945,
        0.041666666666530176,
        0.16666666666666413,
        0.5000000000000011,
    ),
    log=(
        0.14796261152845538,
        0.1531402113314025,
        0.1818356540822729,
        0.22222198553698566,
        0.2857142874256384,
        0.39999999999413954,
        0.6666666666666734,
    ),
    sin=(
        1.5896784760324165e-10,
        -2.505075793176072e-08,
        2.7557313690807603e-06,
        -0.00019841269829804956,
        0.008333333333322411,
        -0.16666666666666632,
    ),
    cos=(
        -1.1359646918470631e-11,
        2.0875723262929557e-09,
        -2.755731435231784e-07,
        2.4801587289482418e-05,
        -0.0013888888888874125,
        0.0416666666666666,
    ),
    two_over_pi=0.6366197723675814,
    half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    half_pi_short=(1.5707963267923333, 2.5633441515839558e-12, 1.0562999066944068e-23, 4.3359050650618903e-35),
)

FLOAT32 = Coefficients(
    log2_e=1.4426950216293335,
    ln2=(0.693145751953125, 1.428606765330187e-06),
    exp=(0.001381422160193324, 0.008368984796106815, 0.04166841134428978, 0.166665181517601, 0.4999999403953552),
    log=(0.29882144927978516, 0.3997718393802643, 0.6666678190231323),
    sin=(-0.00019514810992404819, 0.00833216030150652, -0.16666655242443085),
    cos=(2.4435594241367653e-05, -0.0013887343229725957, 0.04166664555668831),
    two_over_pi=0.6366197466850281,
    half_pi=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    half_pi_short=(1.5707963267923333, 2.563344151594519e-12),
)
