"""Calls of jvp, vjp and hvp with all arguments side by side, and linear maps on the columns of tables."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint, hvp, vjp
from diff import Expr, fun, jvp
from hilbert import Axis, Copower, Field, Fin, Matrix, Part, R, Record, Scalar, Vec, Vector
from linmap import LinMap, cumsum, total


class Pixel(Axis, size=3): ...


class Hidden(Axis, size=2): ...


class Sample(Axis, size=4): ...


class Layer(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


V, W, M = R**Pixel.set, R**Hidden.set, R ** (Hidden.set * Pixel.set)
T = R ** (Pixel.set * Sample.set)
L = Layer.space()


@fun(M, V)
def two(A: Expr[Matrix[Hidden, Pixel]], x: Expr[Vector[Pixel]]) -> Expr[Vector[Hidden]]:
    return A @ x


@fun(M, V, W)
def three(A: Expr[Matrix[Hidden, Pixel]], x: Expr[Vector[Pixel]], b: Expr[Vector[Hidden]]) -> Expr[Vector[Hidden]]:
    return A @ x + b


@fun(M, V)
def loss(A: Expr[Matrix[Hidden, Pixel]], x: Expr[Vector[Pixel]]) -> Expr[Scalar]:
    return two(A, x) @ two(A, x)


@fun(L)
def energy(p: Expr[Layer]) -> Expr[Scalar]:
    return p[Layer.bias] @ p[Layer.bias]


@fun(M, V, M, V)
def inside(
    A: Expr[Matrix[Hidden, Pixel]], x: Expr[Vector[Pixel]], B: Expr[Matrix[Hidden, Pixel]], y: Expr[Vector[Pixel]]
) -> Expr[Vector[Hidden]]:
    reveal_type(jvp(two)(A, x, B, y))  # N: Expr[Vector[Hidden]]
    reveal_type(hvp(loss, 0)(A, x, B))  # N: Expr[Matrix[Hidden, Pixel]]
    b = two(A, x)
    reveal_type(jvp(three)(A, x, b, B, y, b))  # N: Expr[Vector[Hidden]]
    reveal_type(vjp(three)(A, x, b, b))  # N: Expr[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel], Vector[Hidden]]]
    return jvp(two)(A, x, B, y)


@fun(T)
def columns(t: Expr[Matrix[Pixel, Sample]]) -> Expr[Vector[Sample]]:
    A, s = cumsum(Pixel.set), total(Pixel.set)
    reveal_type(A @ t)  # N: Expr[Matrix[Pixel, Sample]]
    reveal_type(A @ t.rows())  # N: Expr[Copower[Vector[Sample], Fin[Pixel]]]
    reveal_type(s @ t.rows())  # N: Expr[Vector[Sample]]
    return s @ t


def apply(A: LinMap[Vector[Pixel], Vector[Hidden]], x: Vec[Vector[Pixel]], t: Vec[Matrix[Pixel, Sample]]) -> None:
    reveal_type(A @ x)  # N: Vec[Vector[Hidden]]
    reveal_type(A @ t)  # N: Vec[Matrix[Hidden, Sample]]
    reveal_type(A(t))  # N: Vec[Matrix[Hidden, Sample]]
    reveal_type(A @ t.rows())  # N: Vec[Copower[Vector[Sample], Fin[Hidden]]]
    reveal_type(A(t.rows()))  # N: Vec[Copower[Vector[Sample], Fin[Hidden]]]
    reveal_type(A @ adjoint(A))  # N: LinMap[Vector[Hidden], Vector[Hidden]]


def main() -> None:
    rng = np.random.default_rng(0)
    A, x, b, t = M.random(rng), V.random(rng), W.random(rng), T.random(rng)
    reveal_type(jvp(two)(A, x, A, x))  # N: Vec[Vector[Hidden]]
    reveal_type(vjp(two)(A, x, b))  # N: Vec[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel]]]
    reveal_type(jvp(three)(A, x, b, A, x, b))  # N: Vec[Vector[Hidden]]
    reveal_type(vjp(three)(A, x, b, b))  # N: Vec[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel], Vector[Hidden]]]
    reveal_type(hvp(loss)(A, x, A, x))  # N: Vec[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel]]]
    reveal_type(hvp(loss, 0)(A, x, A))  # N: Vec[Matrix[Hidden, Pixel]]
    reveal_type(hvp(loss, 1)(A, x, x))  # N: Vec[Vector[Pixel]]
    reveal_type(hvp(loss, (0, 1)))  # N: Program[DirectSum[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel]], Any], Any]
    reveal_type(hvp(energy)(L.zeros(), L.ones()))  # N: Vec[Layer]
    reveal_type(hvp(energy, Layer.bias)(L.zeros(), b))  # N: Vec[Vector[Hidden]]
    s = total(Pixel.set)
    reveal_type(s(t))  # N: Vec[Vector[Sample]]
    reveal_type(s @ t)  # N: Vec[Vector[Sample]]
    reveal_type(s(t.rows()))  # N: Vec[Vector[Sample]]
    reveal_type(s @ t.rows())  # N: Vec[Vector[Sample]]
    reveal_type(s @ x)  # N: Vec[Field]
    nested: Copower[Field, Fin[Sample]] = R**Sample.set
    assert columns(t).space == nested
