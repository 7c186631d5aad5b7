"""Broyden's tridiagonal equations (Broyden 1965; problem 30 of Moré, Garbow & Hillstrom 1981)."""

from __future__ import annotations

import hilbert.all as hb


class Place(hb.Axis, size=1000):
    """The places of a chain."""


V = hb.R**Place.set

start = V.full(-1.0)


@hb.fun(V)
def residual(x: hb.Expr[hb.Vector[Place]]) -> hb.Expr[hb.Vector[Place]]:
    """The left sides of the equations, which are 0 at the solution; the neighbours of the ends are 0."""
    z = x.pad(1, 1)
    before, after = z.crop(0, -2, to=Place.set), z.crop(2, None, to=Place.set)
    return (3.0 - 2.0 * x) * x - before - 2.0 * after + 1.0
