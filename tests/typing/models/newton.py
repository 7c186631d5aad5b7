"""Newton's method for a scalar equation, and a derivative of a derivative, in the language itself."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, derivative, exp, fun, sin
from hilbert import Map, R, Scalar


@fun(R)
def f(x: Expr[Scalar]) -> Expr[Scalar]:
    return exp(x * sin(x)) - 2.0


def third(g: Map[Scalar, Scalar]) -> Map[Scalar, Scalar]:
    return grad(grad(grad(g)))


def main() -> None:
    slope = grad(f)
    reveal_type(slope)  # N: Map[Field, Field]
    step = fun(R)(lambda x: x - f(x) / slope(x))
    reveal_type(step)  # N: Map[Field, Field]
    x = R.vec(1.0)
    for _ in range(8):
        x = step(x)
    assert abs(float(f(x))) < 1e-12
    reveal_type(derivative(slope))  # N: Linearization[Field, Field, Field]
    h = 1e-4
    twice = grad(grad(f))
    numeric = (float(twice(R.vec(0.5 + h))) - float(twice(R.vec(0.5 - h)))) / (2 * h)
    assert np.isclose(float(third(f)(R.vec(0.5))), numeric, rtol=1e-6)
