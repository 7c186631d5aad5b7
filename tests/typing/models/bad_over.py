"""A body whose arguments are not the parts of the space that fun.over takes apart."""

from diff import Expr, fun, lift
from hilbert import Fin, R, Scalar, Vector, direct_sum


class A: ...


class B: ...


class Batch: ...


a, b, batch = Fin(A, 2), Fin(B, 3), Fin(Batch, 4)
X, Y, M = R**a, R**b, R ** (b * a)

apply = fun(M, X)(lambda m, x: m @ x)


def bad_vector() -> None:
    fun.over(direct_sum(X, Y))(lambda x, y: x + y)  # E: operator


def bad_matrix() -> None:
    fun.over(direct_sum(X, M))(lambda x, m: x @ m)  # E: operator


def bad_nested() -> None:
    per = lift(apply, batch)
    fun.over(per.dom)(lambda m, xs: m @ xs)  # E: operator


def bad_parts() -> None:
    fun.over(direct_sum(X, Y))(lambda x: x)  # E: arg-type, misc


def bad_space() -> None:
    fun.over(lambda x: x)  # E: call-overload


def bad_definition() -> None:
    @fun.over(direct_sum(Y, X))  # E: arg-type
    def _(x: Expr[Vector[A]], y: Expr[Vector[B]]) -> Expr[Scalar]:
        return x @ X.zeros()


def bad_whole() -> None:
    fun.over(direct_sum(X, X))(lambda p: p[0])  # E: arg-type, misc
