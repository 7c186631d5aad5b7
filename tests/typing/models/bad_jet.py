"""Jets, directions and solutions of other spaces than the function's."""

from diff import directional, fun, jet, laplacian, ode_series, ode_solve, sin, taylor
from hilbert import Fin, R


class Place: ...


class Hidden: ...


place, hidden = Fin(Place, 3), Fin(Hidden, 4)
X, H, W = R**place, R**hidden, R ** (hidden * place)

energy = fun(X)(lambda x: sin(x) @ x)
layer = fun(W, X)(lambda w, x: w @ x)


def bad_vector() -> None:
    taylor(energy, X.zeros(), H.zeros(), 3)  # E: misc


def bad_matrix() -> None:
    jet(energy, 1, 1)(X.zeros(), W.zeros())  # E: arg-type


def bad_nested() -> None:
    jet(jet(energy, 1, 1), 1, 1)(jet(energy, 1, 1).dom.zeros(), X.zeros())  # E: arg-type


def bad_count() -> None:
    jet(energy, 1, 2)(X.zeros(), X.zeros())  # E: call-overload


def bad_direction() -> None:
    directional(energy, 2)(X.zeros(), X.zeros(), H.zeros())  # E: arg-type


def bad_point() -> None:
    laplacian(energy)(H.zeros())  # E: arg-type


def bad_equation() -> None:
    ode_series(layer, 3)  # E: misc


def bad_start() -> None:
    ode_solve(fun(X)(sin), H.zeros(), 1.0)  # E: misc


def bad_result() -> None:
    taylor(energy, X.zeros(), X.zeros(), 2)[0] @ X.zeros()  # E: operator
