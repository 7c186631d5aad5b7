"""Functions of entries: the value of a primitive, which is written for any array namespace, on scalar values.

A primitive has no second formula: its value function is called with `Scalars` as the namespace, on `Scalar`s.

>>> from hilbert.compiled.tree.buffers import Buffer
>>> from hilbert.compiled.tree.values import Pool
>>> x = Pool().load(Buffer("x", (), "float64"), ())
>>> print(entry(lambda xp, x: xp.where(x > 0.0, x, xp.expm1(x)), x))
select(x[] > 0.0, x[], expm1(x[]))
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.compiled.tree.values import Value

POWERS = 4
"""Powers with whole exponents up to this are products."""
CALLS = (
    *("exp", "log", "tanh", "sin", "cos", "expm1", "log1p", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh"),
    *("acosh", "atanh", "log2", "log10", "hypot", "atan2"),
)
"""The functions of the machine's library that a value may call."""


def entry(function: Callable[..., Any], *values: Value) -> Value:
    """The value of a function of a namespace and arrays, at single entries."""
    made: Value = function(Scalars, *map(Scalar, values)).value
    return made


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

    def _of(self, other: Scalar | float) -> Value:
        if isinstance(other, Scalar):
            return other.value
        return self.value.pool.number(float(other), self.value.dtype)

    def __add__(self, other: Scalar | float) -> Scalar:
        return Scalar(self.value + self._of(other))

    def __radd__(self, other: Scalar | float) -> Scalar:
        return Scalar(self._of(other) + self.value)

    def __sub__(self, other: Scalar | float) -> Scalar:
        return Scalar(self.value - self._of(other))

    def __rsub__(self, other: Scalar | float) -> Scalar:
        return Scalar(self._of(other) - self.value)

    def __mul__(self, other: Scalar | float) -> Scalar:
        return Scalar(self.value * self._of(other))

    def __rmul__(self, other: Scalar | float) -> Scalar:
        return Scalar(self._of(other) * self.value)

    def __truediv__(self, other: Scalar | float) -> Scalar:
        return Scalar(self.value / self._of(other))

    def __rtruediv__(self, other: Scalar | float) -> Scalar:
        return Scalar(self._of(other) / self.value)

    def __neg__(self) -> Scalar:
        return Scalar(-self.value)

    def __pow__(self, k: float) -> Scalar:
        """A constant power: a product for small whole exponents."""
        if k == 0.5:
            return Scalars.sqrt(self)
        if float(k).is_integer() and 0 < abs(k) <= POWERS:
            square = self * self
            made = (self, square, square * self, square * square)[int(abs(k)) - 1]
            return made if k > 0 else 1.0 / made
        return Scalars.pow(self, Scalars.full_like(self, k))

    def _compared(self, how: str, other: Scalar | float) -> Scalar:
        return Scalar(self.value.compared(how, self._of(other)))

    def __gt__(self, other: Scalar | float) -> Scalar:
        return self._compared("gt", other)

    def __ge__(self, other: Scalar | float) -> Scalar:
        return self._compared("ge", other)

    def __lt__(self, other: Scalar | float) -> Scalar:
        return self._compared("lt", other)

    def __le__(self, other: Scalar | float) -> Scalar:
        return self._compared("le", other)

    def __eq__(self, other: Scalar | float) -> Scalar:  # type: ignore[override]
        return self._compared("eq", other)

    def __ne__(self, other: Scalar | float) -> Scalar:  # type: ignore[override]
        return self._compared("ne", other)

    def __and__(self, other: Scalar) -> Scalar:
        return Scalar(self.value.pool.logic("and", self.value, other.value))

    def __or__(self, other: Scalar) -> Scalar:
        return Scalar(self.value.pool.logic("or", self.value, other.value))


def _called(name: str) -> Any:
    return staticmethod(lambda *args: Scalar(args[0].value.pool.call(name, *(a.value for a in args))))


@final
class Scalars:
    """The functions of an array namespace, on scalars."""

    finfo = staticmethod(np.finfo)

    @staticmethod
    def full_like(x: Scalar, k: float) -> Scalar:
        """A number of the same dtype."""
        return Scalar(x.value.pool.number(float(k), x.value.dtype))

    @staticmethod
    def zeros_like(x: Scalar) -> Scalar:
        """0."""
        return Scalars.full_like(x, 0.0)

    @staticmethod
    def ones_like(x: Scalar) -> Scalar:
        """1."""
        return Scalars.full_like(x, 1.0)

    @staticmethod
    def where(c: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """A choice."""
        return Scalar(c.value.pool.select(c.value, a.value, b.value))

    @staticmethod
    def maximum(x: Scalar, y: Scalar) -> Scalar:
        """The larger one, or NaN."""
        return Scalar(x.value.pool.max(x.value, y.value))

    @staticmethod
    def minimum(x: Scalar, y: Scalar) -> Scalar:
        """The smaller one, or NaN."""
        return Scalar(x.value.pool.min(x.value, y.value))

    @staticmethod
    def abs(x: Scalar) -> Scalar:
        """|x|."""
        return Scalar(abs(x.value))

    absolute = abs  # noqa: A003 - the array API's name

    @staticmethod
    def sqrt(x: Scalar) -> Scalar:
        """√x."""
        return Scalar(x.value.pool.unary("sqrt", x.value))

    @staticmethod
    def round(x: Scalar) -> Scalar:
        """The nearest whole number."""
        return Scalar(x.value.pool.unary("round", x.value))

    @staticmethod
    def square(x: Scalar) -> Scalar:
        """x²."""
        return x * x

    @staticmethod
    def sign(x: Scalar) -> Scalar:
        """−1, 0 or 1, of −0 too; NaN for NaN."""
        one, zero = Scalars.ones_like(x), Scalars.zeros_like(x)
        return Scalars.where(x > 0.0, one, Scalars.where(x < 0.0, -one, Scalars.where(x == 0.0, zero, x)))

    @staticmethod
    def isnan(x: Scalar) -> Scalar:
        """True for NaN."""
        return x != x  # noqa: PLR0124 - only NaN is not itself

    @staticmethod
    def divide(x: Scalar, y: Scalar) -> Scalar:
        """x/y."""
        return x / y

    @staticmethod
    def pow(x: Scalar, y: Scalar) -> Scalar:
        """x^y."""
        return Scalar(x.value.pool.call("pow", x.value, y.value))

    @staticmethod
    def logaddexp(x: Scalar, y: Scalar) -> Scalar:
        """ln(eˣ + eʸ); of two equal ones, infinite too, x + ln 2."""
        apart = Scalars.maximum(x, y) + Scalars.log1p(Scalars.exp(-Scalars.abs(x - y)))
        return Scalars.where(x == y, x + math.log(2.0), apart)

    @staticmethod
    def logical_not(x: Scalar) -> Scalar:
        """Not x."""
        return Scalar(x.value.pool.unary("not", x.value))

    greater, greater_equal, less, less_equal, equal, not_equal, logical_and, logical_or = (
        staticmethod(function)
        for function in (
            Scalar.__gt__,
            Scalar.__ge__,
            Scalar.__lt__,
            Scalar.__le__,
            Scalar.__eq__,
            Scalar.__ne__,
            Scalar.__and__,
            Scalar.__or__,
        )
    )
    (
        exp,
        log,
        tanh,
        sin,
        cos,
        expm1,
        log1p,
        tan,
        asin,
        acos,
        atan,
        sinh,
        cosh,
        asinh,
        acosh,
        atanh,
        log2,
        log10,
        hypot,
        atan2,
    ) = (_called(name) for name in CALLS)
