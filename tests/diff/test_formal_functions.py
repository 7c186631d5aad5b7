"""Traced functions, their derivatives and adjoints on formal tensors agree with the dense ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import adjoint, adjoint_affine, grad, value_and_grad, vjp
from diff import affine, const, contract, derivative, fun, inner, jvp, lift, outer, sin, tanh
from hilbert import Fin, R, SpaceError, TensorProduct, Vec, direct_sum
from linmap import linear, transpose
from linmap.unitary import tensor_matrix
from tests.formal_vectors import formal_vector
from tests.strategies import Source, close, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert import Map

RNG = np.random.default_rng(3)
X, Y, Z = Fin.of(5), Fin.of(4), Fin.of(3)
V, W = R**X, R**Y
T = TensorProduct(V, W)
M = tensor_matrix(T).cod
S, K = W.random(RNG).tensor(V.random(RNG)), W.random(RNG)

FUNCTIONS: dict[str, Callable[[], Map[Any, Any]]] = {
    "inner": lambda: fun(T, T)(inner),
    "square": lambda: fun(T)(lambda t: inner(t, t) * t),
    "matrix times vector": lambda: fun(M, W)(lambda m, x: m @ x),
    "matrices": lambda: fun(M, M)(lambda m, n: m.T @ n),
    "layer": lambda: fun(M, W, V)(lambda m, x, b: tanh(m @ x + b)),
    "loss": lambda: fun(M, W, V)(lambda m, x, y: inner(m @ x - y, m @ x - y)),
    "contract": lambda: fun(T, W)(lambda t, x: contract("ij,j->i", t, x, to=V)),
    "contract all": lambda: fun(T, T)(lambda s, t: contract("ij,ij->ij", s, t, to=T)),
    "outer": lambda: fun(T, V, W)(lambda t, x, y: t + outer(x, y)),
    "outer of a tensor": lambda: fun(T, W)(outer),
    "constant": lambda: fun(T)(lambda t: 2.0 * t - t / 3.0 + const(transpose(S.space)(S))),
    "shifted": lambda: fun(T)(lambda t: inner(t + 1.5, t + 1.5)),
    "constant datum": lambda: fun(V)(lambda x: contract("ji,i->j", const(S), sin(x), to=W) * K),
    "linear": lambda: linear(S) @ fun(V)(sin),
    "scalar": lambda: fun(T, V)(lambda t, x: sin(inner(x, x)) * t),
    "sums": lambda: fun(M)(lambda m: m.sum() + inner(m, m)),
    "mean": lambda: fun(M, W)(lambda m, x: (m @ x).mean()),
    "dense branch": lambda: fun(T, V, W)(lambda t, x, y: inner(t, tanh(outer(x, y)))),
    "pair": lambda: fun(T, W)(lambda t, x: (t, contract("ij,j->i", t, x, to=V))),
    "lifted": lambda: lift(fun(M, W)(lambda m, x: sin(m @ x)), Z),
}


def points(s: Source, space: Any) -> Vec[Any]:
    """A point of a function's domain, or of its tangent, whose tensors are formal."""
    parts = space.parts if space == direct_sum(*space.parts) else (space,)
    made = [_formal(s, part) for part in parts]
    return Vec(space, tuple(leaf for v in made for leaf in v.leaves))


def _formal(s: Source, space: Any) -> Vec[Any]:
    return tensor_matrix(T)(formal_vector(s, T)) if space == M else formal_vector(s, space)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=10)
@given(s=sources(smooth=True, single=False))
def test_values_derivatives_and_adjoints(name: str, s: Source) -> None:
    """f(t), f'(t)(dt), (f'(t))*(dy), jvp, vjp for formal t, dt, dy."""
    f = FUNCTIONS[name]()
    x, dx, dy = points(s, f.dom), points(s, f.dom.tangent), formal_vector(s, f.cod)
    plain = x.dense()
    assert close(f(x).dense(), f(plain).dense())
    value, linear_map = affine(f, x)
    due, due_map = affine(f, plain)
    assert close(value.dense(), due.dense())
    assert close(linear_map(dx).dense(), due_map(dx.dense()).dense())
    _, back = adjoint_affine(f, x)
    pulled = adjoint(due_map)(dy.dense()).dense()
    assert close(back(dy).dense(), pulled)
    assert close(adjoint(derivative(f)).at(x)(dy.dense()).dense(), pulled)
    assert close(jvp(f)(Vec(jvp(f).dom, x.leaves + dx.leaves)).dense(), due_map(dx.dense()).dense())
    assert close(vjp(f)(Vec(vjp(f).dom, x.leaves + dy.leaves)).dense(), pulled)
    assert np.isclose(linear_map(dx).inner(dy), dx.inner(back(dy)), atol=1e-9)


SCALAR = ["inner", "loss", "shifted", "sums", "mean", "dense branch"]


@pytest.mark.parametrize("name", SCALAR)
@settings(max_examples=12)
@given(s=sources(smooth=True, single=False))
def test_gradients(name: str, s: Source) -> None:
    """∇f(t) is a vector like t, and the second derivative goes by the same rules."""
    f = FUNCTIONS[name]()
    x, dx = points(s, f.dom), points(s, f.dom)
    df = grad(f)
    assert close(df(x).dense(), df(x.dense()))
    value, gradient = value_and_grad(f)(x)
    assert close(value, f(x.dense()))
    assert close(gradient.dense(), df(x.dense()))
    assert close(derivative(df).at(x)(dx).dense(), derivative(df).at(x.dense())(dx.dense()))


def test_a_gradient_is_formal() -> None:
    """The gradient of a loss in a formal matrix is a term of rank one, not a dense matrix."""
    f = FUNCTIONS["loss"]()
    m = tensor_matrix(T)(V.random(RNG).tensor(W.random(RNG)))
    found = grad(f, 0)(m, W.random(RNG), V.random(RNG))
    assert found.is_formal
    (leaf,) = found.leaves
    assert leaf.rank <= 2
    assert leaf.dense is None


def test_descent_on_factors() -> None:
    """A step t − rate·∇f(t) stays formal; its loss falls as with dense matrices."""
    f = FUNCTIONS["loss"]()
    x, y = W.random(RNG), V.random(RNG)
    m = tensor_matrix(T)(V.random(RNG).tensor(W.random(RNG)))
    plain, losses = m.dense(), []
    for _ in range(20):
        m = m - 0.02 * grad(f, 0)(m, x, y)
        plain = plain - 0.02 * grad(f, 0)(plain, x, y)
        losses.append(float(f(m, x, y)))
    assert m.is_formal
    assert close(m.dense(), plain)
    assert losses == sorted(losses, reverse=True)


def test_primitives_have_no_rule() -> None:
    """An element-wise primitive of a tensor that the user gave is refused, and says what to do."""
    t = V.random(RNG).tensor(W.random(RNG))
    calls: list[Callable[[], object]] = [lambda: sin(t), lambda: fun(T)(tanh)(t), lambda: fun(T)(lambda s: 1.0 / s)(t)]
    for call in calls:
        with pytest.raises(SpaceError, match=r"no rule for formal tensors, .* rank 1 on \[5, 4\]: call \.dense\(\)"):
            call()
    assert np.allclose(sin(t.dense()).array, np.sin(t.array))


def test_what_a_program_made_of_vectors_is_dense_where_it_must() -> None:
    """tanh(x ⊗ y) is computed as with dense arguments, though another argument is formal."""
    f = FUNCTIONS["dense branch"]()
    t, x, y = V.random(RNG).tensor(W.random(RNG)), V.random(RNG), W.random(RNG)
    assert np.isclose(float(f(t, x, y)), np.sum(t.array * np.tanh(np.outer(x.array, y.array))))


def test_sums_of_vectors_need_no_permission() -> None:
    """An element of ℝ ⊗ V is no larger than its factor: a primitive applies to it."""
    K_V = TensorProduct(R, V)
    t = R.vec(2.0).tensor(V.random(RNG))
    assert t.is_formal
    assert np.allclose(fun(K_V)(sin)(t).array, np.sin(t.array))
