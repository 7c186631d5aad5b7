"""split() of what is no direct sum, into too many parts, into parts of other spaces."""

from diff import fun
from hilbert import Fin, R, direct_sum


class A: ...


class B: ...


class Batch: ...


a, b, batch = Fin(A, 2), Fin(B, 3), Fin(Batch, 4)
X, Y, M = R**a, R**b, R ** (b * a)

results = fun(X)(lambda x: (x, x @ x))


def bad_vector() -> None:
    X.zeros().split()  # E: misc


def bad_matrix() -> None:
    fun(M)(lambda m: m.split()[0])  # E: misc


def bad_nested() -> None:
    fun(X**batch)(lambda xs: (results**batch)(xs).split()[1] + xs)  # E: operator


def bad_parts() -> None:
    x, y = direct_sum(X, Y).zeros().split()
    x + y  # E: operator


def bad_lifted_parts() -> None:
    xs, ys = (direct_sum(X, Y) ** batch).zeros().split()
    xs.inner(ys)  # E: arg-type


def bad_copower() -> None:
    (X**batch).zeros().split()  # E: misc


def bad_sum() -> None:
    fun(direct_sum(X, Y, R) ** batch)(lambda p: p.split()[0] + p.split()[1])  # E: operator
