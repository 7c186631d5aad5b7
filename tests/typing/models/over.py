"""fun.over(space): a body with an argument for each part of a direct sum of two to six parts, or of any other space."""

from typing import Any, TypeVar, reveal_type

import numpy as np

from adjoint import grad, value_and_grad
from diff import Expr, fun, lift, onehot, select, tanh
from hilbert import DirectSum, Elements, Fin, Map, Matrix, R, Scalar, Type, Vector, direct_sum


class A: ...


class B: ...


class Batch: ...


a, b, batch = Fin(A, 2), Fin(B, 3), Fin(Batch, 4)
X, Y, M = R**a, R**b, R ** (b * a)
V = TypeVar("V", bound=Type)

Two, Three, Four = direct_sum(X, Y), direct_sum(X, Y, R), direct_sum(X, Y, R, M)
Five, Six = direct_sum(X, Y, R, M, X), direct_sum(X, Y, R, M, X, Y)
Seven = direct_sum(X, Y, R, M, X, Y, R)


@fun.over(Two)
def two(x: Expr[Vector[A]], y: Expr[Vector[B]]) -> Expr[Scalar]:
    return (x @ x) * (y @ y)


@fun.over(Six)
def six(
    x: Expr[Vector[A]],
    y: Expr[Vector[B]],
    k: Expr[Scalar],
    m: Expr[Matrix[B, A]],
    z: Expr[Vector[A]],
    w: Expr[Vector[B]],
) -> tuple[Expr[Vector[B]], Expr[Scalar]]:
    return m @ (x + z) + k * (y + w), k


@fun.over(X)
def single(x: Expr[Vector[A]]) -> Expr[Scalar]:
    return x @ x


@fun(direct_sum(M, Y), direct_sum(X, Elements(b)))
def loss(p: Expr[DirectSum[Matrix[B, A], Vector[B]]], z: Expr[DirectSum[Vector[A], Elements[Fin[B]]]]) -> Expr[Scalar]:
    m, c = p.split()
    x, y = z.split()
    e = tanh(m @ x + c) - onehot(y)
    return e @ e


def many(space: V, f: Map[V, Scalar]) -> Map[Any, Any]:
    return fun.over(space)(lambda *parts: parts[0])


def main() -> None:
    rng = np.random.default_rng(0)
    reveal_type(two)  # N: Map[DirectSum[Vector[A], Vector[B]], Field]
    reveal_type(six)  # N: Map[DirectSum[Vector[A], Vector[B], Field, Matrix[B, A], Vector[A], Vector[B]], DirectSum[Vector[B], Field]]
    reveal_type(single)  # N: Map[Vector[A], Field]
    reveal_type(fun.over(Two)(lambda x, y: (y, x)))  # N: Map[DirectSum[Vector[A], Vector[B]], DirectSum[Vector[B], Vector[A]]]
    reveal_type(fun.over(Three)(lambda x, y, k: k * y))  # N: Map[DirectSum[Vector[A], Vector[B], Field], Vector[B]]
    reveal_type(fun.over(Four)(lambda x, y, k, m: k * (m @ x + y)))  # N: Map[DirectSum[Vector[A], Vector[B], Field, Matrix[B, A]], Vector[B]]
    reveal_type(fun.over(Five)(lambda x, y, k, m, z: k * (m @ (x + z) + y)))  # N: Map[DirectSum[Vector[A], Vector[B], Field, Matrix[B, A], Vector[A]], Vector[B]]
    reveal_type(fun.over(Six)(lambda x, y, k, m, z, w: k * (m @ (x + z) + y + w)))  # N: Vector[A], Vector[B]], Vector[B]]
    reveal_type(fun.over(Seven)(lambda *parts: parts[6]))  # N: Map[Any, Any]
    reveal_type(fun.over(R)(lambda k: k * k))  # N: Map[Field, Field]
    reveal_type(fun.over(X**batch)(lambda xs: xs.sum(batch)))  # N: Map[Copower[Vector[A], Fin[Batch]], Vector[A]]
    reveal_type(fun.over(X * Y)(lambda t: t + t))  # N: Map[TensorProduct[Vector[A], Vector[B]], TensorProduct[Vector[A], Vector[B]]]
    reveal_type(fun.over(Elements(b))(lambda y: onehot(y)))  # N: Map[Elements[Fin[B]], Vector[B]]
    per = lift(loss, batch)
    objective = fun.over(per.dom)(lambda p, zs: per(p, zs).mean())
    reveal_type(objective)  # N: Map[DirectSum[DirectSum[Matrix[B, A], Vector[B]], Copower[DirectSum[Vector[A], Elements[Fin[B]]], Fin[Batch]]], Field]
    p, zs = per.dom.random(rng).split()
    reveal_type(value_and_grad(objective, 0)(p, zs))  # N: Vec[DirectSum[Field, DirectSum[Matrix[B, A], Vector[B]]]]
    reveal_type(fun.over(two.dom)(lambda x, y: two(x, y) * 2.0))  # N: Map[DirectSum[Vector[A], Vector[B]], Field]
    reveal_type(fun.over(single.dom)(lambda x: select(x > 0.0, x)))  # N: Map[Vector[A], Vector[A]]
    assert many(Two, two).cod == X
    assert grad(two, 0)(X.random(rng), Y.random(rng)).space == X
    assert fun.over(Two)(lambda x, y: y).dom == Two
