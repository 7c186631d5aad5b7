"""Counts over time with a hidden intensity at each time: its link and precision are fitted by Laplace's approximation.

The intensity is an autoregressive process of 100,000 times, drawn here; the Hessian in it is tridiagonal, which nobody
needs to say.

    python docs/examples/solving/poisson_field.py
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


class Time(hb.Axis, size=100_000):
    """The times."""


class Prior(hb.Record):
    """The link of each time to the next one, before tanh, and the logarithm of the precision of a step."""

    link: hb.Part[hb.Scalar]
    precision: hb.Part[hb.Scalar]


def drawn(n: int, rng: np.random.Generator) -> hb.Vec[hb.Vector[Time]]:
    """Counts at n times: link 0.9, precision e."""
    x = np.zeros(n)
    for t in range(1, n):
        x[t] = 0.9 * x[t - 1] + np.exp(-0.5) * rng.standard_normal()
    return (hb.R ** Time.of(n)).vec(rng.poisson(np.exp(x)).astype(np.float64))


def joint(counts: hb.Vec[hb.Vector[Time]]) -> hb.Map[hb.DirectSum[Prior, hb.Vector[Time]], hb.Scalar]:
    """−log density of the counts and the intensity, for a prior."""
    V, n = counts.space, counts.space.dim

    @hb.fun(Prior.space(), V)
    def f(p: hb.Expr[Prior], x: hb.Expr[hb.Vector[Time]]) -> hb.Expr[hb.Scalar]:
        a, s = hb.tanh(p[Prior.link]), p[Prior.precision]
        step = x[1:] - a * x[:-1]
        chain = 0.5 * hb.exp(s) * (step @ step + (1.0 - a * a) * x[0] ** 2)
        return (hb.exp(x) - counts * x).sum() + chain - 0.5 * n * s - 0.5 * hb.log(1.0 - a * a)

    return f


def main(n: int = 100_000) -> tuple[float, float]:
    """The link and the logarithm of the precision that fit best."""
    counts = drawn(n, np.random.default_rng(0))
    marginal = hb.laplace(joint(counts), counts.space.zeros())
    flat, at = hb.as_scipy(marginal), Prior.space().vec((1.0, 0.0))
    start = perf_counter()
    found = minimize(flat.value_and_grad, flat.x0(at), jac=True, method="L-BFGS-B")
    link, precision = float(np.tanh(found.x[0])), float(found.x[1])
    print(f"{n} times: link {link:.3f}, log precision {precision:.3f}, {perf_counter() - start:.1f} s")
    return link, precision


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
