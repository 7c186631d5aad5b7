"""A network that solves Burgers' equation u_t + u·u_x = ν·u_xx (Raissi, Perdikaris & Karniadakis 2019)."""

from __future__ import annotations

import math

import numpy as np

import hilbert.all as hb


class Hidden(hb.Axis, size=8):
    """The hidden units."""


class Inside(hb.Axis, size=40):
    """Points where the equation is to hold."""


class First(hb.Axis, size=20):
    """Points of the first moment."""


class Net(hb.Record):
    """The weights of both layers."""

    on_time: hb.Part[hb.Vector[Hidden]]
    on_place: hb.Part[hb.Vector[Hidden]]
    bias: hb.Part[hb.Vector[Hidden]]
    out: hb.Part[hb.Vector[Hidden]]


P, Insides, Firsts = Net.space(), hb.R**Inside.set, hb.R**First.set

rng = np.random.default_rng(0)
times, places = Insides.vec(rng.uniform(0.0, 1.0, 40)), Insides.vec(rng.uniform(-1.0, 1.0, 40))
zero, line = Firsts.zeros(), Firsts.vec(np.linspace(-1.0, 1.0, 20))


@hb.fun(P, hb.R, hb.R)
def u(p: hb.Expr[Net], t: hb.Expr[hb.Scalar], x: hb.Expr[hb.Scalar]) -> hb.Expr[hb.Scalar]:
    """The network."""
    return p[Net.out] @ hb.tanh(p[Net.on_time] * t + p[Net.on_place] * x + p[Net.bias])


u_t, u_x, u_xx = hb.grad(u, 1), hb.grad(u, 2), hb.laplacian(u, 2)


@hb.fun(P, hb.R, hb.R)
def residual(p: hb.Expr[Net], t: hb.Expr[hb.Scalar], x: hb.Expr[hb.Scalar]) -> hb.Expr[hb.Scalar]:
    """The left side of the equation less the right side: 0 for a solution."""
    return u_t(p, t, x) + u(p, t, x) * u_x(p, t, x) - 0.01 / math.pi * u_xx(p, t, x)


@hb.fun(P)
def loss(p: hb.Expr[Net]) -> hb.Expr[hb.Scalar]:
    """The mean squares of the residual, and of the error at the first moment, where u is to be −sin πx."""
    inside = hb.lift(residual, Inside.set, over=(1, 2))(p, times, places)
    first = hb.lift(u, First.set, over=(1, 2))(p, zero, line) + hb.sin(math.pi * line)
    return (inside**2).mean() + (first**2).mean()
