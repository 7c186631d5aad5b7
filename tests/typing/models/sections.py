"""Sections of bilinear maps, Riesz duals, scalings, projections at data: a bundle of linear maps out of one space."""

from typing import reveal_type

import numpy as np

from adjoint import adjoint
from diff import bilinear, derivative, dot
from hilbert import Elements, Fin, R
from linmap import delta, fork, gather, join, scale, section
from linmap.contraction import inner, labelled, matrix_matrix, matrix_vector, outer, pick


class Place: ...


class Choice: ...


place, choice = Fin(Place, 3), Fin(Choice, 4)
X, W = R**place, R ** (choice * place)


def sections() -> None:
    rng = np.random.default_rng(0)
    w, x, ws, xs = W.random(rng), X.random(rng), (W**choice).random(rng), (X**choice).random(rng)
    times = matrix_vector(choice, place)
    reveal_type(section(times, 0, w))  # N: LinMap[Vector[Place], Vector[Choice]]
    reveal_type(section(times, 1, x))  # N: LinMap[Matrix[Choice, Place], Vector[Choice]]
    reveal_type(delta(times, 0, ws, choice))  # N: LinMap[Copower[Vector[Place], Fin[Choice]], Copower[Vector[Choice], Fin[Choice]]]
    reveal_type(delta(times, 1, xs, choice))  # N: LinMap[Copower[Matrix[Choice, Place], Fin[Choice]], Copower[Vector[Choice], Fin[Choice]]]
    reveal_type(section(outer(X, R), 0, x))  # N: LinMap[Field, TensorProduct[Vector[Place], Field]]
    reveal_type(section(matrix_matrix(choice, place, choice), 0, w))  # N: LinMap[Matrix[Place, Choice], Matrix[Choice, Choice]]
    reveal_type(section(pick(place), 1, Elements(place).vec(0)))  # N: LinMap[Vector[Place], Field]
    reveal_type(section(labelled("ij,j->i", W, X, R**choice), 1, x))  # N: LinMap[Matrix[Choice, Place], Vector[Choice]]
    reveal_type(section(labelled("ij,j->i", W, X), 1, x))  # N: LinMap[Matrix[Choice, Place], Any]
    product = bilinear(times)
    reveal_type(product)  # N: Fun[DirectSum[Matrix[Choice, Place], Vector[Place]], Vector[Choice]]
    slope = derivative(product).at(w, x)
    assert np.allclose(slope(w, x).array, 2.0 * (w.array @ x.array))
    reveal_type(derivative(bilinear(inner(X))).at(x, x))  # N: LinMap[DirectSum[Vector[Place], Vector[Place]], Field]


def main() -> None:
    sections()
    rng = np.random.default_rng(0)
    u, v, x, k = X.random(rng), X.random(rng), X.random(rng), R.vec(2.0)
    reveal_type(dot(u))  # N: LinMap[Vector[Place], Field]
    reveal_type(scale(k, X))  # N: LinMap[Vector[Place], Vector[Place]]
    bundle = fork(dot(u), dot(v), scale(k, X))
    reveal_type(bundle)  # N: LinMap[Vector[Place], DirectSum[Field, Field, Vector[Place]]]
    assert np.isclose(float(bundle(x)[1]), v.inner(x))
    cobundle = join(adjoint(dot(u)), scale(k, X))
    reveal_type(cobundle)  # N: LinMap[DirectSum[Field, Vector[Place]], Vector[Place]]
    assert np.allclose(cobundle(k, x).array, 2.0 * u.array + 2.0 * x.array)
    family = X**choice
    chosen = gather(Elements(choice).vec(2), X)
    reveal_type(chosen)  # N: LinMap[Copower[Vector[Place], Fin[Choice]], Vector[Place]]
    f = family.random(rng)
    assert np.array_equal(chosen(f).array, f.array[2])
    reveal_type(adjoint(chosen)(x))  # N: Vec[Copower[Vector[Place], Fin[Choice]]]
    rank_one = adjoint(dot(u)) @ dot(v)
    reveal_type(rank_one)  # N: LinMap[Vector[Place], Vector[Place]]
    assert np.allclose(rank_one(x).array, u.array * v.inner(x))
