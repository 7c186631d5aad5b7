"""A wrong axis in @: the columns of the matrix are not what the vector is indexed by."""

from diff import Expr, fun, tanh
from hilbert import DirectSum, Fin, Matrix, R, Scalar, Vector, direct_sum
from linmap import section
from linmap.contraction import matrix_vector


class Pixel: ...


class Hidden: ...


pixel, hidden = Fin(Pixel, 4), Fin(Hidden, 3)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)


def bad_vector() -> None:
    fun(X, H)(lambda x, h: x @ h)  # E: operator


def bad_matrix() -> None:
    fun(W, X, H)(lambda w, x, b: tanh(w @ b + x))  # E: operator


def bad_constant() -> None:
    w = W.zeros()
    fun(H)(lambda h: w @ h)  # E: operator


def bad_section() -> None:
    section(matrix_vector(hidden, pixel), 0, X.zeros())  # E: call-overload


def bad_nested() -> None:
    @fun(direct_sum(direct_sum(W, H), X))
    def score(p: Expr[DirectSum[DirectSum[Matrix[Hidden, Pixel], Vector[Hidden]], Vector[Pixel]]]) -> Expr[Scalar]:
        layer, x = p.split()
        w, b = layer.split()
        return x @ (w @ x + b)  # E: operator, no-any-return
