"""Rows that have no public name: derivatives of primitives that keep their digits where a plain formula would not.

Near 1, 1 − x² is (1 − x)·(1 + x); far out, no square leaves the range; in a tail, σ' is e⁻ˣ and not y·(1 − y). The
derivatives of a row are rows, or expressions in its value, so that finitely many steps are made for all orders: up to
the second derivative of a primitive each one is right to the last digits; above that the plain formulas are taken.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from diff.primitives import special_functions
from diff.primitives.row_makers import binary, in_numpy, unary
from diff.terms.elementwise import Binary, Primitive
from hilbert.arrays.kernels.kernel import Kernel

tanh = Primitive("tanh")
exp = Primitive("exp")
sigmoid = Primitive("sigmoid")
log = Primitive("log")
square = Primitive("square")
reciprocal = Primitive("reciprocal")


def _one_minus_square(y: Any) -> Any:
    t = y * y
    return np.subtract(1.0, t, out=t) if t.ndim else 1.0 - t


def _over_one_minus_square(y: Any) -> Any:
    return np.subtract(1.0, np.multiply(y, y, out=y), out=y)


one_minus: Primitive = unary(
    "1-x^2",
    lambda x, _: -2.0 * x,
    value=lambda _, x: special_functions.one_minus_square(x),
    in_numpy=in_numpy(lambda _, x: special_functions.one_minus_square(x)),
    formula="1−{a[0]}²",
    in_text="(1.0 - {0}) * (1.0 + {0})",
)

witch: Primitive = unary(
    "1/(x^2+1)",
    lambda x, y: -2.0 * (x * y) * y,
    value=lambda _, x: 1.0 / (x * x + 1.0),
    in_numpy=in_numpy(lambda _, x: 1.0 / (x * x + 1.0)),
    formula="1/({a[0]}²+1)",
    in_text="1.0 / ({0} ** 2 + 1.0)",
)

tanh_prime: Primitive = unary(
    "tanh'",
    lambda y, _: -2.0 * y,
    value=lambda _, y: 1.0 - y * y,
    in_numpy=lambda _: Kernel(_one_minus_square, (_over_one_minus_square,)),
    in_text="1.0 - {0} ** 2",
)

sech_squared: Primitive = unary(
    "sech^2",
    lambda x, y: -2.0 * y * tanh(x),
    value=special_functions.sech_squared,
    in_numpy=in_numpy(special_functions.sech_squared),
    formula="sech²({0})",
)

root_plus: Primitive = unary(
    "sqrt(x^2+1)",
    lambda x, y: x / y,
    value=lambda xp, x: xp.hypot(x, xp.ones_like(x)),
    formula="√({a[0]}²+1)",
    in_text="np.hypot({0}, 1.0)",
)

root_minus: Primitive = unary(
    "sqrt(x^2-1)",
    lambda x, y: x / y,
    value=lambda xp, x: xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0),
    formula="√({a[0]}²−1)",
    in_text="np.sqrt({0} - 1.0) * np.sqrt({0} + 1.0)",
)

sigmoid_slope: Primitive = unary(
    "slope of sigmoid",
    lambda x, y: -y * tanh(0.5 * x),
    value=special_functions.sigmoid_slope,
    text="σ'",
    in_numpy=in_numpy(special_functions.sigmoid_slope),
    formula="σ'({0})",
)

gelu_slope: Primitive = unary(
    "slope of gelu",
    lambda x, _: gelu_bend(x),
    value=special_functions.gelu_slope,
    text="gelu'",
    in_numpy=in_numpy(special_functions.gelu_slope),
    formula="gelu'({0})",
)

gelu_bend: Primitive = unary(
    "bend of gelu",
    lambda x, y: -x * (y + math.sqrt(2.0 / math.pi) * exp(-0.5 * square(x))),
    value=special_functions.gelu_bend,
    text="gelu''",
    in_numpy=in_numpy(special_functions.gelu_bend),
    formula="gelu''({0})",
)

half_over: Primitive = unary(  # its derivative at 0 stays NaN
    "0.5/x",
    lambda x, y: -(y / x),
    value=special_functions.half_over,
    text="0.5 /",
    domain="0 at 0",
)

length: Primitive = unary(  # of a sum of squares: its derivative at 0 is taken as 0
    "length",
    lambda _, y: half_over(y),
    text="√",
    domain="x ≥ 0",
    value=lambda xp, x: xp.sqrt(x),
    ufunc="sqrt",
    in_text="np.sqrt({0})",
)

unit: Binary = binary(  # of a and a length, of which it is a part: its derivatives at 0 stay infinite or NaN
    "x/|x|",
    lambda _, r, z: (reciprocal(r), -(z * reciprocal(r))),
    text="/",
    domain="0 at 0",
    value=special_functions.ratio,
    in_numpy=Kernel(special_functions.ratio_in_numpy, broadcasts=True),
)

quotient: Binary = binary(
    "quotient",
    lambda _, y, z: (reciprocal(y), -(z * reciprocal(y))),
    text="/",
    domain="y ≠ 0",
    value=lambda _, x, y: x / y,
    in_text="{0} / {1}",
)

power_slope: Binary = binary(
    "y x^(y-1)",
    lambda x, y, _: (power_bend(x, y), power_mixed(x, y)),
    text="pow'",
    domain="x > 0",
    value=special_functions.power_slope,
    formula="{p[1]}·pow({0}, {1}−1)",
)

power_bend: Binary = binary(
    "y (y-1) x^(y-2)",
    lambda x, y, z: (
        (y - 2.0) * z * reciprocal(x),
        (2.0 * y - 1.0) * power_less(x, y) * reciprocal(x) + log(x) * z,
    ),
    text="pow''",
    domain="x > 0",
    value=special_functions.power_bend,
    formula="{p[1]}·({1}−1)·pow({0}, {1}−2)",
)

power_log: Binary = binary(
    "x^y ln x",
    lambda x, y, _: (power_mixed(x, y), power_log_log(x, y)),
    text="pow'",
    domain="x > 0",
    value=partial(special_functions.power_log, j=1),
    formula="ln({0})·pow({0}, {1})",
)

power_log_log: Binary = binary(
    "x^y ln^2 x",
    lambda x, y, z: ((y * z + 2.0 * power_log(x, y)) * reciprocal(x), log(x) * z),
    text="pow''",
    domain="x > 0",
    value=partial(special_functions.power_log, j=2),
    formula="ln({0})²·pow({0}, {1})",
)

power_mixed: Binary = binary(
    "x^(y-1) (1+y ln x)",
    lambda x, y, z: (
        ((y - 1.0) * z + y * power_less(x, y)) * reciprocal(x),
        log(x) * (z + power_less(x, y)),
    ),
    text="pow''",
    domain="x > 0",
    value=special_functions.power_mixed,
    formula="({p[1]}·ln({0})+1)·pow({0}, {1}−1)",
)

power_less: Binary = binary(
    "x^(y-1)",
    lambda x, y, z: ((y - 1.0) * z * reciprocal(x), log(x) * z),
    text="pow",
    domain="x > 0",
    value=special_functions.power_less,
    formula="pow({0}, {1}−1)",
)

direction: Binary = binary(
    "x/hypot(x, y)",
    lambda x, y, c: (direction(y, x) * inverse_circle(y, x), -c * inverse_circle(y, x)),
    text="direction",
    domain="0 at 0",
    value=special_functions.direction,
    formula="{p[0]} / hypot({0}, {1})",
)

inverse_circle: Binary = binary(
    "x/(x^2+y^2)",
    lambda x, y, q: (inverse_circle_slope(x, y), -2.0 * q * inverse_circle(y, x)),
    text="inverse",
    domain="not both 0",
    value=special_functions.inverse_circle,
    formula="{p[0]} / ({a[0]}²+{a[1]}²)",
)

inverse_circle_slope: Binary = binary(
    "(y^2-x^2)/(x^2+y^2)^2",
    lambda x, y, _: (
        2.0 * inverse_circle(x, y) * (square(inverse_circle(x, y)) - 3.0 * square(inverse_circle(y, x))),
        2.0 * inverse_circle(y, x) * (3.0 * square(inverse_circle(x, y)) - square(inverse_circle(y, x))),
    ),
    text="inverse'",
    domain="not both 0",
    value=special_functions.inverse_circle_slope,
    formula="({a[1]}²−{a[0]}²) / ({a[0]}²+{a[1]}²)²",
)

share: Binary = binary(
    "e^x/(e^x+e^y)",
    lambda x, y, s: (s * share(y, x), -s * share(y, x)),
    text="share",
    domain="ℝ²",
    value=special_functions.share,
    formula="σ({0}−{p[1]})",
)
