"""Maps of one or more arguments applied to what other maps give: expressions, vectors, and both."""

from typing import reveal_type

from diff import Expr, fun, sin, tanh
from hilbert import Fin, R, Scalar, Vector
from linmap import scale


class A: ...


class B: ...


class C: ...


a, b, c = Fin(A, 2), Fin(B, 3), Fin(C, 4)
X, Y, Z = R**a, R**b, R**c
M, N = R ** (b * a), R ** (c * b)
m, n = M.vec([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), N.zeros()

one = fun(X)(lambda x: m @ x)
two = fun(Y)(lambda y: n @ y)
three = fun(Z)(lambda z: z @ z)
pair = fun(Y, Z)(lambda y, z: (y @ y) * z)
triple = fun(X, Y, Z)(lambda x, y, z: (x @ x) * (y @ y) * z)
linear = scale(2.0, Y)


@fun(X)
def written(x: Expr[Vector[A]]) -> Expr[Scalar]:
    reveal_type(two(one(x)))  # N: Expr[Vector[C]]
    reveal_type(three(two(one(x))))  # N: Expr[Field]
    reveal_type(pair(one(x), two(one(x))))  # N: Expr[Vector[C]]
    reveal_type(triple(x, one(x), pair(one(x), two(one(x)))))  # N: Expr[Vector[C]]
    reveal_type(linear(one(x)))  # N: Expr[Vector[B]]
    reveal_type(two(linear(linear(one(x)))))  # N: Expr[Vector[C]]
    reveal_type(sin(three(two(one(x)))))  # N: Expr[Field]
    reveal_type(two(sin(one(x))))  # N: Expr[Vector[C]]
    return three(two(one(x)))


def main() -> None:
    x, y, z = X.vec([1.0, 2.0]), Y.zeros(), Z.zeros()
    reveal_type(two(one(x)))  # N: Vec[Vector[C]]
    reveal_type(three(two(one(x))))  # N: Vec[Field]
    reveal_type(pair(one(x), two(one(x))))  # N: Vec[Vector[C]]
    reveal_type(triple(x, one(x), pair(one(x), two(one(x)))))  # N: Vec[Vector[C]]
    reveal_type(fun(X)(lambda x: three(two(one(x)))))  # N: Map[Vector[A], Field]
    reveal_type(fun(X)(lambda x: pair(one(x), two(one(x)))))  # N: Map[Vector[A], Vector[C]]
    reveal_type(fun(X)(lambda x: pair(one(x), z)))  # N: Map[Vector[A], Vector[C]]
    reveal_type(fun(X)(lambda x: pair(one(x), two(y))))  # N: Map[Vector[A], Vector[C]]
    reveal_type(fun(X)(lambda x: tanh(two(sin(one(x)))) @ two(one(x))))  # N: Map[Vector[A], Field]
