"""Flat calls with arguments in another order, tables whose columns are elsewhere, functions on tables."""

from adjoint import grad, hvp, vjp
from diff import fun, jvp
from hilbert import Axis, R
from linmap import cumsum


class Pixel(Axis, size=3): ...


class Hidden(Axis, size=2): ...


V, W, M = R**Pixel.set, R**Hidden.set, R ** (Hidden.set * Pixel.set)
A, v, w, m = cumsum(Pixel.set), V.ones(), W.ones(), M.ones()
two = fun(M, V)(lambda A, x: A @ x)
loss = fun(M, V)(lambda A, x: (A @ x) @ (A @ x))
square = fun(V)(lambda x: x * x)


def bad_vector() -> None:
    jvp(two)(m, v, v, m)  # E: arg-type


def bad_matrix() -> None:
    A(m)  # E: arg-type


def bad_nested() -> None:
    A((V**Hidden.set).ones())  # E: arg-type


def bad_cotangent() -> None:
    vjp(two)(m, v, v)  # E: arg-type


def bad_direction() -> None:
    hvp(loss)(m, v, v, v)  # E: arg-type


def bad_part() -> None:
    hvp(loss, 0)(m, v, v)  # E: arg-type


def bad_vector_values() -> None:
    hvp(two)  # E: arg-type


def bad_product() -> None:
    A @ w  # E: operator


def bad_function() -> None:
    square(m.T)  # E: arg-type


def bad_function_product() -> None:
    square @ v  # E: operator


def bad_gradient() -> None:
    grad(loss)(m, v, m, v)  # E: call-overload
