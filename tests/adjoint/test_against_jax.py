"""Gradients of whole models agree with JAX in double precision."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import grad, hessian, value_and_grad
from diff import exp, fun, inner, lift, log, logaddexp, relu, sigmoid, sin, softplus, sqrt, tanh
from hilbert import Elements, Fin, R, direct_sum

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX has it so

X, H, Y, N = Fin.of(4), Fin.of(5), Fin.of(3), Fin.of(6)
RNG = np.random.default_rng(7)


def compare(f: Any, in_jax: Any, arrays: Any) -> None:
    """Value and gradient in every argument."""
    x = f.dom.vec(tuple(arrays)) if len(f.dom.parts) > 1 else f.dom.vec(arrays[0])
    both = value_and_grad(f)(x)
    value, gradients = jax.value_and_grad(in_jax, argnums=tuple(range(len(arrays))))(*map(jnp.asarray, arrays))
    np.testing.assert_allclose(float(both[0]), float(value), rtol=1e-12)
    found = both[1].leaves
    for ours, theirs in zip(found, gradients, strict=True):
        np.testing.assert_allclose(ours, np.array(theirs), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("h", "in_jax"), [(tanh, jnp.tanh), (relu, jax.nn.relu), (softplus, jax.nn.softplus)])
def test_network(h: Any, in_jax: Any) -> None:
    """A network of two layers with the squared loss on a batch, parameters shared."""
    params = direct_sum(R ** (H * X), R**H, R ** (Y * H), R**Y)
    data = direct_sum(R**X, R**Y)

    def loss(p: Any, d: Any) -> Any:
        W, b, U, c = p.split()
        x, y = d.split()
        e = U @ h(W @ x + b) + c - y
        return e @ e

    batch = lift(fun(params, data)(loss), N)
    f = fun(params, data**N)(lambda p, d: batch(p, d).mean())
    shapes = [(5, 4), (5,), (3, 5), (3,), (6, 4), (6, 3)]
    W, b, U, c, xs, ys = (RNG.standard_normal(shape) for shape in shapes)

    def reference(W: Any, b: Any, U: Any, c: Any, xs: Any, ys: Any) -> Any:
        e = in_jax(xs @ W.T + b) @ U.T + c - ys
        return jnp.mean(jnp.sum(e * e, axis=1))

    point = f.dom.vec(((W, b, U, c), (xs, ys)))
    gradients = jax.jit(jax.grad(reference, argnums=range(6)))(W, b, U, c, xs, ys)
    for ours, theirs in zip(grad(f)(point).leaves, gradients, strict=True):
        np.testing.assert_allclose(ours, np.array(theirs), rtol=1e-10, atol=1e-13)


def test_log_likelihood_of_labels() -> None:
    """Softmax regression: −Σ_n (s_{n,label} − ln Σ_c e^{s_{n,c}}), dynamic labels."""
    f = fun(R ** (Y * X), R**X, Elements(Y))(lambda W, x, label: log(exp(W @ x).sum()) - (W @ x)[label])
    batch = lift(f, N, over=(1, 2))
    total = fun(R ** (Y * X), (R**X) ** N, Elements(Y) ** N)(lambda W, x, label: batch(W, x, label).sum())
    W, xs = RNG.standard_normal((3, 4)), RNG.standard_normal((6, 4))
    labels = np.array([0, 2, 1, 1, 0, 2])

    def reference(W: Any, xs: Any) -> Any:
        scores = xs @ W.T
        return jnp.sum(jax.nn.logsumexp(scores, axis=1) - scores[jnp.arange(6), labels])

    point = total.dom.vec((W, xs, labels))
    for ours, theirs in zip(
        grad(total)(point).leaves, jax.jit(jax.grad(reference, argnums=(0, 1)))(W, xs), strict=True
    ):
        np.testing.assert_allclose(ours, np.array(theirs), rtol=1e-10, atol=1e-13)


def test_scalar_functions_of_two_vectors() -> None:
    """Products, quotients, roots, powers and inner products of vectors."""
    V = R**X
    f = fun(V, V)(
        lambda x, y: inner(x / (2.0 + sin(y)), sqrt(1.0 + x * x)) + (x**3 * sigmoid(y)).sum() + logaddexp(x, y).sum()
    )
    compare(
        f,
        lambda x, y: (
            jnp.dot(x / (2.0 + jnp.sin(y)), jnp.sqrt(1.0 + x * x))
            + jnp.sum(x**3 * jax.nn.sigmoid(y))
            + jnp.sum(jnp.logaddexp(x, y))
        ),
        [RNG.standard_normal(4), RNG.standard_normal(4)],
    )


def test_matrix_functions() -> None:
    """Products of matrices and transposes, and the Hessian of a quartic form."""
    M = R ** (X * X)
    f = fun(M, R ** (X * Y))(lambda A, B: inner((A @ A.T) @ B, sin(B)))
    compare(
        f,
        lambda A, B: jnp.sum(((A @ A.T) @ B) * jnp.sin(B)),
        [RNG.standard_normal((4, 4)), RNG.standard_normal((4, 3))],
    )
    A, x = RNG.standard_normal((4, 4)), RNG.standard_normal(4)
    matrix = M.vec(A)
    quartic = fun(R**X)(lambda v: ((matrix @ v) @ v) ** 2)
    due = jax.jit(jax.hessian(lambda v: jnp.dot(A @ v, v) ** 2))(x)
    np.testing.assert_allclose(hessian(quartic, (R**X).vec(x)), np.array(due), rtol=1e-10)
