"""Values of special functions in any array namespace.

erf x is x·p(x²) up to |x| = 1, and above 1 − exp(−x²)·q(1/(|x| + 3.5)), p and q being the Chebyshev interpolants of
degree 12 and 15 in double precision, written in powers: less than 3·10⁻¹⁶ off on all of ℝ.

For the normal distribution Φ, its density φ and a ≥ 0, Φ(−a) is exp(−a²/2)·m(t)/(1 + √2·a) with m of degree 22 and
t = (a − 5.25)/(a + 5.25); Φ(−a) − a·φ(a), which is 0 at one point z, is exp(−a²/2)·(z − a)·s(t) with s of degree 20
and t = (a − 5)/(a + 5). So gelu x = x·Φ(x) and its slope keep their digits in the tail and beside z.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
TAIL = (
    -1.4234489611270766e-09, -4.22240505264758e-11, 1.6743449467544175e-08, -1.4194828004581106e-09,
    -1.2428162741500305e-07, 5.1246590984031716e-08, 8.166611844413231e-07, -9.305748310337744e-07,
    -4.872515587205147e-06, 1.2868501893768595e-05, 1.715922882618698e-05, -0.0001378293282329006,
    0.00019010906511512867, 0.0006815763185716217, -0.004419529688460951, 0.013489661080156055,
    -0.028673121162777686, 0.04592685793127311, -0.05493288811714458, 0.042255980530624807, 0.0008067194915700978,
    -0.07013344247046142, 0.6191105077727795,
)  # fmt: skip
"""m, in powers of t, the highest first."""
SLOPE = (
    2.2888582673290384e-10, 1.998478103132186e-10, -2.692351779832307e-09, -2.238872260070763e-09,
    2.1528638114350544e-08, 1.2167828179674156e-08, -1.6851504770551853e-07, 2.1654402547862147e-08,
    1.360021603318292e-06, -1.9928643004846863e-06, -9.201121504613522e-06, 4.0647013112374975e-05,
    -1.5195782258660604e-05, -0.0004405306295590712, 0.0023021837243407286, -0.007334310928473977,
    0.01780783155685166, -0.03553512146918256, 0.0604878135538712, -0.08979658026980333, 0.45143549526340543,
)  # fmt: skip
"""s, likewise."""
ZERO = {64: (0.7517915246935645, -1.4956759177009883e-17), 32: (0.7517915368080139, -1.211444945855772e-08)}
"""z as the sum of two numbers, the first one exact in so many bits."""
ROOT = {64: (1.4142135623730951, -9.667293313452913e-17), 32: (1.4142135381698608, 2.420323420895794e-08)}
"""√2, likewise."""
FAR = 40.0
"""From here on exp(−x²/2) is 0, and 1/(1 + exp(−x)) is 1, in double precision."""
END = 6.0
"""From here on erf is 1 in double precision."""


def erf(xp: Any, x: Any) -> Any:
    """2/√π ∫₀ˣ exp(−t²) dt; NaN for NaN."""
    a = xp.minimum(xp.abs(x), xp.full_like(x, END))
    square = a * a
    inner = x * polynomial(INNER, 2.0 * xp.minimum(square, xp.ones_like(x)) - 1.0)
    outer = 1.0 - xp.exp(-square) * polynomial(OUTER, 2.8 - 17.1 / (xp.maximum(a, xp.ones_like(x)) + 3.5))
    return xp.where(a < 1.0, inner, xp.sign(x) * outer)


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """Horner's rule, the highest power first."""
    first, *others = coefficients
    y = x * first  # new: what follows overwrites it
    for c in others[:-1]:
        y += c
        y *= x
    y += others[-1]
    return y


def capped(xp: Any, x: Any, most: float) -> Any:
    """The smaller one of x and a number."""
    return xp.minimum(x, xp.full_like(x, most))


# --- the logistic function ---


def sigmoid(xp: Any, x: Any) -> Any:
    """exp x/(1 + exp x): small values keep their digits, and nothing overflows."""
    e = xp.exp(xp.minimum(x, xp.full_like(x, FAR)))
    return e / (e + 1.0)


def sigmoid_slope(xp: Any, x: Any) -> Any:
    """σ(x)·σ(−x), by exp(−|x|), which is what remains in both tails."""
    e = xp.exp(-xp.abs(x))
    d = e + 1.0
    d *= d
    e /= d
    return e


def sech_squared(xp: Any, x: Any) -> Any:
    """1/cosh² x."""
    return 4.0 * sigmoid_slope(xp, 2.0 * x)


def softplus(xp: Any, x: Any) -> Any:
    """ln(1 + exp x)."""
    y = xp.log1p(xp.exp(-xp.abs(x)))
    y += xp.maximum(x, xp.zeros_like(x))
    return y


def log_sigmoid(xp: Any, x: Any) -> Any:
    """ln σ(x)."""
    return -softplus(xp, -x)


def share(xp: Any, x: Any, y: Any) -> Any:
    """exp x/(exp x + exp y) = σ(x − y), with what x − y is rounded by; 0 where x is −∞."""
    if xp is np and x.size:  # quick where the rounding of x − y is magnified a little only
        with np.errstate(over="ignore", invalid="ignore"):
            d = x - y
        if d.min() > -8.0 and d.max() < 8.0:
            return sigmoid(np, d)
    zero, one = xp.zeros_like(x), xp.ones_like(x)
    most = 0.25 * float(xp.finfo(x.dtype).max)
    usual = (xp.abs(x) < most) & (xp.abs(y) < most)
    d, rest = difference(xp.where(usual, x, zero), xp.where(usual, y, zero))
    s = sigmoid(xp, d)
    s += s * (1.0 - s) * rest
    undefined = ((x == y) & (x == float("inf"))) | xp.isnan(x) | xp.isnan(y)
    even = (x == y) & (x != -float("inf"))
    far = xp.where(undefined, float("nan") * one, xp.where(x > y, one, xp.where(even, 0.5 * one, zero)))
    return xp.where(usual, s, far)


def difference(x: Any, y: Any) -> tuple[Any, Any]:
    """x − y as the sum of two numbers, exactly: the rounded difference, and the rest."""
    d = x - y
    back = x - d
    return d, (x - (d + back)) - (y - back)


# --- circles ---


def one_minus_square(x: Any) -> Any:
    """1 − x², to the last digits beside ±1."""
    return (1.0 - x) * (1.0 + x)


def direction(xp: Any, x: Any, y: Any) -> Any:
    """x/√(x² + y²), where no square may leave the range; 0 where both are 0."""
    a, b, _ = _scaled(xp, x, y)
    nowhere = (x == 0.0) & (y == 0.0)
    return xp.where(nowhere, xp.zeros_like(a), a / xp.sqrt(a * a + b * b))


def ratio(xp: Any, x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    zero = y == 0.0
    return xp.where(zero, xp.zeros_like(y), x / xp.where(zero, xp.ones_like(y), y))


def half_over(xp: Any, x: Any) -> Any:
    """1/(2x), and 0 where x is 0."""
    return ratio(xp, xp.full_like(x, 0.5), x)


def ratio_in_numpy(x: Any, y: Any) -> Any:
    """The same; y may be smaller, and broadcasts."""
    return x / y if y.all() else ratio(np, x, y)


def inverse_circle(xp: Any, x: Any, y: Any) -> Any:
    """x/(x² + y²), likewise."""
    a, b, scale = _scaled(xp, x, y)
    return a / (a * a + b * b) / scale


def inverse_circle_slope(xp: Any, x: Any, y: Any) -> Any:
    """(y² − x²)/(x² + y²)², which keeps its digits where y² is nearly x²."""
    a, b, scale = _scaled(xp, x, y)
    circle = a * a + b * b
    return ((y - x) / scale) * ((y + x) / scale) / (circle * circle) / scale / scale


def _scaled(xp: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """x and y divided by the larger one, which comes last."""
    scale = xp.maximum(xp.abs(x), xp.abs(y))
    return x / scale, y / scale, scale


# --- the normal distribution ---


def gelu(xp: Any, x: Any) -> Any:
    """x·Φ(x), which is x − x·Φ(−x) for x > 0."""
    a = capped(xp, xp.abs(x), FAR)
    coarse = xp.round(16.0 * a) * 0.0625  # its square is exact, and so no digit of exp(−a²/2) is lost
    tail = (
        xp.exp(0.5 * (coarse - a) * (coarse + a)) * polynomial(TAIL, (a - 5.25) / (a + 5.25)) / (1.0 + ROOT[64][0] * a)
    )
    tail = (x * tail) * xp.exp(-0.5 * coarse * coarse)
    return xp.where(x > 0.0, x - tail, tail)


def gelu_slope(xp: Any, x: Any) -> Any:
    """Φ(x) + x·φ(x), which is 1 minus that of −x for x > 0."""
    a = capped(xp, xp.abs(x), FAR)
    e = xp.exp(-0.25 * a * a)  # twice, so that no product leaves the range before the result
    high, low = ZERO[xp.finfo(x.dtype).bits]
    tail = ((high - a) + low) * polynomial(SLOPE, (a - 5.0) / (a + 5.0)) * e * e
    return xp.where(x > 0.0, 1.0 - tail, tail)


def gelu_bend(xp: Any, x: Any) -> Any:
    """(2 − x²)·φ(x)."""
    a = capped(xp, xp.abs(x), FAR)
    e = xp.exp(-0.25 * a * a)
    high, low = ROOT[xp.finfo(x.dtype).bits]
    return ((high - a) + low) * (high + a) * (DENSITY * e) * e


DENSITY = 0.3989422804014327
"""φ(0) = 1/√(2π)."""


# --- powers ---


def power_less(xp: Any, x: Any, y: Any) -> Any:
    """x^(y − 1)."""
    root, rest = _root(xp, x, y, 1.0)
    return root * rest * root


def power_slope(xp: Any, x: Any, y: Any) -> Any:
    """y·x^(y − 1), the derivative of x^y in x; 0 for y = 0."""
    root, rest = _root(xp, x, y, 1.0)
    return xp.where(y == 0.0, xp.zeros_like(y), (y * root) * rest * root)


def power_bend(xp: Any, x: Any, y: Any) -> Any:
    """y·(y − 1)·x^(y − 2), the second one; 0 for y = 0 and 1."""
    factor = y * (y - 1.0)
    root, rest = _root(xp, x, y, 2.0)
    return xp.where(factor == 0.0, xp.zeros_like(y), (factor * root) * rest * root)


def power_log(xp: Any, x: Any, y: Any, j: int) -> Any:
    """x^y·lnʲ x, the j-th derivative in y; its limit 0 at x = 0 for y > 0."""
    root = xp.pow(x, 0.5 * y)
    result = xp.log(x) ** j * root
    return xp.where((x == 0.0) & (y > 0.0), xp.zeros_like(x), result * root)


def power_mixed(xp: Any, x: Any, y: Any) -> Any:
    """x^(y − 1)·(1 + y·ln x), the derivative in x and in y."""
    root, rest = _root(xp, x, y, 1.0)
    return ((1.0 + y * xp.log(x)) * root) * rest * root


def _root(xp: Any, x: Any, y: Any, n: float) -> tuple[Any, Any]:
    """r and s with r·r·s = x^(y − n): no power leaves the range before the result, and no digit of y − n is lost."""
    exponent, rest = difference(y, xp.full_like(y, n))
    size, unit = xp.abs(x), xp.ones_like(x)
    root = xp.pow(size, 0.5 * exponent)
    sign = xp.pow(xp.where(x < 0.0, -unit, unit), exponent)
    return root, sign * (1.0 + rest * xp.log(xp.where(size == 0.0, unit, size)))
