"""The sum of two spaces: vectors, expressions and maps are added in one space only."""

from diff import fun
from hilbert import Fin, R, direct_sum
from linmap import identity, scale, total


class Pixel: ...


class Hidden: ...


pixel, hidden = Fin(Pixel, 4), Fin(Hidden, 3)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)


def bad_vector() -> None:
    X.zeros() + H.zeros()  # E: operator


def bad_difference() -> None:
    X.zeros() - H.zeros()  # E: operator


def bad_matrix() -> None:
    fun(W, X)(lambda w, x: w + w @ x)  # E: operator


def bad_constant() -> None:
    h = H.zeros()
    fun(X)(lambda x: h + x)  # E: operator


def bad_nested() -> None:
    pair, swapped = direct_sum(X, X**hidden), direct_sum(X**hidden, X)
    fun(pair, swapped)(lambda p, q: p - q)  # E: operator


def bad_inner() -> None:
    X.zeros().inner(H.zeros())  # E: arg-type


def bad_linear_maps() -> None:
    identity(X) + scale(2.0, H)  # E: operator


def bad_functions() -> None:
    square, double = fun(X)(lambda x: x @ x), fun(X)(lambda x: x + x)
    square - double  # E: operator


def bad_mixture() -> None:
    total(pixel) + fun(H)(lambda h: h @ h)  # E: operator
