"""Regression by a Gaussian process: length, size and noise of a smooth kernel are fitted to the likelihood of the data.

The data are a noisy sine, drawn here.

python docs/examples/gaussian_process.py
"""

from __future__ import annotations

import math

import numpy as np

import hilbert.all as hb


class Sample:
    """The measurements."""


class Kernel(hb.Record):
    """Logarithms of the length, the amplitude and the noise."""

    length: hb.Part[hb.Scalar]
    amplitude: hb.Part[hb.Scalar]
    noise: hb.Part[hb.Scalar]


K = Kernel.space()


def log_likelihood(t: hb.Vec[hb.Vector[Sample]], y: hb.Vec[hb.Vector[Sample]]) -> hb.Map[Kernel, hb.Scalar]:
    """log N(y; 0, C) with C_ij = a²·exp(−(t_i − t_j)²/2l²) + s²·δ_ij."""
    sample = t.space.index
    V = hb.R ** (sample * sample)
    squares, unit = V.vec((t.array[:, None] - t.array) ** 2), V.vec(np.eye(sample.size))

    @hb.fun(K)
    def f(k: hb.Expr[Kernel]) -> hb.Expr[hb.Scalar]:
        smooth = hb.exp(-0.5 * hb.exp(-2.0 * k[Kernel.length]) * squares)
        C = hb.exp(2.0 * k[Kernel.amplitude]) * smooth + hb.exp(2.0 * k[Kernel.noise]) * unit
        return -0.5 * (y @ hb.solve(C, y) + hb.logdet(C) + sample.size * math.log(2 * math.pi))

    return f


def main() -> None:
    """Draw a hundred noisy values of a sine, and climb from a bad guess."""
    rng = np.random.default_rng(0)
    sample = hb.Fin(Sample, 100)
    t = (hb.R**sample).vec(np.sort(10 * rng.random(100)))
    y = hb.sin(2.0 * t) + 0.1 * (hb.R**sample).random(rng)
    f = log_likelihood(t, y)
    climb = hb.value_and_grad(f)
    print(f, hb.grad(f), sep="\n\n", end="\n\n")
    k = K.zeros()
    for step in range(401):
        value, gradient = climb(k).split()
        if step % 100 == 0:
            print(f"{step:3}: log-likelihood {float(value):9.4f}, gradient {gradient.norm():.1e}, {hb.exp(k)}")
        k = k + 0.004 * gradient


if __name__ == "__main__":
    main()
