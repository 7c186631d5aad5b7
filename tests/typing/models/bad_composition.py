"""Composition the wrong way round: g @ f is g ∘ f, so f's codomain is g's domain."""

from diff import fun, sin, tanh
from hilbert import Fin, R, direct_sum
from linmap import compose, project, rep, total


class Pixel: ...


class Hidden: ...


pixel, hidden = Fin(Pixel, 4), Fin(Hidden, 3)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)

square = fun(X)(lambda x: x @ x)
apply = fun(W, X)(lambda w, x: w @ x)


def bad_vector() -> None:
    square @ (tanh @ square)  # E: operator


def bad_matrix() -> None:
    apply @ tanh**hidden  # E: operator


def bad_linear() -> None:
    total(pixel) @ rep(hidden)  # E: operator


def bad_mixture() -> None:
    sin @ rep(pixel)  # E: operator


def bad_nested() -> None:
    (square**hidden) @ (sin**hidden)  # E: operator


def bad_projection() -> None:
    project(direct_sum(X, H), 0) @ project(direct_sum(X, H), 1)  # E: operator


def bad_compose() -> None:
    compose(apply, square)  # E: misc


def bad_three() -> None:
    compose(sin, rep(pixel), total(pixel))  # E: misc
