from typing import Any
from diff import Expr, fun, sin, inner, derivative
from hilbert import Fin, R, Scalar, Vector, Elements, Bool, Boolean, Z, direct_sum, Vec, DirectSum, Space
class A: ...
class B: ...
a, b = Fin(A, 2), Fin(B, 3)
X, Y = R**a, R**b
E = Elements(a)
def f(e: Expr[Elements[Fin[A]]], v: Vec[Elements[Fin[A]]], d: Expr[DirectSum[Scalar, Elements[Fin[A]]]],u: Vec[DirectSum[Scalar, Elements[Fin[A]]]], n: Expr[DirectSum[DirectSum[Scalar, Boolean], Scalar]]) -> None:
    inner(e, e)
    inner(v, v)
    d + d
    2.0 * d
    -d
    u + u
    n + n
    E.zeros()
    E.basis()
    Bool.zeros()
    Z.zeros()
    direct_sum(R, E).zeros()
    direct_sum(E, R).basis()
    e + e
def g(z: Space, y: Any, s: DirectSum[Any, Scalar], t: Expr[Any], q: Expr[DirectSum[Any, Scalar]]) -> None:
    z.zeros() + z.zeros()
    z.basis()
    y.zeros()
    s.zeros() * 2.0
    t + t
    q + q
    direct_sum(X, direct_sum(R, Y)).zeros()
    (X**b).basis()
    (X * Y).zeros()
    Fin.of(4)
    (R**Fin.of(3)).zeros() + (R**Fin.of(3)).zeros()
