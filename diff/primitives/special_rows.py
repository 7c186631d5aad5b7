"""Rows without a public name: derivatives of special functions, each with the next ones in finitely many steps.

The derivatives of log_ndtr: m = φ/Φ, w = x + m and w' = 1 − m·w, with m' = −m·w and w'' = m·(w² − w').
"""

from __future__ import annotations

import math

from diff.primitives import error_functions, library_functions
from diff.primitives.row_makers import binary, in_numpy, of_order, unary
from diff.terms.elementwise import Binary, Primitive

i1e = Primitive("i1e")
reciprocal = Primitive("reciprocal")
sign = Primitive("sign")
square = Primitive("square")

erfcx_slope: Primitive = unary(
    "slope of erfcx",
    lambda x, _: erfcx_bend(x),
    value=error_functions.erfcx_slope,
    text="erfcx'",
    in_numpy=in_numpy(error_functions.erfcx_slope),
    formula="erfcx'({0})",
)

erfcx_bend: Primitive = unary(
    "bend of erfcx",
    lambda x, y: 4.0 * erfcx_slope(x) + 2.0 * x * y,
    value=error_functions.erfcx_bend,
    text="erfcx''",
    in_numpy=in_numpy(error_functions.erfcx_bend),
    formula="erfcx''({0})",
)

mills: Primitive = unary(
    "phi/Phi",
    lambda x, y: -y * excess(x),
    value=error_functions.mills,
    text="φ/Φ",
    in_numpy=in_numpy(error_functions.mills),
    formula="(φ/Φ)({0})",
)

excess: Primitive = unary(
    "x+phi/Phi",
    lambda x, _: excess_slope(x),
    value=error_functions.excess,
    text="id+φ/Φ",
    in_numpy=in_numpy(error_functions.excess),
    formula="(id+φ/Φ)({0})",
)

excess_slope: Primitive = unary(
    "slope of x+phi/Phi",
    lambda x, y: mills(x) * (square(excess(x)) - y),
    value=error_functions.excess_slope,
    text="(id+φ/Φ)'",
    in_numpy=in_numpy(error_functions.excess_slope),
    formula="(id+φ/Φ)'({0})",
)


of_order(
    "polygamma",
    lambda k, x, _: Primitive("polygamma", (k + 1.0,))(x),
    library_functions.polygamma,
    text="ψ[{k}]",
    domain="x ≠ 0, −1, −2, …",
    is_called=True,
)


def sinc_ratio(k: float) -> Primitive:
    """cₖ(πx), see `library_functions`."""
    return Primitive("sinc ratio", (k,))


of_order(
    "sinc ratio",
    lambda k, x, _: (-(math.pi**2)) * x * sinc_ratio(k + 1.0)(x),
    library_functions.sinc,
    text="sinc[{k}]",
    domain="ℝ",
)

first_bessel_ratio: Primitive = unary(
    "i1e/x",
    lambda x, y: second_bessel_ratio(x) - sign(x) * y,
    value=library_functions.first_bessel_ratio,
    in_numpy=in_numpy(library_functions.first_bessel_ratio),
    domain="1/2 at 0",
    formula="i1e({0})/{a[0]}",
    is_called=True,
)

second_bessel_ratio: Primitive = unary(
    "i2e/x",
    lambda x, y: (i1e(x) - 3.0 * y) * reciprocal(x) - sign(x) * y,
    value=library_functions.second_bessel_ratio,
    in_numpy=in_numpy(library_functions.second_bessel_ratio),
    domain="x ≠ 0",
    formula="i2e({0})/{a[0]}",
    is_called=True,
)

xdivy: Binary = binary(  # whose derivative at 0 stays infinite or NaN
    "xdivy",
    lambda _, y, z: (reciprocal(y), -(z * reciprocal(y))),
    text="xdivy",
    domain="0 for x = 0",
    value=library_functions.xdivy,
)
