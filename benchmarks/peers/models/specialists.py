"""Questions to specialists: a cart-pole's sparse Hessian beside CasADi, a dense Hessian beside numpy by hand.

The cart-pole is that of `benchmarks/control.py`, 50 stages; CasADi has all of them as scalars, or a stage mapped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks import control
from benchmarks.peers.row import SPECIAL, Call, Calls, Given, Made, Row, jitted, mine, plain
from benchmarks.timing import jax

HESSIAN = "Hessian"


def stages(n: int) -> Given:
    """States, controls, multipliers."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((control.STATE, n)), rng.standard_normal(n), rng.standard_normal((control.STATE, n))


def cart_pole(made: Callable[[int], control.Hessian]) -> Callable[[Given], Calls]:
    """The Hessian, and three columns of its product with fixed numbers."""

    def make(given: Given) -> Calls:
        hessian = made(given[0].shape[1])
        probes = np.random.default_rng(1).standard_normal((5 * given[0].shape[1], 3))
        return {HESSIAN: Call(lambda: hessian(*given), lambda h: [np.asarray(h @ probes)])}

    return make


def our_cart_pole(given: Given, made: Made) -> Calls:
    """By one function of a stage, lifted."""
    return cart_pole(lambda n: control.ours(n, 1, compiled=made is not plain))(given)


def low_rank(n: int) -> Given:
    """Four directions, and a point."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((4, n)) / np.sqrt(n), rng.standard_normal(n)


def ours(given: Given, made: Made) -> Calls:
    """Σ softplus(xᵢ) + Σ cos(aₖ·x), a sum of four."""
    directions, x = given
    V = hb.R ** hb.Fin.of(len(x))
    rows = [V.vec(row) for row in directions]
    zero = hb.const(hb.R.vec(0.0))
    f: Any = hb.fun(V)(lambda x: hb.softplus(x).sum() + sum((hb.cos(row @ x) for row in rows), zero))
    matrix, at = control.matrix_of(f, compiled=made is not plain), V.vec(x)
    return {HESSIAN: Call(lambda: matrix(at))}


def ours_by_matrix(given: Given, made: Made) -> Calls:
    """The directions as one matrix."""
    directions, x = given
    V, count = hb.R ** hb.Fin.of(len(x)), hb.Fin.of(len(directions))
    rows = (hb.R ** (count * V.index)).vec(directions)
    f: Any = hb.fun(V)(lambda x: hb.softplus(x).sum() + hb.cos(rows @ x).sum())
    matrix, at = control.matrix_of(f, compiled=made is not plain), V.vec(x)
    return {HESSIAN: Call(lambda: matrix(at))}


def by_hand(given: Given) -> Calls:
    """One product, and its diagonal."""
    a, x = given

    def hessian() -> Any:
        s = 1.0 / (1.0 + np.exp(-x))
        h = (-np.cos(a @ x) * a.T) @ a
        h.flat[:: len(x) + 1] += s * (1.0 - s)
        return h

    return {HESSIAN: Call(hessian)}


def in_jax(given: Given) -> Calls:
    """JAX's Hessian."""
    found = jax()

    def f(x: Any, a: Any) -> Any:
        return found.nn.softplus(x).sum() + found.numpy.cos(a @ x).sum()

    return {HESSIAN: jitted(f, given[::-1], lambda jax, f: jax.hessian(f))}


ROWS = (
    Row(
        "cart-pole, 50 stages",
        {
            **mine(our_cart_pole),
            "casadi scalars": cart_pole(lambda n: control.by_casadi(n, 1, mapped=False)),
            "casadi mapped": cart_pole(lambda n: control.by_casadi(n, 1, mapped=True)),
            "jax blocks by hand": cart_pole(lambda n: control.by_hand(n, 1)),
        },
        lambda _: stages(50),
        lambda: stages(3),
        SPECIAL,
    ),
    Row(
        "diagonal + 4 rank one, n = 500",
        {**mine(ours), **mine(ours_by_matrix, "one matrix"), "numpy": by_hand, "jax": in_jax},
        lambda _: low_rank(500),
        lambda: low_rank(5),
        SPECIAL,
    ),
)
