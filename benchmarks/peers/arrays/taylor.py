"""The Taylor coefficients of tanh(sin t · eᵗ) to order 8, at 100,000 points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import LISTED, Call, Calls, Given, Made, Row, jitted, mine
from benchmarks.timing import jax, optional

COEFFICIENTS = "coefficients"
ORDER = 8


def ours(given: Given, made: Made) -> Calls:
    """A jet along the ones."""
    V = hb.R ** hb.Fin.of(len(given))
    f: Any = hb.fun(V)(lambda t: hb.tanh(hb.sin(t) * hb.exp(t)))

    def jet(t: Any, v: Any) -> Any:
        return hb.taylor(f, t, v, ORDER)

    series, at, ones = made(hb.fun(V, V)(jet)), V.vec(given), V.ones()
    return {COEFFICIENTS: Call(lambda: series(at, ones), lambda jet: [np.stack(jet.leaves)])}


def by_hand(t: Given) -> Calls:
    """The recurrences of products and of tanh."""

    def coefficients() -> Any:
        s, c, e = np.sin(t), np.cos(t), np.exp(t)
        sines = [(s, c, -s, -c)[k % 4] / math.factorial(k) for k in range(ORDER + 1)]
        powers = [e / math.factorial(k) for k in range(ORDER + 1)]
        u = [sum(sines[j] * powers[k - j] for j in range(k + 1)) for k in range(ORDER + 1)]
        y = [np.tanh(u[0])]
        z = [1 - y[0] * y[0]]
        for k in range(1, ORDER + 1):
            y.append(sum((j / k) * u[j] * z[k - j] for j in range(1, k + 1)))
            if k < ORDER:
                z.append(-sum(y[j] * y[k - j] for j in range(k + 1)))
        return np.stack(y)

    return {COEFFICIENTS: Call(coefficients)}


def in_jax(given: Given) -> Calls:
    """JAX's experimental jets."""
    found, jets = jax(), optional("jax.experimental.jet")
    xp = found.numpy

    def coefficients(t: Any) -> Any:
        along = [xp.ones_like(t), *[xp.zeros_like(t)] * (ORDER - 1)]
        first, rest = jets.jet(lambda t: xp.tanh(xp.sin(t) * xp.exp(t)), (t,), (along,))
        return xp.stack([first, *(y / math.factorial(k) for k, y in enumerate(rest, 1))])

    return {COEFFICIENTS: jitted(coefficients, (given,))}


ROWS = (
    Row(
        "Taylor, order 8",
        {**mine(ours), "numpy": by_hand, "jax": in_jax},
        lambda _: np.linspace(-1.0, 1.0, 100_000),
        lambda: np.linspace(-1.0, 1.0, 3),
        LISTED,
        heavy=True,
    ),
)
