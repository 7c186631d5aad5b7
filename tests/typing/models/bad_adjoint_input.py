"""An adjoint applied to an input: f* takes what f gives."""

from adjoint import adjoint, adjoint_affine, vjp
from diff import derivative, fun, tanh
from hilbert import Fin, R
from linmap import cumsum, total


class Pixel: ...


class Hidden: ...


class Batch: ...


pixel, hidden, batch = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 2)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)

layer = fun(W, X, H)(lambda w, x, b: tanh(w @ x + b))
first = fun(X)(lambda x: W.zeros() @ x)


def bad_vector() -> None:
    adjoint(total(pixel))(X.zeros())  # E: arg-type


def bad_matrix() -> None:
    slope = derivative(layer).at(W.zeros(), X.zeros(), H.zeros())
    adjoint(slope)(W.zeros(), X.zeros(), H.zeros())  # E: call-overload


def bad_affine() -> None:
    adjoint_affine(first, X.zeros())[1](X.zeros())  # E: arg-type


def bad_pullback() -> None:
    vjp(first)(X.zeros(), X.zeros())  # E: arg-type


def bad_nested() -> None:
    means = 0.5 * (total(batch) @ (total(pixel) ** batch))
    adjoint(means @ cumsum(batch, X))((X**batch).zeros())  # E: arg-type
