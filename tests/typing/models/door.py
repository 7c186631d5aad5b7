"""A model written through the one door: `import hilbert.all as hb`."""

from typing import reveal_type

import numpy as np

import hilbert.all as hb


class Pixel: ...


class Hidden: ...


pixel, hidden = hb.Fin(Pixel, 4), hb.Fin(Hidden, 3)
X, H, W = hb.R**pixel, hb.R**hidden, hb.R ** (hidden * pixel)


@hb.fun(W, X)
def layer(w: hb.Expr[hb.Matrix[Hidden, Pixel]], x: hb.Expr[hb.Vector[Pixel]]) -> hb.Expr[hb.Vector[Hidden]]:
    return hb.tanh(w @ hb.roll(pixel, 1)(x))


energy = hb.fun(W, X)(lambda w, x: layer(w, x) @ layer(w, x))


def main() -> None:
    rng = np.random.default_rng(0)
    w, x = W.random(rng), X.random(rng)
    reveal_type(layer(w, x))  # N: Vec[Vector[Hidden]]
    reveal_type(hb.grad(energy, 0))  # N: Map[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel]], Matrix[Hidden, Pixel]]
    reveal_type(hb.adjoint(hb.derivative(layer)).at(w, x))  # N: LinMap[Vector[Hidden], DirectSum[Matrix[Hidden, Pixel], Vector[Pixel]]]
    reveal_type(hb.total(pixel) @ hb.cumsum(pixel))  # N: LinMap[Vector[Pixel], Field]
    assert isinstance(layer, hb.Map)
