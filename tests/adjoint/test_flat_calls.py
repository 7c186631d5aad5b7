"""jvp, vjp and hvp take all arguments side by side; hvp(f)(x, v) is ∇²f(x)·v; A(T) is A of each column of T."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import Axis, Matrix, Part, R, Record, Scalar, SpaceError, Vector
from linmap import sparse, total


class Pixel(Axis, size=3):
    """Columns of the matrix."""


class Hidden(Axis, size=2):
    """Rows of the matrix."""


class Sample(Axis, size=4):
    """Columns of a table."""


class Layer(Record):
    """A record."""

    weights: Part[Matrix[Hidden, Pixel]]
    scale: Part[Scalar]
    bias: Part[Vector[Hidden]]


pixel, hidden, sample = Pixel.set, Hidden.set, Sample.set
V, W, M = R**pixel, R**hidden, R ** (hidden * pixel)
L = Layer.space()
RNG = np.random.default_rng(0)
A, x, da, dx, dy = M.random(RNG), V.random(RNG), M.random(RNG), V.random(RNG), W.random(RNG)
T = (R ** (pixel * sample)).random(RNG)
fun: Any = hb.fun
layer: Any = fun(M, V)(lambda A, x: hb.tanh(A @ x))
loss: Any = fun(M, V)(lambda A, x: layer(A, x).sum() * (x @ x))
energy: Any = fun(L)(lambda p: hb.exp(p[Layer.bias]).sum() * p[Layer.scale] ** 3 + (p[Layer.weights] ** 2).sum())
linear: Any = sparse([0, 1, 1], [0, 1, 2], [1.0, 2.0, 3.0], pixel, hidden)


def said(make: Any) -> str:
    """The message of the error."""
    with pytest.raises(SpaceError) as caught:
        make()
    return str(caught.value).splitlines()[0]


def test_arguments_side_by_side_are_those_of_the_parts() -> None:
    """f(x, y, dx, dy) is f((x, y), (dx, dy)), on vectors, in functions, of terms that were pickled."""
    jvp: Any = hb.jvp(layer)
    vjp: Any = hb.vjp(layer)
    assert np.array_equal(jvp(A, x, da, dx).array, jvp((A, x), (da, dx)).array)
    assert np.array_equal(vjp(A, x, dy).flat(), vjp((A, x), dy).flat())
    inside = fun(M, V, M, V)(lambda a, v, b, w: jvp(a, v, b, w) + 0.0)
    assert np.array_equal(inside(A, x, da, dx).array, jvp(A, x, da, dx).array)
    copied: Any = pickle.loads(pickle.dumps(hb.hvp(loss)))
    assert np.array_equal(copied(A, x, da, dx).flat(), hb.hvp(loss)(A, x, da, dx).flat())
    three = fun(R, hb.direct_sum(R, R))(lambda a, p: a * p[0] * p[1])
    assert float(three(R.vec(2.0), R.vec(3.0), R.vec(4.0))) == 24.0


def test_a_product_with_the_hessian() -> None:
    """hvp(f)(x, v) is ∇²f(x)·v; with `wrt`, the block of the parts."""
    H = hb.hessian(loss, A, x)
    flat = np.concatenate([da.flat(), dx.flat()])
    assert np.allclose(hb.hvp(loss)(A, x, da, dx).flat(), H @ flat, rtol=1e-13)
    assert np.allclose(hb.hvp(loss, 0)(A, x, da).flat(), H[:6, :6] @ da.flat(), rtol=1e-13)
    assert np.allclose(hb.hvp(loss, 1)(A, x, dx).flat(), H[6:, 6:] @ dx.flat(), rtol=1e-13)
    turned: Any = hb.hvp(loss, (1, 0))
    assert np.allclose(turned(A, x, dx, da).flat()[3:], (H @ flat)[:6], rtol=1e-13)
    p, q = L.random(RNG), L.random(RNG)
    assert np.allclose(hb.hvp(energy)(p, q).flat(), hb.hessian(energy, p) @ q.flat(), rtol=1e-13)
    block = hb.hessian(energy, p, wrt=Layer.bias)
    assert np.allclose(hb.hvp(energy, Layer.bias)(p, dy).array, block @ dy.array, rtol=1e-13)
    curvature: Any = hb.hvp(loss)
    assert hb.check_derivative(curvature, A, x, da, dx)
    assert np.allclose(hb.compiled(hb.hvp(loss))(A, x, da, dx).flat(), H @ flat, rtol=1e-12)


def test_a_discrete_part_has_no_direction() -> None:
    """Of a function with a label, the differential of the label is 0 in its place."""
    labels = hb.Elements(hidden)
    f: Any = fun(V, labels)(lambda x, k: (x * x).sum() * dy[k])
    k = labels.vec(1)
    assert np.allclose(hb.hvp(f, 0)(x, k, dx).array, 2.0 * dy.array[1] * dx.array)
    assert np.allclose(hb.hvp(f)(x, k, dx, hb.Zero().zeros()).flat(), 2.0 * dy.array[1] * dx.array)


def test_flat_arguments_that_do_not_fit() -> None:
    """The message names the argument."""
    jvp: Any = hb.jvp(layer)
    assert said(lambda: jvp(A, x, dx, da)).startswith("argument 3 is a vector of ℝ^Pixel3 where one of ")
    assert "argument 4 of f" in said(lambda: jvp(A, x, da, 3.0))
    assert "where a vector of ℝ^Pixel3 is due" in said(lambda: jvp(A, x, da, 3.0))
    assert "takes 2 arguments" in said(lambda: jvp(A, x, da))
    assert "cannot apply f" in said(lambda: fun(M, V, M, V)(lambda A, x, B, y: jvp(A, x, y, B)))
    assert said(lambda: hb.hvp(layer)).startswith("the gradient is of a scalar-valued map")


def test_a_linear_map_on_the_columns_of_a_table() -> None:
    """A(T) and A @ T are A of each column, as the matrix of A times T; the form of T stays."""
    due = hb.matrix(linear, as_="array") @ T.array
    f: Any = fun(T.space)(lambda t: linear @ t)
    for y in (linear(T), linear @ T, f(T), fun(T.space)(lambda t: linear(t) + 0.0)(T)):
        assert y.space == R ** (hidden * sample)
        assert np.allclose(y.array, due, rtol=1e-15)
    rows = linear(T.rows())
    assert rows.space == (R**sample) ** hidden
    assert np.allclose(rows.array, due, rtol=1e-15)
    s: Any = total(pixel)
    assert np.allclose(s(T).array, T.array.sum(axis=0))
    assert (s @ T.rows()).space == R**sample
    assert np.array_equal((linear @ x).array, linear(x).array)
    assert hb.check_adjoint(f, T)
    assert hb.check_derivative(f, T)
    several = (R ** (pixel * (sample * hidden))).random(RNG)
    assert linear(several).space == R ** (hidden * (sample * hidden))
    assert np.allclose(linear(several).array, np.tensordot(hb.matrix(linear, as_="array"), several.array, 1))


def test_what_is_no_table_of_columns() -> None:
    """Functions, other axes in front, values of several arrays and other precisions are refused."""
    square: Any = fun(V)(lambda x: x * x)
    anything: Any = T
    assert "cannot apply f" in said(lambda: square(anything))
    assert "@ composes maps" in said(lambda: square @ x)
    assert "f for each element of Sample4 is f ** X" in said(lambda: linear(anything.T))
    pair: Any = hb.fork(linear, linear)
    assert "its values are no vectors of one array; A ** Sample4" in said(lambda: pair(anything))
    assert "cannot apply f" in said(lambda: linear((hb.R32 ** (pixel * sample)).ones()))


def test_a_function_of_one_record_is_not_lifted_by_positions() -> None:
    """lift says f ** X, which lifts all parts."""
    for over in (None, (0,), (0, 1)):
        assert "f ** X" in said(lambda over=over: hb.lift(energy, sample, over=over))
    assert "f ** X" in said(lambda: hb.batched(energy, Sample, over=(0,)))
    many = (L**sample).random(RNG)
    assert (energy**sample)(many).space == R**sample


def test_arrays_are_asked_for() -> None:
    """numpy's conversion stays refused, and says .array."""
    assert "give it v.array" in said(lambda: np.asarray(x))
    assert "give it v.array" in said(lambda: np.array([x, x]))
