"""A GARCH(1, 1) model of 200 returns: value and gradient of its likelihood in a mean and three rates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.loops.lotka_volterra import together
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax


def drawn(moments: int) -> Given:
    """The mean, ω, α and β, and returns."""
    return np.array([0.05, 0.1, 0.15, 0.8]), np.random.default_rng(0).standard_normal(moments)


def ours(given: Given, made: Made) -> Calls:
    """The variances by a loop over the squares of what is not expected; their densities after it."""
    params, returns = given
    seen = hb.const((hb.R ** hb.Fin.of(len(returns))).vec(returns))

    def likelihood(mean: Any, omega: Any, alpha: Any, beta: Any) -> Any:
        squares = hb.square(seen - mean)

        def step(variance: Any, square: Any) -> Any:
            return omega + alpha * square + beta * variance, variance

        variances = hb.fold(step, squares.mean(), squares)[1]
        return -0.5 * (hb.log(variances) + squares / variances + math.log(2 * math.pi)).sum()

    f: Any = hb.fun(*[hb.R] * 4)(likelihood)
    both, at = made(hb.value_and_grad(f)), f.dom.vec(tuple(params))
    return {"value and gradient": Call(lambda: both(at), together)}


def in_jax(given: Given) -> Calls:
    """The same loop as a scan."""
    found = jax()

    def likelihood(p: Any, returns: Any) -> Any:
        mean, omega, alpha, beta = p
        squares = (returns - mean) ** 2

        def step(variance: Any, square: Any) -> Any:
            return omega + alpha * square + beta * variance, variance

        variances = found.lax.scan(step, squares.mean(), squares)[1]
        return -0.5 * (found.numpy.log(variances) + squares / variances + math.log(2 * math.pi)).sum()

    return {"value and gradient": jitted(likelihood, given, gradient())}


ROWS = (Row("GARCH, 200 returns", {**mine(ours), "jax": in_jax}, lambda _: drawn(200), lambda: drawn(6)),)
