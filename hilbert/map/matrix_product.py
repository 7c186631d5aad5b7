"""Matrices: a @ b and a.T, for vectors here and for the expressions of a traced function.

>>> from hilbert import Fin, R
>>> X, Y = Fin.of(2), Fin.of(3)
>>> A, x = (R ** (X * Y)).vec([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]), (R ** Y).vec([1.0, 1.0, 1.0])
>>> print(A @ x, A.T @ (A @ x))
[6.0, 1.0] ∈ ℝ^2 [6.0, 13.0, 18.0] ∈ ℝ^3
"""

from __future__ import annotations

from copy import copy
from typing import Any

from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.numpy_names import OUTER
from hilbert.base.once import once, while_alive
from hilbert.base.repr_names import derived_token
from hilbert.errors import SpaceError, alike
from hilbert.index.index import Product
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder, line_of
from hilbert.program.line.operation import Contract, Move
from hilbert.program.run.run import Runner
from hilbert.space.space import Copower, Field, TensorProduct, Type, power
from hilbert.space.vector import Vec

TURNED = derived_token("transpose")
"""The difference between the tokens of a and a.T."""


def product_space(V: Type, W: Type) -> tuple[int, Type]:
    """The number of axes that a ∈ V and b ∈ W share in a @ b, and the space of the result; SpaceError if undefined."""
    for space in (V, W):
        if not (isinstance(space, Copower) and isinstance(space.base, Field)):
            number = isinstance(V, Field) or isinstance(W, Field)
            see = "; a number times a vector is k * v" if number else no_matrix(space)
            msg = f"{V} @ {W}: @ is for vectors ℝ^X and matrices ℝ^{{Y×X}}{see or '; see inner, outer and contract'}"
            raise SpaceError(msg)
    assert isinstance(V, Copower)
    assert isinstance(W, Copower)
    if V.base != W.base:
        msg = f"{V} @ {W}: both must have one precision; see cast"
        raise SpaceError(msg)
    X, Y = V.index, W.index
    left = X.right if isinstance(X, Product) else X
    if left == Y:
        return len(left.axes), power(V.base, X.left) if isinstance(X, Product) else V.base
    if isinstance(X, Product) and isinstance(Y, Product) and left == Y.left:
        return len(left.axes), Copower(V.base, X.left * Y.right)
    due = Y.left if isinstance(Y, Product) and isinstance(X, Product) else Y
    hint = ""
    if isinstance(X, Product) and X.left == due:
        hint = "; transpose the left side: a.T @ b"
    elif isinstance(X, Product) and isinstance(Y, Product) and Y.right == left:
        hint = "; transpose the right side: a @ b.T"
    elif isinstance(Y, Product) and X in (Y.left, Y.right):
        hint = f"; a vector stands on the right of a matrix: {'b.T @ a' if Y.left == X else 'b @ a'}"
    msg = f"{V} @ {W}: {left} meets {due}, but the inner axes must be the same{hint or alike(left, due)}"
    raise SpaceError(msg)


def transposed_space(V: Type) -> tuple[Any, list[tuple[int, ...]]]:
    """V^{Y×X} for V^{X×Y}, and the order of the axes of each leaf; SpaceError if the index set is no product."""
    if not isinstance(V, Copower) or not isinstance(V.index, Product):
        msg = f".T transposes V^{{X×Y}}, not {V}"
        if isinstance(V, Copower) and not isinstance(V.base, Copower):
            msg += "; as a column x is x.reshape(X * Fin.of(1)), as a row x.reshape(Fin.of(1) * X)"
        raise SpaceError(msg + no_matrix(V))
    X, Y = V.index.left, V.index.right
    p, q = len(X.axes), len(Y.axes)
    orders = [(*range(p, p + q), *range(p), *range(p + q, len(leaf.axes))) for leaf in V.leaves]
    return Copower(V.base, Y * X), orders


@while_alive(Type)
def _product(V: Type, W: Type) -> tuple[Runner, Type]:
    V, W = copy(V), copy(W)  # copies, so that the cached result does not keep its two spaces alive
    shared, cod = product_space(V, W)
    (left,), (right,) = V.leaves, W.leaves
    rows, cols = len(left.axes) - shared, len(right.axes) - shared
    labels = Spec.pointwise(rows + shared + cols).left
    a, b, c = labels[:rows], labels[rows : rows + shared], labels[rows + shared :]
    return Runner(line_of((left, right), Contract(Spec.of(a + b, b + c, a + c)), 0, 1)), cod


@once
def _transposition(V: Type) -> tuple[Runner, Type]:
    cod, orders = transposed_space(V)
    b = Builder(V.leaves)
    return Runner(b.line([b.apply(Move(order), k) for k, order in enumerate(orders)])), cod


def matrix_product(a: Vec[Any], b: Vec[Any]) -> Vec[Any]:
    """a @ b."""
    runner, cod = _product(a.space, b.space)
    return Vec(cod, tuple(map(freeze, runner.run((*a.leaves, *b.leaves)))))


def transpose(a: Vec[Any]) -> Vec[Any]:
    """a.T, a view; the same datum whenever it is made, and a.T.T is a."""
    runner, cod = _transposition(a.space)
    return Vec(cod, tuple(map(freeze, runner.run(a.leaves))), a.token ^ TURNED)


def no_matrix(space: Any) -> str:
    """The end of an error for v ⊗ w in place of a matrix, or a family in place of its elements; otherwise empty."""
    if isinstance(space, TensorProduct):
        return f"; {OUTER}"
    if not (isinstance(space, Copower) and isinstance(space.base, Copower)):
        return ""
    if len(space.base.index.axes) == 1:
        return "; uncurry(V)(v) is the matrix whose rows are the vectors of a family v ∈ V"
    return "; each(lambda a: …, v) is for each matrix a of a family v"
