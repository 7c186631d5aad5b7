"""Radon in houses: a regression whose intercepts vary between counties (Gelman & Hill 2007), on data drawn here."""

from __future__ import annotations

import numpy as np

import hilbert.all as hb


class County(hb.Axis, size=85):
    """The counties."""


class House(hb.Axis, size=919):
    """The houses that were measured."""


class Unknown(hb.Record):
    """Coefficients, logarithms of deviations, and by how many deviations a county is off."""

    intercept: hb.Part[hb.Scalar]
    on_floor: hb.Part[hb.Scalar]
    on_uranium: hb.Part[hb.Scalar]
    log_between: hb.Part[hb.Scalar]
    log_within: hb.Part[hb.Scalar]
    offset: hb.Part[hb.Vector[County]]


P, Houses = Unknown.space(), hb.R**House.set

rng = np.random.default_rng(0)
county = (hb.Elements(County.set) ** House.set).vec(rng.integers(0, 85, 919))
floor = Houses.vec(rng.integers(0, 2, 919))
uranium = (hb.R**County.set).random(rng, scale=0.4)
log_radon = 1.5 - 0.65 * floor + 0.7 * uranium[county] + Houses.random(rng, scale=0.8)


@hb.fun(P)
def loss(p: hb.Expr[Unknown]) -> hb.Expr[hb.Scalar]:
    """The negative logarithm of the posterior density, up to a constant."""
    between, within = hb.exp(p[Unknown.log_between]), hb.exp(p[Unknown.log_within])
    level = p[Unknown.intercept] + p[Unknown.on_uranium] * uranium + between * p[Unknown.offset]
    z = (log_radon - level[county] - p[Unknown.on_floor] * floor) / within
    coefficients = p[Unknown.intercept] ** 2 + p[Unknown.on_floor] ** 2 + p[Unknown.on_uranium] ** 2
    prior = 0.5 * p[Unknown.offset] @ p[Unknown.offset] + coefficients / 200.0 + 0.5 * (between**2 + within**2)
    return 0.5 * (z @ z) + House.set.size * p[Unknown.log_within] + prior
