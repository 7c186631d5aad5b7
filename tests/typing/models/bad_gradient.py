"""The gradient of a vector-valued map: only a map into K has one."""

from adjoint import grad, hessian, value_and_grad
from diff import fun, lift, tanh
from hilbert import Fin, R


class Pixel: ...


class Hidden: ...


class Batch: ...


pixel, hidden, batch = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 2)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)

layer = fun(W, X, H)(lambda w, x, b: tanh(w @ x + b))
square = fun(X)(lambda x: x @ x)


def bad_vector() -> None:
    grad(tanh**pixel)  # E: arg-type


def bad_matrix() -> None:
    grad(layer, wrt=0)  # E: arg-type


def bad_nested() -> None:
    grad(lift(fun(H, X)(lambda h, x: (h @ h) * (x @ x)), batch))  # E: arg-type


def bad_copower() -> None:
    value_and_grad(square**batch)  # E: arg-type


def bad_part() -> None:
    value_and_grad(layer, wrt=1)  # E: arg-type


def bad_hessian() -> None:
    hessian(tanh**pixel, X.zeros())  # E: arg-type
