"""Axes with labels have the types of axes: Vector[User] for both, `at` finds positions of labels as elements."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import Expr, fun, inner, lift, onehot
from hilbert import Copower, Elements, Fin, Labelled, Matrix, R, Scalar, Vec, Vector
from hilbert.relation import by_key, labels
from linmap import red


class User: ...


class Item: ...


class Row: ...


NAMES = ["ada", "bob", "eve"]
users, items, rows = labels(NAMES, User), Labelled(Item, ("tea", "ink")), Fin(Row, 4)
U, I, M = R**users, R**items, R ** (users * items)
who, what = ["ada", "eve", "eve", "bob"], ["tea", "tea", "ink", "ink"]


@fun(U, I)
def rating(u: Expr[Vector[User]], i: Expr[Vector[Item]]) -> Expr[Scalar]:
    return (u @ u) * inner(i, i)


@fun(M, I)
def seen(m: Expr[Matrix[User, Item]], i: Expr[Vector[Item]]) -> Expr[Vector[User]]:
    reveal_type(m @ i)  # N: Expr[Vector[User]]
    reveal_type(m.T @ (m @ i))  # N: Expr[Vector[Item]]
    return m @ i


@fun(U, Elements(users) ** rows)
def rated(u: Expr[Vector[User]], which: Expr[Copower[Elements[Fin[User]], Fin[Row]]]) -> Expr[Vector[User]]:
    reveal_type(u[which])  # N: Expr[Vector[Row]]
    reveal_type(u[users.at(who)])  # N: Expr[Vector[Anonymous]]
    reveal_type(u[users.at(who, rows)])  # N: Expr[Vector[Row]]
    return u[which].scatter(which)


@fun(U, Elements(users))
def of_one(u: Expr[Vector[User]], x: Expr[Elements[Fin[User]]]) -> Expr[Scalar]:
    return u[x] + onehot(x) @ u


def plain(axis: Fin[User]) -> Vec[Vector[User]]:
    return (R**axis).zeros()


def general(axis: Labelled[Item]) -> int:
    return axis.size


def main() -> None:
    rng = np.random.default_rng(0)
    u, i, m = U.random(rng), I.random(rng), M.random(rng)
    reveal_type(users)  # N: Fin[User]
    reveal_type(items)  # N: Fin[Item]
    reveal_type(Labelled.of(NAMES))  # N: Fin[Anonymous]
    reveal_type(users.at(who))  # N: Vec[Copower[Elements[Fin[User]], Fin[Anonymous]]]
    reveal_type(users.at(who, rows))  # N: Vec[Copower[Elements[Fin[User]], Fin[Row]]]
    reveal_type(Fin(User, 3).at([2, 0]))  # N: Vec[Copower[Elements[Fin[User]], Fin[Anonymous]]]
    reveal_type(Elements(users).vec("eve"))  # N: Vec[Elements[Fin[User]]]
    reveal_type(U)  # N: Vector[User]
    reveal_type(u @ u)  # N: Vec[Field]
    reveal_type(u["eve"])  # N: Vec[Field]
    reveal_type(u[1:])  # N: Vec[Vector[Anonymous]]
    reveal_type(m["ada", :])  # N: Vec[Vector[Item]]
    reveal_type(u.sum(users))  # N: Vec[Field]
    reveal_type(m.sum(items))  # N: Vec[Vector[User]]
    reveal_type(m.mean(users))  # N: Vec[Vector[Item]]
    reveal_type(m @ i)  # N: Vec[Vector[User]]
    reveal_type(m.T @ u)  # N: Vec[Vector[Item]]
    reveal_type(rating(u, i))  # N: Vec[Field]
    reveal_type(seen(m, i))  # N: Vec[Vector[User]]
    reveal_type(grad(rating, 0)(u, i))  # N: Vec[Vector[User]]
    reveal_type(of_one(u, Elements(users).vec("eve")))  # N: Vec[Field]
    reveal_type(rated(u, users.at(who, rows)))  # N: Vec[Vector[User]]
    reveal_type(lift(of_one, rows)(u, users.at(who, rows)))  # N: Vec[Vector[Row]]
    reveal_type(by_key(who, rows=rows, keys=users))  # N: Graph[Fin[Row], Fin[User]]
    reveal_type(red(by_key(who, rows=rows, keys=users), R))  # N: LinMap[Vector[Row], Vector[User]]
    reveal_type(u + plain(users))  # N: Vec[Vector[User]]
    assert plain(Fin(User, size=3)).space != U
    assert general(items) == 2
    assert rated(u, users.at(who, rows)).array[0] == u.array[0]
