"""The adjoint of a map that is not linear: functions have the adjoints of their derivatives."""

from adjoint import adjoint
from diff import fun, sin, tanh
from hilbert import Fin, R
from linmap import fork, identity, total


class Pixel: ...


class Hidden: ...


class Batch: ...


pixel, hidden, batch = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 2)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)


def bad_vector() -> None:
    adjoint(fun(X)(lambda x: x @ x))  # E: call-overload


def bad_matrix() -> None:
    adjoint(fun(W, X)(lambda w, x: tanh(w @ x)))  # E: call-overload


def bad_nested() -> None:
    adjoint((sin**pixel) ** batch)  # E: call-overload


def bad_composition() -> None:
    adjoint(total(pixel) @ sin**pixel)  # E: call-overload


def bad_fork() -> None:
    adjoint(fork(identity(X), sin**pixel))  # E: call-overload


def bad_sum() -> None:
    adjoint(identity(X) + sin**pixel)  # E: call-overload
