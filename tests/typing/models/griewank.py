"""Griewank's example f(x) = b·sin(a ⊙ x): its derivative has rank one (paper §8)."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint
from diff import derivative, fun, sin
from hilbert import Fin, R


class In: ...


class Out: ...


source, target = Fin(In, 1000), Fin(Out, 500)
X, Y = R**source, R**target


def main() -> None:
    rng = np.random.default_rng(0)
    a, b = X.random(rng), Y.random(rng)
    f = fun(X)(lambda x: sin(a @ x) * b)
    reveal_type(f)  # N: Map[Vector[In], Vector[Out]]
    x, dx, dy = X.random(rng), X.random(rng), Y.random(rng)
    slope = derivative(f).at(x)
    reveal_type(slope)  # N: LinMap[Vector[In], Vector[Out]]
    reveal_type(adjoint(slope)(dy))  # N: Vec[Vector[In]]
    c = np.cos(a.inner(x))
    assert np.allclose(slope(dx).array, c * a.inner(dx) * b.array)
    assert np.allclose(adjoint(slope)(dy).array, c * b.inner(dy) * a.array)
