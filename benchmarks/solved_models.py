"""Models that end in a system, Darcy flow and Gaussian processes; see `benchmarks.solving`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import splu

import hilbert.all as hb
from benchmarks.diffusion import by_hand
from benchmarks.processor_time import Calls, leaves, table
from benchmarks.solving import FULL
from benchmarks.timing import HAND, OURS, Line

ROOM = 500.0
FEATURES = 64


def rows(rounds: int, *, quick: bool) -> Iterator[Line | str]:
    """Both models; `quick` ones without the largest sizes."""
    sizes = (64, 128) if quick else (64, 128, 256)
    for n in sizes:
        yield from darcy(n, rounds)
    yield memory(sizes[-1])
    yield from process(800, rounds, full=True)
    yield from process(10_000 if quick else 100_000, rounds, full=False)


# --- Darcy flow ---


def flow(n: int, seen: Any) -> Any:
    """m ↦ ½‖u − seen‖², −div(exp(m)∇u) = 1 on n×n cells, u = 0 outside; means of both cells between two cells."""
    down, right = hb.Fin.of(n), hb.Fin(Column, n)
    W = hb.R ** (down * right)
    sides = np.zeros((n, n))
    for at in ((0,), (-1,), (..., 0), (..., -1)):
        sides[at] += 1.0
    data, walls, load = W.vec(seen), W.vec(2.0 * sides), W.vec(np.full((n, n), 1.0 / n**2))

    def left(m: Any, u: Any) -> Any:
        k = hb.exp(m)
        below = 0.5 * (k[1:, :] + k[:-1, :]) * (u[1:, :] - u[:-1, :])
        beside = 0.5 * (k[:, 1:] + k[:, :-1]) * (u[:, 1:] - u[:, :-1])
        inward = below.pad(0, 1, over=0, to=down) - below.pad(1, 0, over=0, to=down)
        inward = inward + beside.pad(0, 1, over=1, to=right) - beside.pad(1, 0, over=1, to=right)
        return walls * k * u - inward - load

    def loss(m: Any) -> Any:
        return 0.5 * hb.square(hb.root(lambda u: left(m, u), data) - data).sum()

    return hb.fun(W)(loss)


class Column:
    """The columns of cells."""


def flow_by_hand(m: Any, seen: Any) -> Sequence[Any]:
    """The same by a matrix of entries and `splu` in its symmetric mode, whose factors serve the adjoint, too."""
    n = len(m)
    k = np.exp(m)
    a = by_hand(k, "csc")
    options = {"SymmetricMode": True}
    factors = splu(a, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    u = factors.solve(np.full(n * n, 1.0 / n**2)).reshape(n, n)
    y = factors.solve((u - seen).ravel()).reshape(n, n)
    slope = np.zeros((n, n))
    for at in ((0,), (-1,), (..., 0), (..., -1)):
        slope[at] += 2.0 * u[at] * y[at]
    flux = 0.5 * np.diff(u, axis=0) * np.diff(y, axis=0)
    slope[1:] += flux
    slope[:-1] += flux
    flux = 0.5 * np.diff(u, axis=1) * np.diff(y, axis=1)
    slope[:, 1:] += flux
    slope[:, :-1] += flux
    return [0.5 * np.square(u - seen).sum(), -k * slope]


def darcy(n: int, rounds: int) -> Iterator[Line | str]:
    """Value and gradient in the permeability."""
    rng = np.random.default_rng(2)
    seen = 0.1 * rng.standard_normal((n, n))
    m = 0.3 * rng.standard_normal((n, n))
    f = flow(n, seen)
    both = hb.value_and_grad(f)
    yield str(hb.cost(f)).splitlines()[-1]
    calls: Calls = {OURS: leaves(both, f.dom.vec(m)), HAND: lambda: flow_by_hand(m, seen)}
    yield from table(f"Darcy flow, {n}×{n}", calls, rounds, [(OURS, HAND, 3.0)], HAND)


def memory(n: int) -> str:
    """The largest memory of a process that computes value and gradient a second time."""
    code = f"from benchmarks.solved_models import peak; print(peak({n}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    held = float(run.stdout)
    return f"Darcy flow, {n}×{n}: {held:.0f} MB of its own process, ≤ {ROOM:.0f} {'met' if held <= ROOM else 'MISSED'}"


def peak(n: int) -> float:
    """The most megabytes that this process has held, its modules among them, by Linux."""
    f = flow(n, np.zeros((n, n)))
    both = hb.value_and_grad(f)
    for k in range(2):
        both(f.dom.vec(np.full((n, n), 0.1 * k)))
    held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(held.split()[1]) / 1024


# --- a Gaussian process ---


def likelihood(times: Any, shifts: Any, y: Any) -> tuple[Any, Any]:
    """½ yᵀC⁻¹y + ½ log det C of C = s² + a²ΦΦᵀ, Φ_ij = cos(times_ij / l + shift_ij)/√32, for log l, log a, log s."""
    n = len(y)
    V, P = hb.R ** hb.Fin.of(n), hb.R ** hb.Fin.of(3)
    wide = hb.R ** (hb.Fin.of(n) * hb.Fin(Feature, FEATURES))
    when, phase, data, zero = wide.vec(times), wide.vec(shifts), V.vec(y), V.zeros()

    @hb.fun(P, V)
    def covariance(p: Any, x: Any) -> Any:
        features = (2.0 / FEATURES) ** 0.5 * hb.cos(hb.exp(-p[0]) * when + phase)
        return hb.exp(2.0 * p[2]) * x + hb.exp(2.0 * p[1]) * (features @ (features.T @ x))

    d = hb.derivative(covariance, wrt=1)
    solve, logdet = hb.solve(d), hb.linalg.logdet(d)
    return hb.fun(P)(lambda p: 0.5 * (data @ solve(p, zero, data)) + 0.5 * logdet(p, zero)), solve


class Feature:
    """The features."""


def by_woodbury(p: Any, times: Any, shifts: Any, y: Any) -> Sequence[Any]:
    """The same through matrices as large as there are features."""
    n, shape = len(y), np.eye(FEATURES)
    angle = np.exp(-p[0]) * times
    size, noise = np.exp(2.0 * p[1]), np.exp(2.0 * p[2])
    moved = angle * 1.0
    angle += shifts
    features = np.cos(angle)
    features *= (2.0 / FEATURES) ** 0.5
    moved *= np.sin(angle, out=angle)
    moved *= (2.0 / FEATURES) ** 0.5  # the derivative in log l
    gram = features.T @ features
    inner = noise / size * shape + gram
    factor = linalg.cho_factor(inner, check_finite=False)
    alpha = (y - features @ linalg.cho_solve(factor, features.T @ y)) / noise
    undone = linalg.cho_solve(factor, gram)  # K⁻¹G
    value = 0.5 * y @ alpha + 0.5 * (n - FEATURES) * 2.0 * p[2] + FEATURES * p[1] + np.log(np.diag(factor[0])).sum()
    left = features.T @ alpha
    part = shape - undone
    of_length = size * (np.sum((moved.T @ features) * part.T) / noise - (moved.T @ alpha) @ left)
    of_size = size * (np.trace(gram @ part) / noise - left @ left)
    of_noise = (n - np.trace(undone)) - noise * (alpha @ alpha)
    return [value, np.stack([of_length, of_size, of_noise])]


def in_full(p: Any, times: Any, shifts: Any, y: Any) -> Sequence[Any]:
    """The same by the matrix and its factors."""
    angle = np.exp(-p[0]) * times
    features = (2.0 / FEATURES) ** 0.5 * np.cos(angle + shifts)
    moved = (2.0 / FEATURES) ** 0.5 * np.sin(angle + shifts) * angle
    size, noise = np.exp(2.0 * p[1]), np.exp(2.0 * p[2])
    smooth = size * (features @ features.T)
    factor = linalg.cho_factor(smooth + noise * np.eye(len(y)), check_finite=False)
    undone = linalg.cho_solve(factor, np.eye(len(y)), check_finite=False)
    alpha = undone @ y
    value = 0.5 * y @ alpha + np.log(np.diag(factor[0])).sum()
    half = size * (moved @ features.T)
    slopes = [half + half.T, 2.0 * smooth]
    found = [0.5 * np.sum(undone * one) - 0.5 * alpha @ one @ alpha for one in slopes]
    return [value, np.stack([*found, noise * (np.trace(undone) - alpha @ alpha)])]


def process(n: int, rounds: int, *, full: bool) -> Iterator[Line | str]:
    """The likelihood and its gradient in length, size and noise."""
    rng = np.random.default_rng(3)
    t = np.sort(10.0 * rng.random(n))
    times, shifts = np.outer(t, rng.standard_normal(FEATURES)), np.tile(rng.uniform(0, 6.28, FEATURES), (n, 1))
    y, p = np.sin(2.0 * t) + 0.1 * rng.standard_normal(n), np.asarray([-0.3, 0.2, -1.0])
    f, solve = likelihood(times, shifts, y)
    calls: Calls = {OURS: leaves(hb.value_and_grad(f), f.dom.vec(p)), HAND: lambda: by_woodbury(p, times, shifts, y)}
    limits = [(OURS, HAND, 3.0)]
    if full:
        calls[FULL] = lambda: in_full(p, times, shifts, y)
        limits.append((OURS, FULL, 0.01))
    yield str(hb.cost(solve)).splitlines()[-1]
    yield from table(f"Gaussian process, n = {n}", calls, rounds, limits, HAND)
