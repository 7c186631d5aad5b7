"""A neural ODE: a network is the slope of a path, by the rule of Runge and Kutta (Chen et al. 2018)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import hilbert.all as hb


class State(hb.Axis, size=2):
    """The coordinates."""


class Unit(hb.Axis, size=12):
    """The hidden units."""


class Moment(hb.Axis, size=50):
    """The moments at which the path is seen."""


class Net(hb.Record):
    """The start of the path, and the weights of both layers."""

    start: hb.Part[hb.Vector[State]]
    inner: hb.Part[hb.Matrix[Unit, State]]
    bias: hb.Part[hb.Vector[Unit]]
    outer: hb.Part[hb.Matrix[State, Unit]]


X: TypeAlias = hb.Expr[hb.Vector[State]]
P, Paths = Net.space(), (hb.R**State.set) ** Moment.set

t = np.linspace(0.1, 5.0, 50)
seen = Paths.vec(2.0 * np.stack([np.cos(2.0 * t), -np.sin(2.0 * t)], axis=1))


def slope(p: hb.Expr[Net], x: X) -> X:
    """The network."""
    return p[Net.outer] @ hb.tanh(p[Net.inner] @ x**3 + p[Net.bias])


def after(p: hb.Expr[Net], x: X, h: float) -> X:
    """The path's point a time h after the point x."""
    a = slope(p, x)
    b = slope(p, x + h / 2.0 * a)
    c = slope(p, x + h / 2.0 * b)
    d = slope(p, x + h * c)
    return x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)


@hb.fun(P)
def loss(p: hb.Expr[Net]) -> hb.Expr[hb.Scalar]:
    """The mean squared distance of the path from the points that were seen."""

    def step(x: X, y: X) -> tuple[X, hb.Expr[hb.Scalar]]:
        z = after(p, x, 0.1)
        return z, (z - y) @ (z - y)

    return hb.fold(step, p[Net.start], seen)[1].mean()
