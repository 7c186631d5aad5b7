"""A traced function computes what the same Python text computes on arrays."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from diff import (
    const,
    contract,
    cos,
    divide,
    exp,
    fun,
    inner,
    maximum,
    onehot,
    outer,
    pow,  # noqa: A004 - the standard name
    select,
    sigmoid,
    sin,
    softplus,
    sqrt,
    tanh,
)
from hilbert import R32, Elements, Fin, R, SpaceError, direct_sum
from linmap import cumsum, identity
from tests.strategies import Hidden, Pixel, Source, close, sources

Case = tuple[tuple[Any, ...], Callable[..., Any], Callable[..., Any]]
"""The spaces of the arguments, the traced body, and the function of arrays that it must equal."""


class Frame:
    """A name of an axis that no strategy draws."""


def matrices(s: Source) -> tuple[Any, Any, Any, Any]:
    """A field and three index sets."""
    return s.field, s.index(3), s.index(3), s.index(3)


def layer(s: Source) -> Case:
    K, X, Y, _ = matrices(s)
    n, m = X.size, Y.size
    return (
        (K ** (Y * X), K**X, K**Y),
        lambda W, x, b: tanh(W @ x + b),
        lambda W, x, b: np.tanh(W.reshape(m, n) @ x.reshape(n) + b.reshape(m)).reshape(Y.shape),
    )


def product(s: Source) -> Case:
    K, X, Y, Z = matrices(s)
    return (
        (K ** (Z * Y), K ** (Y * X)),
        lambda A, B: A @ B,
        lambda A, B: (A.reshape(Z.size, Y.size) @ B.reshape(Y.size, X.size)).reshape(Z.shape + X.shape),
    )


def square_matrices(s: Source) -> Case:
    K, X, _, _ = matrices(s)
    n = X.size
    return (
        (K ** (X * X), K**X),
        lambda A, x: (A @ A.T) @ x,
        lambda A, x: (A.reshape(n, n) @ A.reshape(n, n).T @ x.reshape(n)).reshape(X.shape),
    )


def transposed(s: Source) -> Case:
    K, X, Y, _ = matrices(s)
    return (
        (K ** (Y * X), K**Y),
        lambda A, y: A.T @ sin(y),
        lambda A, y: (A.reshape(Y.size, X.size).T @ np.sin(y).reshape(-1)).reshape(X.shape),
    )


def dot(s: Source) -> Case:
    X = Fin(Pixel, s.size(4))
    return (s.field**X, s.field**X), lambda x, y: x @ y, lambda x, y: x @ y


def arithmetic(s: Source) -> Case:
    V = s.field ** s.index()
    return (
        (V, V),
        lambda x, y: 2 * x - y * 3.0 + x * y / 2 - (1 - x) + (-y) + 0.5,
        lambda x, y: 2 * x - y * 3.0 + x * y / 2 - (1 - x) + (-y) + 0.5,
    )


def quotients(s: Source) -> Case:
    V = s.field ** s.index()
    return (
        (V, V, s.field),
        lambda x, y, k: x / (2.0 + y) + 3 / (2 + x) + 1 / (2 + y) + divide(x, exp(y)) + x / (k + 3.0),
        lambda x, y, k: x / (2 + y) + 3 / (2 + x) + 1 / (2 + y) + x / np.exp(y) + x / (k + 3),
    )


def powers(s: Source) -> Case:
    V = s.field ** s.index()
    return (
        (V, V),
        lambda x, y: x**2 + x**3 + (x + 2.0) ** 0.5 + (x + 2.0) ** -1 + (x + 2.0) ** 1.5 + pow(x + 2.0, y),
        lambda x, y: x**2 + x**3 + np.sqrt(x + 2) + 1 / (x + 2) + (x + 2) ** 1.5 + (x + 2) ** y,
    )


def scalar_times_vector(s: Source) -> Case:
    V = s.field ** s.index()
    return (s.field, V), lambda k, v: k * v + v * k, lambda k, v: 2 * k * v


def sums(s: Source) -> Case:
    X, Y = Fin(Frame, s.integer(1, 6)), s.index()  # two axes of one name are not summed over by that name
    return (
        ((s.field**Y) ** X,),
        lambda v: (v.sum(), v.sum(X), v.mean(X), inner(v, v)),
        lambda v: (np.sum(v), _total(v, X), _total(v, X) / X.size, np.sum(v * v)),
    )


def _total(v: Any, X: Any) -> Any:
    return v.sum(axis=tuple(range(len(X.axes))))


def products(s: Source) -> Case:
    X, Y = s.index(), s.index()
    return (
        (s.field**X, s.field**Y),
        lambda v, w: (outer(v, w), maximum(v, 0.25 * v)),
        lambda v, w: (np.multiply.outer(v, w), np.maximum(v, 0.25 * v)),
    )


def labels(s: Source) -> Case:
    I, J, K = Fin(Pixel, s.size(4)), Fin(Hidden, s.size(4)), Fin.of(s.size(4))
    return (
        (s.field ** (I * J), s.field ** (J * K)),
        lambda a, b: contract("ij,jk->ki", a, b),
        lambda a, b: np.einsum("ij,jk->ki", a, b),
    )


def element(s: Source) -> Case:
    X, Y = s.index(empty=False), s.index()
    return (
        ((s.field**Y) ** X, Elements(X)),
        lambda v, x: (v[x], sin(v)[x], onehot(x, s.field)),
        lambda v, x: (_rows(v, X)[x], np.sin(_rows(v, X)[x]), np.eye(X.size)[x].reshape(X.shape)),
    )


def _rows(v: Any, X: Any) -> Any:
    return v.reshape(X.size, *v.shape[len(X.axes) :])


def selection(s: Source) -> Case:
    V = s.field ** s.index()
    return (
        (V, V),
        lambda x, y: select((x > 0.1) & ~(y <= x), x * y) + select((x >= y) | (y < 0.0), sin(y)),
        lambda x, y: np.where((x > 0.1) & ~(y <= x), x * y, 0) + np.where((x >= y) | (y < 0), np.sin(y), 0),
    )


def selected_scalar(s: Source) -> Case:
    return (
        (s.field, s.field ** s.index()),
        lambda k, v: select(k > 0.0, v) + select(k <= 0.0, cos(v)),
        lambda k, v: v if k > 0 else np.cos(v),
    )


def parts(s: Source) -> Case:
    V = s.field ** s.index()
    return (
        (V, V, s.field),
        lambda x, y, k: ((y, x * k), sigmoid(k)),
        lambda x, y, k: (y, x * k, 1 / (1 + np.exp(-k))),
    )


def constants(s: Source) -> Case:
    V = s.field ** s.index()
    c = s.vector(V)
    return (
        (V,),
        lambda x: const(c) * x + c - (c - x) * 2 + softplus(x) * math.pi,
        lambda x: c.leaves[0] * x + c.leaves[0] - (c.leaves[0] - x) * 2 + np.log1p(np.exp(x)) * math.pi,
    )


def maps_inside(s: Source) -> Case:
    X = Fin.of(s.size(4))
    V = s.field**X
    f = fun(V)(lambda x: sqrt(x * x + 1.0))
    return (V,), lambda x: f(f(x)) + cumsum(X, s.field)(x), lambda x: np.sqrt(x * x + 2) + np.cumsum(x)


def vectors_on_the_left(s: Source) -> Case:
    K, X, Y, _ = matrices(s)
    W = s.vector(K ** (Y * X))
    w = W.leaves[0].reshape(Y.size, X.size)
    return (K**X,), lambda x: W @ x, lambda x: (w @ x.reshape(-1)).reshape(Y.shape)


CASES = (
    layer,
    product,
    square_matrices,
    transposed,
    dot,
    arithmetic,
    quotients,
    powers,
    scalar_times_vector,
    sums,
    products,
    labels,
    element,
    selection,
    selected_scalar,
    parts,
    constants,
    maps_inside,
    vectors_on_the_left,
)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=15)
@given(s=sources(smooth=True))
def test_bodies(case: Callable[[Source], Case], s: Source) -> None:
    """fun(V, …)(body)(v, …) = body(v, …) on arrays, also with one argument for all."""
    spaces, body, on_arrays = case(s)
    f = fun(*spaces)(body)
    args = [s.vector(space) for space in spaces]
    due = on_arrays(*(arg.leaves[0] for arg in args))
    found = f(*args)
    arrays = due if isinstance(due, tuple) else (due,)
    leaves = [np.asarray(a, leaf.dtype) for a, leaf in zip(arrays, f.cod.leaves, strict=True)]
    wanted = f.cod.vec(f.cod.pack(iter(leaves)))
    assert close(found, wanted), f"{found} is not {wanted}"
    if len(args) > 1:
        assert close(f(f.dom.vec(tuple(arg.array for arg in args))), found)
    assert s.unchanged()


def test_arguments_are_checked_at_every_call() -> None:
    """Not at the first one only: too few, too many, in another order, of another precision, or no vectors."""
    V = R ** Fin.of(3)
    square, scaled = fun(V)(lambda x: x * x), fun(V, R)(lambda x, k: x * k)
    v, k = V.vec([1.0, 2.0, 3.0]), R.vec(2.0)
    alone = identity(direct_sum(V))
    wrong: list[tuple[Any, tuple[Any, ...]]] = [(square, ()), (square, (v, v)), (square, (k,)), (alone, (v,))]
    wrong += [(scaled, some) for some in ((), (v,), (k, v), (v, k, k), (v, 2.0), (v, R32.vec(2.0)), ((v, k), k))]
    for _ in range(3):
        np.testing.assert_array_equal(square(v).array, [1.0, 4.0, 9.0])
        np.testing.assert_array_equal(alone(direct_sum(V).unflat(v.array)).flat(), v.array)
        np.testing.assert_array_equal(scaled(v, k).array, [2.0, 4.0, 6.0])
        for f, some in wrong:
            with pytest.raises(SpaceError):
                f(*some)
