"""Σ sin(segment-sum(x²)) with 10⁶ values in 10⁵ segments: its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import LISTED, Call, Calls, Given, Made, Row, jitted, mine
from benchmarks.timing import jax

GRADIENT = "gradient"


def drawn(n: int, segments: int) -> Given:
    """Values, the segment of each, and how many there are."""
    rng = np.random.default_rng(0)
    return rng.standard_normal(n), rng.integers(0, segments, n), segments


def ours(given: Given, made: Made) -> Calls:
    """A linear map between element-wise functions."""
    x, segment_of, segments = given
    sums = hb.segment_sum(segment_of, hb.Fin.of(segments), hb.R)
    f: Any = hb.fun(hb.R ** hb.Fin.of(len(x)))(lambda x: hb.sin(sums(x * x)).sum())
    slope, at = made(hb.grad(f)), f.dom.vec(x)
    return {GRADIENT: Call(lambda: slope(at))}


def by_hand(given: Given) -> Calls:
    """bincount and take."""
    x, segment_of, segments = given

    def gradient() -> Any:
        sums = np.bincount(segment_of, weights=x * x, minlength=segments)
        slope = np.take(2 * np.cos(sums), segment_of)
        slope *= x
        return slope

    return {GRADIENT: Call(gradient)}


def in_jax(given: Given) -> Calls:
    """JAX's own segment sum."""
    found = jax()
    x, segment_of, segments = given

    def f(x: Any, at: Any) -> Any:
        return found.numpy.sin(found.ops.segment_sum(x * x, at, segments)).sum()

    return {GRADIENT: jitted(f, (x, segment_of), lambda jax, f: jax.grad(f))}


ROWS = (
    Row(
        "segment sum 10⁶ in 10⁵",
        {**mine(ours), "numpy": by_hand, "jax": in_jax},
        lambda _: drawn(1_000_000, 100_000),
        lambda: drawn(9, 4),
        LISTED,
        heavy=True,
    ),
)
