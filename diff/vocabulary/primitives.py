r"""Scalar primitives p : K → K (paper §3.4–3.6): an open table of values, derivatives and domains.

A derivative is an expression of the language in the argument x and the value y, so that it differentiates again:
sin'(x) = (cos x ·), tanh'(x) = (1 − y² ·). Outside its domain a primitive follows numpy: NaN or ±∞, and its warning.

| primitive | derivative | domain of the derivative |
|---|---|---|
| sin cos tan | cos x, −sin x, 1 + y² | ℝ (tan: where cos x ≠ 0) |
| asin acos atan | ±1/√(1−x²), 1/(1+x²) | \|x\| < 1; ℝ |
| sinh cosh tanh | cosh x, sinh x, 1 − y² | ℝ |
| asinh acosh atanh | 1/√(x²+1), 1/√(x²−1), 1/(1−x²) | ℝ; x > 1; \|x\| < 1 |
| exp expm1 | y, y + 1 | ℝ |
| log log2 log10 log1p | 1/x, 1/(x ln 2), 1/(x ln 10), 1/(1+x) | x > 0; x > −1 |
| sqrt | 1/(2y) | x > 0 (∞ at 0) |
| square reciprocal power(k) | 2x, −y², k·x^(k−1), for k < 0 as k·y·(1/x) | ℝ; x ≠ 0; as numpy's power |
| absolute sign | sign x, 0 | x ≠ 0; the derivative at 0 is taken as 0 |
| relu | 1 for x > 0, else 0 | x ≠ 0; at 0 it is taken as 0 |
| sigmoid softplus | y(1−y), sigmoid x | ℝ |
| erf gelu | 2/√π·exp(−x²), Φ(x) + x·Φ'(x) for Φ the normal distribution | ℝ |
| stop_gradient | 0, of the value x | ℝ |
| divide(x, y) | 1/y, −(x/y)·(1/y) | y ≠ 0 |
| pow(x, y) | y·x^(y−1), ln x · x^y | x > 0 |
| maximum minimum | 1 on the side taken, else 0 | x ≠ y; at x = y the left side is taken |
| hypot | x/r, y/r | not both 0; at 0 they are taken as 0 |
| atan2 | y/r², −x/r² | not both 0 |
| logaddexp | exp(x − z), exp(y − z) | ℝ² |
"""

from __future__ import annotations

import math
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
FINITE = {
    "sin",
    "cos",
    "atan",
    "tanh",
    "tanh'",
    "asinh",
    "absolute",
    "sign",
    "relu",
    "sigmoid",
    "sigmoid'",
    "softplus",
    "erf",
    "gelu",
    "stop_gradient",
    "square",
    "maximum",
    "minimum",
    "logaddexp",
}
"""The rows whose values and derivatives of all orders are finite at finite arguments."""


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
        lambda _: name in FINITE,
    )
    _enter(rule)
    return Primitive(name)


def _binary(
    name: str,
    derivatives: Callable[[E, E, E], tuple[E, E]],
    *,
    text: str,
    domain: str,
    ufunc: str | None = None,
    value: Callable[[Any, Any, Any], Any] | None = None,
) -> Binary:
    call = ufunc or name
    plain = value or (lambda xp, x, y: getattr(xp, call)(x, y))
    rule = PrimitiveRule(
        name,
        2,
        lambda xp, _, x, y: plain(xp, x, y),
        lambda _, args, z: derivatives(args[0], args[1], z),
        text,
        domain,
        None if value else call,
        is_finite=lambda _: name in FINITE,
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


ONE = 40.0
"""From here on σ is 1, in double precision too."""


def _sigmoid(xp: Any, x: Any) -> Any:
    """exp x/(1 + exp x): small values keep their digits, and nothing overflows."""
    e = xp.exp(xp.minimum(x, xp.full_like(x, ONE)))
    return e / (e + 1.0)


def _sigmoid_in_numpy(x: Any) -> Any:
    e = np.minimum(x, ONE)
    if not e.ndim:
        e = np.exp(e)
        return e / (e + 1.0)
    np.exp(e, out=e)
    return np.divide(e, e + 1.0, out=e)


def _gelu(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1.0 + special_functions.erf(xp, x * math.sqrt(0.5)))


def _gelu_prime(x: E) -> E:
    density = (1.0 / math.sqrt(2.0 * math.pi)) * exp(-0.5 * square(x))
    return 0.5 * (erf(math.sqrt(0.5) * x) + 1.0) + x * density


def _ratio(xp: Any, x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    zero = y == 0.0
    return xp.where(zero, xp.zeros_like(y), x / xp.where(zero, xp.ones_like(y), y))


def _softplus(xp: Any, x: Any) -> Any:
    return xp.logaddexp(x, xp.zeros_like(x))


sin: Primitive = _unary("sin", lambda x, _: cos(x))
cos: Primitive = _unary("cos", lambda x, _: -sin(x))
tan: Primitive = _unary("tan", lambda _, y: square(y) + 1.0, domain="cos x ≠ 0")
asin: Primitive = _unary("asin", lambda x, _: 1.0 / sqrt(1.0 - square(x)), domain="|x| < 1", text="arcsin")
acos: Primitive = _unary("acos", lambda x, _: -1.0 / sqrt(1.0 - square(x)), domain="|x| < 1", text="arccos")
atan: Primitive = _unary("atan", lambda x, _: 1.0 / (square(x) + 1.0), text="arctan")
sinh: Primitive = _unary("sinh", lambda x, _: cosh(x))
cosh: Primitive = _unary("cosh", lambda x, _: sinh(x))
tanh: Primitive = _unary("tanh", lambda _, y: _tanh_prime(y))
_tanh_prime: Primitive = _unary(
    "tanh'",
    lambda y, _: -2.0 * y,
    value=lambda _, y: 1.0 - y * y,
    in_numpy=lambda _: Kernel(_one_minus_square, (_over_one_minus_square,)),
)
asinh: Primitive = _unary("asinh", lambda x, _: 1.0 / sqrt(square(x) + 1.0), text="arsinh")
acosh: Primitive = _unary("acosh", lambda x, _: 1.0 / sqrt(square(x) - 1.0), domain="x > 1", text="arcosh")
atanh: Primitive = _unary("atanh", lambda x, _: 1.0 / (1.0 - square(x)), domain="|x| < 1", text="artanh")
exp: Primitive = _unary("exp", lambda _, y: y)
expm1: Primitive = _unary("expm1", lambda _, y: y + 1.0)
log: Primitive = _unary("log", lambda x, _: reciprocal(x), domain="x > 0", text="ln")
log2: Primitive = _unary("log2", lambda x, _: (1.0 / math.log(2.0)) * reciprocal(x), domain="x > 0")
log10: Primitive = _unary("log10", lambda x, _: (1.0 / math.log(10.0)) * reciprocal(x), domain="x > 0")
log1p: Primitive = _unary("log1p", lambda x, _: reciprocal(x + 1.0), domain="x > −1")
sqrt: Primitive = _unary("sqrt", lambda _, y: 0.5 * reciprocal(y), domain="x > 0", text="√")
square: Primitive = _unary("square", lambda x, _: 2.0 * x)
reciprocal: Primitive = _unary(
    "reciprocal", lambda _, y: -square(y), value=lambda _, x: 1.0 / x, domain="x ≠ 0", ufunc="reciprocal"
)
_half_over: Primitive = _unary(  # its derivative at 0 stays NaN
    "0.5/x",
    lambda x, y: -(y / x),
    value=lambda xp, x: _ratio(xp, xp.full_like(x, 0.5), x),
    text="0.5 /",
    domain="0 at 0",
)
_length: Primitive = _unary(  # of a sum of squares: its derivative at 0 is taken as 0
    "length", lambda _, y: _half_over(y), text="√", domain="x ≥ 0", value=lambda xp, x: xp.sqrt(x), ufunc="sqrt"
)
absolute: Primitive = _unary(
    "absolute", lambda x, _: sign(x), value=lambda xp, x: xp.abs(x), ufunc="absolute", text="abs"
)
sign: Primitive = _unary("sign", lambda x, _: number_like(x, 0.0))
relu: Primitive = _unary("relu", lambda x, _: x > 0.0, value=_relu, domain="x ≠ 0; derivative 0 at 0")
sigmoid: Primitive = _unary(
    "sigmoid",
    lambda _, y: _sigmoid_prime(y),
    value=_sigmoid,
    text="σ",
    in_numpy=lambda _: Kernel(_sigmoid_in_numpy),
)
_sigmoid_prime: Primitive = _unary("sigmoid'", lambda y, _: 1.0 - 2.0 * y, value=lambda _, y: y * (1.0 - y))
softplus: Primitive = _unary("softplus", lambda x, _: sigmoid(x), value=_softplus)
erf: Primitive = _unary("erf", lambda x, _: (2.0 / math.sqrt(math.pi)) * exp(-square(x)), value=special_functions.erf)
gelu: Primitive = _unary("gelu", lambda x, _: _gelu_prime(x), value=_gelu)
stop_gradient: Primitive = _unary(
    "stop_gradient", lambda x, _: number_like(x, 0.0), value=lambda _, x: x, text="stop", fresh=False
)

divide: Binary = _binary("divide", lambda _, y, z: (reciprocal(y), -(z * reciprocal(y))), text="/", domain="y ≠ 0")
pow: Binary = _binary(  # noqa: A001 - the standard name
    "pow", lambda x, y, z: (y * _pow_prime(x, y - 1.0), log(x) * z), text="pow", domain="x > 0", ufunc="pow"
)
_pow_prime: Binary = _binary(  # a first derivative that is finite at x = 0, and derivatives that make no new power
    "pow'", lambda x, y, z: (y * z * reciprocal(x), log(x) * z), text="pow", domain="x > 0", ufunc="pow"
)
maximum: Binary = _binary(
    "maximum", lambda x, y, _: (x >= y, y > x), text="max", domain="x ≠ y; the left side at x = y"
)
minimum: Binary = _binary(
    "minimum", lambda x, y, _: (x <= y, y < x), text="min", domain="x ≠ y; the left side at x = y"
)
_over: Binary = _binary(  # its derivatives at y = 0 stay NaN
    "over", lambda _, y, z: (reciprocal(y), -(z / y)), text="/", domain="0 at y = 0", value=_ratio
)
hypot: Binary = _binary(
    "hypot", lambda x, y, z: (_over(x, z), _over(y, z)), text="hypot", domain="not both 0; derivatives 0 there"
)
atan2: Binary = _binary(
    "atan2",
    lambda x, y, _: (y / (square(x) + square(y)), -x / (square(x) + square(y))),
    text="arctan2",
    domain="not both 0",
)
logaddexp: Binary = _binary("logaddexp", lambda x, y, z: (exp(x - z), exp(y - z)), text="logaddexp", domain="ℝ²")


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
        is_finite=lambda params: params[0] >= 0.0 and params[0].is_integer(),
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
