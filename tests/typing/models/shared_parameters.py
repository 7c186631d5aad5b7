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
    reveal_type(lift(two, batch, over=(0,))(ws, x))  # N: Vec[Copower[Vector[Out], Fin[Batch]]]
    reveal_type(lift(two, batch, over=(1,))(w, xs))  # N: Vec[Copower[Vector[Out], Fin[Batch]]]
    reveal_type(lift(two, batch, over=(0, 1))(ws, xs))  # N: Vec[Copower[Vector[Out], Fin[Batch]]]
    reveal_type(lift(three, batch, over=(0,))(ws, b, x))  # N: Vec[Vector[Batch]]
    reveal_type(lift(three, batch, over=(1,))(w, bs, x))  # N: Vec[Vector[Batch]]
    reveal_type(lift(three, batch, over=(2,))(w, b, xs))  # N: Vec[Vector[Batch]]
    reveal_type(lift(three, batch, over=(0, 1))(ws, bs, x))  # N: Vec[Vector[Batch]]
    reveal_type(lift(three, batch, over=(0, 2))(ws, b, xs))  # N: Vec[Vector[Batch]]
    reveal_type(lift(three, batch, over=(1, 2))(w, bs, xs))  # N: Vec[Vector[Batch]]
    reveal_type(lift(three, batch, over=(0, 1, 2))(ws, bs, xs))  # N: Vec[Vector[Batch]]
    some((0, 2))
