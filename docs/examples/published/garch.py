"""GARCH(1,1): returns whose variance follows the last return and the last variance (Bollerslev 1986), drawn here."""

from __future__ import annotations

import math

import numpy as np

import hilbert.all as hb


class Day(hb.Axis, size=1000):
    """The days."""


class Unknown(hb.Record):
    """The mean; the variance is level + (1 − share)·persistence·last + share·persistence·(return − mean)²."""

    mean: hb.Part[hb.Scalar]
    log_level: hb.Part[hb.Scalar]
    logit_persistence: hb.Part[hb.Scalar]
    logit_share: hb.Part[hb.Scalar]


P, Days = Unknown.space(), hb.R**Day.set

noise = Days.random(np.random.default_rng(0))
returns = hb.fold(lambda h, z: (0.05 + (0.1 * z**2 + 0.85) * h, hb.sqrt(h) * z), hb.R.vec(1.0), noise)[1]


@hb.fun(P)
def loss(p: hb.Expr[Unknown]) -> hb.Expr[hb.Scalar]:
    """The negative log likelihood; the first variance is the one that does not change in the mean."""
    persistence, share = hb.sigmoid(p[Unknown.logit_persistence]), hb.sigmoid(p[Unknown.logit_share])
    level = hb.exp(p[Unknown.log_level])

    def step(h: hb.Expr[hb.Scalar], y: hb.Expr[hb.Scalar]) -> tuple[hb.Expr[hb.Scalar], hb.Expr[hb.Scalar]]:
        square = (y - p[Unknown.mean]) ** 2
        after = level + persistence * (share * square + (1.0 - share) * h)
        return after, 0.5 * (hb.log(2.0 * math.pi * h) + square / h)

    return hb.fold(step, level / (1.0 - persistence), returns)[1].sum()
