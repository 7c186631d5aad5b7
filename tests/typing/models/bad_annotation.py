"""A wrong result annotation: the computation is right, what is said about it is not. Nothing fails at run time."""

from adjoint import adjoint, grad
from diff import Expr, fun, lift
from hilbert import Copower, Fin, Map, Matrix, R, Scalar, Vec, Vector
from linmap import LinMap, total


class Pixel: ...


class Hidden: ...


class Batch: ...


pixel, hidden, batch = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 2)
X, H, W = R**pixel, R**hidden, R ** (hidden * pixel)

apply = fun(W, X)(lambda w, x: w @ x)


def bad_vector() -> None:
    y: Vec[Vector[Pixel]] = apply(W.zeros(), X.zeros())  # E: assignment


def bad_matrix() -> None:
    @fun(W, W)
    def gram(a: Expr[Matrix[Hidden, Pixel]], b: Expr[Matrix[Hidden, Pixel]]) -> Expr[Matrix[Pixel, Pixel]]:
        return a @ b.T  # E: operator, no-any-return


def bad_scalar() -> None:
    @fun(X)
    def norm(x: Expr[Vector[Pixel]]) -> Expr[Scalar]:
        return x + x  # E: return-value


def bad_lambda() -> None:
    doubled: Map[Vector[Pixel], Scalar] = fun(X)(lambda x: x + x)  # E: arg-type, return-value


def bad_nested() -> None:
    many: Map[Copower[Vector[Pixel], Fin[Batch]], Copower[Vector[Hidden], Fin[Batch]]] = lift(apply, batch)  # E: assignment


def bad_gradient() -> None:
    slope: Map[Vector[Pixel], Scalar] = grad(fun(X)(lambda x: x @ x))  # E: assignment


def bad_adjoint() -> None:
    sums = total(pixel)
    f: LinMap[Vector[Pixel], Scalar] = adjoint(sums)  # E: arg-type


def bad_linear() -> None:
    f: LinMap[Vector[Pixel], Scalar] = fun(X)(lambda x: x @ x)  # E: assignment
