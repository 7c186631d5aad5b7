"""Eight schools: the effects of coaching, with a common mean and spread (Rubin 1981).

The unknowns are those of the form that is not centred: all of them are about 1.
"""

from __future__ import annotations

import hilbert.all as hb


class School(hb.Axis, size=8):
    """The schools."""


class Unknown(hb.Record):
    """The mean in units of 5, the spread, and by how many spreads a school is off the mean."""

    mean: hb.Part[hb.Scalar]
    log_spread: hb.Part[hb.Scalar]
    offset: hb.Part[hb.Vector[School]]


Q, Schools = Unknown.space(), hb.R**School.set

rise = Schools.vec([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
error = Schools.vec([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@hb.fun(Q)
def effects(q: hb.Expr[Unknown]) -> hb.Expr[hb.Vector[School]]:
    """The effect of coaching in each school."""
    return 5.0 * q[Unknown.mean] + hb.exp(q[Unknown.log_spread]) * q[Unknown.offset]


@hb.fun(Q)
def log_density(q: hb.Expr[Unknown]) -> hb.Expr[hb.Scalar]:
    """The logarithm of the posterior density, up to a constant; the spread has a half Cauchy prior."""
    z, spread = (rise - effects(q)) / error, hb.exp(q[Unknown.log_spread])
    normal = z @ z + q[Unknown.mean] ** 2 + q[Unknown.offset] @ q[Unknown.offset]
    return -0.5 * normal - hb.log1p((spread / 5.0) ** 2) + q[Unknown.log_spread]
