"""A hidden Markov model of 4 states, 500 moments: value and gradient of its likelihood, by the forward recursion.

What is seen is a number, normal around a mean of each state. Parameters are scores of starts and of transitions, means,
and logarithms of deviations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax


def drawn(states: int, moments: int) -> Given:
    """Parameters and what is seen."""
    rng = np.random.default_rng(0)
    params = rng.standard_normal(states), rng.standard_normal((states, states)), np.arange(float(states))
    return (*params, 0.1 * rng.standard_normal(states)), rng.uniform(0.0, states, moments)


def ours(given: Given, made: Made) -> Calls:
    """A loop over the rows of what is seen in each state, which are computed before."""
    params, seen = given
    state, time = hb.Fin.of(len(params[0])), hb.Fin.of(len(seen) - 1)
    S, T = hb.R**state, hb.R ** (state * state)
    first, rest = hb.R.vec(seen[0]), (hb.R**time).vec(seen[1:])

    def likelihood(start: Any, turns: Any, means: Any, deviations: Any) -> Any:
        def density(y: Any) -> Any:
            z = (means - y) / hb.exp(deviations)
            return -0.5 * z * z - deviations - 0.5 * math.log(2 * math.pi)

        moves = turns.log_softmax(over=1)

        def step(forward: Any, here: Any) -> Any:
            return (forward.rep(T, over=1) + moves).logsumexp(over=0) + here

        begun = start.log_softmax() + density(hb.const(first))
        return hb.fold(step, begun, hb.each(density, hb.const(rest))).logsumexp()

    f: Any = hb.fun(S, T, S, S)(likelihood)
    both, at = made(hb.value_and_grad(f)), f.dom.vec(params)
    return {"value and gradient": Call(lambda: both(at))}


def in_jax(given: Given) -> Calls:
    """A scan over the same rows."""
    found = jax()
    xp, nn = found.numpy, found.nn

    def likelihood(start: Any, turns: Any, means: Any, deviations: Any, seen: Any) -> Any:
        z = (seen[:, None] - means) / xp.exp(deviations)
        density = -0.5 * z * z - deviations - 0.5 * math.log(2 * math.pi)
        moves = nn.log_softmax(turns, 1)

        def step(forward: Any, here: Any) -> Any:
            return nn.logsumexp(forward[:, None] + moves, 0) + here, None

        return nn.logsumexp(found.lax.scan(step, nn.log_softmax(start) + density[0], density[1:])[0])

    params, seen = given
    return {"value and gradient": jitted(likelihood, (*params, seen), gradient((0, 1, 2, 3)))}


ROWS = (
    Row(
        "hidden Markov, 4 states, 500 moments",
        {**mine(ours), "jax": in_jax},
        lambda _: drawn(4, 500),
        lambda: drawn(3, 6),
    ),
)
