r"""Scalar primitives p : K → K (paper §3.4–3.6): an open table of values, derivatives and domains.

A derivative is an expression of the language in the argument x and the value y, so that it differentiates again:
sin'(x) = (cos x ·), tanh'(x) = (1 − y² ·). Outside its domain a primitive follows numpy: NaN or ±∞, and its warning.

| primitive | derivative | domain of the derivative |
|---|---|---|
| sin cos tan | cos x, −sin x, 1 + y² | ℝ (tan: where cos x ≠ 0) |
| asin acos atan | ±1/√(1−x²), 1/(1+x²) | \|x\| < 1; ℝ |
| sinh cosh tanh | cosh x, sinh x, 1 − y² | ℝ |
| asinh acosh atanh | 1/√(x²+1), 1/√(x²−1), 1/(1−x²) | ℝ; x > 1; \|x\| < 1 |
| exact_tanh | 1/cosh² x | ℝ |
| exp expm1 | y, exp x | ℝ |
| log log2 log10 log1p | 1/x, 1/(x ln 2), 1/(x ln 10), 1/(1+x) | x > 0; x > −1 |
| sqrt | 1/(2y) | x > 0 (∞ at 0) |
| square reciprocal power(k) | 2x, −y², k·x^(k−1), for k < 0 as k·y·(1/x) | ℝ; x ≠ 0; as numpy's power |
| absolute sign | sign x, 0 | x ≠ 0; the derivative at 0 is taken as 0 |
| relu | 1 for x > 0, else 0 | x ≠ 0; at 0 it is taken as 0 |
| sigmoid softplus | σ(x)·σ(−x), sigmoid x | ℝ |
| log_sigmoid | σ(−x) | ℝ |
| erf gelu | 2/√π·exp(−x²), Φ(x) + x·Φ'(x) for Φ the normal distribution | ℝ |
| erfc erfcx | −2/√π·exp(−x²), 2x·y − 2/√π | ℝ |
| log_ndtr ndtri | φ(x)/Φ(x), 1/φ(y) for φ = Φ' | ℝ; 0 < x < 1 |
| lgamma digamma polygamma(n, _) | ψ = digamma x, ψ' = polygamma(1, x), ψ⁽ⁿ⁺¹⁾ | x ≠ 0, −1, −2, … |
| betaln(x, y) | ψ(x) − ψ(x+y), ψ(y) − ψ(x+y) | x, y > 0 |
| i0e i1e | i1e x − sign x·y, i0e x − y/x − sign x·y | x ≠ 0; at 0 they are 0 and 1/2, of order 4 and 5 NaN |
| sinc | (cos πx − y)/x, 0 at 0 | ℝ |
| xlogy(x, y) entr | ln y, x/y (0 for x = 0); −ln x − 1 | y > 0; x > 0 |
| stop_gradient | 0, of the value x | ℝ |
| divide(x, y) | 1/y, −(x/y)·(1/y) | y ≠ 0 |
| pow(x, y) | y·x^(y−1), ln x · x^y | x > 0; the limits at x = 0 |
| maximum minimum | 1 on the side taken, else 0 | x ≠ y; at x = y the left side is taken |
| hypot | x/r, y/r | not both 0; at 0 they are taken as 0 |
| atan2 | y/r², −x/r² | not both 0 |
| logaddexp | σ(x − y), σ(y − x) | ℝ² |

Each formula is evaluated so that value, first and second derivatives keep their digits at every floating-point
argument: where a difference cancels or a square leaves the range, the derivative is a row of its own, without a public
name, with a value from `diff.primitives.special_functions`. 1 − y² of tanh is the exception: it is off by units in the
last place of 1, and costs no exponential; exact_tanh has the other slope. Other differences are off by
units in the last place of their terms: lgamma and digamma near their zeros, betaln and its slopes where one argument is
small beside the other, slopes of i0e and i1e far out.

lgamma, digamma, polygamma, betaln, ndtri, i0e and i1e are scipy's on arrays of numpy (the extra hilbert[special]), and
on arrays of cupy, JAX and torch the functions of these; compiled programs call them as the interpreter does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.primitives import error_functions, library_functions, slope_rows, special_functions, special_rows
from diff.primitives.row_makers import E, binary, called, called_of_two, enter, in_numpy, unary
from diff.terms.elementwise import Binary, Primitive, PrimitiveRule, Q
from diff.trace.expr import number_like
from hilbert import SpaceError
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import library
from hilbert.base.arity import require_taken
from hilbert.errors import number, shown

if TYPE_CHECKING:
    from collections.abc import Callable


def register(
    name: str, value: Callable[[Any, Any], Any], derivative: Callable[[E, E], E | float], *, domain: str = "ℝ"
) -> Primitive:
    """A primitive of your own: value(xp, x) in any array namespace, derivative(x, y) as an expression of the language.

    The value function cannot write into x. A derivative that is a number everywhere may be that number: 0.0 lets no
    gradient through, and costs none. It is pickled by name, so register it in every process. Raises SpaceError if the
    name is taken, and where it is used: if the value is not an array of the argument's shape and dtype, the derivative
    not an expression of its space.
    """
    if not isinstance(name, str) or not callable(value) or not callable(derivative):
        what = f"{shown(name)}, {shown(value)} and {shown(derivative)}"
        msg = f"register(name, value, derivative) takes a string and two functions, not {what}"
        raise SpaceError(msg)
    require_taken(f"the value of primitive {name}", value, ["xp", "x"])
    require_taken(f"the derivative of primitive {name}", derivative, ["x", "y"])

    def checked(xp: Any, x: Any) -> Any:
        y = value(xp, library(x).guarded(x))
        if getattr(y, "shape", None) != x.shape or y.dtype != x.dtype:
            msg = f"the value of primitive {name} at {shown(x)} is {shown(y)}: shape and dtype must be the argument's"
            raise SpaceError(msg)
        return y

    return unary(name, derivative, value=checked, domain=domain, fresh=False, is_known=False)


def _relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, xp.zeros_like(x))


def _sigmoid_in_numpy(x: Any) -> Any:
    e = np.minimum(x, special_functions.FAR)
    if not e.ndim:
        e = np.exp(e)
        return e / (e + 1.0)
    np.exp(e, out=e)
    return np.divide(e, e + 1.0, out=e)


sin: Primitive = unary("sin", lambda x, _: cos(x))
cos: Primitive = unary("cos", lambda x, _: -sin(x))
tan: Primitive = unary("tan", lambda _, y: square(y) + 1.0, domain="cos x ≠ 0")
asin: Primitive = unary("asin", lambda x, _: reciprocal(sqrt(slope_rows.one_minus(x))), domain="|x| < 1", text="arcsin")
acos: Primitive = unary(
    "acos", lambda x, _: -reciprocal(sqrt(slope_rows.one_minus(x))), domain="|x| < 1", text="arccos"
)
atan: Primitive = unary("atan", lambda x, _: slope_rows.witch(x), text="arctan")
sinh: Primitive = unary("sinh", lambda x, _: cosh(x))
cosh: Primitive = unary("cosh", lambda x, _: sinh(x))
tanh: Primitive = unary("tanh", lambda _, y: slope_rows.tanh_prime(y))
exact_tanh: Primitive = unary(
    "exact_tanh",
    lambda x, _: slope_rows.sech_squared(x),
    value=lambda xp, x: xp.tanh(x),
    ufunc="tanh",
    text="tanh",
    in_text="np.tanh({0})",
)
asinh: Primitive = unary("asinh", lambda x, _: reciprocal(slope_rows.root_plus(x)), text="arsinh")
acosh: Primitive = unary("acosh", lambda x, _: reciprocal(slope_rows.root_minus(x)), domain="x > 1", text="arcosh")
atanh: Primitive = unary("atanh", lambda x, _: reciprocal(slope_rows.one_minus(x)), domain="|x| < 1", text="artanh")
exp: Primitive = unary("exp", lambda _, y: y)
expm1: Primitive = unary("expm1", lambda x, _: exp(x))
log: Primitive = unary("log", lambda x, _: reciprocal(x), domain="x > 0", text="ln", after=("sigmoid", "log_sigmoid"))
log2: Primitive = unary("log2", lambda x, _: (1.0 / math.log(2.0)) * reciprocal(x), domain="x > 0")
log10: Primitive = unary("log10", lambda x, _: reciprocal(math.log(10.0) * x), domain="x > 0")
log1p: Primitive = unary("log1p", lambda x, _: reciprocal(x + 1.0), domain="x > −1")
sqrt: Primitive = unary("sqrt", lambda _, y: 0.5 * reciprocal(y), domain="x > 0", text="√")
square: Primitive = unary("square", lambda x, _: 2.0 * x, in_text="{0} ** 2")
reciprocal: Primitive = unary(
    "reciprocal",
    lambda _, y: -square(y),
    value=lambda _, x: 1.0 / x,
    domain="x ≠ 0",
    ufunc="reciprocal",
    in_text="1.0 / {0}",
)
absolute: Primitive = unary(
    "absolute", lambda x, _: sign(x), value=lambda xp, x: xp.abs(x), ufunc="absolute", text="abs", in_text="np.abs({0})"
)
sign: Primitive = unary("sign", lambda x, _: number_like(x, 0.0))
relu: Primitive = unary(
    "relu", lambda x, _: x > 0.0, value=_relu, domain="x ≠ 0; derivative 0 at 0", in_text="np.maximum({0}, 0.0)"
)
sigmoid: Primitive = unary(
    "sigmoid",
    lambda x, _: slope_rows.sigmoid_slope(x),
    value=special_functions.sigmoid,
    text="σ",
    in_numpy=lambda _: Kernel(_sigmoid_in_numpy),
)
softplus: Primitive = unary(
    "softplus",
    lambda x, _: sigmoid(x),
    value=special_functions.softplus,
    in_numpy=in_numpy(special_functions.softplus),
)
log_sigmoid: Primitive = unary(
    "log_sigmoid",
    lambda x, _: sigmoid(-x),
    value=special_functions.log_sigmoid,
    text="ln σ",
    in_numpy=in_numpy(special_functions.log_sigmoid),
    formula="ln σ({0})",
)
erf: Primitive = unary("erf", lambda x, _: (2.0 / math.sqrt(math.pi)) * exp(-square(x)), value=special_functions.erf)
erfc: Primitive = unary(
    "erfc",
    lambda x, _: (-2.0 / math.sqrt(math.pi)) * exp(-square(x)),
    value=error_functions.erfc,
    in_numpy=in_numpy(error_functions.erfc),
)
erfcx: Primitive = unary(
    "erfcx",
    lambda x, _: special_rows.erfcx_slope(x),
    value=error_functions.erfcx,
    in_numpy=in_numpy(error_functions.erfcx),
)
log_ndtr: Primitive = unary(
    "log_ndtr",
    lambda x, _: special_rows.mills(x),
    value=error_functions.log_ndtr,
    text="ln Φ",
    in_numpy=in_numpy(error_functions.log_ndtr),
    formula="ln Φ({0})",
)
ndtri: Primitive = called(
    "ndtri",
    lambda _, y: math.sqrt(2.0 * math.pi) * exp(0.5 * square(y)),
    "ndtri",
    domain="0 < x < 1",
    text="Φ⁻¹",
)
lgamma: Primitive = called(
    "lgamma",
    lambda x, _: digamma(x),
    "gammaln",
    domain="x ≠ 0, −1, −2, …",
    text="ln Γ",
)
digamma: Primitive = called(
    "digamma",
    lambda x, _: Primitive("polygamma", (1.0,))(x),
    "digamma",
    domain="x ≠ 0, −1, −2, …",
    text="ψ",
)
i0e: Primitive = called(
    "i0e",
    lambda x, y: i1e(x) - sign(x) * y,
    "i0e",
    domain="x ≠ 0; slope 0 at 0",
)
i1e: Primitive = called(
    "i1e",
    lambda x, y: i0e(x) - special_rows.first_bessel_ratio(x) - sign(x) * y,
    "i1e",
)
sinc: Primitive = unary(
    "sinc",
    lambda x, _: (-(math.pi**2)) * x * special_rows.sinc_ratio(1.0)(x),
    value=library_functions.sinc,
    in_numpy=in_numpy(library_functions.sinc),
)
entr: Primitive = unary(
    "entr",
    lambda x, _: -log(x) - 1.0,
    value=library_functions.entr,
    domain="x > 0",
    in_numpy=in_numpy(library_functions.entr),
)
gelu: Primitive = unary(
    "gelu",
    lambda x, _: slope_rows.gelu_slope(x),
    value=special_functions.gelu,
    in_numpy=in_numpy(special_functions.gelu),
)
stop_gradient: Primitive = unary(
    "stop_gradient", lambda x, _: number_like(x, 0.0), value=lambda _, x: x, text="stop", fresh=False, in_text="{0}"
)

divide: Binary = binary(
    "divide", lambda _, y, z: (reciprocal(y), -slope_rows.quotient(z, y)), text="/", domain="y ≠ 0", in_text="{0} / {1}"
)
pow: Binary = binary(  # noqa: A001 - the standard name
    "pow", lambda x, y, _: (slope_rows.power_slope(x, y), slope_rows.power_log(x, y)), text="pow", domain="x > 0"
)
maximum: Binary = binary("maximum", lambda x, y, _: (x >= y, y > x), text="max", domain="x ≠ y; the left side at x = y")
minimum: Binary = binary("minimum", lambda x, y, _: (x <= y, y < x), text="min", domain="x ≠ y; the left side at x = y")
hypot: Binary = binary(
    "hypot",
    lambda x, y, _: (slope_rows.direction(x, y), slope_rows.direction(y, x)),
    text="hypot",
    domain="not both 0; slopes 0 there",
)
atan2: Binary = binary(
    "atan2",
    lambda x, y, _: (slope_rows.inverse_circle(y, x), -slope_rows.inverse_circle(x, y)),
    text="arctan2",
    domain="not both 0",
)
logaddexp: Binary = binary(
    "logaddexp", lambda x, y, _: (slope_rows.share(x, y), slope_rows.share(y, x)), text="logaddexp", domain="ℝ²"
)
xlogy: Binary = binary(
    "xlogy",
    lambda x, y, _: (log(y), special_rows.xdivy(x, y)),
    text="xlogy",
    domain="y > 0",
    value=library_functions.xlogy,
)
betaln: Binary = called_of_two(
    "betaln",
    lambda x, y, _: (digamma(x) - digamma(x + y), digamma(y) - digamma(x + y)),
    "betaln",
    text="ln B",
    domain="x, y > 0",
)


def _power_prime(k: float, x: E, y: E) -> E:
    """k·x^(k−1), finite at x = 0 for k ≥ 1; for k < 0 without a new power, so that derivatives of all orders share."""
    if k in {0.0, 1.0}:
        return number_like(x, k)
    return k * x ** (k - 1.0) if k > 0.0 else k * y * reciprocal(x)


enter(
    PrimitiveRule(
        "power",
        1,
        lambda _, params, x: x ** params[0],
        lambda params, args, y: (_power_prime(params[0], args[0], y),),
        "(_^{k})",
        "as numpy's power",
        in_numpy=lambda params: Kernel(lambda x: np.pow(x, params[0])),
        is_finite=lambda params: params[0] >= 0.0 and params[0].is_integer(),
        in_text="{0} ** {p}",
    )
)


def power(k: float) -> Primitive:
    """x ↦ x^k for a constant k; (_^k)'(x) = (k·x^(k−1) ·)."""
    exponent = number(k)
    if exponent is None:
        msg = f"power takes a number, not {shown(k)}; pow(x, y) has an exponent that varies"
        raise SpaceError(msg)
    return Primitive("power", (exponent,))


def polygamma(n: int, x: Q) -> Q:
    """The derivative of order n of digamma, a constant whole number ≥ 0, entry by entry.

    Raises SpaceError for another order, and where digamma does.
    """
    order = number(n)
    if order is None or order < 0.0 or not order.is_integer():
        raise SpaceError(f"polygamma takes an order and a vector, polygamma(1, x), not the order {shown(n)}")
    return (Primitive("polygamma", (order,)) if order else digamma)(x)


for _name, _text, _arity, _in_text in (
    ("greater", ">", 2, "{0} > {1}"),
    ("greater_equal", "≥", 2, "{0} >= {1}"),
    ("less", "<", 2, "{0} < {1}"),
    ("less_equal", "≤", 2, "{0} <= {1}"),
    ("equal", "=", 2, "{0} == {1}"),
    ("not_equal", "≠", 2, "{0} != {1}"),
    ("logical_and", "∧", 2, "{0} & {1}"),
    ("logical_or", "∨", 2, "{0} | {1}"),
    ("logical_not", "¬", 1, "np.logical_not({0})"),
):
    enter(
        PrimitiveRule(
            _name,
            _arity,
            lambda xp, _, *args, _name=_name: getattr(xp, _name)(*args),
            None,
            _text,
            "discrete: tangent 0",
            _name if _arity == 2 else None,  # binary
            in_text=_in_text,
        )
    )

_NAMED = {name: p for name, p in globals().items() if not name.startswith("_")}
PRIMITIVES: tuple[Primitive, ...] = tuple(p for p in _NAMED.values() if type(p) is Primitive)
"""The primitives of one argument, in the order of the table."""
BINARY: tuple[Binary, ...] = tuple(p for p in _NAMED.values() if type(p) is Binary)
"""The primitives of two arguments, in the order of the table."""
