"""The surface of least area over a square, with a given height at the edge (as in MINPACK-2, Averick & Moré 1991)."""

from __future__ import annotations

import numpy as np

import hilbert.all as hb


class Row(hb.Axis, size=30):
    """The rows of the grid except the first and the last."""


class Column(hb.Axis, size=30):
    """The columns of the grid except the first and the last."""


V, Grid = hb.R ** (Row.set * Column.set), hb.R ** (hb.Fin.of(32) * hb.Fin.of(32))

t = np.linspace(-1.0, 1.0, 32)
saddle = Grid.vec(np.subtract.outer(t**2, t**2))


@hb.fun(V)
def area(u: hb.Expr[hb.Matrix[Row, Column]]) -> hb.Expr[hb.Scalar]:
    """The area of the surface that is u above a saddle, of two triangles in each cell."""
    z = saddle + u.pad(1, 1, over=Row.set).pad(1, 1, over=Column.set)
    a, b, c, d = z[:-1, :-1], z[:-1, 1:], z[1:, :-1], z[1:, 1:]
    h = 2.0 / 31.0
    lower = hb.sqrt(1.0 + ((b - a) ** 2 + (c - a) ** 2) / h**2)
    upper = hb.sqrt(1.0 + ((d - b) ** 2 + (d - c) ** 2) / h**2)
    return (lower + upper).sum() * (h**2 / 2.0)
