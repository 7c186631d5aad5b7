"""A radial basis function: Σ_c a_c·exp(−‖x − m_c‖²/2σ²), a kernel lifted over its centres."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, exp, fun, inner, lift
from hilbert import Copower, Fin, R, Scalar, Vector


class Place: ...


class Center: ...


place, center = Fin(Place, 2), Fin(Center, 7)
X, M, A = R**place, (R**place) ** center, R**center
WIDTH = 0.5


@fun(X, X)
def kernel(x: Expr[Vector[Place]], m: Expr[Vector[Place]]) -> Expr[Scalar]:
    return exp(-inner(x - m, x - m) / (2.0 * WIDTH**2))


@fun(A, M, X)
def field(
    a: Expr[Vector[Center]], m: Expr[Copower[Vector[Place], Fin[Center]]], x: Expr[Vector[Place]]
) -> Expr[Scalar]:
    row = lift(kernel, center)(x, m)
    reveal_type(row)  # N: Expr[Vector[Center]]
    return a @ row


def main() -> None:
    reveal_type(lift(kernel, center))  # N: Map[DirectSum[Vector[Place], Copower[Vector[Place], Fin[Center]]], Vector[Center]]
    rng = np.random.default_rng(0)
    a, m = A.random(rng), M.random(rng)
    x = X.vec(m.array[3])
    assert np.isclose(float(lift(kernel, center)(x, m).array[3]), 1.0)
    reveal_type(grad(field, wrt=1)(a, m, x))  # N: Vec[Copower[Vector[Place], Fin[Center]]]
    assert grad(field, wrt=2)(a, m, x).space == X
