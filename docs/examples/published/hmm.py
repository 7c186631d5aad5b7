"""A hidden Markov model: the likelihood by the forward recursion, scaled at each moment (Rabiner 1989)."""

from __future__ import annotations

import math

import numpy as np

import hilbert.all as hb


class State(hb.Axis, size=3):
    """The hidden states."""


class Moment(hb.Axis, size=200):
    """The moments."""


class Unknown(hb.Record):
    """Logits of the first state and of the moves, a row for each state, and the normal distribution of each state."""

    start: hb.Part[hb.Vector[State]]
    moves: hb.Part[hb.Matrix[State, State]]
    mean: hb.Part[hb.Vector[State]]
    log_deviation: hb.Part[hb.Vector[State]]


P, Moments = Unknown.space(), hb.R**Moment.set

rng = np.random.default_rng(0)
seen = Moments.vec(rng.choice([-1.5, 0.0, 2.0], 20).repeat(10)) + Moments.random(rng, scale=0.5)


@hb.fun(P)
def loss(p: hb.Expr[Unknown]) -> hb.Expr[hb.Scalar]:
    """The negative log likelihood: a sum over the numbers, each given the numbers before."""
    moves, deviation = p[Unknown.moves].softmax(over=1), hb.exp(p[Unknown.log_deviation])

    def step(
        state: hb.Expr[hb.Vector[State]], x: hb.Expr[hb.Scalar]
    ) -> tuple[hb.Expr[hb.Vector[State]], hb.Expr[hb.Scalar]]:
        density = hb.exp(-0.5 * ((x - p[Unknown.mean]) / deviation) ** 2) / (math.sqrt(2.0 * math.pi) * deviation)
        both = moves.T @ state * density
        return both / both.sum(), hb.log(both.sum())

    return -hb.fold(step, p[Unknown.start].softmax(), seen)[1].sum()
