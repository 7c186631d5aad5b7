"""A neural differential equation: two numbers, a hidden layer of 32, 100 steps of Runge and Kutta beside data.

The value and the gradient of the squared errors at all steps, in the weights and biases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax

STEP = 0.05


def drawn(hidden: int, steps: int) -> Given:
    """Weights and biases of two layers, the start, and data."""
    rng = np.random.default_rng(0)
    shapes = (hidden, 2), (hidden,), (2, hidden), (2,)
    params = tuple(rng.standard_normal(shape) / np.sqrt(shape[-1]) for shape in shapes)
    return params, np.array([1.0, 0.0]), rng.standard_normal((steps, 2))


def after(field: Any, y: Any) -> Any:
    """A step of order 4, of vectors."""
    k = field(y)
    m = field(y + STEP / 2 * k)
    n = field(y + STEP / 2 * m)
    last = field(y + STEP * n)
    return y + STEP / 6 * (k + 2.0 * m + 2.0 * n + last)


def ours(given: Given, made: Made) -> Calls:
    """A loop over the data."""
    params, start, data = given
    pair, unit, time = hb.Fin.of(2), hb.Fin.of(len(params[1])), hb.Fin.of(len(data))
    Y = hb.R**pair
    begun, seen = hb.const(Y.vec(start)), hb.const((Y**time).vec(data))

    def loss(W: Any, b: Any, V: Any, c: Any) -> Any:
        def step(y: Any, due: Any) -> Any:
            y = after(lambda y: V @ hb.tanh(W @ y + b) + c, y)
            return y, hb.square(y - due).sum()

        return hb.fold(step, begun, seen)[1].sum()

    f: Any = hb.fun(hb.R ** (unit * pair), hb.R**unit, hb.R ** (pair * unit), Y)(loss)
    both, at = made(hb.value_and_grad(f)), f.dom.vec(params)
    return {"value and gradient": Call(lambda: both(at))}


def in_jax(given: Given) -> Calls:
    """A scan over the data."""
    found = jax()
    params, start, data = given

    def loss(W: Any, b: Any, V: Any, c: Any, start: Any, data: Any) -> Any:
        def step(y: Any, due: Any) -> Any:
            y = after(lambda y: V @ found.numpy.tanh(W @ y + b) + c, y)
            return y, ((y - due) ** 2).sum()

        return found.lax.scan(step, start, data)[1].sum()

    return {"value and gradient": jitted(loss, (*params, start, data), gradient((0, 1, 2, 3)))}


ROWS = (
    Row(
        "neural ODE, 2-32-2, 100 steps",
        {**mine(ours), "jax": in_jax},
        lambda _: drawn(32, 100),
        lambda: drawn(3, 4),
    ),
)
