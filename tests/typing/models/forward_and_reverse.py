"""One function at a point, forward and in reverse: derivative, affine, jvp, vjp, Jacobian and Hessian."""

from typing import reveal_type

import numpy as np

from adjoint import (
    adjoint,
    adjoint_affine,
    check,
    check_derivative,
    hessian,
    hessian_program,
    jacobian,
    jacobian_program,
    vjp,
)
from diff import Derivative, Expr, Linearization, affine, derivative, fun, inner, jvp, sin
from hilbert import Fin, Matrix, R, Scalar, Vec, Vector, direct_sum
from linmap import LinMap


class In: ...


class Out: ...


source, target = Fin(In, 3), Fin(Out, 2)
W, X, B = R ** (target * source), R**source, R**target


@fun(X)
def one(x: Expr[Vector[In]]) -> Expr[Scalar]:
    return inner(sin(x), x)


@fun(W, X)
def two(w: Expr[Matrix[Out, In]], x: Expr[Vector[In]]) -> Expr[Vector[Out]]:
    return sin(w @ x)


@fun(W, X, B)
def three(w: Expr[Matrix[Out, In]], x: Expr[Vector[In]], b: Expr[Vector[Out]]) -> Expr[Vector[Out]]:
    return two(w, x) + b


@fun(W, X, B, R)
def four(
    w: Expr[Matrix[Out, In]], x: Expr[Vector[In]], b: Expr[Vector[Out]], k: Expr[Scalar]
) -> Expr[Vector[Out]]:
    return k * three(w, x, b)


slope: Derivative[Vector[In], Scalar] = derivative(one)
pullback: Linearization[Vector[In], Scalar, Vector[In]] = adjoint(slope)


def points(
    w: Vec[Matrix[Out, In]], x: Vec[Vector[In]], b: Vec[Vector[Out]], k: Vec[Scalar]
) -> None:
    reveal_type(derivative(one).at(x))  # N: LinMap[Vector[In], Field]
    reveal_type(derivative(two).at(w, x))  # N: LinMap[DirectSum[Matrix[Out, In], Vector[In]], Vector[Out]]
    reveal_type(derivative(three).at(w, x, b))  # N: LinMap[DirectSum[Matrix[Out, In], Vector[In], Vector[Out]], Vector[Out]]
    reveal_type(derivative(four).at(w, x, b, k))  # N: , Field], Vector[Out]]
    reveal_type(affine(one, x))  # N: tuple[Vec[Field], LinMap[Vector[In], Field]]
    reveal_type(affine(two, w, x)[1])  # N: LinMap[DirectSum[Matrix[Out, In], Vector[In]], Vector[Out]]
    reveal_type(affine(three, w, x, b)[0])  # N: Vec[Vector[Out]]
    reveal_type(affine(four, w, x, b, k)[0])  # N: Vec[Vector[Out]]
    reveal_type(adjoint_affine(one, x))  # N: tuple[Vec[Field], LinMap[Field, Vector[In]]]
    reveal_type(adjoint_affine(two, w, x)[1])  # N: LinMap[Vector[Out], DirectSum[Matrix[Out, In], Vector[In]]]
    reveal_type(adjoint_affine(three, w, x, b)[0])  # N: Vec[Vector[Out]]
    reveal_type(adjoint_affine(four, w, x, b, k)[0])  # N: Vec[Vector[Out]]


def programs(x: Vec[Vector[In]]) -> None:
    sparse, whole = jacobian_program(one, as_="sparse"), jacobian_program(two, wrt=1)
    reveal_type(sparse(x))  # N: Vec[Vector[Anonymous]]
    reveal_type(sparse.pattern)  # N: SparsePattern
    reveal_type(whole.cod)  # N: Matrix[Anonymous, Anonymous]
    reveal_type(whole.pattern)  # N: DensePattern
    reveal_type(jacobian_program(one, as_="blocks").pattern)  # N: BlocksPattern
    reveal_type(jacobian_program(one, as_="tensor").pattern)  # N: TensorPattern
    reveal_type(hessian_program(one, as_="sparse").cod)  # N: Vector[Anonymous]
    reveal_type(hessian_program(one).cod)  # N: Matrix[Anonymous, Anonymous]
    reveal_type(hessian_program(one, as_="blocks").pattern)  # N: BlocksPattern
    reveal_type(jvp(sparse).cod)  # N: Vector[Anonymous]
    assert sparse.matrix(x).shape == (1, 3)


def main() -> None:
    rng = np.random.default_rng(0)
    w, x, b, k = W.random(rng), X.random(rng), B.random(rng), R.vec(2.0)
    points(w, x, b, k)
    reveal_type(slope.value)  # N: Program[Vector[In], Any]
    reveal_type(slope.uncurried)  # N: Program[DirectSum[Vector[In], Vector[In]], Field]
    reveal_type(jvp(two))  # N: , Vector[Out]]
    reveal_type(vjp(two)(direct_sum(W, X).vec((w.array, x.array)), b))  # N: Vec[DirectSum[Matrix[Out, In], Vector[In]]]
    dx = X.random(rng)
    pushed, pulled = jvp(one)(x, dx), vjp(one)(x, R.vec(1.0))
    reveal_type(pulled)  # N: Vec[Vector[In]]
    assert np.isclose(float(pushed), pulled.inner(dx))
    assert np.allclose(pullback.at(x)(R.vec(1.0)).array, pulled.array)
    linear: LinMap[Scalar, Vector[In]] = pullback.at(x)
    assert linear.dom == R
    assert jacobian(two, w, x, wrt=1, limit=100).shape == (2, 3)
    assert hessian(one, x, limit=100).shape == (3, 3)
    assert hessian(fun(X, X)(lambda x, y: (x @ y) * one(x)), x, dx).shape == (6, 6)
    programs(x)
    assert check_derivative(four, w, x, b, k).ok
    assert all(report.ok for report in check(one, x))
