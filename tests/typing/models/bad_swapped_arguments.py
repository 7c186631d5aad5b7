"""Swapped arguments: f(x, w) where f : W ⊕ X → Y."""

from diff import Expr, affine, derivative, fun, lift, tanh
from hilbert import Fin, Matrix, R, Vector


class Pixel: ...


class Hidden: ...


class Batch: ...


pixel, hidden, batch = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 2)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)

pair = fun(X, H)(lambda x, h: (x @ x) * h)
layer = fun(W, X, H)(lambda w, x, b: tanh(w @ x + b))


def bad_vector() -> None:
    pair(H.zeros(), X.zeros())  # E: arg-type


def bad_matrix() -> None:
    layer(W.zeros(), H.zeros(), X.zeros())  # E: arg-type


def bad_traced() -> None:
    fun(W, X, H)(lambda w, x, b: layer(w, b, x))  # E: arg-type


def bad_constant() -> None:
    w = W.zeros()
    fun(X, H)(lambda x, b: layer(w, b, x))  # E: arg-type


def bad_nested() -> None:
    per_sample = fun(W, X)(lambda w, x: w @ x)
    lift(per_sample, batch)((X**batch).zeros(), W.zeros())  # E: arg-type


def bad_point() -> None:
    derivative(layer).at(W.zeros(), H.zeros(), X.zeros())  # E: arg-type


def bad_affine() -> None:
    affine(pair, H.zeros(), X.zeros())  # E: misc


def bad_body() -> None:
    @fun(X, W)  # E: arg-type
    def product(w: Expr[Matrix[Hidden, Pixel]], x: Expr[Vector[Pixel]]) -> Expr[Vector[Hidden]]:
        return w @ x
