"""Maps at a point, given as one vector or by its parts; positions of parts, also as variables; zips of equal sets."""

from typing import Any, TypeVar, reveal_type

import numpy as np

from adjoint import adjoint_affine, check, check_adjoint, check_derivative, grad, hessian, jacobian, value_and_grad
from diff import affine, derivative, fun
from hilbert import DirectSum, Fin, Map, R, Scalar, Type, Vec, direct_sum
from linmap import identity, inject, project, scale, unzip_parts, zip_parts


class A: ...


class B: ...


a, b = Fin(A, 2), Fin(B, 3)
X, Y = R**a, R**b
V = TypeVar("V", bound=Type)

f1 = fun(X)(lambda x: x @ x)
f2 = fun(X, Y)(lambda x, y: (x @ x) * (y @ y))
f3 = fun(X, Y, R)(lambda x, y, k: k * (x @ x) * (y @ y))
f4 = fun(X, Y, R, X)(lambda x, y, k, z: k * (x @ z) * (y @ y))
f5 = fun(X, Y, R, X, Y)(lambda x, y, k, z, w: k * (x @ z) * (y @ w))
f6 = fun(X, Y, R, X, Y, R)(lambda x, y, k, z, w, m: (k + m) * (x @ z) * (y @ w))
f7 = fun(X, Y, R, X, Y, R, X)(lambda x, y, k, z, w, m, u: (k + m) * (x @ (z + u)) * (y @ w))
f8 = fun(X, Y, R, X, Y, R, X, Y)(lambda x, y, k, z, w, m, u, v: (k + m) * (x @ (z + u)) * (y @ (w + v)))
f9 = fun(X, Y, R, X, Y, R, X, Y, R)(lambda x, y, k, z, w, m, u, v, n: (k + m + n) * (x @ (z + u)) * (y @ (w + v)))
f10 = fun(X, Y, R, X, Y, R, X, Y, R, X)(lambda x, y, k, z, w, m, u, v, n, o: (k + m + n) * (x @ (z + u + o)) * (y @ (w + v)))
x, y, r = X.vec([1.0, 2.0]), Y.vec([1.0, 2.0, 3.0]), R.vec(2.0)


def derivatives() -> None:
    reveal_type(derivative(f1).at(x))  # N: LinMap[Vector[A], Field]
    reveal_type(derivative(f2).at(x, y).dom)  # N: DirectSum[Vector[A], Vector[B]]
    reveal_type(derivative(f3).at(x, y, r).dom)  # N: DirectSum[Vector[A], Vector[B], Field]
    reveal_type(derivative(f4).at(x, y, r, x).dom)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A]]
    reveal_type(derivative(f5).at(x, y, r, x, y).cod)  # N: Field
    reveal_type(derivative(f6).at(x, y, r, x, y, r).cod)  # N: Field
    reveal_type(derivative(f7).at(x, y, r, x, y, r, x).cod)  # N: Field
    reveal_type(derivative(f8).at(x, y, r, x, y, r, x, y).cod)  # N: Field
    reveal_type(derivative(f9).at(x, y, r, x, y, r, x, y, r).cod)  # N: Field
    reveal_type(derivative(f10).at(x, y, r, x, y, r, x, y, r, x).cod)  # N: Field
    reveal_type(derivative(f10).at(f10.dom.zeros()).cod)  # N: Field


def values() -> None:
    reveal_type(affine(f1, x)[1])  # N: LinMap[Vector[A], Field]
    reveal_type(affine(f2, x, y)[0])  # N: Vec[Field]
    reveal_type(affine(f3, x, y, r)[1].dom)  # N: DirectSum[Vector[A], Vector[B], Field]
    reveal_type(affine(f4, x, y, r, x)[1].dom)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A]]
    reveal_type(affine(f5, x, y, r, x, y)[1].dom)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A], Vector[B]]
    reveal_type(affine(f6, x, y, r, x, y, r)[1].dom)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A], Vector[B], Field]
    reveal_type(affine(f7, x, y, r, x, y, r, x)[1].dom)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A], Vector[B], Field, Vector[A]]
    reveal_type(adjoint_affine(f1, x)[1])  # N: LinMap[Field, Vector[A]]
    reveal_type(adjoint_affine(f2, x, y)[1].cod)  # N: DirectSum[Vector[A], Vector[B]]
    reveal_type(adjoint_affine(f3, x, y, r)[1].cod)  # N: DirectSum[Vector[A], Vector[B], Field]
    reveal_type(adjoint_affine(f4, x, y, r, x)[1].cod)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A]]
    reveal_type(adjoint_affine(f5, x, y, r, x, y)[1].cod)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A], Vector[B]]
    reveal_type(adjoint_affine(f6, x, y, r, x, y, r)[1].cod)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A], Vector[B], Field]
    reveal_type(adjoint_affine(f7, x, y, r, x, y, r, x)[1].cod)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A], Vector[B], Field, Vector[A]]


def matrices(seven: Vec[Any]) -> None:
    for found in (
        jacobian(f1, x), jacobian(f2, x, y, wrt=1), jacobian(f3, x, y, r, blocks=True), jacobian(f4, x, y, r, x),
        jacobian(f5, x, y, r, x, y), jacobian(f6, x, y, r, x, y, r), jacobian(f7, x, y, r, x, y, r, x),
        jacobian(f4, f4.dom.zeros()), jacobian(f7, seven),
        hessian(f1, x), hessian(f2, x, y), hessian(f3, x, y, r), hessian(f4, x, y, r, x, blocks=True),
        hessian(f5, x, y, r, x, y), hessian(f6, x, y, r, x, y, r), hessian(f7, x, y, r, x, y, r, x),
    ):  # fmt: skip
        assert found is not None


def checks() -> None:
    reveal_type(check(f1, x))  # N: Checks
    reveal_type(check_derivative(f1, x, seed=1))  # N: Report
    reveal_type(check_derivative(f2, x, y))  # N: Report
    reveal_type(check_derivative(f3, x, y, r, seed=1))  # N: Report
    reveal_type(check(f4, x, y, r, x))  # N: Checks
    reveal_type(check(f5, x, y, r, x, y))  # N: Checks
    reveal_type(check_derivative(f6, x, y, r, x, y, r))  # N: Report
    reveal_type(check_derivative(f7, x, y, r, x, y, r, x, seed=2))  # N: Report
    reveal_type(check(f2, x, y))  # N: Checks
    reveal_type(check(f3, x, y, r))  # N: Checks
    reveal_type(check_derivative(f4, x, y, r, x))  # N: Report
    reveal_type(check_derivative(f5, x, y, r, x, y))  # N: Report
    reveal_type(check(f6, x, y, r, x, y, r))  # N: Checks
    reveal_type(check(f7, x, y, r, x, y, r, x))  # N: Checks
    reveal_type(check_adjoint(identity(X)))  # N: Report
    reveal_type(check_adjoint(scale(2.0, X), star=scale(2.0, X), samples=2))  # N: Report
    reveal_type(check_adjoint(f1, x))  # N: Report
    reveal_type(check_adjoint(f2, x, y))  # N: Report
    reveal_type(check_adjoint(f3, x, y, r))  # N: Report
    reveal_type(check_adjoint(f4, x, y, r, x, samples=1))  # N: Report
    reveal_type(check_adjoint(f5, x, y, r, x, y))  # N: Report
    reveal_type(check_adjoint(f6, x, y, r, x, y, r))  # N: Report
    reveal_type(check_adjoint(f7, x, y, r, x, y, r, x))  # N: Report


def unknown(f: Map[Any, Any], g: Map[V, Scalar], v: Vec[V]) -> None:
    points = tuple(part.random(np.random.default_rng(0)) for part in f4.dom.parts)
    reveal_type(derivative(f4).at(*points).cod)  # N: Field
    reveal_type(check_derivative(f4, *points))  # N: Report
    reveal_type(check_adjoint(f, x, y, r))  # N: Report
    reveal_type(derivative(g).at(v))  # N: LinMap[V, Field]
    reveal_type(check_derivative(g, v))  # N: Report
    assert jacobian(g, v) is not None
    assert hessian(g, v) is not None
    assert affine(f, x, y, r)[0].space == R


def positions(i: int, f: Map[Any, Scalar], s: DirectSum[*tuple[Any, ...]]) -> None:
    reveal_type(grad(f4, i).cod)  # N: Any
    reveal_type(value_and_grad(f7, i).cod)  # N: DirectSum[Field, Any]
    reveal_type(grad(f3, 2).cod)  # N: Field
    reveal_type(project(f4.dom, i).cod)  # N: Any
    reveal_type(project(f4.dom, 3).dom)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A]]
    reveal_type(inject(f4.dom, i).cod)  # N: DirectSum[Vector[A], Vector[B], Field, Vector[A]]
    reveal_type(project(f2.dom, 1))  # N: LinMap[DirectSum[Vector[A], Vector[B]], Vector[B]]
    assert [grad(f, k).cod for k in range(3)] == [X, Y, R]
    assert project(s, i).cod == s.parts[i]


def zips(rng: np.random.Generator) -> None:
    reveal_type(zip_parts(direct_sum(X, X)).cod)  # N: Copower[DirectSum[Field, Field], Fin[A]]
    reveal_type(zip_parts(direct_sum(X, R**a, X)).cod)  # N: Copower[DirectSum[Field, Field, Field], Fin[A]]
    reveal_type(zip_parts(direct_sum(X, X, X, X)).cod)  # N: Copower[Any, Fin[A]]
    reveal_type(zip_parts(direct_sum(X, X, X, X, X)).cod)  # N: Copower[Any, Fin[A]]
    reveal_type(zip_parts(direct_sum(direct_sum(X, Y), direct_sum(R, R))).cod)  # N: DirectSum[DirectSum[Vector[A], Field], DirectSum[Vector[B], Field]]
    reveal_type(zip_parts(direct_sum(direct_sum(X, Y, R), direct_sum(R, R, R))).cod)  # N: DirectSum[
    parts = (direct_sum(X, Y) ** a).random(rng)
    reveal_type(unzip_parts(parts.space)(parts).split()[1])  # N: Vec[Copower[Vector[B], Fin[A]]]


def main() -> None:
    derivatives()
    values()
    matrices(f7.dom.zeros())
    checks()
    unknown(f3, f1, x)
    positions(1, f3, f2.dom)
    zips(np.random.default_rng(0))
