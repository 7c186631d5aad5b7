"""Ridge regression: ‖A⋆w − y‖² + λ·‖w‖², its gradient and its Hessian 2(AᵀA + λ·id)."""

from typing import reveal_type

import numpy as np

from adjoint import grad, hessian
from diff import fun, inner
from hilbert import Fin, R


class Row: ...


class Column: ...


row, column = Fin(Row, 5), Fin(Column, 3)
A, W, Y = R ** (row * column), R**column, R**row


def main() -> None:
    rng = np.random.default_rng(0)
    a, y = A.random(rng), Y.random(rng)
    penalty = 0.1
    error = fun(W)(lambda w: a @ w - y)
    square = fun(Y)(lambda r: inner(r, r))
    norm = fun(W)(lambda w: inner(w, w))
    loss = square @ error + penalty * norm
    reveal_type(loss)  # N: Map[Vector[Column], Field]
    w = W.random(rng)
    reveal_type(grad(loss)(w))  # N: Vec[Vector[Column]]
    due = 2.0 * (a.array.T @ a.array + penalty * np.eye(3))
    assert np.allclose(hessian(loss, w), due)
