"""b·sin(aᵀx) on ℝ^1,000,000: its derivative forward and back, at a new point and as a linear map at a fixed one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import LISTED, Call, Calls, Given, Made, Row, awaited, jitted, mine
from benchmarks.timing import jax

FORWARD, BACK, LINEAR, ADJOINT = "forward", "back", "forward, fixed point", "back, fixed point"


def drawn(n: int) -> Given:
    """a, b, x, and directions in both spaces."""
    rng = np.random.default_rng(0)
    return tuple(size * rng.standard_normal(n) / math.sqrt(n) for size in (1.0, 1e3, 1e3, 1e3, 1e3))


def ours(given: Given, made: Made) -> Calls:
    """A function of x alone."""
    V = hb.R ** hb.Fin.of(len(given[0]))
    a, b, x, v, u = map(V.vec, given)
    f: Any = hb.fun(V)(lambda x: hb.sin(hb.const(a) @ x) * b)
    forward, back, d = made(hb.jvp(f)), made(hb.vjp(f)), hb.derivative(f)
    linear, adjoint = made(d.at(x)), made(hb.adjoint(d).at(x))
    return {
        FORWARD: Call(lambda: forward(x, v)),
        BACK: Call(lambda: back(x, u)),
        LINEAR: Call(lambda: linear(v)),
        ADJOINT: Call(lambda: adjoint(u)),
    }


def by_hand(given: Given) -> Calls:
    """A line each."""
    a, b, x, v, u = given
    slope = math.cos(a @ x)
    return {
        FORWARD: Call(lambda: b * (math.cos(a @ x) * (a @ v))),
        BACK: Call(lambda: a * (math.cos(a @ x) * (b @ u))),
        LINEAR: Call(lambda: b * (slope * (a @ v))),
        ADJOINT: Call(lambda: a * (slope * (b @ u))),
    }


def in_jax(given: Given) -> Calls:
    """jvp, vjp, linearize."""
    found = jax()
    a, b, x, v, u = map(found.numpy.asarray, given)

    def f(x: Any, a: Any, b: Any) -> Any:
        return b * found.numpy.sin(a @ x)

    linear = found.linearize(lambda x: f(x, a, b), x)[1]
    adjoint = found.vjp(lambda x: f(x, a, b), x)[1]
    transposed = found.jit(lambda t, u: t(u)[0])
    return {
        FORWARD: jitted(lambda x, v, a, b: found.jvp(lambda x: f(x, a, b), (x,), (v,))[1], (x, v, a, b)),
        BACK: jitted(lambda x, u, a, b: found.vjp(lambda x: f(x, a, b), x)[1](u)[0], (x, u, a, b)),
        LINEAR: jitted(linear, (v,)),
        ADJOINT: Call(lambda: awaited(transposed(adjoint, u))),
    }


ROWS = (
    Row(
        "rank one 10⁶",
        {**mine(ours), "numpy": by_hand, "jax": in_jax},
        lambda _: drawn(1_000_000),
        lambda: drawn(5),
        LISTED,
        heavy=True,
    ),
)
