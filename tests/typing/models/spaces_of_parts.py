"""Vector operations on what is a space: any parts that are spaces, unknown parts, generic functions; zeros and bases."""

from typing import Any, TypeVar, reveal_type

import numpy as np

from diff import Expr, fun, inner, square, tanh
from hilbert import R32, Copower, DirectSum, Fin, R, Scalar, Space, Type, Vec, Vector, Zero, direct_sum


class A: ...


class B: ...


a, b = Fin(A, 2), Fin(B, 3)
X, Y = R**a, R**b
Pair = direct_sum(X, direct_sum(R, Y))
S = TypeVar("S", bound=Space)
W = TypeVar("W", bound=Vector[Any])


def twice(v: Vec[S]) -> Vec[S]:
    return v + 2.0 * v - v / 2.0


def blended(v: Vec[S], x: Expr[S], k: Expr[Scalar]) -> Expr[S]:
    reveal_type(k * v)  # N: Expr[S]
    return tanh(k * x + v - k * (x * x))


def bounded(v: Vec[W], x: Expr[W]) -> Expr[W]:
    return 2.0 * x + v


def started(space: S) -> Vec[S]:
    reveal_type(twice(space.zeros()))  # N: Vec[S]
    return space.zeros()


def unknown(v: Vec[Any], x: Expr[Any], p: Vec[DirectSum[Any, Scalar]], q: Expr[Copower[Any, Fin[A]]], V: Type) -> None:
    reveal_type(v + v)  # N: Vec[Any]
    reveal_type(2.0 * v)  # N: Vec[Any]
    reveal_type(x + v)  # N: Expr[Any]
    reveal_type(-x)  # N: Expr[Any]
    reveal_type(p + p)  # N: Vec[DirectSum[Any, Field]]
    reveal_type(q - q)  # N: Expr[Copower[Any, Fin[A]]]
    reveal_type(V.zeros())  # N: Vec[Type]


@fun(Pair, R)
def update(p: Expr[DirectSum[Vector[A], DirectSum[Scalar, Vector[B]]]], k: Expr[Scalar]) -> Expr[DirectSum[Vector[A], DirectSum[Scalar, Vector[B]]]]:
    reveal_type(p * p)  # N: Expr[DirectSum[Vector[A], DirectSum[Field, Vector[B]]]]
    reveal_type(k / p[1][0] + inner(p, p))  # N: Expr[Field]
    return 0.9 * p + k * square(p) - p / k


def main() -> None:
    p = Pair.random(np.random.default_rng(0))
    reveal_type(p + Pair.zeros())  # N: Vec[DirectSum[Vector[A], DirectSum[Field, Vector[B]]]]
    reveal_type(update(p, R.vec(2.0)))  # N: Vec[DirectSum[Vector[A], DirectSum[Field, Vector[B]]]]
    reveal_type(twice(p))  # N: Vec[DirectSum[Vector[A], DirectSum[Field, Vector[B]]]]
    reveal_type(started(X**b))  # N: Vec[Copower[Vector[A], Fin[B]]]
    reveal_type((X * Y).zeros() + (X * Y).zeros())  # N: Vec[TensorProduct[Vector[A], Vector[B]]]
    reveal_type(Zero().zeros() * 2.0)  # N: Vec[Zero]
    reveal_type(list(Pair.basis()))  # N: list[Vec[DirectSum[Vector[A], DirectSum[Field, Vector[B]]]]]
    reveal_type(sum([p, p], Pair.zeros()))  # N: Vec[DirectSum[Vector[A], DirectSum[Field, Vector[B]]]]
    reveal_type(R32.zeros() + R32.vec(1.0))  # N: Vec[Field]
    reveal_type(p.tensor(p.split()[0]))  # N: Vec[TensorProduct[DirectSum[Vector[A], DirectSum[Field, Vector[B]]], Vector[A]]]
    reveal_type(fun(X, R)(lambda x, k: blended(X.zeros(), x, k)))  # N: Map[DirectSum[Vector[A], Field], Vector[A]]
    reveal_type(fun(X)(lambda x: bounded(X.zeros(), x)))  # N: Map[Vector[A], Vector[A]]
    reveal_type((p.norm(), p.inner(p)))  # N: tuple[float, float]
    assert np.allclose((p + Pair.zeros()).flat(), p.flat())
