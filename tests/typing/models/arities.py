"""Functions of one to ten arguments, as annotated decorated definitions, called on vectors and in other functions."""

from typing import reveal_type

from diff import Expr, fun
from hilbert import Fin, R, Scalar, Type, Vector


class A: ...


class B: ...


a, b = Fin(A, 2), Fin(B, 3)
X, Y = R**a, R**b
x, y, r = X.vec([1.0, 2.0]), Y.vec([1.0, 2.0, 3.0]), R.vec(2.0)


@fun(X)
def one(u: Expr[Vector[A]]) -> Expr[Scalar]:
    return u @ u


@fun(X, Y)
def two(u: Expr[Vector[A]], v: Expr[Vector[B]]) -> Expr[Scalar]:
    return u @ u + v @ v


@fun(X, Y, R)
def three(u: Expr[Vector[A]], v: Expr[Vector[B]], w: Expr[Scalar]) -> Expr[Scalar]:
    return w * (u @ u + v @ v)


@fun(X, Y, R, X)
def four(u: Expr[Vector[A]], v: Expr[Vector[B]], w: Expr[Scalar], p: Expr[Vector[A]]) -> Expr[Scalar]:
    return w * ((u + p) @ p + v @ v)


@fun(X, Y, R, X, Y)
def five(
    u: Expr[Vector[A]], v: Expr[Vector[B]], w: Expr[Scalar], p: Expr[Vector[A]], q: Expr[Vector[B]]
) -> Expr[Scalar]:
    return w * ((u + p) @ p + (v + q) @ q)


@fun(X, Y, R, X, Y, R)
def six(
    u: Expr[Vector[A]], v: Expr[Vector[B]], w: Expr[Scalar], p: Expr[Vector[A]], q: Expr[Vector[B]], s: Expr[Scalar]
) -> Expr[Scalar]:
    return w * s * ((u + p) @ p + (v + q) @ q)


@fun(X, Y, R, X, Y, R, X)
def seven(
    u: Expr[Vector[A]],
    v: Expr[Vector[B]],
    w: Expr[Scalar],
    p: Expr[Vector[A]],
    q: Expr[Vector[B]],
    s: Expr[Scalar],
    t: Expr[Vector[A]],
) -> Expr[Scalar]:
    return w * s * ((u + p + t) @ t + (v + q) @ q)


@fun(X, Y, R, X, Y, R, X, Y)
def eight(
    u: Expr[Vector[A]],
    v: Expr[Vector[B]],
    w: Expr[Scalar],
    p: Expr[Vector[A]],
    q: Expr[Vector[B]],
    s: Expr[Scalar],
    t: Expr[Vector[A]],
    m: Expr[Vector[B]],
) -> Expr[Scalar]:
    return w * s * ((u + p + t) @ t + (v + q + m) @ m)


@fun(X, Y, R, X, Y, R, X, Y, R)
def nine(
    u: Expr[Vector[A]],
    v: Expr[Vector[B]],
    w: Expr[Scalar],
    p: Expr[Vector[A]],
    q: Expr[Vector[B]],
    s: Expr[Scalar],
    t: Expr[Vector[A]],
    m: Expr[Vector[B]],
    n: Expr[Scalar],
) -> Expr[Scalar]:
    return w * s * n * ((u + p + t) @ t + (v + q + m) @ m)


@fun(X, Y, R, X, Y, R, X, Y, R, X)
def ten(
    u: Expr[Vector[A]],
    v: Expr[Vector[B]],
    w: Expr[Scalar],
    p: Expr[Vector[A]],
    q: Expr[Vector[B]],
    s: Expr[Scalar],
    t: Expr[Vector[A]],
    m: Expr[Vector[B]],
    n: Expr[Scalar],
    z: Expr[Vector[A]],
) -> Expr[Scalar]:
    return w * s * n * ((u + p + t + z) @ z + (v + q + m) @ m)


def counted_at_run_time(spaces: list[Type]) -> None:
    reveal_type(fun(*spaces)(lambda *parts: parts[0]))  # N: Map[Any, Any]


def eleven() -> None:
    reveal_type(fun(X, R, X, Y, R, X, Y, R, X, X, R)(lambda *parts: parts[0]))  # N: Map[Any, Any]


def main() -> None:
    reveal_type(one(x))  # N: Vec[Field]
    reveal_type(two(x, y))  # N: Vec[Field]
    reveal_type(three(x, y, r))  # N: Vec[Field]
    reveal_type(four(x, y, r, x))  # N: Vec[Field]
    reveal_type(five(x, y, r, x, y))  # N: Vec[Field]
    reveal_type(six(x, y, r, x, y, r))  # N: Vec[Field]
    reveal_type(seven(x, y, r, x, y, r, x))  # N: Vec[Field]
    reveal_type(eight(x, y, r, x, y, r, x, y))  # N: Vec[Field]
    reveal_type(nine(x, y, r, x, y, r, x, y, r))  # N: Vec[Field]
    reveal_type(ten(x, y, r, x, y, r, x, y, r, x))  # N: Vec[Field]
    counted_at_run_time([X, Y])
    f1 = fun(X)(lambda u: one(u) * 2.0)
    reveal_type(f1)  # N: Map[Vector[A], Field]
    assert float(f1(x)) == 2.0 * float(one(x))
    f2 = fun(X)(lambda u: two(u, y) * 2.0)
    reveal_type(f2)  # N: Map[Vector[A], Field]
    assert float(f2(x)) == 2.0 * float(two(x, y))
    f3 = fun(X, R)(lambda u, w: three(u, y, w) * 2.0)
    reveal_type(f3)  # N: Map[DirectSum[Vector[A], Field], Field]
    assert float(f3(x, r)) == 2.0 * float(three(x, y, r))
    f4 = fun(X, R, X)(lambda u, w, p: four(u, y, w, p) * 2.0)
    reveal_type(f4)  # N: Map[DirectSum[Vector[A], Field, Vector[A]], Field]
    assert float(f4(x, r, x)) == 2.0 * float(four(x, y, r, x))
    f5 = fun(X, R, X, Y)(lambda u, w, p, q: five(u, y, w, p, q) * 2.0)
    reveal_type(f5)  # N: Map[DirectSum[Vector[A], Field, Vector[A], Vector[B]], Field]
    assert float(f5(x, r, x, y)) == 2.0 * float(five(x, y, r, x, y))
    f6 = fun(X, R, X, Y, R)(lambda u, w, p, q, s: six(u, y, w, p, q, s) * 2.0)
    reveal_type(f6)  # N: Map[DirectSum[Vector[A], Field, Vector[A], Vector[B], Field], Field]
    assert float(f6(x, r, x, y, r)) == 2.0 * float(six(x, y, r, x, y, r))
    f7 = fun(X, R, X, Y, R, X)(lambda u, w, p, q, s, t: seven(u, y, w, p, q, s, t) * 2.0)
    reveal_type(f7)  # N: Map[DirectSum[Vector[A], Field, Vector[A], Vector[B], Field, Vector[A]], Field]
    assert float(f7(x, r, x, y, r, x)) == 2.0 * float(seven(x, y, r, x, y, r, x))
    f8 = fun(X, R, X, Y, R, X, Y)(lambda u, w, p, q, s, t, m: eight(u, y, w, p, q, s, t, m) * 2.0)
    reveal_type(f8)  # N: Map[DirectSum[Vector[A], Field, Vector[A], Vector[B], Field, Vector[A], Vector[B]], Field]
    assert float(f8(x, r, x, y, r, x, y)) == 2.0 * float(eight(x, y, r, x, y, r, x, y))
    f9 = fun(X, R, X, Y, R, X, Y, R)(lambda u, w, p, q, s, t, m, n: nine(u, y, w, p, q, s, t, m, n) * 2.0)
    reveal_type(f9)  # N: Map[DirectSum[Vector[A], Field, Vector[A], Vector[B], Field, Vector[A], Vector[B], Field], Field]
    assert float(f9(x, r, x, y, r, x, y, r)) == 2.0 * float(nine(x, y, r, x, y, r, x, y, r))
    f10 = fun(X, R, X, Y, R, X, Y, R, X)(lambda u, w, p, q, s, t, m, n, z: ten(u, y, w, p, q, s, t, m, n, z) * 2.0)
    reveal_type(f10)  # N: Map[DirectSum[Vector[A], Field, Vector[A], Vector[B], Field, Vector[A], Vector[B], Field, Vector[A]], Field]
    assert float(f10(x, r, x, y, r, x, y, r, x)) == 2.0 * float(ten(x, y, r, x, y, r, x, y, r, x))
