"""Vectors: arithmetic, inner products, norms, parts, conversions; one step of conjugate gradients."""

from typing import reveal_type

import numpy as np

from diff import derivative, fun
from hilbert import Fin, R, Vec, Vector, direct_sum
from linmap import LinMap


class Item: ...


item = Fin(Item, 3)
X = R**item


def conjugate_gradients(
    a: LinMap[Vector[Item], Vector[Item]], y: Vec[Vector[Item]], steps: int
) -> Vec[Vector[Item]]:
    x, r = y.space.zeros(), y
    p, rr = r, r.inner(r)
    for _ in range(steps):
        ap = a(p)
        alpha = rr / p.inner(ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r.inner(r)
        p, rr = r + (new / rr) * p, new
    return x


def main() -> None:
    rng = np.random.default_rng(0)
    m = rng.standard_normal((3, 3))
    matrix = (R ** (item * item)).vec(m @ m.T + np.eye(3))
    a = derivative(fun(X)(lambda x: matrix @ x)).at(X.zeros())
    y = X.random(rng)
    x = conjugate_gradients(a, y, 3)
    assert (a(x) - y).norm() < 1e-9
    reveal_type(matrix @ x)  # N: Vec[Vector[Item]]
    reveal_type(matrix.T @ matrix)  # N: Vec[Matrix[Item, Item]]
    reveal_type(x @ x)  # N: Vec[Field]
    reveal_type(-x / 2.0)  # N: Vec[Vector[Item]]
    reveal_type(x.space)  # N: Vector[Item]
    pair = direct_sum(X, R).vec((x.array, 2.0))
    reveal_type(pair[0] + x)  # N: Vec[Vector[Item]]
    reveal_type(pair[1])  # N: Vec[Field]
    assert float(pair[1]) == 2.0
    reveal_type(X.unflat(pair.flat()[:3]))  # N: Vec[Vector[Item]]
    reveal_type([e.inner(x) for e in X.basis()])  # N: list[float]
