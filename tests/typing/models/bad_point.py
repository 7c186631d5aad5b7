"""A point of another space: swapped, missing or too many parts, given to what takes a map and a point."""

from adjoint import adjoint_affine, check, check_adjoint, check_derivative, hessian, jacobian
from diff import affine, derivative, fun
from hilbert import Fin, R


class A: ...


class B: ...


a, b = Fin(A, 2), Fin(B, 3)
X, Y, M = R**a, R**b, R ** (b * a)

f1 = fun(X)(lambda x: x @ x)
f2 = fun(X, Y)(lambda x, y: (x @ x) * (y @ y))
f3 = fun(M, X, Y)(lambda m, x, y: (m @ x) @ y)
f4 = fun(X, Y, R, X)(lambda x, y, k, z: k * (x @ z) * (y @ y))
f5 = fun(X, Y, R, X, Y)(lambda x, y, k, z, w: k * (x @ z) * (y @ w))
f6 = fun(X, Y, R, X, Y, R)(lambda x, y, k, z, w, m: (k + m) * (x @ z) * (y @ w))
f7 = fun(X, Y, R, X, Y, R, X)(lambda x, y, k, z, w, m, u: (k + m) * (x @ (z + u)) * (y @ w))
x, y, r, m = X.zeros(), Y.zeros(), R.vec(2.0), M.zeros()


def bad_vector() -> None:
    jacobian(f1, y)  # E: misc


def bad_matrix() -> None:
    jacobian(f3, m, y, x)  # E: misc


def bad_nested() -> None:
    derivative(fun(X)(lambda x: f1(x) * f2(x, y))).at(y)  # E: arg-type


def bad_two() -> None:
    jacobian(f2, y, x)  # E: misc


def bad_missing() -> None:
    jacobian(f2, x)  # E: misc


def bad_many() -> None:
    jacobian(f2, x, y, x)  # E: arg-type


def bad_four() -> None:
    jacobian(f4, x, y, r, y)  # E: misc


def bad_six() -> None:
    jacobian(f6, x, y, r, x, y, x)  # E: misc


def bad_hessian() -> None:
    hessian(f2, y, x)  # E: misc


def bad_hessian_of_five() -> None:
    hessian(f5, x, y, r, y, y)  # E: misc


def bad_check() -> None:
    check(f2, y, x)  # E: misc


def bad_check_of_one() -> None:
    check(f1, y)  # E: misc


def bad_check_derivative() -> None:
    check_derivative(f4, x, y, r, y)  # E: misc


def bad_check_adjoint() -> None:
    check_adjoint(f2, y, x)  # E: misc


def bad_no_point() -> None:
    check_adjoint(f1)  # E: call-overload


def bad_at_two() -> None:
    derivative(f2).at(y, x)  # E: arg-type


def bad_at_four() -> None:
    derivative(f4).at(x, y, r, y)  # E: arg-type


def bad_at_five() -> None:
    derivative(f5).at(x, y, r, x, x)  # E: arg-type


def bad_at_six() -> None:
    derivative(f6).at(x, y, r, x, y, y)  # E: arg-type


def bad_at_seven() -> None:
    derivative(f7).at(x, y, r, x, y, r, y)  # E: arg-type


def bad_at_seven_of_six() -> None:
    derivative(f7).at(x, y, r, x, y, r)  # E: call-overload


def bad_at_five_of_four() -> None:
    derivative(f4).at(x, y, r, x, x)  # E: call-overload


def bad_affine() -> None:
    affine(f4, x, y, r, y)  # E: misc


def bad_affine_of_five() -> None:
    affine(f5, x, y, r, x, x)  # E: misc


def bad_adjoint_affine() -> None:
    adjoint_affine(f4, x, y, r, y)  # E: misc
