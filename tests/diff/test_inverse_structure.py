"""`structure(inverse(A))`: by formula, or by the places of entries; the matrix has entries there alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from linmap import identity

hb: Any = library
N = 30
V = hb.R ** hb.Fin.of(N)
X5, X6 = hb.Fin.of(5), hb.Fin.of(6)
A, B = ((hb.R ** (X * X)).random(np.random.default_rng(0)) for X in (X5, X6))
ORDER = hb.Fin.of(N).at(np.random.default_rng(0).permutation(N), hb.Fin.of(N))


def back(x: Any, k: int = 1) -> Any:
    return x.pad(k, 0).crop(0, N)


MAPS: list[tuple[Any, str]] = [
    (lambda p, x: hb.exp(p) * x, "diagonal, positive"),
    (lambda p, x: hb.sin(p) * x, "diagonal"),
    (lambda _, x: 3.0 * x, "scaled"),
    (lambda _, x: -3.0 * x, "scaled"),
    (lambda _, x: x[ORDER], "permutation"),
    (lambda p, x: (hb.exp(p) * x)[ORDER], "weighted permutation"),
    (lambda p, x: hb.exp(p) * x + 0.1 * back(x), "sparse, 465 of 30·30 entries"),
    (lambda p, x: hb.exp(p) * x + 0.1 * x.pad(0, 1).crop(1, N + 1), "sparse, 465 of 30·30 entries"),
    (lambda p, x: hb.exp(p) * x + 0.1 * back(x, 10), "sparse, 60 of 30·30 entries"),
    (lambda p, x: 4.0 * x + 0.1 * p * (A @ x.reshape(X5 * X6)).reshape(V.index), "sparse, 150 of 30·30 entries"),
    (lambda p, x: hb.exp(p) * x + 0.1 * x.roll(1), "dense 30×30"),
    (lambda p, x: hb.exp(p) * x + p * (p @ x), "dense 30×30, positive"),
]


@pytest.mark.parametrize("k", range(len(MAPS)))
def test_forms(k: int) -> None:
    f, due = MAPS[k]
    rng = np.random.default_rng(k)
    d = hb.derivative(hb.fun(V, V)(f), wrt=1)
    inverse = hb.linalg.inverse(d)
    assert str(hb.structure(inverse)) == due
    p = V.random(rng)
    at, a = inverse.at(p, V.zeros()), np.linalg.inv(hb.matrix(d.at(p, V.zeros()), "array"))
    np.testing.assert_allclose(hb.matrix(at, "array"), a, rtol=1e-9, atol=1e-12)
    made = hb.matrix(at, "sparse")
    np.testing.assert_allclose(made.toarray(), a, rtol=1e-9, atol=1e-12)
    turned = hb.adjoint(at)
    np.testing.assert_allclose(hb.matrix(turned, "sparse").toarray(), a.T, rtol=1e-9, atol=1e-12)
    if due.startswith("sparse"):
        assert made.nnz == hb.structure(inverse).entries
    elif not due.startswith("dense"):
        assert made.nnz == N


def test_kronecker_products_and_several_arrays() -> None:
    K = hb.R ** (X5 * X6)
    both = hb.linalg.inverse(hb.derivative(hb.fun(K)(lambda x: A @ x @ B)))
    assert str(hb.structure(both)) == "dense 5×5 ⊗ dense 6×6"
    np.testing.assert_allclose(
        hb.matrix(both.at(K.zeros()), "array"), np.linalg.inv(np.kron(A.array, B.array.T)), rtol=1e-7, atol=1e-9
    )
    one = hb.linalg.inverse(hb.derivative(hb.fun(K)(lambda x: A @ x)))
    assert str(hb.structure(one)) == "dense 5×5 ⊗ identity"
    U, W = hb.R**X5, hb.R**X6
    apart = hb.fun(U, W)(lambda a, b: (A @ a).concatenate(hb.exp(b)))
    d = hb.derivative(apart)
    inverse = hb.linalg.inverse(d)
    assert str(hb.structure(inverse)) == "[sparse, 25 of 5·11 entries; sparse, 6 of 6·11 entries]"
    full = np.block([[A.array, np.zeros((5, 6))], [np.zeros((6, 5)), np.eye(6)]])
    made = hb.matrix(inverse.at(d.point.zeros()), "array")
    np.testing.assert_allclose(made, np.linalg.inv(full), rtol=1e-8, atol=1e-10)
    assert str(hb.structure(hb.linalg.inverse(identity(V)))) == "identity"


def test_random_patterns() -> None:
    """Zeros that are proved are zeros of the inverse in full."""
    rng = np.random.default_rng(9)
    for _ in range(30):
        pairs = {(k, k) for k in range(N)} | {(int(i), int(j)) for i, j in rng.integers(0, N, (rng.integers(0, 25), 2))}
        some = hb.red(hb.relations.pairs(sorted(pairs), V.index, V.index))
        f = hb.fun(V, V)(lambda p, x, some=some: 9.0 * hb.exp(p) * x + some(hb.cos(p) * x))
        p, d = V.random(rng), hb.derivative(f, wrt=1)
        at, a = hb.linalg.inverse(d).at(p, V.zeros()), np.linalg.inv(hb.matrix(d.at(p, V.zeros()), "array"))
        np.testing.assert_allclose(hb.matrix(at, "sparse").toarray(), a, rtol=1e-9, atol=1e-12)
