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
| erf gelu | 2/√π·exp(−x²), Φ(x) + x·Φ'(x) for Φ the normal distribution | ℝ |
| stop_gradient | 0, of the value x | ℝ |
| divide(x, y) | 1/y, −(x/y)·(1/y) | y ≠ 0 |
| pow(x, y) | y·x^(y−1), ln x · x^y | x > 0; the limits at x = 0 |
| maximum minimum | 1 on the side taken, else 0 | x ≠ y; at x = y the left side is taken |
| hypot atan2 | x/r, y/r; y/r², −x/r² | not both 0 |
| logaddexp | σ(x − y), σ(y − x) | ℝ² |

Each formula is evaluated so that value, first and second derivatives keep their digits at every floating-point
argument: where a difference cancels or a square leaves the range, the derivative is a row of its own, without a public
name, with a value from `diff.vocabulary.special_functions`. 1 − y² of tanh is the exception: it is off by units in the
last place of 1, and costs no exponential; exact_tanh has the other slope.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from diff.terms.elementwise import RULES, Binary, Primitive, PrimitiveRule
from diff.trace.expr import Expr, number_like
from diff.vocabulary import special_functions
from hilbert import SpaceError
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import library
from hilbert.base.arity import require_taken
from hilbert.errors import number, shown

if TYPE_CHECKING:
    from collections.abc import Callable

E: TypeAlias = Expr[Any]


def _enter(rule: PrimitiveRule) -> None:
    if rule.name in RULES:
        msg = f"a primitive named {rule.name!r} is in the table already: give another name, or keep what register gave"
        raise SpaceError(msg)
    RULES[rule.name] = rule


def _unary(
    name: str,
    derivative: Callable[[E, E], E | float],
    *,
    value: Callable[[Any, Any], Any] | None = None,
    text: str | None = None,
    domain: str = "ℝ",
    ufunc: str | None = None,
    in_numpy: Callable[[tuple[float, ...]], Kernel] | None = None,
    fresh: bool = True,
    formula: str | None = None,
) -> Primitive:
    """A row; without `value` the primitive is the function of that name in every array namespace."""
    plain = value or (lambda xp, x: getattr(xp, name)(x))
    rule = PrimitiveRule(
        name,
        1,
        lambda xp, _, x: plain(xp, x),
        lambda _, args, y: (derivative(args[0], y),),
        text or name,
        domain,
        ufunc or (name if value is None else None),
        in_numpy,
        fresh,
        None if formula is None else lambda _: formula,
    )
    _enter(rule)
    return Primitive(name)


def _binary(
    name: str,
    derivatives: Callable[[E, E, E], tuple[E, E]],
    *,
    text: str,
    domain: str,
    value: Callable[[Any, Any, Any], Any] | None = None,
    formula: str | None = None,
) -> Binary:
    plain = value or (lambda xp, x, y: getattr(xp, name)(x, y))
    rule = PrimitiveRule(
        name,
        2,
        lambda xp, _, x, y: plain(xp, x, y),
        lambda _, args, z: derivatives(args[0], args[1], z),
        text,
        domain,
        name if value is None else None,
        None if value is None else lambda _: Kernel(partial(plain, np)),
        formula=None if formula is None else lambda _: formula,
    )
    _enter(rule)
    return Binary(name)


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

    return _unary(name, derivative, value=checked, domain=domain, fresh=False)


def _one_minus_square(y: Any) -> Any:
    t = y * y
    return np.subtract(1.0, t, out=t) if t.ndim else 1.0 - t


def _over_one_minus_square(y: Any) -> Any:
    return np.subtract(1.0, np.multiply(y, y, out=y), out=y)


def _relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, xp.zeros_like(x))


def _sigmoid_in_numpy(x: Any) -> Any:
    e = np.minimum(x, special_functions.FAR)
    if not e.ndim:
        e = np.exp(e)
        return e / (e + 1.0)
    np.exp(e, out=e)
    return np.divide(e, e + 1.0, out=e)


def _in_numpy(value: Callable[[Any, Any], Any]) -> Callable[[tuple[float, ...]], Kernel]:
    """A value that is known to be made entry by entry."""
    return lambda _: Kernel(partial(value, np))


sin: Primitive = _unary("sin", lambda x, _: cos(x))
cos: Primitive = _unary("cos", lambda x, _: -sin(x))
tan: Primitive = _unary("tan", lambda _, y: square(y) + 1.0, domain="cos x ≠ 0")
asin: Primitive = _unary("asin", lambda x, _: reciprocal(sqrt(_one_minus(x))), domain="|x| < 1", text="arcsin")
acos: Primitive = _unary("acos", lambda x, _: -reciprocal(sqrt(_one_minus(x))), domain="|x| < 1", text="arccos")
atan: Primitive = _unary("atan", lambda x, _: _witch(x), text="arctan")
_one_minus: Primitive = _unary(
    "1-x^2",
    lambda x, _: -2.0 * x,
    value=lambda _, x: special_functions.one_minus_square(x),
    in_numpy=_in_numpy(lambda _, x: special_functions.one_minus_square(x)),
    formula="1−{a[0]}²",
)
_witch: Primitive = _unary(
    "1/(x^2+1)",
    lambda x, y: -2.0 * (x * y) * y,
    value=lambda _, x: 1.0 / (x * x + 1.0),
    in_numpy=_in_numpy(lambda _, x: 1.0 / (x * x + 1.0)),
    formula="1/({a[0]}²+1)",
)
sinh: Primitive = _unary("sinh", lambda x, _: cosh(x))
cosh: Primitive = _unary("cosh", lambda x, _: sinh(x))
tanh: Primitive = _unary("tanh", lambda _, y: _tanh_prime(y))
_tanh_prime: Primitive = _unary(
    "tanh'",
    lambda y, _: -2.0 * y,
    value=lambda _, y: 1.0 - y * y,
    in_numpy=lambda _: Kernel(_one_minus_square, (_over_one_minus_square,)),
)
exact_tanh: Primitive = _unary(
    "exact_tanh", lambda x, _: _sech_squared(x), value=lambda xp, x: xp.tanh(x), ufunc="tanh", text="tanh"
)
_sech_squared: Primitive = _unary(
    "sech^2",
    lambda x, y: -2.0 * y * tanh(x),
    value=special_functions.sech_squared,
    in_numpy=_in_numpy(special_functions.sech_squared),
    formula="sech²({0})",
)
asinh: Primitive = _unary("asinh", lambda x, _: reciprocal(_root_plus(x)), text="arsinh")
acosh: Primitive = _unary("acosh", lambda x, _: reciprocal(_root_minus(x)), domain="x > 1", text="arcosh")
atanh: Primitive = _unary("atanh", lambda x, _: reciprocal(_one_minus(x)), domain="|x| < 1", text="artanh")
_root_plus: Primitive = _unary(
    "sqrt(x^2+1)", lambda x, y: x / y, value=lambda xp, x: xp.hypot(x, xp.ones_like(x)), formula="√({a[0]}²+1)"
)
_root_minus: Primitive = _unary(
    "sqrt(x^2-1)",
    lambda x, y: x / y,
    value=lambda xp, x: xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0),
    formula="√({a[0]}²−1)",
)
exp: Primitive = _unary("exp", lambda _, y: y)
expm1: Primitive = _unary("expm1", lambda x, _: exp(x))
log: Primitive = _unary("log", lambda x, _: reciprocal(x), domain="x > 0", text="ln")
log2: Primitive = _unary("log2", lambda x, _: (1.0 / math.log(2.0)) * reciprocal(x), domain="x > 0")
log10: Primitive = _unary("log10", lambda x, _: reciprocal(math.log(10.0) * x), domain="x > 0")
log1p: Primitive = _unary("log1p", lambda x, _: reciprocal(x + 1.0), domain="x > −1")
sqrt: Primitive = _unary("sqrt", lambda _, y: 0.5 * reciprocal(y), domain="x > 0", text="√")
square: Primitive = _unary("square", lambda x, _: 2.0 * x)
reciprocal: Primitive = _unary(
    "reciprocal", lambda _, y: -square(y), value=lambda _, x: 1.0 / x, domain="x ≠ 0", ufunc="reciprocal"
)
absolute: Primitive = _unary(
    "absolute", lambda x, _: sign(x), value=lambda xp, x: xp.abs(x), ufunc="absolute", text="abs"
)
sign: Primitive = _unary("sign", lambda x, _: number_like(x, 0.0))
relu: Primitive = _unary("relu", lambda x, _: x > 0.0, value=_relu, domain="x ≠ 0; derivative 0 at 0")
sigmoid: Primitive = _unary(
    "sigmoid",
    lambda x, _: _sigmoid_slope(x),
    value=special_functions.sigmoid,
    text="σ",
    in_numpy=lambda _: Kernel(_sigmoid_in_numpy),
)
_sigmoid_slope: Primitive = _unary(
    "slope of sigmoid",
    lambda x, y: -y * tanh(0.5 * x),
    value=special_functions.sigmoid_slope,
    text="σ'",
    in_numpy=_in_numpy(special_functions.sigmoid_slope),
    formula="σ'({0})",
)
softplus: Primitive = _unary(
    "softplus",
    lambda x, _: sigmoid(x),
    value=special_functions.softplus,
    in_numpy=_in_numpy(special_functions.softplus),
)
erf: Primitive = _unary("erf", lambda x, _: (2.0 / math.sqrt(math.pi)) * exp(-square(x)), value=special_functions.erf)
gelu: Primitive = _unary(
    "gelu", lambda x, _: _gelu_slope(x), value=special_functions.gelu, in_numpy=_in_numpy(special_functions.gelu)
)
_gelu_slope: Primitive = _unary(
    "slope of gelu",
    lambda x, _: _gelu_bend(x),
    value=special_functions.gelu_slope,
    text="gelu'",
    in_numpy=_in_numpy(special_functions.gelu_slope),
    formula="gelu'({0})",
)
_gelu_bend: Primitive = _unary(
    "bend of gelu",
    lambda x, y: -x * (y + math.sqrt(2.0 / math.pi) * exp(-0.5 * square(x))),
    value=special_functions.gelu_bend,
    text="gelu''",
    in_numpy=_in_numpy(special_functions.gelu_bend),
    formula="gelu''({0})",
)
stop_gradient: Primitive = _unary(
    "stop_gradient", lambda x, _: number_like(x, 0.0), value=lambda _, x: x, text="stop", fresh=False
)

divide: Binary = _binary("divide", lambda _, y, z: (reciprocal(y), -_quotient(z, y)), text="/", domain="y ≠ 0")
_quotient: Binary = _binary(
    "quotient",
    lambda _, y, z: (reciprocal(y), -(z * reciprocal(y))),
    text="/",
    domain="y ≠ 0",
    value=lambda _, x, y: x / y,
)
pow: Binary = _binary(  # noqa: A001 - the standard name
    "pow", lambda x, y, _: (_power_slope(x, y), _power_log(x, y)), text="pow", domain="x > 0"
)
_power_slope: Binary = _binary(
    "y x^(y-1)",
    lambda x, y, _: (_power_bend(x, y), _power_mixed(x, y)),
    text="pow'",
    domain="x > 0",
    value=special_functions.power_slope,
    formula="{p[1]}·pow({0}, {1}−1)",
)
_power_bend: Binary = _binary(
    "y (y-1) x^(y-2)",
    lambda x, y, z: (
        (y - 2.0) * z * reciprocal(x),
        (2.0 * y - 1.0) * _power_less(x, y) * reciprocal(x) + log(x) * z,
    ),
    text="pow''",
    domain="x > 0",
    value=special_functions.power_bend,
    formula="{p[1]}·({1}−1)·pow({0}, {1}−2)",
)
_power_log: Binary = _binary(
    "x^y ln x",
    lambda x, y, _: (_power_mixed(x, y), _power_log_log(x, y)),
    text="pow'",
    domain="x > 0",
    value=partial(special_functions.power_log, j=1),
    formula="ln({0})·pow({0}, {1})",
)
_power_log_log: Binary = _binary(
    "x^y ln^2 x",
    lambda x, y, z: ((y * z + 2.0 * _power_log(x, y)) * reciprocal(x), log(x) * z),
    text="pow''",
    domain="x > 0",
    value=partial(special_functions.power_log, j=2),
    formula="ln({0})²·pow({0}, {1})",
)
_power_mixed: Binary = _binary(
    "x^(y-1) (1+y ln x)",
    lambda x, y, z: (
        ((y - 1.0) * z + y * _power_less(x, y)) * reciprocal(x),
        log(x) * (z + _power_less(x, y)),
    ),
    text="pow''",
    domain="x > 0",
    value=special_functions.power_mixed,
    formula="({p[1]}·ln({0})+1)·pow({0}, {1}−1)",
)
_power_less: Binary = _binary(
    "x^(y-1)",
    lambda x, y, z: ((y - 1.0) * z * reciprocal(x), log(x) * z),
    text="pow",
    domain="x > 0",
    value=special_functions.power_less,
    formula="pow({0}, {1}−1)",
)
maximum: Binary = _binary(
    "maximum", lambda x, y, _: (x >= y, y > x), text="max", domain="x ≠ y; the left side at x = y"
)
minimum: Binary = _binary(
    "minimum", lambda x, y, _: (x <= y, y < x), text="min", domain="x ≠ y; the left side at x = y"
)
hypot: Binary = _binary(
    "hypot", lambda x, y, _: (_direction(x, y), _direction(y, x)), text="hypot", domain="not both 0"
)
_direction: Binary = _binary(
    "x/hypot(x, y)",
    lambda x, y, c: (_direction(y, x) * _inverse_circle(y, x), -c * _inverse_circle(y, x)),
    text="direction",
    domain="not both 0",
    value=special_functions.direction,
    formula="{p[0]} / hypot({0}, {1})",
)
atan2: Binary = _binary(
    "atan2",
    lambda x, y, _: (_inverse_circle(y, x), -_inverse_circle(x, y)),
    text="arctan2",
    domain="not both 0",
)
_inverse_circle: Binary = _binary(
    "x/(x^2+y^2)",
    lambda x, y, q: (_inverse_circle_slope(x, y), -2.0 * q * _inverse_circle(y, x)),
    text="inverse",
    domain="not both 0",
    value=special_functions.inverse_circle,
    formula="{p[0]} / ({a[0]}²+{a[1]}²)",
)
_inverse_circle_slope: Binary = _binary(
    "(y^2-x^2)/(x^2+y^2)^2",
    lambda x, y, _: (
        2.0 * _inverse_circle(x, y) * (square(_inverse_circle(x, y)) - 3.0 * square(_inverse_circle(y, x))),
        2.0 * _inverse_circle(y, x) * (3.0 * square(_inverse_circle(x, y)) - square(_inverse_circle(y, x))),
    ),
    text="inverse'",
    domain="not both 0",
    value=special_functions.inverse_circle_slope,
    formula="({a[1]}²−{a[0]}²) / ({a[0]}²+{a[1]}²)²",
)
logaddexp: Binary = _binary("logaddexp", lambda x, y, _: (_share(x, y), _share(y, x)), text="logaddexp", domain="ℝ²")
_share: Binary = _binary(
    "e^x/(e^x+e^y)",
    lambda x, y, s: (s * _share(y, x), -s * _share(y, x)),
    text="share",
    domain="ℝ²",
    value=special_functions.share,
    formula="σ({0}−{p[1]})",
)


def _power_prime(k: float, x: E, y: E) -> E:
    """k·x^(k−1), finite at x = 0 for k ≥ 1; for k < 0 without a new power, so that derivatives of all orders share."""
    if k in {0.0, 1.0}:
        return number_like(x, k)
    return k * x ** (k - 1.0) if k > 0.0 else k * y * reciprocal(x)


_enter(
    PrimitiveRule(
        "power",
        1,
        lambda _, params, x: x ** params[0],
        lambda params, args, y: (_power_prime(params[0], args[0], y),),
        "power",
        "as numpy's power",
        in_numpy=lambda params: Kernel(lambda x: np.pow(x, params[0])),
    )
)


def power(k: float) -> Primitive:
    """x ↦ x^k for a constant k; (_^k)'(x) = (k·x^(k−1) ·)."""
    exponent = number(k)
    if exponent is None:
        msg = f"power takes a number, not {shown(k)}; pow(x, y) has an exponent that varies"
        raise SpaceError(msg)
    return Primitive("power", (exponent,))


for _name, _text, _arity in (
    ("greater", ">", 2),
    ("greater_equal", "≥", 2),
    ("less", "<", 2),
    ("less_equal", "≤", 2),
    ("equal", "=", 2),
    ("not_equal", "≠", 2),
    ("logical_and", "∧", 2),
    ("logical_or", "∨", 2),
    ("logical_not", "¬", 1),
):
    _enter(
        PrimitiveRule(
            _name,
            _arity,
            lambda xp, _, *args, _name=_name: getattr(xp, _name)(*args),
            None,
            _text,
            "discrete: tangent 0",
            _name if _arity == 2 else None,  # binary
        )
    )

_NAMED = {name: p for name, p in globals().items() if not name.startswith("_")}
PRIMITIVES: tuple[Primitive, ...] = tuple(p for p in _NAMED.values() if type(p) is Primitive)
"""The primitives of one argument, in the order of the table."""
BINARY: tuple[Binary, ...] = tuple(p for p in _NAMED.values() if type(p) is Binary)
"""Those of two."""
