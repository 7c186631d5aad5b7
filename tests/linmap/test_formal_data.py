"""Terms whose data are formal tensors: printed, compared, pickled, checked, asked for structure; and on JAX arrays."""

from __future__ import annotations

import pickle
from typing import Any

import jax
import numpy as np
import pytest

from adjoint import adjoint, check_adjoint, check_derivative, grad, jacobian
from diff import affine, const, contract, fun, inner, sin, tanh
from diff.names import NAMES
from hilbert import R32, Fin, R, TensorProduct, Vec, direct_sum
from linmap import LinMap, cost, diagonal, equal, matrix, section, simplify, structure, tensor, transpose
from linmap.contraction import hadamard, scalar, tensor_contraction
from linmap.contraction import inner as inner_product
from linmap.unitary import tensor_matrix

RNG = np.random.default_rng(4)
V, W = R ** Fin.of(5), R ** Fin.of(4)
T = TensorProduct(W, V)
S = W.random(RNG).tensor(V.random(RNG)) + W.random(RNG).tensor(V.random(RNG))
SQUARE = V.random(RNG).tensor(V.random(RNG))

MAPS: dict[str, LinMap[Any, Any]] = {
    "(t⋆)": section(tensor_contraction(W, V, R), 0, S),
    "(∗t)": section(tensor_contraction(V, W, V), 1, S),
    "(⊙t)": section(inner_product(T), 1, S),
    "(t·)": section(hadamard(T), 0, S),
    "(·t)": section(scalar(T), 1, S),
    "derivative": affine(fun(V)(lambda x: contract("ji,i->j", const(S), sin(x), to=W)), V.random(RNG))[1],
}


@pytest.mark.parametrize("name", MAPS)
def test_terms(name: str) -> None:
    """str, repr, ==, hash, pickle, equal, simplify."""
    f = MAPS[name]
    assert "ℝ^" in str(f)
    assert eval(repr(f), dict(NAMES)) == f  # noqa: S307 - our own text
    back = pickle.loads(pickle.dumps(f))
    assert back == f
    assert hash(back) == hash(f)
    assert equal(back, f)
    assert equal(simplify(f), f)


@pytest.mark.parametrize("name", MAPS)
def test_matrices(name: str) -> None:
    """The dense and the sparse matrix are those of the map with dense data; structure and cost need no data."""
    f = MAPS[name]
    columns = [f(e).dense().flat() for e in f.dom.basis()]
    due = np.stack(columns, axis=1)
    assert np.allclose(matrix(f, as_="array"), due)
    assert np.allclose(matrix(f, as_="sparse").toarray(), due)
    assert np.allclose(matrix(f, as_="operator") @ np.ones(f.dom.dim), due.sum(axis=1))
    assert str(structure(f))
    assert str(cost(f))
    assert check_adjoint(f)


def test_a_tensor_of_data() -> None:
    """The rank of a formal datum bounds that of the tensor: (t⋆) • (d ·) is made of its factors."""
    t = tensor(MAPS["derivative"])
    assert t.is_formal
    assert np.allclose(t.array, matrix(MAPS["derivative"], as_="array"))
    f = section(tensor_contraction(V, V, R), 0, SQUARE)
    assert np.allclose(diagonal(f).flat(), np.diag(SQUARE.array))


def test_derivatives_with_formal_constants() -> None:
    """check_derivative and jacobian of a function with a formal constant."""
    f = fun(V)(lambda x: contract("ji,i->j", const(S), sin(x), to=W))
    x = V.random(RNG)
    assert check_derivative(f, x)
    assert np.allclose(jacobian(f, x), S.array * np.cos(x.array))


def test_data_of_single_precision() -> None:
    """float32 factors make float32 results everywhere."""
    A, B = R32 ** Fin.of(5), R32 ** Fin.of(4)
    t = B.random(RNG).tensor(A.random(RNG)) + B.random(RNG).tensor(A.random(RNG))
    f = section(tensor_contraction(B, A, R32), 0, 0.5 * t)
    v = f.dom.random(RNG)
    made: list[Any] = [f(v), adjoint(f)(f(v)), transpose(t.space)(t), tensor(f), t - t / 3.0]
    parts = [part for w in made for leaf in w.leaves for part in getattr(leaf, "parts", (leaf,))]
    assert {str(part.dtype) for part in parts} == {"float32"}
    assert matrix(f, as_="array").dtype == np.float32


# --- JAX ---


def _loss(a: Any, b: Any) -> Any:
    """A function of the factors of a formal matrix: the loss of a layer, and its gradient in the matrix."""
    A, B = R32 ** Fin.of(5), R32 ** Fin.of(4)
    t = A.vec(a).tensor(B.vec(b))
    m = tensor_matrix(t.space)(t)
    layer = fun(m.space, B)(lambda m, y: inner(tanh(m @ y), tanh(m @ y)) + 1.5 * inner(m, m))
    y = B.vec(jax.numpy.ones(4, "float32"))
    return layer(m, y).array, grad(layer, 0)(m, y)


def test_on_jax_arrays() -> None:
    """Formal runs stay in JAX, can be compiled, and agree with numpy's."""
    a, b = (RNG.standard_normal(n).astype("float32") for n in (5, 4))
    value, gradient = _loss(jax.numpy.asarray(a), jax.numpy.asarray(b))
    assert gradient.is_formal
    assert all(isinstance(part, jax.Array) for leaf in gradient.leaves for part in leaf.parts)
    z = np.tanh(np.outer(a, b) @ np.ones(4))
    due = 2 * np.outer(z * (1 - z**2), np.ones(4)) + 3 * np.outer(a, b)
    assert np.allclose(value, z @ z + 1.5 * (a @ a) * (b @ b), rtol=1e-5)
    assert np.allclose(gradient.array, due, rtol=1e-4, atol=1e-5)
    compiled = jax.jit(lambda a, b: _loss(a, b)[1].array)
    assert np.allclose(compiled(a, b), due, rtol=1e-4, atol=1e-5)
    assert np.allclose(jax.grad(lambda a: _loss(a, jax.numpy.asarray(b))[0])(a), due @ b, rtol=1e-3, atol=1e-4)


def test_sums_of_parts_with_tensors() -> None:
    """A direct sum may have formal and plain parts."""
    U = direct_sum(T, V)
    v = V.random(RNG)
    x = Vec(U, S.leaves + v.leaves)
    assert x.is_formal
    assert x[0].is_formal
    assert not x[1].is_formal
    assert np.isclose((x + x).norm(), 2 * np.sqrt(S.norm() ** 2 + v.norm() ** 2))
    assert equal(x[0], S)
