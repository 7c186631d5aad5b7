"""Negative binomial regression: counts that vary more than those of Poisson (Hilbe 2011), on data drawn here."""

from __future__ import annotations

import numpy as np

import hilbert.all as hb


class Case(hb.Axis, size=500):
    """The cases that were counted."""


class Covariate(hb.Axis, size=4):
    """The covariates of a case."""


class Unknown(hb.Record):
    """Slopes, and the size: the variance is mean + mean²/size."""

    slopes: hb.Part[hb.Vector[Covariate]]
    log_size: hb.Part[hb.Scalar]


P, Cases = Unknown.space(), hb.R**Case.set

rng = np.random.default_rng(0)
design = (hb.R ** (Case.set * Covariate.set)).random(rng)
log_exposure = Cases.random(rng, scale=0.5)
counts = Cases.vec(rng.negative_binomial(1.5, 0.3, 500))


@hb.fun(P)
def loss(p: hb.Expr[Unknown]) -> hb.Expr[hb.Scalar]:
    """The negative log likelihood."""
    size, above = hb.exp(p[Unknown.log_size]), design @ p[Unknown.slopes] + log_exposure - p[Unknown.log_size]
    ways = hb.lgamma(counts + size) - hb.lgamma(size) - hb.lgamma(counts + 1.0)
    return -(ways + counts * above - (counts + size) * hb.softplus(above)).sum()
