"""Linear operators of scipy, PyLops and lineax, from linear maps and to them."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from scipy.sparse import csr_array

import hilbert.all as hb
from hilbert import R32, SpaceError

m = np.random.default_rng(0).normal(size=(3, 4))
V, W = hb.R ** hb.Fin.of(4), hb.R ** hb.Fin.of(3)
A = hb.from_scipy(csr_array(m))


class OfLineax:
    """An operator with the members of lineax's: products on arrays of any library, and structures."""

    def __init__(self, matrix: Any, dtype: str = "float64") -> None:
        self.matrix, self.dtype = matrix, np.dtype(dtype)

    def mv(self, x: Any) -> Any:
        """A x."""
        return self.matrix @ x

    def transpose(self) -> OfLineax:
        """Aᵀ."""
        return OfLineax(self.matrix.T, str(self.dtype))

    def in_structure(self) -> Any:
        """The shape and dtype of x."""
        return SimpleNamespace(shape=self.matrix.shape[1:], dtype=self.dtype)

    def out_structure(self) -> Any:
        """The shape and dtype of A x."""
        return SimpleNamespace(shape=self.matrix.shape[:1], dtype=self.dtype)


def both_ways(f: Any, due: Any) -> None:
    """A map applies as a matrix does, and its adjoint as the transpose."""
    np.testing.assert_allclose(f(f.dom.ones()).array, due @ np.ones(4), rtol=1e-12)
    np.testing.assert_allclose(hb.adjoint(f)(f.cod.ones()).array, due.T @ np.ones(3), rtol=1e-12)
    assert hb.check_adjoint(f)
    assert hb.check_adjoint(f ** hb.Fin.of(2))


def test_to_scipy_and_back() -> None:
    """The operator of a map, and the map of that operator."""
    op = hb.linear_operator(A)
    assert (op.shape, op.dtype, op.dom, op.cod) == ((3, 4), np.dtype(float), V, W)
    np.testing.assert_allclose(op @ np.ones(4), m @ np.ones(4))
    np.testing.assert_allclose(op.H @ np.ones((3, 2)), m.T @ np.ones((3, 2)))
    x = np.ones(4)
    op.matvec(x)[...] = 0.0
    np.testing.assert_array_equal(x, np.ones(4))
    both_ways(hb.linear_map("there and back", V, W, op), m)
    np.testing.assert_allclose(sla.lsmr(op, np.ones(3), atol=1e-12, btol=1e-12)[0], np.linalg.pinv(m) @ np.ones(3))


def test_several_parts_and_precisions() -> None:
    """Flat arrays hold all parts one after the other, in double precision."""
    S = hb.direct_sum(hb.R32 ** hb.Fin.of(2), hb.R)
    op = hb.linear_operator(hb.scale(3.0, S))
    assert (op @ np.array([1.0, 2.0, 4.0])).tolist() == [3.0, 6.0, 12.0]
    assert (op.H @ np.array([1.0, 2.0, 4.0])).dtype == np.float64


def test_from_lineax() -> None:
    """By `mv` and `transpose`; shapes are looked at when the map is made, complex operators refused."""
    both_ways(hb.linear_map("like lineax", V, W, OfLineax(m)), m)
    single = hb.linear_map("single", R32 ** hb.Fin.of(4), R32 ** hb.Fin.of(3), OfLineax(m))
    assert single((R32 ** hb.Fin.of(4)).ones()).array.dtype == np.float32
    with pytest.raises(SpaceError, match=r"takes .*, where an array of shape \(3,\) is due for ℝ\^3"):
        hb.linear_map("turned", W, V, OfLineax(m))
    with pytest.raises(SpaceError, match="is complex"):
        hb.linear_map("complex", V, W, OfLineax(m, "complex128"))


def test_with_lineax() -> None:
    """Operators of the package itself, and a map solved with by one of its solvers."""
    lx: Any = pytest.importorskip("lineax")
    jax: Any = pytest.importorskip("jax")
    with jax.enable_x64(True):  # noqa: FBT003
        both_ways(hb.linear_map("of lineax", V, W, lx.MatrixLinearOperator(jax.numpy.asarray(m))), m)
        f = hb.derivative(hb.fun(V)(lambda x: 2.0 * x + x.roll(1))).at(V.zeros())
        structure = jax.ShapeDtypeStruct((4,), jax.numpy.float64)
        op = lx.FunctionLinearOperator(lambda x: f(V.vec(x)).array, structure)
        found = lx.linear_solve(op, jax.numpy.arange(4.0), lx.GMRES(1e-12, 1e-12)).value
        np.testing.assert_allclose(f(V.vec(np.asarray(found))).array, np.arange(4.0), atol=1e-9)


def test_with_pylops() -> None:
    """Operators of PyLops as maps, and a map as one of its operators."""
    pylops: Any = pytest.importorskip("pylops")
    both_ways(hb.linear_map("of pylops", V, W, pylops.MatrixMult(m)), m)
    op = pylops.aslinearoperator(hb.linear_operator(A))
    assert pylops.utils.dottest(op, 3, 4)
    np.testing.assert_allclose((op.H @ op) @ np.ones(4), m.T @ (m @ np.ones(4)))


def test_refused() -> None:
    """A function has no matrix before there is a point; the messages name the way back."""
    with pytest.raises(
        SpaceError, match=r"that of a function f is derivative\(f\).at\(x\), that of an operator linear_"
    ):
        hb.linear_operator(hb.fun(V)(hb.sin))  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="operator of scipy, PyLops or lineax; linear_operator"):
        hb.linear_map("no", V, W, m)  # type: ignore[call-overload]


def test_no_columns() -> None:
    """The product with a matrix without columns has none, for an operator and for its adjoint."""
    found = hb.linear_operator(A)
    assert (found @ np.zeros((4, 0))).shape == (3, 0)
    assert (found.H @ np.zeros((3, 0))).shape == (4, 0)
    assert np.allclose(found @ np.ones((4, 2)), m @ np.ones((4, 2)))
    assert np.allclose(found.T @ np.ones((3, 2)), m.T @ np.ones((3, 2)))


def test_an_operator_is_pickled() -> None:
    """The map travels, and with it the operator; so do sums and multiples."""
    found = pickle.loads(pickle.dumps(hb.linear_operator(A)))
    assert (found.dom, found.cod, found.shape) == (A.dom, A.cod, (3, 4))
    assert np.allclose(found @ np.ones(4), m @ np.ones(4))
    assert np.allclose(found.H @ np.ones(3), m.T @ np.ones(3))
    assert np.allclose(pickle.loads(pickle.dumps(2.0 * found)) @ np.ones(4), 2.0 * m @ np.ones(4))
