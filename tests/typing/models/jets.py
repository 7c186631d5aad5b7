"""Jets of every typed order, Taylor coefficients at vectors and expressions, derivatives in directions."""

from typing import reveal_type

from diff import Expr, directional, fun, inner, jet, sin, taylor
from hilbert import DirectSum, Fin, R, Scalar, Vector


class Place: ...


X = R ** Fin(Place, 3)


@fun(X)
def energy(x: Expr[Vector[Place]]) -> Expr[Scalar]:
    return inner(sin(x), x)


two = fun(X, X)(inner)
at, pair = X.ones(), two.dom.zeros()


@fun(X, two.dom)
def series(x: Expr[Vector[Place]], p: Expr[DirectSum[Vector[Place], Vector[Place]]]) -> Expr[Scalar]:
    reveal_type(taylor(energy, x, at, 2))  # N: tuple[Expr[Field], ...]
    reveal_type(taylor(energy, at, x, 2))  # N: tuple[Expr[Field], ...]
    reveal_type(taylor(two, p, x, 2, wrt=0))  # N: tuple[Expr[Field], ...]
    reveal_type(taylor(two, (x, at), at, 2, wrt=1))  # N: tuple[Expr[Field], ...]
    reveal_type(taylor(two, (at, x), at, 2, wrt=1))  # N: tuple[Expr[Field], ...]
    reveal_type(taylor(two, (at, at), x, 2, wrt=0))  # N: tuple[Expr[Field], ...]
    return taylor(energy, x, x, 2)[2]


def main() -> None:
    reveal_type(jet(energy, 1, 1))  # N: Map[DirectSum[Vector[Place], Vector[Place]], DirectSum[Field, Field]]
    reveal_type(jet(energy, 1, 2))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place]], DirectSum[Field, Field, Field]]
    reveal_type(jet(energy, 1, 3))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place], Vector[Place]], DirectSum[Field, Field, Field, Field]]
    reveal_type(jet(energy, 1, 4))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place], Vector[Place], Vector[Place]], DirectSum[Field, Field, Field, Field, Field]]
    reveal_type(jet(energy, 2, 1))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place]], DirectSum[Field, Field, Field]]
    reveal_type(jet(energy, 2, 2))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place], Vector[Place], Vector[Place], Vector[Place]], DirectSum[Field, Field, Field, Field, Field, Field]]
    reveal_type(jet(energy, 3, 1))  # N: Map[Any, Any]
    reveal_type(taylor(energy, at, at, 2))  # N: tuple[Vec[Field], ...]
    reveal_type(taylor(two, pair, at, 2, wrt=1))  # N: tuple[Vec[Field], ...]
    reveal_type(taylor(two, (at, at), at, 2, wrt=1))  # N: tuple[Vec[Field], ...]
    reveal_type(directional(energy, 1))  # N: Map[DirectSum[Vector[Place], Vector[Place]], Field]
    reveal_type(directional(energy, 2))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place]], Field]
    reveal_type(directional(energy, 3))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place], Vector[Place]], Field]
    reveal_type(directional(energy, 4))  # N: Map[DirectSum[Vector[Place], Vector[Place], Vector[Place], Vector[Place], Vector[Place]], Field]
    reveal_type(directional(energy, 5))  # N: Map[Any, Field]
    assert series(at, pair).space == R
