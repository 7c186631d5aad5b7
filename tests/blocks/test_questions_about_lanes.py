"""Laws of questions whether some lane is to be computed: in blocks they are answered for those who read the answers.

A masked reading of a nonlinear total has a gradient in all rows, so that the question is one about all rows; a branch
in a lane is asked about where it is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as library

hb: Any = library
N = 90
X = hb.Fin.of(N)
V = hb.R**X
ROWS = np.random.default_rng(0).normal(size=N)
ROWS[[29, 30, 61]] = 4.0, -4.0, 3.5

READINGS: dict[str, Any] = {
    "select": lambda z, y: hb.select(y > 2.5, z / z.sum()).sum(),
    "where": lambda z, y: hb.where(y > 2.5, z / z.sum(), 0.0 * z).sum(),
    "of a norm": lambda z, y: hb.select(y > 2.5, z / z.norm()).sum(),
    "of what all share": lambda z, y: hb.select(y > 2.5, hb.sqrt(z.sum()).rep(V)).sum(),
    "in a branch": lambda z, y: hb.each(
        lambda s, t: hb.where(s > 2.5, lambda: s * t, lambda: 0.0 * t), y, z / z.sum()
    ).sum(),
    "max": lambda z, _: (z / z.sum()).max(),
    "an entry": lambda z, y: (z * z.sum())[hb.square(y).argmin()],
    "standardised": lambda z, _: ((z - z.mean()) / hb.sqrt(hb.square(z - z.mean()).mean())).max(),
    "two extremes": lambda z, _: (z / z.max()).max() * (z / z.mean()).max(),
    "a power": lambda z, y: hb.select(y > 2.5, z * z.mean() ** 2.5).sum(),
}


@pytest.mark.parametrize("name", READINGS)
def test_masked_readings_of_totals(name: str) -> None:
    """Values, gradients and second derivatives are those of the whole, also in blocks without a row that is read."""
    f = hb.fun(hb.R, V)(lambda w, y: READINGS[name](hb.exp(w * y), y))
    at = hb.R.vec(1.3), V.vec(ROWS)
    for g in (f, hb.grad(f, 0), hb.grad(f, 1), hb.grad(hb.grad(f, 0), 0)):
        want = g(*at).array
        for size in (7, 30):
            np.testing.assert_allclose(hb.blocked(g, over=X, size=size)(*at).array, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shifted", [lambda v: v[:-1].pad(1, 0, to=X), lambda v: v[1:].pad(0, 1, to=X)])
def test_branches_beside_shifts(shifted: Any) -> None:
    """The first or the last row of a block alone takes a branch, and a row of the next block reads its value."""
    f = hb.fun(V)(
        lambda y: (
            shifted(hb.each(lambda s: hb.where(s > 0.0, lambda: hb.sin(s) * s, lambda: 2.0 * s - 1.0), y)) * y
        ).sum()
    )
    g = hb.grad(f)
    for row in (29, 30, 59, 60):
        y = np.abs(ROWS)
        y[row] *= -1.0
        for size in (1, 3, 30):
            np.testing.assert_allclose(hb.blocked(g, over=X, size=size)(V.vec(y)).array, g(V.vec(y)).array, rtol=1e-9)


def test_a_branch_is_not_run_in_a_block_without_its_lanes() -> None:
    """A root of a negative number would warn there, and a gradient reads the answer elsewhere, too."""
    f = hb.fun(hb.R, V)(
        lambda p, y: hb.each(lambda s: hb.where(s > 0.0, lambda: hb.log(s) * hb.exp(p), lambda: hb.sqrt(-s)), y).sum()
    )
    at = hb.R.vec(0.3), V.vec(np.where(np.arange(N) < 40, 1.0 + ROWS**2, -1.0 - ROWS**2))
    for g in (f, hb.grad(f, 0), hb.grad(f, 1)):
        with np.errstate(all="raise"):
            found = hb.blocked(g, over=X, size=10)(*at).array
        np.testing.assert_allclose(found, g(*at).array, rtol=1e-12)
