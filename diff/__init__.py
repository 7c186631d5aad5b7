"""The language of analytic functions: terms, tracing, primitives, differentiation, programs (paper §3.4–5)."""

from diff.affine import Derivative, Pointwise, affine, derivative, jvp
from diff.expr import Expr, const, contract, inner, onehot, outer, pick, select
from diff.lift import lift
from diff.lower import program
from diff.primitives import (
    absolute,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    divide,
    exp,
    expm1,
    hypot,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    maximum,
    minimum,
    pow,  # noqa: A004 - the standard name
    power,
    reciprocal,
    register,
    relu,
    sigmoid,
    sign,
    sin,
    sinh,
    softplus,
    sqrt,
    square,
    tan,
    tanh,
)
from diff.term import Fun, Program
from diff.trace import fun
