"""split() of vectors and expressions: parts of a direct sum, and of (V ⊕ W)^X, whose parts are V^X and W^X."""

from typing import Any, reveal_type

import numpy as np

from diff import Expr, const, fun
from hilbert import Copower, DirectSum, Fin, R, Scalar, Vec, Vector, direct_sum


class A: ...


class B: ...


class Batch: ...


class Epoch: ...


a, b, batch, epoch = Fin(A, 2), Fin(B, 3), Fin(Batch, 4), Fin(Epoch, 5)
X, Y = R**a, R**b

two, three = direct_sum(X, Y), direct_sum(X, Y, R)
four, five = direct_sum(X, Y, R, X), direct_sum(X, Y, R, X, Y)
six, seven = direct_sum(X, Y, R, X, Y, R), direct_sum(X, Y, R, X, Y, R, X)

results = fun(X)(lambda x: (x, x @ x))


@fun(X**batch)
def taken_apart(xs: Expr[Copower[Vector[A], Fin[Batch]]]) -> Expr[Vector[A]]:
    same, squares = (results**batch)(xs).split()
    reveal_type(same)  # N: Expr[Copower[Vector[A], Fin[Batch]]]
    reveal_type(squares)  # N: Expr[Vector[Batch]]
    return squares.sum() * same.sum(batch)


@fun(three**batch)
def of_three(p: Expr[Copower[DirectSum[Vector[A], Vector[B], Scalar], Fin[Batch]]]) -> Expr[Vector[Batch]]:
    x, y, k = p.split()
    reveal_type(x)  # N: Expr[Copower[Vector[A], Fin[Batch]]]
    reveal_type(y)  # N: Expr[Copower[Vector[B], Fin[Batch]]]
    return k


def lifted_parts(rng: np.random.Generator) -> None:
    reveal_type((four**batch).random(rng).split())  # N: tuple[Vec[Copower[Vector[A], Fin[Batch]]], Vec[Copower[Vector[B], Fin[Batch]]], Vec[Vector[Batch]], Vec[Copower[Vector[A], Fin[Batch]]]]
    reveal_type((two**batch).random(rng).split()[1])  # N: Vec[Copower[Vector[B], Fin[Batch]]]
    reveal_type((three**batch).random(rng).split()[2])  # N: Vec[Vector[Batch]]
    reveal_type((five**batch).random(rng).split()[4])  # N: Vec[Copower[Vector[B], Fin[Batch]]]
    reveal_type((six**batch).random(rng).split()[5])  # N: Vec[Vector[Batch]]
    reveal_type((seven**batch).random(rng).split())  # N: tuple[Vec[Copower[Any, Fin[Batch]]], ...]
    reveal_type(((two**batch) ** epoch).random(rng).split())  # N: tuple[Vec[Copower[Copower[Any, Fin[Batch]], Fin[Epoch]]], ...]
    reveal_type(fun(four**batch)(lambda p: p.split()[3]))  # N: , Copower[Vector[A], Fin[Batch]]]
    reveal_type(fun(five**batch)(lambda p: p.split()[4]))  # N: , Copower[Vector[B], Fin[Batch]]]
    reveal_type(fun(six**batch)(lambda p: p.split()[5]))  # N: , Vector[Batch]]
    reveal_type(fun(seven**batch)(lambda p: p.split()[6]))  # N: , Copower[Any, Fin[Batch]]]
    reveal_type(fun((two**batch) ** epoch)(lambda p: p.split()[0]))  # N: , Copower[Copower[Any, Fin[Batch]], Fin[Epoch]]]


def unknown(v: Vec[Any], p: Expr[Any]) -> Expr[Vector[A]]:
    x, y = v.split()
    z, w = p.split()
    return const(x) * w + z - y


def main() -> None:
    rng = np.random.default_rng(0)
    x, y = two.random(rng).split()
    reveal_type(x)  # N: Vec[Vector[A]]
    reveal_type(y)  # N: Vec[Vector[B]]
    reveal_type(three.random(rng).split())  # N: tuple[Vec[Vector[A]], Vec[Vector[B]], Vec[Field]]
    reveal_type(four.random(rng).split()[3])  # N: Vec[Vector[A]]
    reveal_type(five.random(rng).split()[4])  # N: Vec[Vector[B]]
    reveal_type(six.random(rng).split()[5])  # N: Vec[Field]
    reveal_type(seven.random(rng).split())  # N: tuple[Vec[Any], ...]
    lifted_parts(rng)
    xs = (X**batch).random(rng)
    assert np.allclose(taken_apart(xs).array, (xs.array**2).sum() * xs.array.sum(axis=0))
    v = (three**batch).random(rng)
    assert of_three(v).array is not None
    assert [part.space for part in v.split()] == [X**batch, Y**batch, R**batch]
    assert all(map(np.shares_memory, (part.array for part in v.split()), v.array))
