"""The temperature at the start of a heat equation in the plane, from few sensors at later times.

64×64 places on a torus, 200 explicit steps, 64 sensors, each read five times with noise of 1 %. What the sensors read
is linear in the start, and the adjoint carries it back in time. The estimate u minimises ‖observed(u) − seen‖² + λ‖u‖²,
by conjugate gradients with nothing but the map and its adjoint. Truth, places and noise are drawn here.

    python docs/examples/heat.py
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

import hilbert.all as hb


class Row(hb.Axis, size=64):
    """North to south."""


class Column(hb.Axis, size=64):
    """West to east."""


class Sensor(hb.Axis, size=64):
    """The sensors."""


class Reading(hb.Axis, size=5):
    """The moments at which they are read."""


class Step(hb.Axis, size=40):
    """The steps between two readings."""


row, column = Row.set, Column.set
PLACES = np.random.default_rng(1).choice(64 * 64, 64, replace=False)
RATE, PENALTY = 0.2, 1e-3
Plane: TypeAlias = hb.Matrix[Row, Column]
Readings: TypeAlias = hb.Copower[hb.Vector[Sensor], hb.Fin[Reading]]
look = hb.gather(PLACES, row * column, rows=Sensor.set)


def warmed(u: hb.Expr[Plane]) -> hb.Expr[Plane]:
    """One explicit step: u + rate·Δu."""
    around = u.roll(1, over=row) + u.roll(-1, over=row) + u.roll(1, over=column) + u.roll(-1, over=column)
    return (1.0 - 4.0 * RATE) * u + RATE * around


@hb.fun(hb.R ** (row * column))
def observed(u: hb.Expr[Plane]) -> hb.Expr[Readings]:
    """The readings of the sensors."""

    def until_read(u: hb.Expr[Plane], _: hb.Expr[hb.Scalar]) -> tuple[hb.Expr[Plane], hb.Expr[hb.Vector[Sensor]]]:
        u = hb.iterate(warmed, u, Step.set)
        return u, look(u)

    return hb.fold(until_read, u, hb.const((hb.R**Reading.set).zeros()))[1]


def truth() -> hb.Vec[Plane]:
    """Two warm spots and a cold one."""
    y, x = np.mgrid[:64, :64]
    spots = ((20, 16, 1.0), (44, 40, 0.7), (24, 48, -0.8))
    return observed.dom.vec(sum(size * np.exp(-((y - b) ** 2 + (x - a) ** 2) / 60) for b, a, size in spots))


def seen(rng: np.random.Generator) -> hb.Vec[Readings]:
    """The readings with noise of 1 % of their size."""
    exact = observed(truth())
    return exact + 0.01 * exact.norm() / math.sqrt(exact.space.dim) * exact.space.random(rng)


def estimated(y: hb.Vec[Readings], rounds: int = 400) -> hb.Vec[Plane]:
    """The minimum, by conjugate gradients for (H*H + λ)u = H*y."""
    H = hb.derivative(observed).at(observed.dom.zeros())
    back = hb.adjoint(H)
    u, r = observed.dom.zeros(), back(y)
    p, square = r, hb.inner(r, r)
    for _ in range(rounds):
        q = back(H(p)) + PENALTY * p
        step = square / hb.inner(p, q)
        u, r = u + step * p, r - step * q
        before, square = square, hb.inner(r, r)
        if float(square) < 1e-24:
            break
        p = r + square / before * p
    return u


def main() -> None:
    """Print the derivative, and how near the estimate is."""
    print(observed, hb.derivative(observed), sep="\n\n", end="\n\n")
    y = seen(np.random.default_rng(0))
    u = estimated(y)
    print(f"the readings differ by {(observed(u) - y).norm() / y.norm():.2%} of their size, ", end="")
    print(f"the start by {(u - truth()).norm() / truth().norm():.1%}")


if __name__ == "__main__":
    main()
