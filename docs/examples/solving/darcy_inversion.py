"""The permeability of a porous square, from readings of the pressure at 60 of its 1,024 cells.

The pressure is a `root`: its derivative in the permeability is one solution of a sparse system, which is the Jacobian
of the flow.

    python docs/examples/solving/darcy_inversion.py
"""

# scipy ships no types
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
from scipy.optimize import minimize

import hilbert.all as hb


class Row(hb.Axis, size=32):
    """The rows of cells."""


class Column(hb.Axis, size=32):
    """The columns of cells."""


class Sensor(hb.Axis, size=60):
    """The cells where the pressure is read."""


row, column, sensor = Row.set, Column.set, Sensor.set
V, S = hb.R ** (row * column), hb.R**sensor
sides = V.vec(np.pad(np.zeros((30, 30)), 1, constant_values=1.0))
look = hb.gather(np.random.default_rng(0).choice(32 * 32, 60, replace=False), row * column, rows=sensor)


def differences(m: hb.Expr[hb.Matrix[Row, Column]]) -> hb.Expr[hb.Scalar]:
    """The squares of the differences of neighbours."""
    return hb.square(m[1:, :] - m[:-1, :]).sum() + hb.square(m[:, 1:] - m[:, :-1]).sum()


@hb.fun(V, V)
def imbalance(
    m: hb.Expr[hb.Matrix[Row, Column]], p: hb.Expr[hb.Matrix[Row, Column]]
) -> hb.Expr[hb.Matrix[Row, Column]]:
    """The flow out of each cell less its source, for log permeability m and pressure p; the pressure outside is 0."""
    k = hb.exp(m)
    down = 2.0 / (1.0 / k[1:, :] + 1.0 / k[:-1, :]) * (p[1:, :] - p[:-1, :])
    right = 2.0 / (1.0 / k[:, 1:] + 1.0 / k[:, :-1]) * (p[:, 1:] - p[:, :-1])
    inward = down.pad(0, 1, over=0, to=row) - down.pad(1, 0, over=0, to=row)
    across = right.pad(0, 1, over=1, to=column) - right.pad(1, 0, over=1, to=column)
    return 2.0 * sides * k * p - inward - across - 1.0 / 32**2


@hb.fun(V)
def readings(m: hb.Expr[hb.Matrix[Row, Column]]) -> hb.Expr[hb.Vector[Sensor]]:
    """The pressure at the sensors."""
    return look(hb.root(lambda p: imbalance(m, p), m))


def main(rounds: int = 60) -> float:
    """The part of the variance of the log permeability that is found again."""
    rng, grid = np.random.default_rng(1), np.arange(32) / 32
    truth = np.sin(6 * grid)[:, None] * np.cos(5 * grid)[None, :]
    seen = readings(V.vec(truth))
    noise = 0.01 * float(np.std(seen.array))
    given = S.vec(seen.array + noise * rng.standard_normal(60))

    @hb.fun(V)
    def loss(m: hb.Expr[hb.Matrix[Row, Column]]) -> hb.Expr[hb.Scalar]:
        return 0.5 / noise**2 * hb.square(readings(m) - given).sum() + 2.0 * differences(m)

    flat = hb.as_scipy(loss)
    start = perf_counter()
    options = {"maxiter": rounds}
    found = minimize(flat.value_and_grad, flat.x0(V.zeros()), jac=True, method="L-BFGS-B", options=options)
    left = float(np.var(found.x - truth.ravel()) / np.var(truth))
    print(
        f"{found.nfev} values and gradients in {perf_counter() - start:.1f} s; {1 - left:.0%} of the variance is found"
    )
    return 1.0 - left


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
