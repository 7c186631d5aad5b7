"""Reductions by relations: sums, copies, prefix sums, segment sums, gathers and explicit pairs."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint
from diff import Expr, fun, inner
from hilbert import Fin, R, Relation, Scalar, Vector
from hilbert.relation import equality, full, function, geq, leq, pairs, run
from linmap import LinMap, cumsum, red, rep, total


class Point: ...


class Group: ...


point, group = Fin(Point, 5), Fin(Group, 2)
X, G = R**point, R**group


def springs() -> LinMap[Vector[Point], Vector[Group]]:
    """The differences along two springs: two gathers."""
    ends = [function(table, group, point) for table in ([0, 2], [1, 4])]
    return red(ends[1].T, R) - red(ends[0].T, R)


@fun(X)
def energy(x: Expr[Vector[Point]]) -> Expr[Scalar]:
    stretch = springs()(x)
    reveal_type(stretch)  # N: Expr[Vector[Group]]
    return 0.5 * inner(stretch, stretch)


def main() -> None:
    x = X.vec([1.0, 2.0, 3.0, 4.0, 5.0])
    segments = function([0, 1, 0, 1, 1], point, group)
    reveal_type(red(segments, R))  # N: LinMap[Vector[Point], Vector[Group]]
    assert red(segments, R)(x).array.tolist() == [4.0, 11.0]
    reveal_type(red(segments.T, R))  # N: LinMap[Vector[Group], Vector[Point]]
    assert adjoint(red(segments, R)) == red(segments.T, R)
    some: Relation[Fin[Point], Fin[Group]] = pairs([[0, 0], [4, 0]], point, group)
    assert red(some, R)(x).array.tolist() == [6.0, 0.0]
    reveal_type(red(full(point, group), X))  # N: LinMap[Copower[Vector[Point], Fin[Point]], Copower[Vector[Point], Fin[Group]]]
    reveal_type(red(leq(point), R) + red(geq(point), R) - red(equality(point), R))  # N: LinMap[Vector[Point], Vector[Point]]
    reveal_type(red(run(group, point, 1), R))  # N: LinMap[Vector[Group], Vector[Point]]
    reveal_type(total(point) @ cumsum(point))  # N: LinMap[Vector[Point], Field]
    reveal_type(cumsum(point, reverse=True) @ rep(point))  # N: LinMap[Field, Vector[Point]]
    assert float(energy(x)) == 0.5 * (1.0 + 4.0)
    assert np.array_equal(cumsum(point)(x).array, np.cumsum(x.array))
