"""Rows of the table of primitives, as they are entered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from diff.primitives.library_functions import special
from diff.terms.elementwise import RULES, Binary, Primitive, PrimitiveRule
from diff.trace.expr import Expr
from hilbert import SpaceError
from hilbert.arrays.kernels.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

E: TypeAlias = Expr[Any]
FINITE = {
    *("sin", "cos", "atan", "tanh", "exact_tanh", "asinh", "absolute", "sign", "relu", "sigmoid", "softplus", "erf"),
    *("gelu", "stop_gradient", "square", "maximum", "minimum", "logaddexp", "log_sigmoid", "erfc", "log_ndtr"),
    *("sinc", "sinc ratio"),
    *(
        "1-x^2",
        "1/(x^2+1)",
        "tanh'",
        "sech^2",
        "sqrt(x^2+1)",
        "slope of sigmoid",
        "slope of gelu",
        "bend of gelu",
        "phi/Phi",
        "x+phi/Phi",
        "slope of x+phi/Phi",
    ),
    "e^x/(e^x+e^y)",
}
"""The rows whose values and derivatives of all orders are finite at finite arguments."""


def enter(rule: PrimitiveRule) -> None:
    """Put a row into the table; SpaceError for a name that is taken."""
    if rule.name in RULES:
        msg = f"a primitive named {rule.name!r} is in the table already: give another name, or keep what register gave"
        raise SpaceError(msg)
    RULES[rule.name] = rule


def unary(
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
    after: tuple[str, str] | None = None,
    in_text: str | None = None,
    is_known: bool = True,
    is_called: bool = False,
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
        formula,
        after,
        lambda _: name in FINITE,
        in_text or (_in_text(ufunc or name, value, 1) if is_known else None),
        is_called,
    )
    enter(rule)
    return Primitive(name)


def binary(
    name: str,
    derivatives: Callable[[E, E, E], tuple[E, E]],
    *,
    text: str,
    domain: str,
    value: Callable[[Any, Any, Any], Any] | None = None,
    formula: str | None = None,
    in_numpy: Kernel | None = None,
    in_text: str | None = None,
    is_called: bool = False,
) -> Binary:
    """A row of two arguments, likewise."""
    plain = value or (lambda xp, x, y: getattr(xp, name)(x, y))
    rule = PrimitiveRule(
        name,
        2,
        lambda xp, _, x, y: plain(xp, x, y),
        lambda _, args, z: derivatives(args[0], args[1], z),
        text,
        domain,
        name if value is None else None,
        None if value is None else lambda _: in_numpy or Kernel(partial(plain, np)),
        formula=formula,
        is_finite=lambda _: name in FINITE,
        in_text=in_text or _in_text(name, value, 2),
        is_called=is_called,
    )
    enter(rule)
    return Binary(name)


def called(
    name: str, derivative: Callable[[E, E], E], of: str, *, domain: str = "ℝ", text: str | None = None
) -> Primitive:
    """A row whose value is the function of that name of an array library, which compiled programs call."""
    value = _of_library(of)
    in_text = f"scipy.special.{of}({{0}})"
    return unary(
        name,
        derivative,
        value=value,
        domain=domain,
        text=text,
        in_numpy=in_numpy(value),
        in_text=in_text,
        is_called=True,
    )


def called_of_two(
    name: str, derivatives: Callable[[E, E, E], tuple[E, E]], of: str, *, domain: str, text: str
) -> Binary:
    """A row of two arguments, likewise."""
    in_text = f"scipy.special.{of}({{0}}, {{1}})"
    return binary(name, derivatives, text=text, domain=domain, value=_of_library(of), in_text=in_text, is_called=True)


def _of_library(name: str) -> Callable[..., Any]:
    return lambda _, *args: special(args[0], name)(*args)


def of_order(
    name: str,
    derivative: Callable[[float, E, E], E],
    value: Callable[[Any, Any, float], Any],
    *,
    text: str,
    domain: str,
    is_called: bool = False,
) -> None:
    """Enter a row with an order k, a constant: value(xp, x, k)."""
    rule = PrimitiveRule(
        name,
        1,
        lambda xp, params, x: value(xp, x, params[0]),
        lambda params, args, y: (derivative(params[0], args[0], y),),
        text,
        domain,
        in_numpy=lambda params: Kernel(lambda x: value(np, x, params[0])),
        formula=f"{text}({{0}})",
        is_finite=lambda _: name in FINITE,
        in_text=value,
        is_called=is_called,
    )
    enter(rule)


def _in_text(name: str, value: Callable[..., Any] | None, arity: int) -> str | Callable[..., Any]:
    """The function of numpy of that name on so many arguments, or the function that is the value."""
    if value is not None:
        return value
    return f"np.{getattr(np, name).__name__}({', '.join(f'{{{k}}}' for k in range(arity))})"


def in_numpy(value: Callable[[Any, Any], Any]) -> Callable[[tuple[float, ...]], Kernel]:
    """A value that is known to be made entry by entry."""
    return lambda _: Kernel(partial(value, np))
