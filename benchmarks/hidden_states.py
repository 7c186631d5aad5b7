"""Hidden states in a row or on a grid: smoothed, or integrated by Laplace's approximation; see `benchmarks.solving`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

import hilbert.all as hb
from benchmarks.processor_time import Calls, leaves, minima, table
from benchmarks.solving import BANDS, first
from benchmarks.timing import OURS, Line


def rows(rounds: int, *, quick: bool) -> Iterator[Line | str]:
    """All models; `quick` ones without the largest sizes."""
    yield from smoothing(1_000, rounds)
    yield from smoothing(10_000, rounds)
    yield from latent(10_000 if quick else 100_000, rounds)
    yield from lattice(64, rounds, by_hand=True)
    yield from lattice(128, rounds, by_hand=False)


# --- a smoother ---

MOVE = np.eye(4) + 0.1 * np.eye(4, k=2)


def smoother(steps: int) -> tuple[Any, Any]:
    """(p, y) ↦ the x for which Σ |x_{t+1} − M x_t|²/q² + Σ |y_t − x_t[:2]|²/r² + |x_0|² is least, p = log (q, r)."""
    state, seen, time = hb.Fin.of(4), hb.Fin(Seen, 2), hb.Fin(Moment, steps)
    move, P = (hb.R ** (state * state)).vec(MOVE), hb.R ** hb.Fin.of(2)
    X, Y = hb.R ** (time * state), hb.R ** (time * seen)

    @hb.fun(P, Y, X)
    def energy(p: Any, y: Any, x: Any) -> Any:
        pushes = x[1:, :] - x[:-1, :] @ move.T
        rest = y - x.crop(0, 2, over=1, to=seen)
        return 0.5 * (
            hb.exp(-2.0 * p[0]) * hb.square(pushes).sum()
            + hb.exp(-2.0 * p[1]) * hb.square(rest).sum()
            + hb.square(x[0, :]).sum()
        )

    slope: Any = hb.grad(energy, 2)
    solve: Any = hb.solve(hb.derivative(slope, wrt=2))
    zero = X.zeros()
    return hb.fun(P, Y)(lambda p, y: -solve(p, y, zero, slope(p, y, zero))), solve


class Seen:
    """The parts of a state that are observed."""


class Moment:
    """The moments."""


def smoothed_by_hand(p: Any, y: Any) -> Sequence[Any]:
    """The same by blocks in a band, and a factor of Cholesky's."""
    steps = len(y)
    q, r = np.exp(-2.0 * p)
    main = np.zeros((steps, 4, 4))
    main[1:] += q * np.eye(4)
    main[:-1] += q * (MOVE.T @ MOVE)
    main[:, [0, 1], [0, 1]] += r
    main[0] += np.eye(4)
    bands, across = np.zeros((8, steps, 4)), -q * MOVE.T
    for i in range(4):
        for j in range(4):
            if i <= j:
                bands[7 + i - j, :, j] = main[:, i, j]
            bands[7 + i - j - 4, 1:, j] = across[i, j]
    side = np.zeros((steps, 4))
    side[:, :2] = r * y
    found = linalg.solveh_banded(
        bands.reshape(8, -1), side.ravel(), overwrite_ab=True, overwrite_b=True, check_finite=False
    )
    return [found.reshape(steps, 4)]


def smoothing(steps: int, rounds: int) -> Iterator[Line | str]:
    """The path at new deviations."""
    rng = np.random.default_rng(4)
    y, p = np.cumsum(rng.standard_normal((steps, 2)), 0), np.asarray([-0.5, -1.0])
    f, solve = smoother(steps)
    at = [f.dom.parts[0].vec(p), f.dom.parts[1].vec(y)]
    calls: Calls = {OURS: leaves(f, *at), BANDS: lambda: smoothed_by_hand(p, y)}
    yield str(hb.cost(solve)).splitlines()[-1]
    yield from table(f"smoother, {steps} moments of 4", calls, rounds, [(OURS, BANDS, 5.0)], BANDS)


# --- Laplace's approximation ---


def field(n: int, counts: Any) -> Any:
    """The likelihood of counts whose logarithmic rates are an autoregression, approximately."""
    V, P = hb.R ** hb.Fin.of(n), hb.R ** hb.Fin.of(2)
    data = V.vec(counts)

    @hb.fun(P, V)
    def joint(p: Any, x: Any) -> Any:
        a, s = hb.tanh(p[0]), hb.exp(p[1])
        step = x[1:] - a * x[:-1]
        prior = 0.5 * s * (step @ step + (1.0 - a * a) * x[0] ** 2) - 0.5 * n * p[1] - 0.5 * hb.log(1.0 - a * a)
        return (hb.exp(x) - data * x).sum() + prior

    return hb.laplace(joint, V.zeros())


def field_with_intercept(n: int, counts: Any) -> Any:
    """The same with an intercept, which meets all of the field."""
    V, P = hb.R ** hb.Fin.of(n), hb.R ** hb.Fin.of(2)
    L, data = hb.direct_sum(V, hb.R), V.vec(counts)

    @hb.fun(P, L)
    def joint(p: Any, x: Any) -> Any:
        u, c = x.split()
        a, s = hb.tanh(p[0]), hb.exp(p[1])
        step, rates = u[1:] - a * u[:-1], u + c.rep(V)
        prior = 0.5 * s * (step @ step + (1.0 - a * a) * u[0] ** 2) - 0.5 * n * p[1] - 0.5 * hb.log(1.0 - a * a)
        return (hb.exp(rates) - data * rates).sum() + prior + 0.5 * c * c

    return hb.laplace(joint, L.zeros())


def field_by_hand(p: Any, counts: Any) -> Sequence[Any]:
    """The value by Newton's iteration with two bands."""
    n, a, s = len(counts), np.tanh(p[0]), np.exp(p[1])
    prior = np.full(n, s * (1.0 + a * a))
    prior[[0, -1]] = s
    across = np.full(n, -s * a)

    x = np.zeros(n)
    for _ in range(50):
        rate = np.exp(x)
        slope = rate - counts + prior * x
        slope[1:] += across[1:] * x[:-1]
        slope[:-1] += across[1:] * x[1:]
        move = linalg.solveh_banded(np.stack([across, rate + prior]), slope, overwrite_ab=True, check_finite=False)
        x -= move
        if np.abs(move).max() < 1e-10:
            break
    return [value_at(p, x, counts)]


def value_at(p: Any, x: Any, counts: Any) -> Any:
    """The approximation for a mode."""
    n, a, s = len(x), np.tanh(p[0]), np.exp(p[1])
    bands = np.empty((2, n))
    bands[0], bands[1] = -s * a, np.exp(x) + s * (1.0 + a * a)
    bands[1, [0, -1]] -= s * a * a
    factor = linalg.cholesky_banded(bands, check_finite=False)
    step = x[1:] - a * x[:-1]
    prior = 0.5 * s * (step @ step + (1.0 - a * a) * x[0] ** 2) - 0.5 * n * p[1] - 0.5 * np.log(1.0 - a * a)
    joint = (np.exp(x) - counts * x).sum() + prior
    return joint + np.log(factor[1]).sum() - 0.5 * n * np.log(2.0 * np.pi)


def latent(n: int, rounds: int) -> Iterator[Line | str]:
    """Value and gradient in two parameters, from the text on and again; the value also by hand."""
    rng = np.random.default_rng(5)
    counts = rng.poisson(np.exp(np.sin(np.arange(n) / 500))).astype(float)
    p = np.asarray([1.5, 1.0])

    def make() -> Callable[[], Sequence[Any]]:
        f = field(n, counts)
        return leaves(hb.value_and_grad(f), f.dom.vec(p))

    what = f"Poisson field, {n} latents"
    begun = first(make)
    yield Line(f"{what}: first call, to 0.6 s", OURS, begun, begun / 0.6, 1.0)
    again = minima({OURS: make()}, rounds)[OURS]
    yield Line(f"{what}: again, to 0.15 s", OURS, again, again / 0.15, 1.0)
    f = field(n, counts)
    calls: Calls = {OURS: leaves(f, f.dom.vec(p)), BANDS: lambda: field_by_hand(p, counts)}
    yield from table(f"{what}: value", calls, rounds, [], BANDS)
    n = min(n, 20_000)
    few = field_with_intercept(n, counts[:n])
    own = minima({OURS: leaves(hb.value_and_grad(few), few.dom.vec(p))}, rounds)[OURS]
    yield Line(f"Poisson field with an intercept, {n} latents: again, to 0.1 s", OURS, own, own / 0.1, 1.0)


# --- a field on a grid ---

SPLU, EXACT = "splu, n columns by hand", "by eigenvalues"
COLUMNS = 64


class Down:
    """The other index of a grid."""


def roughness(m: int) -> Any:
    """½ e^{p₀} (sum of squares of steps between neighbours) + ½ e^{p₁} |x|², on m·m places."""
    V, P = hb.R ** (hb.Fin(Down, m) * hb.Fin.of(m)), hb.R ** hb.Fin.of(2)

    @hb.fun(P, V)
    def energy(p: Any, x: Any) -> Any:
        steps = hb.square(x[1:, :] - x[:-1, :]).sum() + hb.square(x[:, 1:] - x[:, :-1]).sum()
        return 0.5 * hb.exp(p[0]) * steps + 0.5 * hb.exp(p[1]) * hb.square(x).sum()

    return energy


def by_columns(p: Any, steps: Any) -> Sequence[Any]:
    """½ log det of the precision by sparse LU, and its gradient by its inverse, for some columns at a time."""
    scale, n = np.exp(p), steps.shape[0]
    factors, rows = splu((scale[0] * steps + scale[1] * sparse.eye_array(n)).tocsc()), steps.tocsr()
    of_steps, of_main = 0.0, 0.0
    for start in range(0, n, COLUMNS):
        some = np.arange(start, min(start + COLUMNS, n))
        eye = np.zeros((n, len(some)))
        eye[some, some - start] = 1.0
        x = factors.solve(eye)
        of_steps += rows[some].T.multiply(x).sum()
        of_main += x[some, some - start].sum()
    value = 0.5 * np.log(np.abs(factors.U.diagonal())).sum()
    return [value, 0.5 * scale * np.asarray([of_steps, of_main])]


def by_eigenvalues(p: Any, m: int) -> Sequence[Any]:
    """The same in closed form."""
    scale, one = np.exp(p), 2.0 - 2.0 * np.cos(np.pi * np.arange(m) / m)
    steps = one[:, None] + one
    every = scale[0] * steps + scale[1]
    return [0.5 * np.log(every).sum(), 0.5 * scale * np.asarray([(steps / every).sum(), (1.0 / every).sum()])]


def lattice(m: int, rounds: int, *, by_hand: bool) -> Iterator[Line | str]:
    """½ log det of a precision, and Laplace's approximation of counts on a grid, with gradients in two parameters."""
    energy, p = roughness(m), np.asarray([0.3, -1.0])
    P, V = energy.dom.parts
    log: Any = hb.linalg.logdet(hb.derivative(hb.grad(energy, 1), wrt=1))
    half: Any = hb.value_and_grad(hb.fun(P)(lambda p: 0.5 * log(p, V.zeros())))
    chain = sparse.diags_array(
        [-np.ones(m - 1), np.r_[1.0, np.full(m - 2, 2.0), 1.0], -np.ones(m - 1)], offsets=[-1, 0, 1]
    )
    steps = sparse.kron(chain, sparse.eye_array(m)) + sparse.kron(sparse.eye_array(m), chain)
    calls: Calls = {OURS: leaves(half, P.vec(p)), EXACT: lambda: by_eigenvalues(p, m)}
    limits = []
    if by_hand:
        calls[SPLU] = lambda: by_columns(p, steps.tocsc())
        limits = [(OURS, SPLU, 0.1)]
    what = f"log det of a lattice, {m}·{m}, value and gradient"
    yield from table(what, calls, rounds, limits, SPLU if by_hand else OURS)
    counts = V.vec(np.random.default_rng(6).poisson(1.5, (m, m)).astype(float))
    joint: Any = hb.fun(P, V)(lambda p, x: (hb.exp(x) - counts * x).sum() + energy(p, x) - 0.5 * m * m * p[0])
    whole = minima({OURS: leaves(hb.value_and_grad(hb.laplace(joint, V.zeros())), P.vec(p))}, rounds)[OURS]
    due = 0.05 if by_hand else 0.3
    yield Line(f"Poisson field, {m}·{m} latents: again, to {due} s", OURS, whole, whole / due, 1.0)
