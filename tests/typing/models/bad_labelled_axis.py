"""A wrong tag of an axis with labels: labels(column, Item) does not fit Vector[User]."""

from diff import fun, inner
from hilbert import Elements, Fin, Labelled, R
from hilbert.relation import labels


class User: ...


class Item: ...


class Row: ...


users, items, rows = labels(["ada", "bob"], User), Labelled(Item, ("tea", "ink", "jam")), Fin(Row, 2)
U, I = R**users, R**items
M = R ** (users * items)

square = fun(U)(lambda u: u @ u)


def bad_vector() -> None:
    square(I.zeros())  # E: arg-type


def bad_matrix() -> None:
    M.zeros() @ U.zeros()  # E: operator


def bad_nested() -> None:
    ((U**rows).zeros()) + (I**rows).zeros()  # E: operator


def bad_inner() -> None:
    fun(U, I)(lambda u, i: inner(u, i))  # E: misc


def bad_product() -> None:
    U.zeros() @ I.zeros()  # E: operator


def bad_pick() -> None:
    fun(U)(lambda u: u[items.at(["tea"])])  # E: index


def bad_element() -> None:
    fun(U, Elements(items))(lambda u, x: u[x])  # E: index


def bad_function() -> None:
    square(Fin(Item, 3).at([0]))  # E: arg-type
