"""grad and value_and_grad with a position: the gradient in one part of the domain; positions count from 0."""

from typing import reveal_type

import numpy as np

from adjoint import grad, jacobian, value_and_grad
from diff import Expr, fun, inner
from hilbert import Fin, Matrix, R, Scalar, Vector


class In: ...


class Out: ...


source, target = Fin(In, 3), Fin(Out, 2)
W, X, B = R ** (target * source), R**source, R**target


@fun(W, X, B, R)
def energy(
    w: Expr[Matrix[Out, In]], x: Expr[Vector[In]], b: Expr[Vector[Out]], k: Expr[Scalar]
) -> Expr[Scalar]:
    return inner(w @ x, b) * k


@fun(X)
def squares(x: Expr[Vector[In]]) -> Expr[Vector[In]]:
    return x * x


def part(i: int) -> None:
    reveal_type(grad(energy, wrt=i))  # N: Field], Any]
    reveal_type(value_and_grad(energy, wrt=i))  # N: Field], DirectSum[Field, Any]]


def main() -> None:
    rng = np.random.default_rng(0)
    w, x, b, k = W.random(rng), X.random(rng), B.random(rng), R.vec(2.0)
    reveal_type(jacobian(squares, x))  # N: Any
    reveal_type(grad(energy)(w, x, b, k))  # N: Vec[DirectSum[Matrix[Out, In], Vector[In], Vector[Out], Field]]
    reveal_type(grad(energy, 0)(w, x, b, k))  # N: Vec[Matrix[Out, In]]
    reveal_type(grad(energy, wrt=1)(w, x, b, k))  # N: Vec[Vector[In]]
    reveal_type(grad(energy, wrt=2)(w, x, b, k))  # N: Vec[Vector[Out]]
    reveal_type(value_and_grad(energy)(w, x, b, k)[1])  # N: Vec[DirectSum[Matrix[Out, In], Vector[In], Vector[Out], Field]]
    reveal_type(value_and_grad(energy, 0)(w, x, b, k))  # N: Vec[DirectSum[Field, Matrix[Out, In]]]
    reveal_type(value_and_grad(energy, wrt=1)(w, x, b, k))  # N: Vec[DirectSum[Field, Vector[In]]]
    reveal_type(value_and_grad(energy, wrt=2)(w, x, b, k))  # N: Vec[DirectSum[Field, Vector[Out]]]
    part(3)
    assert np.allclose(grad(energy, wrt=1)(w, x, b, k).array, 2.0 * (w.array.T @ b.array))
    second = grad(fun(X)(lambda x: inner(x, x) * inner(x, x)))
    length = fun(X)(lambda v: inner(v, v)) @ second
    reveal_type(grad(length))  # N: Map[Vector[In], Vector[In]]
