"""Slopes to the last digits: every row of the table of primitives beside mpmath, at the exact floating-point argument.

Value, first and second partial derivatives are compared in both precisions wherever the exact result is a normal
number: the error is at most 16 units in the last place of the result. What is allowed beside that is in `Reference`:
near a zero of the function 16 units of the largest of its `terms`, and `extra` units where an exponential magnifies the
rounding of its argument, or a factor the rounding of a power that is no normal number. Of rows without a public name,
which are derivatives, the value and first derivatives are.

`python -m tests.slopes [COUNT [SEED [NAME…]]]` runs COUNT arguments for each row and precision and prints the largest
errors; `tests/diff/test_slopes.py` draws a sample of these arguments.
"""

from __future__ import annotations

import re
import sys
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mp, mpf

from adjoint import grad
from diff import fun
from diff.terms.elementwise import Binary, Primitive, rules
from hilbert import R32, Field, Fin, R

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ALLOWED = 16
"""Units in the last place."""
Slopes = dict[tuple[int, ...], "Callable[..., Any]"]


class Reference(NamedTuple):
    """A row in mpmath: its partial derivatives by their places, the value at ()."""

    slopes: Slopes
    singular: tuple[Any, ...] = ()
    """Arguments (of rows of two places: of each) that are approached down to one unit in the last place."""
    terms: Slopes = {}  # noqa: RUF012 - never written into
    """The largest term of a function whose zero no rewriting meets."""
    extra: Callable[..., Any] | None = None
    """Units in the last place beyond 16."""
    far: float = 1e308
    """The largest arguments of interest."""
    near: float = 0.01
    """Where a function is less than this part of its largest term, it is near a zero."""


def one(f: Any, d: Any, dd: Any, *singular: Any, **more: Any) -> Reference:
    """A row of one place: f, f', f''."""
    slopes = {(): f, (0,): d, (0, 0): dd}
    return Reference({place: f for place, f in slopes.items() if f}, singular, **more)


def two(f: Any, fx: Any, fy: Any, fxx: Any, fxy: Any, fyy: Any, *singular: Any, **more: Any) -> Reference:
    """A row of two places."""
    slopes = {(): f, (0,): fx, (1,): fy, (0, 0): fxx, (0, 1): fxy, (1, 0): fxy, (1, 1): fyy}
    return Reference({place: f for place, f in slopes.items() if f}, singular, **more)


def part(row: str, *place: int, sign: int = 1) -> Reference:
    """A row without a public name, which is a derivative of another one: value and first derivatives."""

    whole, n = ROWS[row], len(place)
    slopes = {at[n:]: (lambda *x, f=f: sign * f(*x)) for at, f in whole.slopes.items() if at[:n] == place}
    terms = {at[n:]: f for at, f in whole.terms.items() if at[:n] == place}
    return whole._replace(slopes=slopes, terms=terms)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _sigmoid1(x: Any) -> Any:
    e = mp.exp(-abs(x))
    return e / (1 + e) ** 2


def _density(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _normal(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _sum(x: Any, y: Any) -> Any:
    return max(x, y) + mp.log1p(mp.exp(-abs(x - y)))


def _zero(*x: Any) -> Any:
    return mpf(0)


def _sign(x: Any) -> Any:
    return mp.sign(x)


def _falling(y: Any, k: int) -> Any:
    return mp.fprod(y - j for j in range(k))


def _power(k: float) -> Reference:
    e = mpf(k)

    def lost(x: Any) -> Any:
        """The digits that x^(k−2) has not, where it is no normal number and k·(k−1) times it is one."""
        power, factor = abs(x) ** (e - 2), e * (e - 1)
        return (
            abs(factor) / 2 if any(power < tiny <= factor * power for tiny in (mpf(2) ** -126, mpf(2) ** -1022)) else 0
        )

    return one(lambda x: x**e, lambda x: e * x ** (e - 1), lambda x: e * (e - 1) * x ** (e - 2), 0, extra=lost)


def _erfc(n: int, x: Any) -> Any:
    """E₀, E₁ or E₂, see `diff.primitives.error_functions`."""
    with mp.extraprec(int(4 * max(0, mp.log(abs(x) + 1, 2)))):
        e = mp.exp(x * x) * mp.erfc(x)
        return e if n == 0 else 1 / mp.sqrt(mp.pi) - x * e if n == 1 else e / 2 - x * (1 / mp.sqrt(mp.pi) - x * e)


def _mills(x: Any) -> Any:
    return mp.sqrt(2 / mp.pi) / _erfc(0, -x / mp.sqrt(2)) if x < 0 else _density(x) / _normal(x)


def _excess(x: Any) -> Any:
    t = -x / mp.sqrt(2)
    return mp.sqrt(2) * _erfc(1, t) / _erfc(0, t) if x < 0 else x + _mills(x)


def _excess1(x: Any) -> Any:
    t = -x / mp.sqrt(2)
    if x >= 0:
        return 1 - _mills(x) * _excess(x)
    return 2 * (_erfc(2, t) / _erfc(0, t) - (_erfc(1, t) / _erfc(0, t)) ** 2)


def _quantile(p: Any) -> Any:
    if not 0 < p < 1:
        raise ValueError
    if p > 0.5:
        return -_quantile(1 - p)
    x = -mp.sqrt(-2 * mp.log(p)) if p < 0.1 else mpf(p - 0.5)
    for _ in range(100):  # Newton's method on ln Φ, which is concave
        step = (mp.log(_normal(x)) - mp.log(p)) / _mills(x)
        x -= step
        if abs(step) < mpf(2) ** -200 * max(abs(x), mpf(2) ** -60):
            break
    return x


def _lgamma(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        raise ValueError
    return mp.log(mp.pi) - mp.log(abs(mp.sinpi(x))) - _lgamma(1 - x) if x < -1 else mp.re(mp.loggamma(x))


def _digamma(x: Any) -> Any:
    return mp.digamma(1 - x) - mp.pi * mp.cospi(x) / mp.sinpi(x) if x < -1 else mp.digamma(x)


def _polygamma(n: int, x: Any) -> Any:
    return mp.fsum(_polygamma_terms(n, x))


def _polygamma_terms(n: int, x: Any) -> list[Any]:
    """By reflection for x < 0: that of 1 − x, and the derivative of −π·cot(πx), by cot' = −(1 + cot²)."""
    if x >= 0:
        return [mp.psi(n, x)]
    coefficients = [mpf(0), mpf(1)]
    for _ in range(n):
        slope = [-j * a for j, a in enumerate(coefficients)][1:]
        coefficients = [a + b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    c = mp.cospi(x) / mp.sinpi(x)
    cot = mp.fsum(a * c**j for j, a in enumerate(coefficients))
    return [(-1) ** n * mp.psi(n, 1 - x), -(mp.pi ** (n + 1)) * cot]


def _betaln(x: Any, y: Any) -> Any:
    if min(x, y) < 1e-15:  # where slopes, which are differences, leave the range of single precision
        raise ValueError
    return _lgamma(x) + _lgamma(y) - _lgamma(x + y)


def _ie(n: int, x: Any) -> Any:
    return mp.exp(-abs(x)) * mp.besseli(n, x)


def _sinc(n: int, x: Any) -> Any:
    """jₙ(πx)/(πx)ⁿ."""
    with mp.extraprec(int(2 * (n + 1) * max(0, -mp.log(abs(x), 2)))):
        z = mp.pi * x
        before, now = mp.cospi(x), mp.sinpi(x) / z
        for j in range(n):
            before, now = now, ((2 * j + 1) * now - before) / z**2
        return now


def _size(n: int, x: Any) -> Any:
    """The largest term of lgamma (n = −1), digamma (0) or polygamma."""
    if n < 1:
        f = _digamma if n == 0 else _lgamma
        return 1 + max(abs(f(x)), abs(f(1 - x)) if x < 0 else 0)
    return max(map(abs, _polygamma_terms(n, x)))


def _sizes(n: int) -> Slopes:
    return {(0,) * j: (lambda x, j=j: _size(n + j, x)) for j in range(3)}


ZERO_OF_GELU = mpf("-0.75179159190500128")
PI = mpf("3.141592653589793238462643383279502884")
ROWS: dict[str, Reference] = {
    "sin": one(mp.sin, mp.cos, lambda x: -mp.sin(x), PI, PI / 2, far=1e22),
    "cos": one(mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x), PI, PI / 2, far=1e22),
    "tan": one(
        mp.tan, lambda x: mp.sec(x) ** 2, lambda x: 2 * mp.tan(x) * mp.sec(x) ** 2, PI, PI / 2, -PI / 2, far=1e22
    ),
    "asin": one(mp.asin, lambda x: 1 / mp.sqrt(1 - x * x), lambda x: x / (1 - x * x) ** 1.5, 1, -1, 0),
    "acos": one(mp.acos, lambda x: -1 / mp.sqrt(1 - x * x), lambda x: -x / (1 - x * x) ** 1.5, 1, -1, 0),
    "atan": one(mp.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2, 0),
    "sinh": one(mp.sinh, mp.cosh, mp.sinh, 0, 700, 88, far=1e3),
    "cosh": one(mp.cosh, mp.sinh, mp.cosh, 0, 700, 88, far=1e3),
    "tanh": one(
        mp.tanh,
        lambda x: mp.sech(x) ** 2,
        lambda x: -2 * mp.tanh(x) * mp.sech(x) ** 2,
        0,
        terms={(0,): lambda x: mpf(1), (0, 0): lambda x: mpf(2)},
        near=1,
        far=1e4,
    ),
    "asinh": one(mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x), lambda x: -x / (1 + x * x) ** 1.5, 0),
    "acosh": one(mp.acosh, lambda x: 1 / mp.sqrt(x * x - 1), lambda x: -x / (x * x - 1) ** 1.5, 1),
    "atanh": one(mp.atanh, lambda x: 1 / (1 - x * x), lambda x: 2 * x / (1 - x * x) ** 2, 1, -1, 0),
    "exp": one(mp.exp, mp.exp, mp.exp, 0, far=1e3),
    "expm1": one(mp.expm1, mp.exp, mp.exp, 0, -40, far=1e3),
    "log": one(mp.log, lambda x: 1 / x, lambda x: -1 / x**2, 0, 1),
    "log2": one(lambda x: mp.log(x, 2), lambda x: 1 / x / mp.log(2), lambda x: -1 / x**2 / mp.log(2), 0, 1),
    "log10": one(mp.log10, lambda x: 1 / x / mp.log(10), lambda x: -1 / x**2 / mp.log(10), 0, 1),
    "log1p": one(mp.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2, -1, 0),
    "sqrt": one(mp.sqrt, lambda x: 1 / mp.sqrt(x) / 2, lambda x: -(x**-1.5) / 4, 0),
    "square": one(lambda x: x * x, lambda x: 2 * x, lambda x: mpf(2), 0),
    "reciprocal": one(lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3, 0),
    "absolute": one(abs, _sign, _zero, 0),
    "sign": one(_sign, _zero, _zero, 0),
    "relu": one(lambda x: max(x, mpf(0)), lambda x: mpf(x > 0), _zero, 0),
    "exact_tanh": one(
        mp.tanh, lambda x: mp.sech(x) ** 2, lambda x: -2 * mp.tanh(x) * mp.sech(x) ** 2, 0, 20, -20, far=1e4
    ),
    "1-x^2": one(lambda x: 1 - x * x, lambda x: -2 * x, lambda x: mpf(-2), 0, 1, -1),
    "sqrt(x^2+1)": one(
        lambda x: mp.sqrt(x * x + 1), lambda x: x / mp.sqrt(x * x + 1), None, 0
    ),
    "sqrt(x^2-1)": one(
        lambda x: mp.sqrt(x - 1) * mp.sqrt(x + 1), lambda x: x / mp.sqrt(x * x - 1), None, 1
    ),
    "tanh'": one(
        lambda x: 1 - x * x,
        lambda x: -2 * x,
        lambda x: mpf(-2),
        0,
        1,
        -1,
        terms={(): lambda x: max(mpf(1), x * x)},
        near=1,
    ),
    "sigmoid": one(_sigmoid, _sigmoid1, lambda x: -_sigmoid1(x) * mp.tanh(x / 2), 0, -37.43, 40, far=1e4),
    "log_sigmoid": one(
        lambda x: -_sum(-x, mpf(0)), lambda x: _sigmoid(-x), lambda x: -_sigmoid1(x), 0, -37.43, 40, far=1e4
    ),
    "softplus": one(lambda x: _sum(x, mpf(0)), _sigmoid, _sigmoid1, 0, -37.43, 40, far=1e4),
    "erf": one(
        mp.erf,
        lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: -4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x),
        0,
        1,
        -1,
        6,
        extra=lambda x: x * x,
        far=40,
    ),
    "gelu": one(
        lambda x: x * _normal(x),
        lambda x: _normal(x) + x * _density(x),
        lambda x: (2 - x * x) * _density(x),
        0,
        -1,
        1,
        ZERO_OF_GELU,
        mp.sqrt(2),
        -mp.sqrt(2),
        -8,
        terms={(0,): lambda x: abs(x) * _density(x), (0, 0): lambda x: 2 * _density(x)},
        extra=lambda x: x * x,
        far=60,
    ),
    "erfc": one(
        mp.erfc,
        lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: 4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x),
        0,
        1,
        6,
        26,
        extra=lambda x: x * x,
        far=40,
    ),
    "erfcx": one(lambda x: _erfc(0, x), lambda x: -2 * _erfc(1, x), lambda x: 4 * _erfc(2, x), 0, 1, -1, -5, far=1e100),
    "log_ndtr": one(
        lambda x: -x * x / 2 + mp.log(_erfc(0, -x / mp.sqrt(2)) / 2) if x < 0 else mp.log1p(-_normal(-x)),
        _mills,
        lambda x: -_mills(x) * _excess(x),
        0,
        1,
        -1,
        5,
        -5,
        far=1e100,
    ),
    "ndtri": one(
        _quantile,
        lambda x: 1 / _density(_quantile(x)),
        lambda x: _quantile(x) / _density(_quantile(x)) ** 2,
        0,
        1,
        0.5,
        extra=lambda x: 4 * _quantile(x) ** 2,
        far=1,
    ),
    "lgamma": one(
        _lgamma, _digamma, lambda x: _polygamma(1, x), 0, 1, 2, -2.5, 1.4616, terms=_sizes(-1), near=1, far=1e10
    ),
    "digamma": one(
        _digamma,
        lambda x: _polygamma(1, x),
        lambda x: _polygamma(2, x),
        0, 1, 1.4616, -2.5,
        terms=_sizes(0),
        near=1,
        far=1e10,
    ),
    "i0e": one(
        lambda x: _ie(0, x),
        lambda x: _ie(1, x) - mp.sign(x) * _ie(0, x),
        lambda x: (3 * _ie(0, x) + _ie(2, x)) / 2 - 2 * mp.sign(x) * _ie(1, x),
        0,
        8,
        terms={(0,): lambda x: _ie(0, x), (0, 0): lambda x: 2 * _ie(0, x)},
        near=1,
        far=1e30,
    ),
    "i1e": one(
        lambda x: _ie(1, x),
        lambda x: (_ie(0, x) + _ie(2, x)) / 2 - mp.sign(x) * _ie(1, x),
        lambda x: (7 * _ie(1, x) + _ie(3, x)) / 4 - mp.sign(x) * (_ie(0, x) + _ie(2, x)),
        0,
        8,
        terms={(0,): lambda x: _ie(0, x), (0, 0): lambda x: 2 * _ie(0, x)},
        near=1,
        far=1e30,
    ),
    "sinc": one(
        lambda x: _sinc(0, x),
        lambda x: -mp.pi**2 * x * _sinc(1, x),
        lambda x: -mp.pi**2 * (_sinc(1, x) - (mp.pi * x) ** 2 * _sinc(2, x)),
        0,
        1,
        0.5,
        1.5,
        terms={(0,): lambda x: 1 / abs(x), (0, 0): lambda x: mp.pi**2 / max(1, abs(x))},
        near=1,
        far=1e15,
    ),
    "entr": one(
        lambda x: -x * mp.log(x),
        lambda x: -mp.log(x) - 1,
        lambda x: -1 / x,
        0, 1, 0.36787944,
        terms={(0,): lambda x: mpf(1)},
    ),
    "xlogy": two(
        lambda x, y: x * mp.log(y), lambda x, y: mp.log(y), lambda x, y: x / y, _zero, lambda x, y: 1 / y,
        lambda x, y: -x / y**2, 0, 1,
    ),
    "betaln": two(
        _betaln,
        lambda x, y: _digamma(x) - _digamma(x + y),
        lambda x, y: _digamma(y) - _digamma(x + y),
        lambda x, y: _polygamma(1, x) - _polygamma(1, x + y),
        lambda x, y: -_polygamma(1, x + y),
        lambda x, y: _polygamma(1, y) - _polygamma(1, x + y),
        0, 1, 2,
        terms={
            (): lambda x, y: 1 + max(abs(_lgamma(z)) for z in (x, y, x + y)),
            (0,): lambda x, y: 1 + max(abs(_digamma(z)) for z in (x, x + y)),
            (1,): lambda x, y: 1 + max(abs(_digamma(z)) for z in (y, x + y)),
            (0, 0): lambda x, y: _polygamma(1, x),
            (1, 1): lambda x, y: _polygamma(1, y),
        },
        near=1,
        far=1e4,
    ),
    "stop_gradient": one(lambda x: x, _zero, _zero, 0),
    "divide": two(
        lambda x, y: x / y, lambda x, y: 1 / y, lambda x, y: -x / y**2, _zero, lambda x, y: -1 / y**2,
        lambda x, y: 2 * x / y**3, 0,
    ),
    "pow": two(
        lambda x, y: x**y,
        lambda x, y: y * x ** (y - 1),
        lambda x, y: mp.log(x) * x**y,
        lambda x, y: y * (y - 1) * x ** (y - 2),
        lambda x, y: x ** (y - 1) * (1 + y * mp.log(x)),
        lambda x, y: mp.log(x) ** 2 * x**y,
        0, 1, 2, -1,
        terms={(0, 1): lambda x, y: x ** (y - 1), (1, 0): lambda x, y: x ** (y - 1)},
        extra=lambda x, y: abs(y * mp.log(x)),
        near=0.1,
    ),
    "maximum": two(max, lambda x, y: mpf(x >= y), lambda x, y: mpf(x < y), _zero, _zero, _zero, 0),
    "minimum": two(min, lambda x, y: mpf(x <= y), lambda x, y: mpf(x > y), _zero, _zero, _zero, 0),
    "hypot": two(
        mp.hypot,
        lambda x, y: x / mp.hypot(x, y),
        lambda x, y: y / mp.hypot(x, y),
        lambda x, y: y**2 / mp.hypot(x, y) ** 3,
        lambda x, y: -x * y / mp.hypot(x, y) ** 3,
        lambda x, y: x**2 / mp.hypot(x, y) ** 3,
        0,
    ),
    "atan2": two(
        mp.atan2,
        lambda x, y: y / (x * x + y * y),
        lambda x, y: -x / (x * x + y * y),
        lambda x, y: -2 * x * y / (x * x + y * y) ** 2,
        lambda x, y: (x * x - y * y) / (x * x + y * y) ** 2,
        lambda x, y: 2 * x * y / (x * x + y * y) ** 2,
        0,
    ),
    "logaddexp": two(
        _sum,
        lambda x, y: _sigmoid(x - y),
        lambda x, y: _sigmoid(y - x),
        lambda x, y: _sigmoid1(x - y),
        lambda x, y: -_sigmoid1(x - y),
        lambda x, y: _sigmoid1(x - y),
        0, 37.43, -37.43,
        terms={(): lambda x, y: max(abs(x), abs(y))},
    ),
}  # fmt: skip
"""The rows of the table in mpmath."""
ROWS["1/(x^2+1)"] = part("atan", 0)
ROWS["length"] = ROWS["sqrt"]
ROWS["0.5/x"] = part("sqrt", 0)._replace(slopes={(): lambda x: 1 / (2 * x), (0,): lambda x: -1 / (2 * x * x)})
ROWS["sech^2"] = part("exact_tanh", 0)
ROWS["slope of sigmoid"] = part("sigmoid", 0)
ROWS["slope of gelu"] = part("gelu", 0)
ROWS["bend of gelu"] = part("gelu", 0, 0)
ROWS["x/hypot(x, y)"] = part("hypot", 0)
ROWS["x/(x^2+y^2)"] = part("atan2", 1, sign=-1)
ROWS["e^x/(e^x+e^y)"] = part("logaddexp", 0)
ROWS["quotient"] = two(ROWS["divide"].slopes[()], None, ROWS["divide"].slopes[1,], None, None, None, 0)
ROWS["x/|x|"] = ROWS["quotient"]
ROWS["(y^2-x^2)/(x^2+y^2)^2"] = part("atan2", 1, 0, sign=-1)
ROWS["y x^(y-1)"] = part("pow", 0)
ROWS["y (y-1) x^(y-2)"] = part("pow", 0, 0)
ROWS["x^(y-1) (1+y ln x)"] = part("pow", 0, 1)
ROWS["x^(y-1)"] = two(lambda x, y: x ** (y - 1), None, None, None, None, None, 0, 1, extra=ROWS["pow"].extra)
ROWS["x^y ln x"] = part("pow", 1)
ROWS["x^y ln^2 x"] = part("pow", 1, 1)
ROWS["slope of erfcx"] = part("erfcx", 0)
ROWS["bend of erfcx"] = part("erfcx", 0, 0)
ROWS["phi/Phi"] = part("log_ndtr", 0)
ROWS["x+phi/Phi"] = one(_excess, _excess1, None, 0, 1, -1, 5, -5, far=1e100)
ROWS["slope of x+phi/Phi"] = one(_excess1, None, None, 0, 1, -1, 5, -5, far=1e100)
ROWS["xdivy"] = part("xlogy", 1)
ROWS["i1e/x"] = one(
    lambda x: _ie(1, x) / x,
    lambda x: _ie(2, x) / x - mp.sign(x) * _ie(1, x) / x,
    None,
    0,
    2,
    terms={(0,): lambda x: _ie(1, x) / x},
    near=1,
    far=1e30,
)
ROWS["i2e/x"] = one(lambda x: _ie(2, x) / x, None, None, 0, 2, far=1e30)
for _n in (1, 2, 3, 7):
    ROWS[f"polygamma {_n}"] = one(
        lambda x, k=_n: _polygamma(k, x),
        lambda x, k=_n: _polygamma(k + 1, x),
        lambda x, k=_n: _polygamma(k + 2, x),
        0,
        1,
        -2.5,
        terms=_sizes(_n),
        extra=lambda x, k=_n: mpf(2 * k),
        near=1,
        far=1e10,
    )
    ROWS[f"sinc ratio {_n}"] = one(
        lambda x, k=_n: _sinc(k, x),
        lambda x, k=_n: -(mp.pi**2) * x * _sinc(k + 1, x),
        None,
        0,
        1,
        0.5,
        terms={
            (): lambda x, k=_n: max(1, abs(mp.pi * x)) ** -(k + 1),
            (0,): lambda x, k=_n: mp.pi**2 * abs(x) * max(1, abs(mp.pi * x)) ** -(k + 2),
        },
        near=1,
        far=1e3,
    )
for _k in (-2.0, -1.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0):
    ROWS[f"power {_k:g}"] = _power(_k)


def rows() -> Iterator[tuple[str, Any]]:
    """The real rows of the table, those with parameters at several; SpaceError of none."""
    for name, rule in rules().items():
        if rule.derivatives is not None and not name.startswith("test's "):
            found = [k for k in ROWS if re.fullmatch(re.escape(name) + r"( -?[\d.]+)*", k)]
            if not found:
                msg = (
                    f"the row {name!r} of the table of primitives has no counterpart here: write its value, first and "
                )
                raise LookupError(msg + "second derivatives in mpmath in ROWS of tests/slopes.py")
            for key in found:
                params = tuple(float(k) for k in key[len(name) :].split())
                yield key, (Primitive if rule.arity == 1 else Binary)(name, params)


def arguments(dtype: Any, count: int, ref: Reference, arity: int, rng: Any) -> list[Any]:
    """Arguments log-spaced over the range, near singular points, and for two places pairs that are nearly equal."""
    info = np.finfo(dtype)
    low, high = np.log10(float(info.tiny)), min(np.log10(float(info.max)), np.log10(ref.far))

    def spread(n: int, low: float = low, high: float = high) -> Any:
        steps = np.linspace(low, high, max(n, 1)) + rng.uniform(-0.5, 0.5, max(n, 1)) * (high - low) / max(n, 2)
        return (10.0 ** np.clip(steps, low, high) * rng.choice([-1, 1], max(n, 1))).astype(dtype)

    def near(n: int) -> Any:
        points = np.array([float(s) for s in ref.singular if s] or [1.0])
        at = rng.choice(points, n).astype(dtype)
        off = (10.0 ** rng.uniform(np.log10(float(info.eps)), 0.0, n)) * rng.choice([-1, 1], n)
        return np.concatenate(
            [at * (1 + off.astype(dtype)), *(stepped(points.astype(dtype), k) for k in (-2, -1, 0, 1, 2))]
        )

    def stepped(points: Any, k: int) -> Any:
        for _ in range(abs(k)):
            points = np.nextafter(points, dtype(np.inf if k > 0 else -np.inf))
        return points

    usual = spread(count // 4, -2.0, min(1.7, high))
    if arity == 1:
        return [np.unique(np.concatenate([spread(count // 2), usual, near(count // 4)]))]
    n = count // 4
    x, y = spread(n), rng.permutation(spread(n))
    u = spread(n)
    ulps = (10.0 ** rng.uniform(np.log10(float(info.eps)), 0.0, n)) * rng.choice([-1, 0, 1], n)
    v = rng.choice([-1, 1, 1], n) * u * (1 + ulps.astype(dtype))
    s, t = usual, rng.permutation(spread(len(usual), -2.0, 1.7))
    p = near(n)
    q = spread(len(p), -2.0, 1.7)
    pairs = [np.concatenate(z) for z in ((x, u, s, p, q), (y, v, t, q, p))]
    return [z.astype(dtype) for z in pairs]


def computed(
    p: Any, places: Iterable[tuple[int, ...]], field: Field, args: Sequence[Any]
) -> dict[tuple[int, ...], Any]:
    """The value and all first and second partial derivatives, by gradients of sums."""
    V, arity = field ** Fin.of(len(args[0])), len(args)
    spaces, vectors = (V,) * arity, [V.vec(a) for a in args]

    def summed(f: Any) -> Any:
        return fun(*spaces)(lambda *xs: f(*xs).sum())

    def slope(f: Any, k: int) -> Any:
        return grad(summed(f), k) if arity > 1 else grad(summed(f))

    found: dict[tuple[int, ...], Any] = {}
    for place in places:
        f = p
        for k in place:
            f = slope(f, k)
        found[place] = f(*vectors).array
    return found


def error(found: Any, exact: Any, unit: Any) -> float:
    """|found − exact| in units in the last place of a number."""
    if not np.isfinite(found):
        return float("inf")
    return float(abs(mpf(float(found)) - exact) / unit)


def ulp(x: Any, info: Any) -> Any:
    """The unit in the last place of a number."""
    return mp.ldexp(1, max(mp.frexp(x)[1] - 1, info.minexp) - info.nmant)


def value(f: Any, point: Sequence[Any]) -> Any:
    """A real number; None outside the domain."""
    try:
        found = f(*point)
    except (ValueError, ZeroDivisionError, mpmath.libmp.libmpf.ComplexResult):
        return None
    return None if isinstance(found, mpmath.mpc) else found


def defined(ref: Reference, point: Sequence[Any]) -> bool:
    """Whether the row has a value there."""
    return value(ref.slopes[()], point) is not None


class Miss(NamedTuple):
    """An error that is too large."""

    place: tuple[int, ...]
    args: tuple[float, ...]
    found: float
    exact: float
    units: float


def misses(
    key: str, p: Any, field: Field, count: int, rng: Any
) -> tuple[list[Miss], dict[tuple[int, ...], float], int]:
    """The errors that are too large, the largest of each derivative with 16 for what is allowed, and a count."""
    dtype = np.dtype(field.dtype).type
    info, ref, arity = np.finfo(dtype), ROWS[key], p.rule.arity
    args = arguments(dtype, count, ref, arity, rng)
    with np.errstate(all="ignore"):
        results = computed(p, ref.slopes, field, args)
    found, largest, compared = [], dict.fromkeys(results, 0.0), 0
    tiny, huge = mpf(float(info.tiny)), mpf(float(info.max))
    with mp.workprec(300):
        for i, at in enumerate(zip(*args, strict=True)):
            point = [mpf(float(a)) for a in at]
            if not defined(ref, point):
                continue
            for place, values in results.items():
                exact = value(ref.slopes[place], point)
                if exact is None or not tiny <= abs(exact) <= huge:
                    continue
                compared += 1
                allowed = ALLOWED + (ref.extra(*point) if ref.extra else 0)
                unit = ulp(exact, info)
                if place in ref.terms:
                    term = ref.terms[place](*point)
                    unit = ulp(term, info) if mp.isnormal(term) and abs(exact) <= ref.near * term else unit
                units = error(values[i], exact, unit)
                largest[place] = max(largest[place], float(units / allowed) * ALLOWED)
                if units > allowed:
                    found.append(Miss(place, tuple(map(float, at)), float(values[i]), float(exact), units))
    return found, largest, compared


def main(count: str = "2000", seed: str = "0", *names: str) -> None:
    """Print the largest errors of each row."""
    total = failed = 0
    for (key, p), field in product(rows(), (R, R32)):
        if names and key not in names:
            continue
        found, largest, compared = misses(key, p, field, int(count), np.random.default_rng(int(seed)))
        total += compared
        failed += len(found)
        verdict = "FAIL" if found else "ok  "
        print(f"{verdict} {key} {field}: {compared} compared, {len(found)} too far off; largest errors", end=" ")
        print(", ".join(f"{''.join(map(str, place)) or 'value'}: {units:.3g}" for place, units in largest.items()))
        for place in largest:
            of = [m for m in found if m.place == place]
            for m in [*of[:2], *of[-1:]]:
                print("      ", m)
    print(f"{total} numbers compared, {failed} too far off")


if __name__ == "__main__":
    main(*sys.argv[1:])
