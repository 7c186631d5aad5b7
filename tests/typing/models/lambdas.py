"""Bodies that are lambdas: mypy reads them once before it knows their arguments, and must not guess a type then."""

from typing import reveal_type

import numpy as np

from diff import const, exp, fun, inner, lift, maximum, select, sin, tanh
from hilbert import Fin, R


class In: ...


class Out: ...


class Batch: ...


source, target, batch = Fin(In, 3), Fin(Out, 2), Fin(Batch, 4)
X, Y, W = R**source, R**target, R ** (target * source)

layer = fun(W, X, Y)(lambda w, x, b: tanh(w @ x + b))
apply = fun(W, X)(lambda w, x: w @ x)
square = fun(X)(lambda x: x @ x)


def main() -> None:
    rng = np.random.default_rng(0)
    w, x, b, k = W.random(rng), X.random(rng), Y.random(rng), R.vec(3.0)
    total = fun(W, X, Y)(lambda w, x, b: (layer(w, x, b) * 2.0 + 1.0).sum())
    reveal_type(total)  # N: Map[DirectSum[Matrix[Out, In], Vector[In], Vector[Out]], Field]
    partial = fun(X)(lambda x: layer(w, x, b) + 1.0)
    reveal_type(partial)  # N: Map[Vector[In], Vector[Out]]
    mean = fun(W, X**batch)(lambda w, xs: lift(apply, batch)(w, xs).sum(batch) @ b)
    reveal_type(mean)  # N: Map[DirectSum[Matrix[Out, In], Copower[Vector[In], Fin[Batch]]], Field]
    waves = fun(X)(lambda x: sin(x) @ sin(x) + inner(x, x))
    reveal_type(waves)  # N: Map[Vector[In], Field]
    scaled = fun(X)(lambda x: (inner(x, x) * x) @ x + square(x))
    reveal_type(scaled)  # N: Map[Vector[In], Field]
    constant = fun(X)(lambda x: const(w) @ x + const(b))
    reveal_type(constant)  # N: Map[Vector[In], Vector[Out]]
    times = fun(X)(lambda x: const(k) * x + x)
    reveal_type(times)  # N: Map[Vector[In], Vector[In]]
    chosen = fun(X)(lambda x: select(x > 0.0, x) @ select(square(x) > 1.0, x) + inner(x, x))
    reveal_type(chosen)  # N: Map[Vector[In], Field]
    bumps = fun(X, X)(lambda x, y: maximum(x, y) @ maximum(exp(y), 0.0) + inner(x, y))
    reveal_type(bumps)  # N: Map[DirectSum[Vector[In], Vector[In]], Field]
    assert np.allclose(constant(x).array, w.array @ x.array + b.array)
    assert np.isclose(float(waves(x)), float((np.sin(x.array) ** 2).sum() + x.inner(x)))
