"""A wrong copower axis: f ** X applies to V^X, lift(f, X) to A ⊕ B^X, Σ_X to V^X."""

from diff import fun, lift, sin
from hilbert import Fin, R
from linmap import total


class Pixel: ...


class Hidden: ...


class Batch: ...


class Epoch: ...


pixel, hidden, batch, epoch = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 2), Fin(Epoch, 2)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)

square = fun(X)(lambda x: x @ x)
apply = fun(W, X)(lambda w, x: w @ x)


def bad_vector() -> None:
    (sin**pixel)(H.zeros())  # E: arg-type


def bad_matrix() -> None:
    lift(apply, batch)(W.zeros(), (X**epoch).zeros())  # E: arg-type


def bad_shared() -> None:
    lift(apply, batch)((W**batch).zeros(), (X**batch).zeros())  # E: arg-type


def bad_over() -> None:
    lift(apply, batch, over=(0,))(W.zeros(), (X**batch).zeros())  # E: arg-type


def bad_nested() -> None:
    ((square**batch) ** epoch)(((X**epoch) ** batch).zeros())  # E: arg-type


def bad_total() -> None:
    total(batch, H) @ (apply**epoch)  # E: operator


def bad_product() -> None:
    (square**batch)((R ** (pixel * batch)).zeros())  # E: arg-type
