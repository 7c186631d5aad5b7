"""A missing transpose: Wᵀ⋆h, not W⋆h, takes what W⋆x gives."""

from diff import Expr, fun
from hilbert import DirectSum, Fin, Matrix, R, Scalar, Vector, direct_sum


class Pixel: ...


class Hidden: ...


pixel, hidden = Fin(Pixel, 4), Fin(Hidden, 3)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)


def bad_vector() -> None:
    fun(W, H)(lambda w, h: w @ h)  # E: operator


def bad_left() -> None:
    fun(W, H)(lambda w, h: h @ w)  # E: operator


def bad_matrix() -> None:
    fun(W, W)(lambda a, b: a @ b)  # E: operator


def bad_sum() -> None:
    fun(W, W)(lambda a, b: a + b.T)  # E: operator


def bad_data() -> None:
    W.zeros() @ H.zeros()  # E: operator


def bad_transposed_data() -> None:
    W.zeros().T @ X.zeros()  # E: operator


def bad_data_on_the_left() -> None:
    X.zeros() @ W.zeros()  # E: operator


def bad_matrices() -> None:
    W.zeros() @ W.zeros()  # E: operator


def bad_transpose_of_a_vector() -> None:
    X.zeros().T  # E: misc


def bad_nested() -> None:
    @fun(direct_sum(W, X))
    def energy(p: Expr[DirectSum[Matrix[Hidden, Pixel], Vector[Pixel]]]) -> Expr[Scalar]:
        h = p[0] @ p[1]
        return p[1] @ (p[0] @ h)  # E: operator, no-any-return
