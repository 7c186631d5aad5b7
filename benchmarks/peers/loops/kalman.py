"""The Kalman filter of docs/examples, 500 moments: value and gradient of its likelihood in logarithms of two noises.

JAX solves its 2×2 systems by formula, as one does there: LAPACK takes longer for them than all of the rest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.loops.lotka_volterra import together
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax


def drawn(moments: int) -> Given:
    """Logarithms of the deviations of pushes and of measurements, and positions that are seen."""
    rng = np.random.default_rng(0)
    path = np.cumsum(0.1 * np.cumsum(0.3 * rng.standard_normal((moments, 2)), axis=0), axis=0)
    return np.array([-1.0, -2.0]), path + 0.1 * rng.standard_normal((moments, 2))


def ours(given: Given, made: Made) -> Calls:
    """docs/examples/kalman.py."""
    from docs.examples import kalman

    noise, track = given
    f = kalman.log_likelihood(len(track))
    both, at = made(hb.value_and_grad(f, 0)), f.dom.vec((tuple(noise), track))
    return {"value and gradient": Call(lambda: both(at), together)}


def in_jax(given: Given) -> Calls:
    """A scan; the gain by the adjugate of a 2×2 matrix."""
    found = jax()
    xp = found.numpy
    move, push = np.eye(4) + 0.1 * np.eye(4, k=2), np.diag([0.0, 0.0, 1.0, 1.0])

    def likelihood(noise: Any, track: Any) -> Any:
        Q, R = xp.exp(2 * noise[0]) * push, xp.exp(2 * noise[1]) * xp.eye(2)

        def step(belief: Any, y: Any) -> Any:
            mean, spread = move @ belief[0], move @ belief[1] @ move.T + Q
            error, S = y - mean[:2], spread[:2, :2] + R
            det = S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0]
            inverse = xp.array([[S[1, 1], -S[0, 1]], [-S[1, 0], S[0, 0]]]) / det
            gain = spread[:, :2] @ inverse
            likely = -0.5 * (error @ (inverse @ error) + xp.log(det)) - math.log(2 * math.pi)
            return (mean + gain @ error, spread - gain @ spread[:2]), likely

        return found.lax.scan(step, (xp.zeros(4), xp.eye(4)), track)[1].sum()

    return {"value and gradient": jitted(likelihood, given, gradient())}


ROWS = (Row("Kalman filter, 500 moments", {**mine(ours), "jax": in_jax}, lambda _: drawn(500), lambda: drawn(4)),)
