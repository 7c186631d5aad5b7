"""Functions on flat arrays: the space of what varies is known."""

from importlib import import_module
from typing import Any, reveal_type

import numpy as np

from hilbert import DirectSum, Field, Fin, Part, R, Record, Scalar, Vec, Vector
from hilbert.all import Map, as_scipy, fun, linear_map, linear_operator, nlp


class Pixel: ...
class Day: ...
class Theta(Record):
    slope: Part[Scalar]
    shift: Part[Vector[Day]]


def f(
    g: Map[Theta, Field],
    h: Map[Theta, Vector[Pixel]],
    three: Map[DirectSum[Vector[Pixel], Vector[Day], Scalar], Field],
    system: Map[DirectSum[Vector[Pixel], Vector[Day], Scalar], Vector[Day]],
    theta: Vec[Theta],
) -> None:
    reveal_type(as_scipy(g))  # N: FlatObjective[Theta]
    reveal_type(as_scipy(g, theta, wrt=Theta.shift))  # N: FlatObjective[Vector[Day]]
    reveal_type(as_scipy(three, [1.0], 2.0, wrt=0))  # N: FlatObjective[Vector[Pixel]]
    reveal_type(as_scipy(three, wrt=1))  # N: FlatObjective[Vector[Day]]
    reveal_type(as_scipy(three, wrt=2, as_="sparse"))  # N: FlatObjective[Field]
    reveal_type(as_scipy(three, wrt=(0, 2)))  # N: FlatObjective[Any]
    reveal_type(as_scipy(h))  # N: FlatMap[Theta]
    reveal_type(as_scipy(h, theta, wrt=Theta.shift))  # N: FlatMap[Vector[Day]]
    reveal_type(as_scipy(system, [1.0], 2.0, wrt=0))  # N: FlatMap[Vector[Pixel]]
    reveal_type(as_scipy(system, wrt=1))  # N: FlatMap[Vector[Day]]
    reveal_type(as_scipy(system, wrt=2))  # N: FlatMap[Field]
    reveal_type(as_scipy(system, wrt=(0, 2)))  # N: FlatMap[Any]
    reveal_type(as_scipy(g).point([1.0, 2.0]))  # N: Vec[Theta]
    reveal_type(as_scipy(g).fun([1.0, 2.0]))  # N: float
    reveal_type(nlp(g, at_most=h))  # N: NonlinearProgram[Theta]
    reveal_type(nlp(g, at_most=h).point([1.0, 2.0]))  # N: Vec[Theta]


def operators(op: Any) -> None:
    day, pixel = Fin(Day, 2), Fin(Pixel, 3)
    A = linear_map("A", R**day, R**pixel, op)
    reveal_type(A)  # N: LinMap[Vector[Day], Vector[Pixel]]
    reveal_type(linear_operator(A))  # N: Any


def main() -> None:
    day, pixel = Fin(Day, 1), Fin(Pixel, 3)
    T, X, D = Theta(slope=R, shift=R**day), R**pixel, R**day
    f(
        fun(T)(lambda t: t[Theta.slope] * t[Theta.shift].sum()),
        fun(T)(lambda t: t[Theta.slope].rep(X)),
        fun(X, D, R)(lambda x, d, k: k * x.sum() * d.sum()),
        fun(X, D, R)(lambda x, d, k: k * x.sum() * d),
        T.ones(),
    )
    scipy: Any = import_module("scipy.sparse.linalg")  # has no types
    operators(scipy.aslinearoperator(np.ones((3, 2))))


X = R ** Fin(Pixel, 3)
reveal_type(as_scipy(fun(X)(lambda x: x @ x)).x0(X.zeros()).shape)  # N: tuple[Any, ...]
