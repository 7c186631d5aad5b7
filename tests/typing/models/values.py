"""What expressions take, vectors take: products, comparisons, sums, components, and the operations of index sets."""

from typing import Any, reveal_type

import numpy as np

from adjoint import grad, value_and_grad, vjp
from diff import Expr, contract, derivative, fun, inner, maximum, onehot, outer, select
from hilbert import (
    Bool,
    Boolean,
    Copower,
    DirectSum,
    Elements,
    Fin,
    Labelled,
    Map,
    Matrix,
    R,
    Scalar,
    Vec,
    Vector,
    direct_sum,
)
from linmap import cumsum


class Row: ...


class Column: ...


class Batch: ...


class City: ...


row, column, batch, city = Fin(Row, 2), Fin(Column, 3), Fin(Batch, 4), Labelled(City, ("Bergen", "Turku"))
X, Y, M = R**column, R**row, R ** (row * column)
N = (R**column) ** row


def numbers_of_numpy(v: Vec[Vector[Column]], k: Vec[Scalar]) -> None:
    """What numpy's reductions give is a number, of any precision."""
    mean = np.mean([1.0, 2.0])
    reveal_type(v - mean)  # N: Vec[Vector[Column]]
    reveal_type(v + mean)  # N: Vec[Vector[Column]]
    reveal_type(v * mean)  # N: Vec[Vector[Column]]
    reveal_type(v / mean)  # N: Vec[Vector[Column]]
    reveal_type(mean + v)  # N: Vec[Vector[Column]]
    reveal_type(mean - v)  # N: Vec[Vector[Column]]
    reveal_type(mean * v)  # N: Vec[Vector[Column]]
    reveal_type(np.float32(2.0) / v)  # N: Vec[Vector[Column]]
    reveal_type(v > mean)  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(k < mean)  # N: Vec[Boolean]


def loops(v: Vec[Vector[Column]], n: Vec[Copower[Vector[Column], Fin[Row]]]) -> None:
    """Components have their type; the parts of a direct sum are taken apart by split."""
    for component in v:
        reveal_type(component)  # N: Vec[Field]
    for row_of_n in n:
        reveal_type(row_of_n)  # N: Vec[Vector[Column]]
    for part in direct_sum(R, X).zeros():
        reveal_type(part)  # N: Vec[Any]


def loops_in_a_body(v: Expr[Vector[Column]], n: Expr[Copower[Vector[Column], Fin[Row]]]) -> Expr[Scalar]:
    """As of vectors."""
    for component in v:
        reveal_type(component)  # N: Expr[Field]
    for row_of_n in n:
        reveal_type(row_of_n)  # N: Expr[Vector[Column]]
    x, y, z = v
    reveal_type((x - np.mean([1.0])) * y)  # N: Expr[Field]
    return x + y + z


def vectors(
    v: Vec[Vector[Column]], k: Vec[Scalar], m: Vec[Matrix[Row, Column]], n: Vec[Copower[Vector[Column], Fin[Row]]]
) -> None:
    reveal_type(v * v + v / v)  # N: Vec[Vector[Column]]
    reveal_type(k * v)  # N: Vec[Vector[Column]]
    reveal_type(v * k)  # N: Vec[Vector[Column]]
    reveal_type(v / k)  # N: Vec[Vector[Column]]
    reveal_type(2.0 * v + 1.0)  # N: Vec[Vector[Column]]
    reveal_type(1.0 - v)  # N: Vec[Vector[Column]]
    reveal_type(1.0 / v)  # N: Vec[Vector[Column]]
    reveal_type(v**2)  # N: Vec[Vector[Column]]
    reveal_type(k > 0.0)  # N: Vec[Boolean]
    reveal_type(v > 0.0)  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(n > 0.0)  # N: Vec[Copower[Copower[Boolean, Fin[Column]], Fin[Row]]]
    reveal_type(k >= 0.0)  # N: Vec[Boolean]
    reveal_type(v >= 0.0)  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(n >= 0.0)  # N: Vec[Copower[Copower[Boolean, Fin[Column]], Fin[Row]]]
    reveal_type(n < 0.0)  # N: Vec[Copower[Copower[Boolean, Fin[Column]], Fin[Row]]]
    reveal_type(v <= 0.0)  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(n <= 0.0)  # N: Vec[Copower[Copower[Boolean, Fin[Column]], Fin[Row]]]
    reveal_type(v >= 1.0 * v)  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(n >= 1.0 * n)  # N: Vec[Copower[Copower[Boolean, Fin[Column]], Fin[Row]]]
    reveal_type(k < 0.0)  # N: Vec[Boolean]
    reveal_type(v < 1.0 * v)  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(n < 1.0 * n)  # N: Vec[Copower[Copower[Boolean, Fin[Column]], Fin[Row]]]
    reveal_type(k <= 0.0)  # N: Vec[Boolean]
    reveal_type(v <= 1.0 * v)  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(n <= 1.0 * n)  # N: Vec[Copower[Copower[Boolean, Fin[Column]], Fin[Row]]]
    reveal_type((v > 0.0) & ~(v > 1.0) | (v < 0.0))  # N: Vec[Copower[Boolean, Fin[Column]]]
    reveal_type(m.sum())  # N: Vec[Field]
    reveal_type(v.sum(column))  # N: Vec[Field]
    reveal_type(m.sum(row))  # N: Vec[Vector[Column]]
    reveal_type(m.sum(column))  # N: Vec[Vector[Row]]
    reveal_type(n.sum(row))  # N: Vec[Vector[Column]]
    reveal_type(n.sum(column))  # N: Vec[Vector[Row]]
    reveal_type(m.mean())  # N: Vec[Field]
    reveal_type(v.mean(column))  # N: Vec[Field]
    reveal_type(m.mean(row))  # N: Vec[Vector[Column]]
    reveal_type(m.mean(column))  # N: Vec[Vector[Row]]
    reveal_type(n.mean(column))  # N: Vec[Vector[Row]]
    reveal_type(v.roll(1).flip().cumsum())  # N: Vec[Vector[Column]]
    reveal_type(v.pad(1, 2))  # N: Vec[Vector[Anonymous]]
    reveal_type(m.reshape(Fin(Batch, 6)))  # N: Vec[Vector[Batch]]
    reveal_type(maximum(v, 0.0))  # N: Vec[Vector[Column]]
    reveal_type(maximum(0.0, v))  # N: Vec[Vector[Column]]
    reveal_type(inner(v, v))  # N: Vec[Field]
    reveal_type(outer(v, n))  # N: Vec[TensorProduct[Vector[Column], Copower[Vector[Column], Fin[Row]]]]
    reveal_type(contract("ij,j->i", m, v))  # N: Vec[Any]
    reveal_type(contract("ij,j->i", m, v, to=Y))  # N: Vec[Vector[Row]]
    reveal_type(select(k > 0.0, v))  # N: Vec[Vector[Column]]
    reveal_type(select(v > 0.0, v))  # N: Vec[Vector[Column]]
    reveal_type(select(n > 0.0, n))  # N: Vec[Copower[Vector[Column], Fin[Row]]]


def components(
    v: Vec[Vector[Column]], m: Vec[Matrix[Row, Column]], n: Vec[Copower[Vector[Column], Fin[Row]]], i: int
) -> None:
    reveal_type(v[0])  # N: Vec[Field]
    reveal_type(v[i - 1])  # N: Vec[Field]
    reveal_type(v[:])  # N: Vec[Vector[Column]]
    reveal_type(v[1:])  # N: Vec[Vector[Anonymous]]
    reveal_type(n[0])  # N: Vec[Vector[Column]]
    reveal_type(n[0][1])  # N: Vec[Field]
    reveal_type(m[0, 1])  # N: Vec[Field]
    reveal_type(m[0, :])  # N: Vec[Vector[Column]]
    reveal_type(m[:, -1])  # N: Vec[Vector[Row]]
    reveal_type(m[0:1, :])  # N: Vec[Any]
    reveal_type(direct_sum(X, Y).ones()[0])  # N: Vec[Vector[Column]]
    reveal_type(direct_sum(X, Y).ones()[i])  # N: Vec[Any]
    reveal_type(len(v))  # N: int
    x = Elements(column).vec(1)
    xs = (Elements(column) ** batch).vec([0, 1, 2, 2])
    reveal_type(onehot(x))  # N: Vec[Vector[Column]]
    reveal_type(v[x])  # N: Vec[Field]
    reveal_type(v[xs])  # N: Vec[Vector[Batch]]
    reveal_type(v[xs].scatter(xs))  # N: Vec[Vector[Column]]
    reveal_type((R**city).ones()["Turku"])  # N: Vec[Field]


@fun(X, R, M, N)
def expressions(
    v: Expr[Vector[Column]], k: Expr[Scalar], m: Expr[Matrix[Row, Column]], n: Expr[Copower[Vector[Column], Fin[Row]]]
) -> Expr[Scalar]:
    c = X.ones()
    reveal_type(inner(v, c))  # N: Expr[Field]
    reveal_type(inner(c, v))  # N: Expr[Field]
    reveal_type(outer(v, c))  # N: Expr[TensorProduct[Vector[Column], Vector[Column]]]
    reveal_type(outer(c, v))  # N: Expr[TensorProduct[Vector[Column], Vector[Column]]]
    reveal_type(contract("i,i->", v, c))  # N: Expr[Any]
    reveal_type(contract("i,i->", c, v))  # N: Expr[Any]
    reveal_type(contract("i,i->", v, c, to=R))  # N: Expr[Field]
    reveal_type(contract("i,i->", c, v, to=R))  # N: Expr[Field]
    reveal_type(select(k > 0.0, c))  # N: Expr[Vector[Column]]
    reveal_type(select(R.ones() > 0.0, v))  # N: Expr[Vector[Column]]
    reveal_type(select(v > 0.0, c))  # N: Expr[Vector[Column]]
    reveal_type(select(c > 0.0, v))  # N: Expr[Vector[Column]]
    reveal_type(select(n > 0.0, n))  # N: Expr[Copower[Vector[Column], Fin[Row]]]
    reveal_type(select(N.ones() > 0.0, n))  # N: Expr[Copower[Vector[Column], Fin[Row]]]
    reveal_type(m.sum())  # N: Expr[Field]
    reveal_type(v.sum(column))  # N: Expr[Field]
    reveal_type(m.sum(row))  # N: Expr[Vector[Column]]
    reveal_type(m.sum(column))  # N: Expr[Vector[Row]]
    reveal_type(n.sum(column))  # N: Expr[Vector[Row]]
    reveal_type(m.mean())  # N: Expr[Field]
    reveal_type(v.mean(column))  # N: Expr[Field]
    reveal_type(m.mean(row))  # N: Expr[Vector[Column]]
    reveal_type(m.mean(column))  # N: Expr[Vector[Row]]
    reveal_type(n.mean(column))  # N: Expr[Vector[Row]]
    reveal_type(v.roll(1).flip().cumsum())  # N: Expr[Vector[Column]]
    reveal_type(v.pad(1, 2))  # N: Expr[Vector[Anonymous]]
    reveal_type(m.reshape(Fin(Batch, 6)))  # N: Expr[Vector[Batch]]
    reveal_type(v[0])  # N: Expr[Field]
    reveal_type(v[:])  # N: Expr[Vector[Column]]
    reveal_type(v[1:])  # N: Expr[Vector[Anonymous]]
    reveal_type(n[0])  # N: Expr[Vector[Column]]
    reveal_type(m[0, 1])  # N: Expr[Field]
    reveal_type(m[0, :])  # N: Expr[Vector[Column]]
    reveal_type(m[:, -1])  # N: Expr[Vector[Row]]
    reveal_type(m[0:1, :])  # N: Expr[Any]
    return v.sum()


@fun(R**city, direct_sum(X, Y))
def parts(t: Expr[Any], p: Expr[Any]) -> Expr[Any]:
    return t["Turku"] * p[0]


def untyped(a: Any) -> None:
    reveal_type(inner(a, a))  # N: Any
    reveal_type(outer(a, a))  # N: Any
    reveal_type(contract("i,i->", a, a))  # N: Any


def derivatives(v: Vec[Vector[Column]], y: Vec[Vector[Row]]) -> None:
    f = fun(X, Y, R)(lambda x, y, k: k * inner(x, x) * inner(y, y))
    reveal_type(grad(f, (0, 1)))  # N: Map[DirectSum[Vector[Column], Vector[Row], Field], DirectSum[Vector[Column], Vector[Row]]]
    reveal_type(grad(f, (0, 2)))  # N: Map[DirectSum[Vector[Column], Vector[Row], Field], DirectSum[Vector[Column], Field]]
    reveal_type(grad(f, (1, 2)))  # N: Map[DirectSum[Vector[Column], Vector[Row], Field], DirectSum[Vector[Row], Field]]
    reveal_type(value_and_grad(f, (0, 1))(v, y, R.ones()))  # N: Vec[DirectSum[Field, DirectSum[Vector[Column], Vector[Row]]]]
    reveal_type(value_and_grad(f, (0, 2))(v, y, R.ones()))  # N: Vec[DirectSum[Field, DirectSum[Vector[Column], Field]]]
    reveal_type(value_and_grad(f, (1, 2))(v, y, R.ones()))  # N: Vec[DirectSum[Field, DirectSum[Vector[Row], Field]]]
    several: list[int] = [0, 1]
    reveal_type(value_and_grad(f, several))  # N: Map[DirectSum[Vector[Column], Vector[Row], Field], DirectSum[Field, Any]]
    gated: Map[DirectSum[Copower[Boolean, Fin[Column]], Vector[Column]], Vector[Column]] = fun(Bool**column, X)(select)
    reveal_type(gated(v > 0.0, v))  # N: Vec[Vector[Column]]
    reveal_type(vjp(f)(f.dom.ones(), R.ones()))  # N: Vec[DirectSum[Vector[Column], Vector[Row], Field]]
    reveal_type(vjp(f, 0)(f.dom.ones(), R.ones()))  # N: Vec[Vector[Column]]
    reveal_type(vjp(f, 1)(f.dom.ones(), R.ones()))  # N: Vec[Vector[Row]]
    reveal_type(vjp(f, (2, 0))(f.dom.ones(), R.ones()))  # N: Vec[Any]
    square = fun(X)(lambda x: x * x)
    reveal_type(derivative(square)(v))  # N: LinMap[Vector[Column], Vector[Column]]
    reveal_type(cumsum(column) / 2)  # N: LinMap[Vector[Column], Vector[Column]]
    reveal_type(square / 2.0)  # N: Map[Vector[Column], Vector[Column]]


def main() -> None:
    rng = np.random.default_rng(0)
    v, k, m, n = X.random(rng), R.ones(), M.random(rng, scale=0.1), N.full(2.0)
    vectors(v, k, m, n)
    numbers_of_numpy(v, k)
    loops(v, n)
    assert np.isclose(float(fun(X, N)(loops_in_a_body)(v, n)), v.array.sum())
    components(v, m, n, 1)
    untyped(v)
    derivatives(v, Y.ones())
    assert np.allclose(expressions(v, k, m, n).array, v.array.sum())
    assert np.allclose(parts((R**city).ones(), direct_sum(X, Y).ones()).array, np.ones(3))
