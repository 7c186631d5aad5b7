"""Sections of bilinear maps, Riesz duals, scalings, projections at data: a bundle of linear maps out of one space."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint
from hilbert import Elements, Fin, R
from linmap import at, dot, fork, join, times


class Place: ...


class Choice: ...


place, choice = Fin(Place, 3), Fin(Choice, 4)
X = R**place


def main() -> None:
    rng = np.random.default_rng(0)
    u, v, x, k = X.random(rng), X.random(rng), X.random(rng), R.vec(2.0)
    reveal_type(dot(u))  # N: LinMap[Vector[Place], Field]
    reveal_type(times(k, X))  # N: LinMap[Vector[Place], Vector[Place]]
    bundle = fork(dot(u), dot(v), times(k, X))
    reveal_type(bundle)  # N: LinMap[Vector[Place], DirectSum[Field, Field, Vector[Place]]]
    assert np.isclose(float(bundle(x)[1]), v.inner(x))
    cobundle = join(adjoint(dot(u)), times(k, X))
    reveal_type(cobundle)  # N: LinMap[DirectSum[Field, Vector[Place]], Vector[Place]]
    assert np.allclose(cobundle(k, x).array, 2.0 * u.array + 2.0 * x.array)
    family = X**choice
    chosen = at(X, choice, Elements(choice).vec(2))
    reveal_type(chosen)  # N: LinMap[Copower[Vector[Place], Fin[Choice]], Vector[Place]]
    f = family.random(rng)
    assert np.array_equal(chosen(f).array, f.array[2])
    reveal_type(adjoint(chosen)(x))  # N: Vec[Copower[Vector[Place], Fin[Choice]]]
    rank_one = adjoint(dot(u)) @ dot(v)
    reveal_type(rank_one)  # N: LinMap[Vector[Place], Vector[Place]]
    assert np.allclose(rank_one(x).array, u.array * v.inner(x))
