"""lift: parameters are shared by all of X, data vary; `over` names the positions that vary."""

from collections.abc import Sequence
from typing import reveal_type

import numpy as np

from diff import Expr, fun, lift, tanh
from hilbert import Fin, Matrix, R, Scalar, Vector


class In: ...


class Out: ...


class Batch: ...


source, target, batch = Fin(In, 3), Fin(Out, 2), Fin(Batch, 5)
W, X, B = R ** (target * source), R**source, R**target


@fun(W, X)
def two(w: Expr[Matrix[Out, In]], x: Expr[Vector[In]]) -> Expr[Vector[Out]]:
    return tanh(w @ x)


@fun(W, B, X)
def three(w: Expr[Matrix[Out, In]], b: Expr[Vector[Out]], x: Expr[Vector[In]]) -> Expr[Scalar]:
    return b @ (w @ x)


def some(positions: Sequence[int]) -> None:
    reveal_type(lift(three, batch, over=positions))  # N: Map[Any, Vector[Batch]]


def main() -> None:
    rng = np.random.default_rng(0)
    w, b = W.random(rng), B.random(rng)
    ws, bs, xs = (W**batch).random(rng), (B**batch).random(rng), (X**batch).random(rng)
    reveal_type(lift(two, batch)(w, xs))  # N: Vec[Copower[Vector[Out], Fin[Batch]]]
    assert np.allclose(lift(two, batch)(w, xs).array, np.tanh(xs.array @ w.array.T))
    x = X.random(rng)
    two_0 = lift(two, batch, over=(0,))
    reveal_type(two_0)  # N: Map[DirectSum[Copower[Matrix[Out, In], Fin[Batch]], Vector[In]], Copower[Vector[Out], Fin[Batch]]]
    assert two_0(ws, x).array.shape == (5, 2)
    two_1 = lift(two, batch, over=(1,))
    reveal_type(two_1)  # N: Map[DirectSum[Matrix[Out, In], Copower[Vector[In], Fin[Batch]]], Copower[Vector[Out], Fin[Batch]]]
    assert two_1(w, xs).array.shape == (5, 2)
    two_01 = lift(two, batch, over=(0, 1))
    reveal_type(two_01)  # N: Map[DirectSum[Copower[Matrix[Out, In], Fin[Batch]], Copower[Vector[In], Fin[Batch]]], Copower[Vector[Out], Fin[Batch]]]
    assert two_01(ws, xs).array.shape == (5, 2)
    three_0 = lift(three, batch, over=(0,))
    reveal_type(three_0)  # N: Map[DirectSum[Copower[Matrix[Out, In], Fin[Batch]], Vector[Out], Vector[In]], Vector[Batch]]
    assert three_0(ws, b, x).array.shape == (5,)
    three_1 = lift(three, batch, over=(1,))
    reveal_type(three_1)  # N: Map[DirectSum[Matrix[Out, In], Copower[Vector[Out], Fin[Batch]], Vector[In]], Vector[Batch]]
    assert three_1(w, bs, x).array.shape == (5,)
    three_2 = lift(three, batch, over=(2,))
    reveal_type(three_2)  # N: Map[DirectSum[Matrix[Out, In], Vector[Out], Copower[Vector[In], Fin[Batch]]], Vector[Batch]]
    assert three_2(w, b, xs).array.shape == (5,)
    three_01 = lift(three, batch, over=(0, 1))
    reveal_type(three_01)  # N: Map[DirectSum[Copower[Matrix[Out, In], Fin[Batch]], Copower[Vector[Out], Fin[Batch]], Vector[In]], Vector[Batch]]
    assert three_01(ws, bs, x).array.shape == (5,)
    three_02 = lift(three, batch, over=(0, 2))
    reveal_type(three_02)  # N: Map[DirectSum[Copower[Matrix[Out, In], Fin[Batch]], Vector[Out], Copower[Vector[In], Fin[Batch]]], Vector[Batch]]
    assert three_02(ws, b, xs).array.shape == (5,)
    three_12 = lift(three, batch, over=(1, 2))
    reveal_type(three_12)  # N: Map[DirectSum[Matrix[Out, In], Copower[Vector[Out], Fin[Batch]], Copower[Vector[In], Fin[Batch]]], Vector[Batch]]
    assert three_12(w, bs, xs).array.shape == (5,)
    three_012 = lift(three, batch, over=(0, 1, 2))
    reveal_type(three_012)  # N: Map[DirectSum[Copower[Matrix[Out, In], Fin[Batch]], Copower[Vector[Out], Fin[Batch]], Copower[Vector[In], Fin[Batch]]], Vector[Batch]]
    assert three_012(ws, bs, xs).array.shape == (5,)
    some((0, 2))
