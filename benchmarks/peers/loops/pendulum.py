"""Pendulums: 1,000 rounds of a single one of two numbers, and of a double one of four by Runge and Kutta.

The value and the gradient of the first angle at the end, in the numbers at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Given, Made, Ours, Row, gradient, jitted, mine
from benchmarks.timing import jax

ROUNDS = 1000
State = tuple[Any, ...]
Rule = Callable[[Any], Callable[[State], State]]


def single(xp: Any) -> Callable[[State], State]:
    """A step of 1/100 second, with friction."""

    def step(state: State) -> State:
        angle, speed = state
        speed = speed - 0.0981 * xp.sin(angle) - 0.001 * speed
        return angle + 0.01 * speed, speed

    return step


def double(xp: Any) -> Callable[[State], State]:
    """A step of 1/100 second, number by number, of order 4."""

    def field(s: State) -> State:
        a, b, v, w = s
        c, d, e, f = xp.cos(a - b), xp.sin(a - b), 9.81 * xp.sin(a), 9.81 * xp.sin(b)
        mass = 2.0 - c * c
        return (
            v,
            w,
            (c * f - 2.0 * e - d * (w * w + c * v * v)) / mass,
            (2.0 * (c * e - f + d * v * v) + c * d * w * w) / mass,
        )

    return lambda s: runge_kutta(field, s, 0.01)


def runge_kutta(field: Callable[[State], State], s: State, h: float) -> State:
    """A step of order 4 for s' = field(s)."""
    k = field(s)
    m = field(moved(s, k, h / 2))
    n = field(moved(s, m, h / 2))
    last = field(moved(s, n, h))
    return tuple(x + h / 6 * (p + 2.0 * q + 2.0 * r + t) for x, p, q, r, t in zip(s, k, m, n, last, strict=True))


def moved(s: State, k: State, h: float) -> State:
    """s + h·k."""
    return tuple(x + h * y for x, y in zip(s, k, strict=True))


def ours(rule: Rule) -> Ours:
    """A loop of rounds."""

    def make(given: Given, made: Made) -> Calls:
        start, rounds = given
        f: Any = hb.fun(*[hb.R] * len(start))(lambda *s: hb.iterate(rule(hb), s, hb.Fin.of(rounds))[0])
        both, at = made(hb.value_and_grad(f)), f.dom.vec(tuple(start))
        return {"value and gradient": Call(lambda: both(at))}

    return make


def in_jax(rule: Rule) -> Callable[[Given], Calls]:
    """A scan."""

    def make(given: Given) -> Calls:
        start, rounds = given
        found = jax()
        step = rule(found.numpy)

        def last(*s: Any) -> Any:
            return found.lax.scan(lambda s, _: (step(s), None), s, None, length=rounds)[0][0]

        return {"value and gradient": jitted(last, start, gradient(tuple(range(len(start)))))}

    return make


def row(name: str, rule: Rule, size: int) -> Row:
    """A pendulum."""
    start = 0.3 * np.random.default_rng(0).standard_normal(size)
    return Row(
        name, {**mine(ours(rule)), "jax": in_jax(rule)}, lambda _: (start, ROUNDS), lambda: (start, 7), tolerance=1e-8
    )


ROWS = (
    row("pendulum, 1,000 rounds", single, 2),
    row("double pendulum, Runge and Kutta, 1,000 steps", double, 4),
)
