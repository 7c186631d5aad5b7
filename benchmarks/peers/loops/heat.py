"""The heat equation of docs/examples, 64×64 places, 200 steps, five readings: value and gradient of squared errors."""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax

READINGS, STEPS, RATE = 5, 40, 0.2


def drawn() -> Given:
    """A start, where the sensors are, and what they read."""
    from docs.examples.heat import PLACES

    rng = np.random.default_rng(0)
    return rng.standard_normal((64, 64)), PLACES, rng.standard_normal((READINGS, 64))


def ours(given: Given, made: Made) -> Calls:
    """docs/examples/heat.py."""
    from docs.examples import heat

    start, _, readings = given
    seen = heat.observed.cod.vec(readings)
    f: Any = hb.fun(heat.observed.dom)(lambda u: hb.square(heat.observed(u) - seen).sum())
    both, at = made(hb.value_and_grad(f)), f.dom.vec(start)
    return {"value and gradient": Call(lambda: both(at))}


def in_jax(given: Given) -> Calls:
    """A scan in a scan."""
    found = jax()
    xp = found.numpy
    start, places, readings = given

    def loss(u: Any, readings: Any) -> Any:
        def warmed(u: Any, _: Any) -> Any:
            around = xp.roll(u, 1, 0) + xp.roll(u, -1, 0) + xp.roll(u, 1, 1) + xp.roll(u, -1, 1)
            return (1 - 4 * RATE) * u + RATE * around, None

        def until_read(u: Any, _: Any) -> Any:
            u = found.lax.scan(warmed, u, None, STEPS)[0]
            return u, u.reshape(-1)[places]

        return ((found.lax.scan(until_read, u, None, READINGS)[1] - readings) ** 2).sum()

    return {"value and gradient": jitted(loss, (start, readings), gradient())}


ROWS = (Row("heat, 64×64, 200 steps", {**mine(ours), "jax": in_jax}, lambda _: drawn(), drawn),)
