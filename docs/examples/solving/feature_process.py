"""A Gaussian process on 100,000 points by 64 features: its length and its noise are fitted by the exact likelihood.

The covariance is noise plus a term of rank 64, so that Woodbury's formula solves and the determinant lemma gives the
determinant; both are chosen by the library.

    python docs/examples/solving/feature_process.py
"""

# scipy ships no types
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

import hilbert.all as hb


class Point(hb.Axis, size=100_000):
    """The points on the line."""


class Centre(hb.Axis, size=64):
    """The centres of the features."""


class Kernel(hb.Record):
    """The logarithms of amplitude, length and noise."""

    amplitude: hb.Part[hb.Scalar]
    length: hb.Part[hb.Scalar]
    noise: hb.Part[hb.Scalar]


def likelihood(x: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> hb.Map[Kernel, hb.Scalar]:
    """−log density of values at points x, up to a constant."""
    point = Point.of(len(x))
    V = hb.R**point
    y, far = V.vec(values), (hb.R ** (point * Centre.set)).vec(x[:, None] - np.linspace(0.0, 1.0, 64))

    @hb.fun(Kernel.space(), V)
    def covariance(k: hb.Expr[Kernel], v: hb.Expr[hb.Vector[Point]]) -> hb.Expr[hb.Vector[Point]]:
        f = hb.exp(k[Kernel.amplitude]) * hb.exp(-hb.square(far / hb.exp(k[Kernel.length])))
        return hb.exp(k[Kernel.noise]) * v + f @ (f.T @ v)

    d = hb.derivative(covariance, wrt=1)
    solve, logdet = hb.solve(d), hb.linalg.logdet(d)

    @hb.fun(Kernel.space())
    def loss(k: hb.Expr[Kernel]) -> hb.Expr[hb.Scalar]:
        return 0.5 * (y @ solve(k, V.zeros(), y)) + 0.5 * logdet(k, V.zeros())

    return loss


def main(n: int = 100_000) -> float:
    """The noise that fits best: its deviation."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(n))
    y = np.sin(9.0 * x) + 0.5 * np.cos(31.0 * x) + 0.1 * rng.standard_normal(n)
    flat, at = hb.as_scipy(likelihood(x, y)), Kernel.space().vec((0.0, -3.0, -2.0))
    start = perf_counter()
    found = minimize(flat.value_and_grad, flat.x0(at), jac=True, method="L-BFGS-B", options={"maxiter": 20})
    noise = float(np.exp(0.5 * found.x[2]))
    print(f"{n} points: noise {noise:.4f}, {found.nfev} values and gradients in {perf_counter() - start:.1f} s")
    return noise


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
