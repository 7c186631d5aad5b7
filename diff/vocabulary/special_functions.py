"""Values of special functions in any array namespace.

erf x is x·p(x²) up to |x| = 1, and above 1 − exp(−x²)·q(1/(|x| + 3.5)), p and q being the Chebyshev interpolants of
degree 12 and 15 in double precision, written in powers: less than 3·10⁻¹⁶ off on all of ℝ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

INNER = (
    1.454817075960679e-14, -3.8078827395263415e-13, 9.167606746069445e-12, -2.035228404899467e-10,
    4.11580059766496e-09, -7.51156928660089e-08, 1.223382738352401e-06, -1.7537169441124826e-05,
    0.00021751715604160108, -0.0022854855611441132, 0.019852496688983708, -0.1405360890227171,
    0.9654687386698673,
)  # fmt: skip
"""erf x / x in powers of 2x² − 1."""
OUTER = (
    -2.397285748063768e-13, -5.942982879150796e-12, 1.7420765691602012e-11, 2.9005199981798347e-10,
    -1.5635354945204088e-09, -1.0707272026853014e-08, 1.3931217571064658e-07, -1.6616780790687683e-07,
    -8.271017438690712e-06, 0.00010066333885645297, -0.0007156937027381709, 0.003750305888486604,
    -0.015599032685521335, 0.053211950928597415, -0.15108064453775738, 0.20311732841320312,
)  # fmt: skip
"""(1 − erf x)·exp(x²) in powers of 2.8 − 17.1/(x + 3.5), which runs from −1 to 1 on [1, 6]."""
END = 6.0
"""From here on erf is 1 in double precision."""


def erf(xp: Any, x: Any) -> Any:
    """2/√π ∫₀ˣ exp(−t²) dt; NaN for NaN."""
    a = xp.minimum(xp.abs(x), xp.full_like(x, END))
    square = a * a
    inner = x * _polynomial(INNER, 2.0 * xp.minimum(square, xp.ones_like(x)) - 1.0)
    outer = 1.0 - xp.exp(-square) * _polynomial(OUTER, 2.8 - 17.1 / (xp.maximum(a, xp.ones_like(x)) + 3.5))
    return xp.where(a < 1.0, inner, xp.sign(x) * outer)


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """Horner's rule, the highest power first."""
    first, *others = coefficients
    y = x * first
    for c in others[:-1]:
        y = (y + c) * x
    return y + others[-1]
