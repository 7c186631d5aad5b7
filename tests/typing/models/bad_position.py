"""A position that a direct sum of two or three parts does not have; a zip of unequal index sets."""

from adjoint import grad, value_and_grad
from diff import fun
from hilbert import Fin, R, direct_sum
from linmap import inject, project, zip_parts


class A: ...


class B: ...


a, b = Fin(A, 2), Fin(B, 3)
X, Y, M = R**a, R**b, R ** (b * a)

f2 = fun(X, Y)(lambda x, y: (x @ x) * (y @ y))
f3 = fun(M, X, Y)(lambda m, x, y: (m @ x) @ y)
f_nested = fun(direct_sum(X, Y), R)(lambda p, k: k * f2(p[0], p[1]))


def bad_vector() -> None:
    grad(f2, 2)  # E: arg-type


def bad_matrix() -> None:
    grad(f3, wrt=3)  # E: arg-type


def bad_nested() -> None:
    grad(f_nested, 2)  # E: arg-type


def bad_value() -> None:
    value_and_grad(f2, 2)  # E: arg-type


def bad_project() -> None:
    project(direct_sum(X, Y), 2)  # E: type-var


def bad_inject() -> None:
    inject(direct_sum(X, Y, R), 3)  # E: type-var


def bad_zip() -> None:
    zip_parts(direct_sum(X, Y))  # E: misc


def bad_zip_of_three() -> None:
    zip_parts(direct_sum(X, X, Y))  # E: arg-type


def bad_zip_of_one() -> None:
    zip_parts(X)  # E: call-overload
