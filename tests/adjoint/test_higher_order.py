"""Gradients are functions of the language: they differentiate again by the same rules, to any order."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from adjoint import adjoint, grad, hessian, jacobian
from diff import Linearization, affine, const, cos, derivative, exp, fun, inner, jvp, lift, log, program, sin, tanh
from hilbert import Fin, R
from tests.function_terms import between
from tests.strategies import Source, close, sources


def nth(f: Any, n: int) -> Any:
    """The nth derivative of a function of one variable, as a function."""
    for _ in range(n):
        f = grad(f)
    return f


@pytest.mark.parametrize("x", [-1.1, 0.4, 2.0])
def test_third_derivative(x: float) -> None:
    """(exp(x·sin x))''' to 1e-10, by grad, by jvp and by both in turn."""
    f = fun(R)(lambda x: exp(x * sin(x)))
    s, c = math.sin(x), math.cos(x)
    u1, u2, u3 = s + x * c, 2 * c - x * s, -3 * s - x * c
    due = math.exp(x * s) * (u1**3 + 3 * u1 * u2 + u3)
    point = R.vec(x)
    assert float(nth(f, 3)(point)) == pytest.approx(due, rel=1e-10)
    forward: Any = f
    for _ in range(3):
        pair = fun(R)(lambda x: (x, x * 0.0 + 1.0))
        forward = jvp(forward) @ pair
    assert float(forward(point)) == pytest.approx(due, rel=1e-10)
    assert float(affine(nth(f, 2), point)[1](R.vec(1.0))) == pytest.approx(due, rel=1e-10)


@pytest.mark.parametrize("n", range(7))
def test_known_derivatives(n: int) -> None:
    """sin^(n)(x) = sin(x + nπ/2), exp^(n) = exp, ln^(n)(x) = (−1)^{n−1}·(n−1)!·x^{−n}."""
    x = 0.7
    point = R.vec(x)
    assert float(nth(sin, n)(point)) == pytest.approx(math.sin(x + n * math.pi / 2), abs=1e-13)
    assert float(nth(exp, n)(point)) == pytest.approx(math.exp(x), rel=1e-13)
    if n:
        due = (-1) ** (n - 1) * math.factorial(n - 1) * x**-n
        assert float(nth(log, n)(point)) == pytest.approx(due, rel=1e-10)


def test_the_derivative_of_a_gradient() -> None:
    """derivative(grad(f)) is a derivative like any other: it has an adjoint, and both are the Hessian."""
    V = R ** Fin.of(3)
    f = fun(V)(lambda v: (sin(v) * v).sum() * tanh(v @ v))
    d = derivative(grad(f))
    x = V.vec([0.3, -0.2, 0.9])
    H = hessian(f, x)
    columns = [d.at(x)(e).array for e in V.basis()]
    rows = [adjoint(d).at(x)(e).array for e in V.basis()]
    assert isinstance(d, Linearization)
    np.testing.assert_allclose(columns, H, rtol=1e-12)
    np.testing.assert_allclose(rows, H, rtol=1e-12)
    np.testing.assert_allclose(H, H.T, rtol=1e-12)


def test_size_grows_by_a_factor() -> None:
    """Of twice the function the gradient of the gradient is at most about twice as long: O(n) steps for n."""

    def size(rounds: int) -> int:
        def body(x: Any) -> Any:
            for _ in range(rounds):
                x = x * cos(x)
            return x

        return len(program(nth(fun(R)(body), 2)).steps)

    assert size(40) <= 2.1 * size(20)


@settings(max_examples=40)
@given(sources(smooth=True, single=False))
def test_gradient_of_the_squared_norm_of_a_gradient(s: Source) -> None:
    """∇(½‖∇f‖²)(x) = f''(x)(∇f(x)), for random f."""
    V = s.space(6)
    f = between(s, V, R, 2)
    note(f)
    g = grad(f)
    energy = fun(V)(lambda x: 0.5 * inner_product(g(x), g(x)))
    x = s.vector(V)
    due = jacobian(g, x) @ g(x).flat()
    assert close(grad(energy)(x), V.unflat(due), 1e-8)


def inner_product(a: Any, b: Any) -> Any:
    """a ⊙ b, a number also in the space 0."""
    return inner(a, b) if a.space.leaves else const(R.vec(0.0))


def test_gradients_lift() -> None:
    """(∇f)^X and lift(∇f, X) differentiate again: the gradient of a sum of penalties of gradients over a batch."""
    V, X = R ** Fin.of(2), Fin.of(4)
    f = fun(V, V)(lambda w, x: sin(w @ x) * (w @ w))
    g = grad(f, wrt=0)
    batch: Any = lift(g, X)
    total = fun(V, V**X)(lambda w, xs: inner(batch(w, xs), batch(w, xs)))
    w, xs = V.vec([0.3, -0.4]), (V**X).vec(np.linspace(-1.0, 1.0, 8).reshape(4, 2))
    found = grad(total, wrt=0)(w, xs).array
    due = np.zeros(2)
    for row in xs.array:
        x = V.vec(row)
        due += 2.0 * jacobian(g, w, x, wrt=0) @ g(w, x).array
    np.testing.assert_allclose(found, due, rtol=1e-12)
