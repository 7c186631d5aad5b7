"""Attention of one query: the values, weighted by softmax(K⋆q)."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, exp, fun
from hilbert import Fin, Matrix, R, Vector


class Token: ...


class Feature: ...


class Out: ...


token, feature, out = Fin(Token, 4), Fin(Feature, 3), Fin(Out, 2)
Q, K, V = R**feature, R ** (token * feature), R ** (token * out)


@fun(Q, K, V)
def attend(
    q: Expr[Vector[Feature]], k: Expr[Matrix[Token, Feature]], v: Expr[Matrix[Token, Out]]
) -> Expr[Vector[Out]]:
    score = exp(k @ q)
    weight = score / score.sum()
    reveal_type(weight)  # N: Expr[Vector[Token]]
    return v.T @ weight


@fun(K, V)
def affinity(k: Expr[Matrix[Token, Feature]], v: Expr[Matrix[Token, Out]]) -> Expr[Matrix[Feature, Out]]:
    return k.T @ v


def main() -> None:
    rng = np.random.default_rng(0)
    q, k, v = Q.zeros(), K.random(rng), V.random(rng)
    assert np.allclose(attend(q, k, v).array, v.array.mean(axis=0))
    energy = fun(Q, K, V)(lambda q, k, v: (attend(q, k, v) ** 2).sum())
    reveal_type(grad(energy, wrt=1))  # N: , Matrix[Token, Feature]]
    assert affinity(k, v).space == R ** (feature * out)
