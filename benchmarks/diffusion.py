"""Conjugate gradients for −div(k∇u) = b with a lognormal k, beside scipy's with Jacobi's preconditioner by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from scipy.sparse.linalg import cg as by_scipy

import hilbert.all as hb
from benchmarks.processor_time import Calls, leaves, table
from benchmarks.timing import OURS, Line

SCIPY, PART = "scipy's cg by hand", 1e-8


def rows(rounds: int, *, quick: bool) -> Iterator[Line | str]:
    """The grids."""
    for n in (128,) if quick else (128, 512):
        yield from diffusion(n, max(2, rounds // 2))


class Column:
    """The columns of cells."""


def flow(n: int) -> Any:
    """(k, u) ↦ −div(k∇u) on n·n cells, u = 0 outside; means of both cells between two cells."""
    down, right = hb.Fin.of(n), hb.Fin(Column, n)
    W = hb.R ** (down * right)
    walls = W.vec(2.0 * _sides(n))

    def left(k: Any, u: Any) -> Any:
        below = 0.5 * (k[1:, :] + k[:-1, :]) * (u[1:, :] - u[:-1, :])
        beside = 0.5 * (k[:, 1:] + k[:, :-1]) * (u[:, 1:] - u[:, :-1])
        outward = walls * k * u + below.pad(1, 0, over=0, to=down) - below.pad(0, 1, over=0, to=down)
        return outward + beside.pad(1, 0, over=1, to=right) - beside.pad(0, 1, over=1, to=right)

    return hb.derivative(hb.fun(W, W)(left), wrt=1)


def _sides(n: int) -> Any:
    """The number of outer sides of each cell."""
    sides = np.zeros((n, n))
    for at in ((0,), (-1,), (..., 0), (..., -1)):
        sides[at] += 1.0
    return sides


def by_hand(k: Any, form: str = "csr") -> Any:
    """The matrix of the same, in a form of scipy."""
    n = len(k)
    below, beside = 0.5 * (k[1:] + k[:-1]), 0.5 * (k[:, 1:] + k[:, :-1])
    main = 2.0 * _sides(n) * k
    main[1:] += below
    main[:-1] += below
    main[:, 1:] += beside
    main[:, :-1] += beside
    near = np.zeros((n, n))
    near[:, :-1] = -beside
    near, far = near.ravel()[:-1], -below.ravel()
    return sparse.diags_array([far, near, main.ravel(), near, far], offsets=[-n, -1, 0, 1, n], format=form)


def diffusion(n: int, rounds: int) -> Iterator[Line | str]:
    """The solution for one right side, and how many steps both take."""
    rng = np.random.default_rng(4)
    d = flow(n)
    k, b = d.cod.vec(np.exp(rng.standard_normal((n, n)))), d.cod.random(rng)
    zero, side = d.cod.zeros(), b.array.ravel()

    def theirs() -> Any:
        a = by_hand(k.array)
        inverse = 1.0 / a.diagonal()
        jacobi = LinearOperator(a.shape, matvec=lambda r: inverse * r)
        return [by_scipy(a, side, rtol=PART, maxiter=10_000, M=jacobi, callback=lambda _: steps.append(1))[0]]

    steps = list[int]()
    theirs()
    count = len(steps)
    for most in (count + 1, count - 2):  # ours ends in as many steps, or one more or less
        try:
            hb.cg(d, tolerance=PART, steps=most)(k, zero, b)
        except hb.SpaceError:
            assert most < count
        else:
            assert most > count
    yield f"diffusion, {n}×{n}: {count} steps of scipy's, as many of ours, ± 1"
    calls: Calls = {
        OURS: lambda: [leaves(hb.cg(d, tolerance=PART), k, zero, b)()[0].ravel()],
        SCIPY: theirs,
    }
    limits = [(OURS, SCIPY, 1.1)] if n >= 512 else []
    yield from table(f"diffusion by cg, {n}×{n}", calls, rounds, limits, SCIPY)
