"""tanh(W·s + s) with 14 states, and a recurrent network of 64 with 32 inputs: value and gradient of 1,000 rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Given, Made, Row, gradient, jitted, mine
from benchmarks.timing import jax


def drawn(states: int, inputs: int, rounds: int) -> Given:
    """Weights, a start, and inputs."""
    rng = np.random.default_rng(0)
    shapes = (states, states), (states, inputs), (states,), (rounds, inputs)
    return tuple(0.1 * rng.standard_normal(shape) for shape in shapes)


def ours(given: Given, made: Made) -> Calls:
    """A loop over the inputs."""
    state, source, time = (hb.Fin.of(n) for n in (*given[1].shape, len(given[3])))
    S, X = hb.R**state, hb.R**source

    def total(A: Any, B: Any, s: Any, xs: Any) -> Any:
        return hb.fold(lambda s, x: hb.tanh(A @ s + B @ x), s, xs).sum()

    f: Any = hb.fun(hb.R ** (state * state), hb.R ** (state * source), S, X**time)(total)
    both, at = made(hb.value_and_grad(f)), f.dom.vec(given)
    return {"value and gradient": Call(lambda: both(at))}


def in_jax(given: Given) -> Calls:
    """A scan; the inputs are multiplied by B all together."""
    found = jax()

    def total(A: Any, B: Any, s: Any, xs: Any) -> Any:
        return found.lax.scan(lambda s, y: (found.numpy.tanh(A @ s + y), None), s, xs @ B.T)[0].sum()

    return {"value and gradient": jitted(total, given, gradient((0, 1, 2, 3)))}


def ours_alone(given: Given, made: Made) -> Calls:
    """Rounds without inputs."""
    W, s, rounds = given
    state, time = hb.Fin.of(len(s)), hb.Fin.of(rounds)
    f: Any = hb.fun(hb.R ** (state * state), hb.R**state)(
        lambda W, s: hb.iterate(lambda t: hb.tanh(W @ t + t), s, time).sum()
    )
    both, at = made(hb.value_and_grad(f)), f.dom.vec((W, s))
    return {"value and gradient": Call(lambda: both(at))}


def in_jax_alone(given: Given) -> Calls:
    """A scan without inputs."""
    found = jax()
    W, s, rounds = given

    def total(W: Any, s: Any) -> Any:
        step = lambda t, _: (found.numpy.tanh(W @ t + t), None)  # noqa: E731 - as JAX wants it
        return found.lax.scan(step, s, None, length=rounds)[0].sum()

    return {"value and gradient": jitted(total, (W, s), gradient((0, 1)))}


def alone(states: int, rounds: int) -> Given:
    """Weights, a start, and the number of rounds."""
    W, _, s, _ = drawn(states, 1, 1)
    return W, s, rounds


ROWS = (
    Row(
        "tanh(W·s + s), 14 states, 1,000 rounds",
        {**mine(ours_alone), "jax": in_jax_alone},
        lambda _: alone(14, 1000),
        lambda: alone(3, 4),
        tolerance=1e-8,
    ),
    Row(
        "recurrent network, 64 states, 1,000 rounds",
        {**mine(ours), "jax": in_jax},
        lambda _: drawn(64, 32, 1000),
        lambda: drawn(3, 2, 4),
        tolerance=1e-8,
    ),
)
