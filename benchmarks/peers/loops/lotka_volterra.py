"""Lotka and Volterra: 200 steps of Runge and Kutta, beside data at each step; value and gradient in four parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.loops.pendulum import runge_kutta
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax

STEP = 0.05


def drawn(steps: int) -> Given:
    """Parameters and data."""
    return np.array([1.0, 0.8, 0.9, 0.7]), np.random.default_rng(0).uniform(0.5, 1.5, (steps, 2))


def after(y: Any, p: Any) -> Any:
    """Prey and predators after a step."""
    return runge_kutta(lambda y: (y[0] * (p[0] - p[1] * y[1]), y[1] * (p[2] * y[0] - p[3])), y, STEP)


def ours(given: Given, made: Made) -> Calls:
    """A loop over the data, whose state is two numbers."""
    start, data = given
    time, pair = hb.Fin.of(len(data)), hb.Fin.of(2)
    seen = hb.const(((hb.R**pair) ** time).vec(data))
    one = hb.const(hb.R.vec(1.0))

    def loss(*p: Any) -> Any:
        def step(y: Any, due: Any) -> Any:
            y = after(y, p)
            return y, hb.square(y[0] - due[0]) + hb.square(y[1] - due[1])

        return hb.fold(step, (one, one), seen)[1].sum()

    f: Any = hb.fun(*[hb.R] * 4)(loss)
    both, at = made(hb.value_and_grad(f)), f.dom.vec(tuple(start))
    return {"value and gradient": Call(lambda: both(at), together)}


def together(result: Any) -> list[Any]:
    """The value, and the slopes as one array."""
    value, *slopes = result.leaves
    return [value, np.array(slopes)]


def in_jax(given: Given) -> Calls:
    """A scan that gives the states; the errors of all at once."""
    found = jax()
    start, data = given

    def loss(p: Any, data: Any) -> Any:
        def step(y: Any, _: Any) -> Any:
            y = after(y, p)
            return y, y

        prey, predators = found.lax.scan(step, (1.0, 1.0), None, length=len(data))[1]
        return ((prey - data[:, 0]) ** 2 + (predators - data[:, 1]) ** 2).sum()

    return {"value and gradient": jitted(loss, (start, data), gradient())}


ROWS = (
    Row(
        "Lotka–Volterra, 200 steps",
        {**mine(ours), "jax": in_jax},
        lambda _: drawn(200),
        lambda: drawn(5),
    ),
)
