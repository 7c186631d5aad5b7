"""A network 784-512-256-10 on a batch of 128: half the mean squared error, its gradient in all parameters."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import LISTED, Call, Calls, Given, Made, Row, jitted, mine

GRADIENT = "gradient"


def drawn(dtype: str, sizes: tuple[int, ...], batch: int) -> Given:
    """Weights (in, out), biases, inputs and targets."""
    rng = np.random.default_rng(0)
    params = list[Any]()
    for i, o in pairwise(sizes):
        params += [rng.standard_normal((i, o)) / np.sqrt(i), 0.1 * rng.standard_normal(o)]
    x, y = rng.standard_normal((batch, sizes[0])), rng.standard_normal((batch, sizes[-1]))
    return [p.astype(dtype) for p in params], x.astype(dtype), y.astype(dtype)


def ours(given: Given, made: Made) -> Calls:
    """The loss of a sample, for each sample."""
    params, xs, ys = given
    field = hb.R if xs.dtype == np.float64 else hb.R32
    sizes = [hb.Fin.of(s) for s in (xs.shape[1], *(len(b) for b in params[1::2]))]
    batch = hb.Fin.of(len(xs))
    space = hb.direct_sum(*[V for i, o in pairwise(sizes) for V in (field ** (i * o), field**o)])

    def loss(p: Any, x: Any, y: Any) -> Any:
        W, b, V, c, U, d = p.split()

        def one(x: Any, y: Any) -> Any:
            error = U.T @ hb.tanh(V.T @ hb.tanh(W.T @ x + b) + c) + d - y
            return error @ error

        return 0.5 / len(xs) * hb.each(one, x, y).sum()

    f: Any = hb.fun(space, (field ** sizes[0]) ** batch, (field ** sizes[-1]) ** batch)(loss)
    slope = made(hb.grad(f, 0))
    P, X, Y = f.dom.parts
    at = P.vec(tuple(params)), X.vec(xs), Y.vec(ys)
    return {GRADIENT: Call(lambda: slope(*at))}


def by_hand(given: Given) -> Calls:
    """Back-propagation, in place wherever an operand dies."""
    (W, b, V, c, U, d), x, y = given
    share = x.dtype.type(1.0 / len(x))

    def gradient() -> Any:
        h = np.tanh(x @ W + b)
        g = np.tanh(h @ V + c)
        r = g @ U + d - y
        r *= share
        dg = r @ U.T
        dg *= 1 - g * g
        dh = dg @ V.T
        dh *= 1 - h * h
        return x.T @ dh, dh.sum(0), h.T @ dg, dg.sum(0), g.T @ r, r.sum(0)

    return {GRADIENT: Call(gradient)}


def in_jax(given: Given) -> Calls:
    """The batch as a matrix."""

    def loss(p: Any, x: Any, y: Any) -> Any:
        import jax.numpy as jnp

        W, b, V, c, U, d = p
        r = jnp.tanh(jnp.tanh(x @ W + b) @ V + c) @ U + d - y
        return 0.5 / len(x) * (r * r).sum()

    return {GRADIENT: jitted(loss, given, lambda jax, f: jax.grad(f))}


def row(dtype: str, tolerance: float) -> Row:
    """A precision."""
    full: Any = lambda _: drawn(dtype, (784, 512, 256, 10), 128)  # noqa: E731 - as the other row
    return Row(
        f"MLP {dtype}",
        {**mine(ours), "numpy": by_hand, "jax": in_jax},
        full,
        partial(drawn, dtype, (5, 4, 3, 2), 6),
        LISTED,
        heavy=True,
        tolerance=tolerance,
    )


ROWS = (row("float64", 1e-9), row("float32", 1e-4))
