"""Products of vectors: a @ b and a.T agree with numpy, with the same in a function, and on formal data."""

import pickle
from typing import Any

import numpy as np
from hypothesis import given

from diff import fun
from hilbert import Copower, Fin, Product, R, Vec
from linmap.unitary import tensor_matrix
from tests.strategies import Source, same, sources


def matrix(a: Vec[Any], rows: int, columns: int) -> Any:
    """As a two-dimensional array."""
    return np.reshape(a.array, (rows, columns))


@given(sources())
def test_products(s: Source) -> None:
    """Matrix times matrix, matrix times vector, for index sets of any number of axes."""
    X, Y, Z = (s.index() for _ in range(3))
    K = s.field
    a, b, v = s.vector(K ** (X * Y)), s.vector(K ** (Y * Z)), s.vector(K**Y)
    A, B = matrix(a, X.size, Y.size), matrix(b, Y.size, Z.size)
    assert (a @ b).space == Copower(K, X * Z)
    assert np.array_equal(matrix(a @ b, X.size, Z.size), A @ B)
    assert np.array_equal(np.ravel((a @ v).array), A @ np.ravel(v.array))
    if not isinstance(Y, Product):
        assert float(v @ v) == np.dot(np.ravel(v.array), np.ravel(v.array))
    for f, made in ((lambda x, y: x @ y, a @ b), (lambda x, y: (y.T @ x.T).T, a @ b), (lambda x, _: x.T, a.T)):
        assert same(fun(a.space, b.space)(f)(a, b), made)
    assert s.unchanged()


@given(sources())
def test_transposes(s: Source) -> None:
    """A view of the same data; twice is the vector itself."""
    base, X, Y = s.space(6), s.index(), s.index()
    a = s.vector(base ** (X * Y))
    turned: Vec[Any] = a.T
    assert turned.space == base ** (Y * X)
    assert a == turned.T
    assert turned == a.T
    assert (turned == a) is (base ** (X * Y) == base ** (Y * X) and turned.token == a.token)
    assert a == pickle.loads(pickle.dumps(turned)).T
    for t, leaf, here, there in zip(turned.leaves, base.leaves, turned.space.leaves, a.leaves, strict=True):
        flat = np.reshape(there, (X.size, Y.size, leaf.size))
        assert np.array_equal(np.reshape(t, (Y.size, X.size, leaf.size)), np.swapaxes(flat, 0, 1))
        assert t.shape == here.shape
        assert not t.flags.writeable
        assert np.may_share_memory(t, there) or not t.size


def test_formal_matrices_stay_formal() -> None:
    """(u⊗v)ᵀ = v⊗u and (u⊗v) @ w = (v⊙w)·u, without a dense array."""
    rng = np.random.default_rng(0)
    X, Y = Fin.of(3), Fin.of(4)
    u, v, w = (R**X).random(rng), (R**Y).random(rng), (R**Y).random(rng)
    m: Vec[Any] = tensor_matrix((R**X) * (R**Y))(u.tensor(v))
    assert m.is_formal
    assert m.T.is_formal
    np.testing.assert_allclose(m.T.array, np.outer(v.array, u.array))
    np.testing.assert_allclose((m @ w).array, v.inner(w) * u.array)
    product = m.T @ m
    assert product.is_formal
    np.testing.assert_allclose(product.array, u.inner(u) * np.outer(v.array, v.array))
