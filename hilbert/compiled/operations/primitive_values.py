"""Functions of entries: the value of a primitive, which is written for any array namespace, on scalar values.

A primitive has no second formula: its value function is called with `SCALARS` as the namespace, on `Scalar`s.

>>> from hilbert.compiled.tree.buffers import Buffer
>>> from hilbert.compiled.tree.values import Pool
>>> x = Pool().load(Buffer("x", (), "float64"), ())
>>> print(entry(lambda xp, x: xp.where(x > 0.0, x, xp.expm1(x)), x))
select(x[] > 0.0, x[], expm1(x[]))
"""

from __future__ import annotations

import math
import operator
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.compiled.tree.values import Value

POWERS = 4
"""Powers with exponents up to this are products, if the exponents are whole, or whole and a half."""
NAMES = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")
COMPARISONS = dict(zip(("gt", "ge", "lt", "le", "eq", "ne"), NAMES, strict=True))
"""The comparisons, and their names in a namespace."""
CALLS = (
    *("exp", "log", "tanh", "sin", "cos", "expm1", "log1p", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh"),
    *("acosh", "atanh", "log2", "log10", "hypot", "atan2", "pow"),
)
"""The functions of the machine's library that a value may call."""


def entry(function: Callable[..., Any], *values: Value) -> Value:
    """The value of a function of a namespace and arrays, at single entries."""
    made: Value = function(SCALARS, *map(Scalar, values)).value
    return made


def _operators(function: Callable[[Value, Value], Value]) -> tuple[Any, Any]:
    """The methods for a function of two values: on a scalar and another one or a number, and on these two swapped."""
    return (
        lambda self, other: Scalar(function(self.value, self.of(other))),
        lambda self, other: Scalar(function(self.of(other), self.value)),
    )


def _on_values(function: Callable[..., Value]) -> Callable[..., Scalar]:
    """The function of scalars that a function of their values is."""
    return lambda *args: Scalar(function(*(a.value for a in args)))


@final
class Scalar:
    """A scalar value with all operators of an array."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]  # == makes a truth value of the program
    shape, ndim, size = (), 0, 0

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def dtype(self) -> Any:
        """The dtype, as numpy has it."""
        return np.dtype(self.value.dtype)

    def of(self, other: Scalar | float) -> Value:
        """The value of a scalar, or a number of the same dtype."""
        return other.value if isinstance(other, Scalar) else self.value.like(float(other))

    __add__, __radd__ = _operators(operator.add)
    __sub__, __rsub__ = _operators(operator.sub)
    __mul__, __rmul__ = _operators(operator.mul)
    __truediv__, __rtruediv__ = _operators(operator.truediv)
    __gt__, __ge__, __lt__, __le__, __eq__, __ne__ = (
        _operators(partial(lambda how, x, y: x.compared(how, y), how))[0] for how in COMPARISONS
    )
    __and__, __or__ = (_operators(partial(lambda how, x, y: x.pool.logic(how, x, y), how))[0] for how in ("and", "or"))

    def __neg__(self) -> Scalar:
        return Scalar(-self.value)

    def __pow__(self, k: float) -> Any:
        """A constant power: a product for small exponents that are whole, or whole and a half."""
        if k == 0.5:
            return SCALARS.sqrt(self)
        if float(k).is_integer() and 0 < abs(k) <= POWERS:
            square = self * self
            made = (self, square, square * self, square * square)[int(abs(k)) - 1]
            return made if k > 0 else 1.0 / made
        whole, rest = divmod(abs(k), 1.0)
        if rest == 0.5 and whole < POWERS:  # of −0 and −∞ as of 0 and ∞, as pow has it
            x = SCALARS.where(self == 0.0, SCALARS.zeros_like(self), SCALARS.where(self == -math.inf, -self, self))
            made = x**whole * SCALARS.sqrt(x) if whole else SCALARS.sqrt(x)
            return made if k > 0 else 1.0 / made
        return SCALARS.pow(self, SCALARS.full_like(self, k))


def _sign(x: Any) -> Any:
    """−1, 0 or 1, of −0 too; NaN for NaN."""
    one, where = SCALARS.ones_like(x), SCALARS.where
    return where(x > 0.0, one, where(x < 0.0, -one, where(x == 0.0, SCALARS.zeros_like(x), x)))


def _logaddexp(x: Any, y: Any) -> Any:
    """ln(eˣ + eʸ); of two equal ones, infinite too, x + ln 2."""
    apart = SCALARS.maximum(x, y) + SCALARS.log1p(SCALARS.exp(-SCALARS.abs(x - y)))
    return SCALARS.where(x == y, x + math.log(2.0), apart)


SCALARS = SimpleNamespace(
    finfo=np.finfo,
    full_like=lambda x, k: Scalar(x.of(k)),
    zeros_like=lambda x: Scalar(x.of(0.0)),
    ones_like=lambda x: Scalar(x.of(1.0)),
    where=_on_values(lambda c, a, b: c.pool.select(c, a, b)),
    maximum=_on_values(lambda x, y: x.pool.max(x, y)),
    minimum=_on_values(lambda x, y: x.pool.min(x, y)),
    abs=_on_values(abs),
    absolute=_on_values(abs),
    sqrt=_on_values(lambda x: x.pool.unary("sqrt", x)),
    round=_on_values(lambda x: x.pool.unary("round", x)),
    logical_not=_on_values(lambda x: x.pool.unary("not", x)),
    square=lambda x: x * x,
    sign=_sign,
    isnan=lambda x: x != x,  # noqa: PLR0124 - only NaN is not itself
    divide=operator.truediv,
    logaddexp=_logaddexp,
    logical_and=operator.and_,
    logical_or=operator.or_,
    **{name: getattr(operator, how) for how, name in COMPARISONS.items()},
    **{name: _on_values(partial(lambda name, x, *more: x.pool.call(name, x, *more), name)) for name in CALLS},
)
"""The functions of an array namespace, on scalars."""
