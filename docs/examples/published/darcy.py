"""Darcy flow: the pressure of water in a porous square, by finite volumes, and the readings of sensors."""

from __future__ import annotations

import numpy as np

import hilbert.all as hb


class Row(hb.Axis, size=16):
    """The rows of cells."""


class Column(hb.Axis, size=16):
    """The columns of cells."""


class Sensor(hb.Axis, size=20):
    """The cells where the pressure is read."""


row, column = Row.set, Column.set
V = hb.R ** (row * column)

sides = V.vec(np.pad(np.zeros((14, 14)), 1, constant_values=1.0))
look = hb.gather(np.random.default_rng(0).integers(0, 256, 20), row * column, rows=Sensor.set)


@hb.fun(V, V)
def imbalance(
    m: hb.Expr[hb.Matrix[Row, Column]], p: hb.Expr[hb.Matrix[Row, Column]]
) -> hb.Expr[hb.Matrix[Row, Column]]:
    """The flow out of each cell less its source, for log permeability m and pressure p; the pressure outside is 0."""
    k = hb.exp(m)
    down = 2.0 / (1.0 / k[1:, :] + 1.0 / k[:-1, :]) * (p[1:, :] - p[:-1, :])
    right = 2.0 / (1.0 / k[:, 1:] + 1.0 / k[:, :-1]) * (p[:, 1:] - p[:, :-1])
    inward = down.pad(0, 1, over=0, to=row) - down.pad(1, 0, over=0, to=row)
    return 2.0 * sides * k * p - inward - right.pad(0, 1, over=1, to=column) + right.pad(1, 0, over=1, to=column) - 1.0


@hb.fun(V)
def readings(m: hb.Expr[hb.Matrix[Row, Column]]) -> hb.Expr[hb.Vector[Sensor]]:
    """The pressure at the sensors; the equation for the pressure is linear, so the search may begin anywhere."""
    return look(hb.root(lambda p: imbalance(m, p), m))
