"""Deblurring: an image from its convolution, with a small total variation (Rudin, Osher & Fatemi 1992), smoothed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import hilbert.all as hb


class Row(hb.Axis, size=24):
    """The rows of pixels."""


class Column(hb.Axis, size=24):
    """The columns of pixels."""


class Grey(hb.Axis, size=1):
    """The only channel."""


Image: TypeAlias = hb.Copower[hb.Field, hb.Product[hb.Product[hb.Fin[Row], hb.Fin[Column]], hb.Fin[Grey]]]
V, Kernels = hb.R ** (Row.set * Column.set * Grey.set), hb.R ** (hb.Fin.of(5) * hb.Fin.of(5) * Grey.set * Grey.set)

rng = np.random.default_rng(0)
kernel = Kernels.vec(rng.uniform(size=(5, 5, 1, 1)) / 12.5)
sharp = V.vec(np.kron(rng.uniform(size=(4, 4, 1)), np.ones((6, 6, 1))))
blurred = hb.conv(sharp, kernel, padding="same") + V.random(rng, scale=0.01)


@hb.fun(V)
def energy(u: hb.Expr[Image]) -> hb.Expr[hb.Scalar]:
    """Half the squares of the errors after blurring, and the lengths of the slopes, rounded off at 0."""
    off = hb.conv(u, kernel, padding="same") - blurred
    down, right = u[1:, :-1, :] - u[:-1, :-1, :], u[:-1, 1:, :] - u[:-1, :-1, :]
    return 0.5 * (off**2).sum() + 0.01 * hb.sqrt(down**2 + right**2 + 1e-4).sum()
