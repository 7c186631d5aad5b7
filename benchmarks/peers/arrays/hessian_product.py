"""The mixture of Gaussians with its points as constants: its gradient, and its Hessian times a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.arrays import mixture
from benchmarks.peers.arrays.mixture import GRADIENT, Given
from benchmarks.peers.row import LISTED, Call, Calls, Made, Ours, Row, jitted, mine

PRODUCT = "Hessian times a vector"


def direction(given: Given) -> tuple[Any, ...]:
    """A vector, in the shapes of the parameters."""
    rng = np.random.default_rng(1)
    return tuple(rng.standard_normal(p.shape) for p in given.params)


def ours(model: Callable[[Given], Any]) -> Ours:
    """The derivative of the gradient."""

    def make(given: Given, made: Made) -> Calls:
        f = model(given)
        M, X = f.dom.parts
        points = hb.const(X.vec(given.x))
        slope = made(hb.grad(hb.fun(M)(lambda p: f(p, points))))
        product, p, v = hb.jvp(slope), M.vec(given.params), M.vec(direction(given))
        return {GRADIENT: Call(lambda: slope(p)), PRODUCT: Call(lambda: product(p, v))}

    return make


def in_jax(objective: Callable[[Given], Callable[..., Any]]) -> Callable[[Given], Calls]:
    """Forward over reverse."""

    def along(jax: Any, f: Any) -> Any:
        return lambda p, x, v: jax.jvp(lambda q: jax.grad(f)(q, x), (p,), (v,))[1]

    def make(given: Given) -> Calls:
        f, arrays = objective(given), (given.params, given.x)
        return {
            GRADIENT: jitted(f, arrays, lambda jax, f: jax.grad(f)),
            PRODUCT: jitted(f, (*arrays, direction(given)), along),
        }

    return make


PEERS = {
    **mine(ours(mixture.objective)),
    **mine(ours(mixture.example), "docs/examples"),
    "jax": in_jax(mixture.plain),
    "jax gemm": in_jax(mixture.by_product),
}


def row(name: str, d: int, k: int, n: int) -> Row:
    """A size of ADBench."""
    full, file = mixture.given(d, k, n), mixture.file_of(d, k, n)
    return Row(name, PEERS, full, lambda: mixture.drawn(3, 2, 6), LISTED, file=file, heavy=True)


ROWS = (row("HVP d10 1k", 10, 25, 1000), row("HVP d10 10k", 10, 25, 10_000))
