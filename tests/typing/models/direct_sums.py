"""Direct sums of two to six parts: p[0], p.split(), tuples as results, parts of vectors."""

from typing import Any, reveal_type

import numpy as np

from diff import Expr, fun
from hilbert import DirectSum, Fin, Labelled, R, Scalar, Vec, Vector, direct_sum


class A: ...


class B: ...


a, b = Fin(A, 2), Fin(B, 3)
X, Y = R**a, R**b
Two, Three, Four = direct_sum(X, Y), direct_sum(X, Y, R), direct_sum(X, Y, R, X)
Five, Six = direct_sum(X, Y, R, X, Y), direct_sum(X, Y, R, X, Y, R)
Seven = direct_sum(X, Y, R, X, Y, R, X)


Over = direct_sum.over(Labelled.of(["x", "y"]), (X, Y))
reveal_type(Over.zeros())  # N: Vec[DirectSum[Vector[A], Vector[B]]]
reveal_type(Over.zeros()[1])  # N: Vec[Vector[B]]
reveal_type(Over.zeros()["x"])  # N: Vec[Any]
listed: DirectSum[*tuple[Any, ...]] = direct_sum.over(Fin.of(2), [X, Y])


@fun(Over)
def over(p: Expr[DirectSum[Vector[A], Vector[B]]]) -> Expr[Scalar]:
    x, y = p.split()
    reveal_type(p["x"])  # N: Expr[Any]
    return (x @ p["x"]) * (y @ p[1])


@fun(Two)
def two(p: Expr[DirectSum[Vector[A], Vector[B]]]) -> Expr[Scalar]:
    x, y = p.split()
    return (x @ p[0]) * (y @ p[1])


@fun(Three)
def three(p: Expr[DirectSum[Vector[A], Vector[B], Scalar]]) -> tuple[Expr[Scalar], Expr[Vector[A]]]:
    x, y, k = p.split()
    return y @ p[1] + p[2], k * x


@fun(Four)
def four(p: Expr[DirectSum[Vector[A], Vector[B], Scalar, Vector[A]]]) -> tuple[Expr[Scalar], Expr[Vector[A]], Expr[Vector[B]]]:
    x, y, k, z = p.split()
    reveal_type(z)  # N: Expr[Vector[A]]
    return x @ z, p[3] + z, k * y


@fun(Five)
def five(
    p: Expr[DirectSum[Vector[A], Vector[B], Scalar, Vector[A], Vector[B]]],
) -> tuple[Expr[Scalar], Expr[Vector[A]], Expr[Vector[B]], Expr[Scalar]]:
    x, y, k, z, u = p.split()
    reveal_type(u)  # N: Expr[Vector[B]]
    return x @ z, x + z, y + p[4], k + y @ u


@fun(Six)
def six(p: Expr[DirectSum[Vector[A], Vector[B], Scalar, Vector[A], Vector[B], Scalar]]) -> Expr[Scalar]:
    x, y, k, z, u, m = p.split()
    reveal_type(m)  # N: Expr[Field]
    return (x @ z) * (y @ u) + k * m + p[5]


@fun(Seven)
def seven(
    p: Expr[DirectSum[Vector[A], Vector[B], Scalar, Vector[A], Vector[B], Scalar, Vector[A]]],
) -> Expr[Vector[A]]:
    parts = p.split()
    reveal_type(parts)  # N: tuple[Expr[Any], ...]
    last: Expr[Vector[A]] = parts[6]
    reveal_type(p[0])  # N: Expr[Vector[A]]
    reveal_type(p[1])  # N: Expr[Vector[B]]
    reveal_type(p[2])  # N: Expr[Field]
    reveal_type(p[3])  # N: Expr[Vector[A]]
    reveal_type(p[4])  # N: Expr[Vector[B]]
    reveal_type(p[5])  # N: Expr[Field]
    reveal_type(p[6])  # N: Expr[Any]
    return last + p[0]


def parts_of(v: Vec[DirectSum[Vector[A], Vector[B], Scalar, Vector[A], Vector[B], Scalar, Vector[A]]], i: int) -> None:
    reveal_type(v[0])  # N: Vec[Vector[A]]
    reveal_type(v[1])  # N: Vec[Vector[B]]
    reveal_type(v[2])  # N: Vec[Field]
    reveal_type(v[3])  # N: Vec[Vector[A]]
    reveal_type(v[4])  # N: Vec[Vector[B]]
    reveal_type(v[5])  # N: Vec[Field]
    reveal_type(v[i])  # N: Vec[Any]


def main() -> None:
    rng = np.random.default_rng(0)
    reveal_type(three)  # N: , DirectSum[Field, Vector[A]]]
    reveal_type(four)  # N: , DirectSum[Field, Vector[A], Vector[B]]]
    reveal_type(five)  # N: , DirectSum[Field, Vector[A], Vector[B], Field]]
    v = Seven.random(rng)
    assert two(v[0], v[1]).space == R
    assert six(Six.random(rng)).space == R
    assert np.array_equal(seven(v).array, v[6].array + v[0].array)
    assert four(Four.random(rng))[2].space == Y
    assert len(five(Five.random(rng))) == 4
    parts_of(v, 6)
    swap = fun(X, Y)(lambda x, y: (y, x))
    reveal_type(swap)  # N: Map[DirectSum[Vector[A], Vector[B]], DirectSum[Vector[B], Vector[A]]]
    reveal_type(fun(X)(lambda x: (x, x, x)))  # N: Map[Vector[A], DirectSum[Vector[A], Vector[A], Vector[A]]]
