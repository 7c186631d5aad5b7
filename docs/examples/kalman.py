"""A Kalman filter: the likelihood of noisy positions of something that moves, and the noise that fits best.

The state is a position and a speed in the plane, pushed at random; only positions are seen. The data are drawn here.

    python docs/examples/kalman.py
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

import hilbert.all as hb


class State(hb.Axis, size=4):
    """Two positions and two speeds."""


class Seen(hb.Axis, size=2):
    """The two positions."""


class Time(hb.Axis):
    """The moments."""


class Noise(hb.Record):
    """Logarithms of the deviations of pushes and of measurements."""

    push: hb.Part[hb.Scalar]
    measured: hb.Part[hb.Scalar]


state, seen, N = State.set, Seen.set, Noise.space()
Square, Small = hb.R ** (state * state), hb.R ** (seen * seen)
MOVE = Square.vec(np.eye(4) + 0.1 * np.eye(4, k=2))
PUSH, UNIT = Square.vec(np.diag([0.0, 0.0, 1.0, 1.0])), Small.vec(np.eye(2))
LOOK = (hb.R ** (seen * state)).vec(np.eye(2, 4))
Belief: TypeAlias = tuple[hb.Expr[hb.Vector[State]], hb.Expr[hb.Matrix[State, State]]]
Track: TypeAlias = hb.Copower[hb.Vector[Seen], hb.Fin[Time]]


def log_likelihood(moments: int) -> hb.Map[hb.DirectSum[Noise, Track], hb.Scalar]:
    """Σ_t log N(y_t; what is expected after y_1, …, y_{t−1}): Noise ⊕ (ℝ²)^moments → ℝ."""

    @hb.fun(N, (hb.R**seen) ** Time.of(moments))
    def f(noise: hb.Expr[Noise], track: hb.Expr[Track]) -> hb.Expr[hb.Scalar]:
        Q, R = hb.exp(2.0 * noise[Noise.push]) * PUSH, hb.exp(2.0 * noise[Noise.measured]) * UNIT

        def step(belief: Belief, y: hb.Expr[hb.Vector[Seen]]) -> tuple[Belief, hb.Expr[hb.Scalar]]:
            mean, spread = MOVE @ belief[0], MOVE @ belief[1] @ MOVE.T + Q
            error, S = y - LOOK @ mean, LOOK @ spread @ LOOK.T + R
            gain = hb.solve(S, LOOK @ spread).T
            likely = -0.5 * (error @ hb.solve(S, error) + hb.logdet(S) + seen.size * math.log(2 * math.pi))
            return (mean + gain @ error, spread - gain @ LOOK @ spread), likely

        start = hb.const((hb.R**state).zeros()), hb.const(Square.vec(np.eye(4)))
        return hb.fold(step, start, track)[1].sum()

    return f


def drawn(moments: int, push: float, measured: float, rng: np.random.Generator) -> hb.Vec[Track]:
    """The observations of one random path."""
    x, found = np.zeros(4), np.empty((moments, 2))
    for t in range(moments):
        x = MOVE.array @ x + push * np.r_[0.0, 0.0, rng.standard_normal(2)]
        found[t] = x[:2] + measured * rng.standard_normal(2)
    return ((hb.R**seen) ** Time.of(moments)).vec(found)


def main() -> None:
    """Draw a path, and find its noise by Newton's method from a good guess."""
    f = log_likelihood(500)
    track = drawn(500, 0.3, 0.1, np.random.default_rng(0))
    print(f, end="\n\n")
    noise = N.vec((-1.0, -2.0))
    for k in range(6):
        value, gradient = hb.value_and_grad(f, 0)(noise, track).split()
        print(f"{k}: log-likelihood {float(value):.4f}, gradient {gradient.norm():.1e}, {hb.exp(noise)}")
        step = np.asarray(np.linalg.solve(hb.hessian(f, noise, track, wrt=0), gradient.flat()), dtype=float)
        noise = noise - N.vec((step[0], step[1]))


if __name__ == "__main__":
    main()
