"""An autoencoder with tied weights: ‖Wᵀ⋆tanh(W⋆x + b) + c − x‖²."""

from typing import reveal_type

import numpy as np

from adjoint import check_derivative, grad
from diff import fun, inner, tanh
from hilbert import Fin, R


class Signal: ...


class Code: ...


signal, code = Fin(Signal, 6), Fin(Code, 2)
W, B, C, X = R ** (code * signal), R**code, R**signal, R**signal

encode = fun(W, B, X)(lambda w, b, x: tanh(w @ x + b))
decode = fun(W, C, B)(lambda w, c, h: w.T @ h + c)
reconstruct = fun(W, B, C, X)(lambda w, b, c, x: decode(w, c, encode(w, b, x)))
loss = fun(W, B, C, X)(lambda w, b, c, x: inner(reconstruct(w, b, c, x) - x, reconstruct(w, b, c, x) - x))


def main() -> None:
    rng = np.random.default_rng(0)
    w, b, c, x = W.random(rng), B.random(rng), C.random(rng), X.random(rng)
    reveal_type(decode)  # N: Map[DirectSum[Matrix[Code, Signal], Vector[Signal], Vector[Code]], Vector[Signal]]
    reveal_type(grad(loss, wrt=2)(w, b, c, x))  # N: Vec[Vector[Signal]]
    assert check_derivative(loss, w, b, c, x).ok
