"""A mixture of Gaussians with a Wishart prior: the objective GMM of ADBench (Šrajer, Kukelova & Fitzgibbon 2018).

The inverse covariances are QᵀQ, where Q is lower triangular: exp q on the diagonal, l below it.

    python docs/examples/gmm.py FILE
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np

import hilbert.all as hb


class Axis(hb.Axis):
    """The coordinates of a point."""


class Below(hb.Axis):
    """The places below the diagonal of a matrix, column by column."""


class Component(hb.Axis):
    """The Gaussians."""


class Point(hb.Axis):
    """The data."""


class Gaussian(hb.Record):
    """An unnormalised log weight, a mean, and the factor of the inverse covariance."""

    alpha: hb.Part[hb.Scalar]
    mean: hb.Part[hb.Vector[Axis]]
    q: hb.Part[hb.Vector[Axis]]
    below: hb.Part[hb.Vector[Below]]


Mixture: TypeAlias = hb.Copower[Gaussian, hb.Fin[Component]]
Points: TypeAlias = hb.Copower[hb.Vector[Axis], hb.Fin[Point]]
Objective: TypeAlias = hb.Map[hb.DirectSum[Mixture, Points], hb.Scalar]


def log_gamma(d: int, a: float) -> float:
    """The logarithm of the multivariate gamma function."""
    return d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma(a - j / 2) for j in range(d))


def objective(d: int, k: int, n: int, gamma: float, m: int) -> Objective:
    """The logarithm of the likelihood of n points in ℝ^d times the prior of k components: Mixture ⊕ (ℝ^d)^n → ℝ."""
    axis, (columns, rows) = Axis.of(d), np.triu_indices(d, 1)
    G = Gaussian.space(Axis=d, Below=len(rows))
    square = hb.segment_sum(rows * d + columns, axis * axis, rows=G.below.index)
    w = d + m + 1
    prior = k * (w * d * math.log(gamma / math.sqrt(2)) - log_gamma(d, w / 2))

    @hb.fun(G ** Component.of(k), G.mean ** Point.of(n))
    def f(gaussians: hb.Expr[Mixture], xs: hb.Expr[Points]) -> hb.Expr[hb.Scalar]:
        def log_density(x: hb.Expr[hb.Vector[Axis]]) -> hb.Expr[hb.Scalar]:
            def one(g: hb.Expr[Gaussian]) -> hb.Expr[hb.Scalar]:
                z = x - g[Gaussian.mean]
                y = hb.exp(g[Gaussian.q]) * z + square(g[Gaussian.below]) @ z
                return g[Gaussian.alpha] + g[Gaussian.q].sum() - 0.5 * (y @ y)

            return hb.each(one, gaussians).logsumexp()

        alpha, q, below = gaussians[Gaussian.alpha], gaussians[Gaussian.q], gaussians[Gaussian.below]
        scale = hb.exp(q)
        fit = hb.each(log_density, xs).sum() - n * alpha.logsumexp() - n * d / 2 * math.log(2 * math.pi)
        return fit + gamma**2 / 2 * (hb.inner(scale, scale) + hb.inner(below, below)) - m * q.sum() - prior

    return f


def read(text: str) -> tuple[Objective, hb.Vec[Mixture], hb.Vec[Points]]:
    """The objective, the mixture and the points of a file of ADBench."""
    tokens = text.split()
    d, k, n = map(int, tokens[:3])
    numbers = np.array(tokens[3:], dtype=float)
    alpha, mean, factors, x, (gamma, m) = np.split(numbers, np.cumsum([k, k * d, k * d * (d + 1) // 2, n * d]))
    factors = factors.reshape(k, -1)
    f = objective(d, k, n, float(gamma), int(m))
    M, X = f.dom.parts
    return f, M.vec((alpha, mean.reshape(k, d), factors[:, :d], factors[:, d:])), X.vec(x.reshape(n, d))


def main() -> None:
    """Print the value and the gradient's norm for a file."""
    file = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[2] / "tests/data/adbench/gmm_test.txt"
    f, p, xs = read(file.read_text("utf-8"))
    value, gradient = hb.value_and_grad(f, 0)(p, xs).split()
    print(f)
    print(f"{float(value):.15g}, gradient of norm {gradient.norm():.15g}")


if __name__ == "__main__":
    main()
