"""Tasks that users of other tools ask for (docs/questions.md), beside these tools: each call starts at a new point.

The Laplacian of a softmax attention (folx, JAX), BᵀWB of a tomography (scipy's own products), the Hessian of an
ODE's fit in four parameters (JAX with `scan`). Peers that are not installed are left out: `pip install .[bench]` brings
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.timing import OURS, Line, Options, agree, compare, duration, jax, optional

TOKENS, WIDTH = 20, 20
PIXELS, ANGLES = 48, 40
STEPS, STEP = 200, 0.05


def lines(options: Options) -> Iterator[Line | str]:
    """Three questions."""
    rounds = Options(min(options.rounds, 15), options.quick, options.clock)
    rng = np.random.default_rng(0)
    yield from attention(rng, rounds)
    yield from tomography(rng, rounds)
    yield from lotka_volterra(rng, rounds)


def timed(what: str, makers: dict[str, Callable[[], Any]], points: list[Any], options: Options) -> Iterator[Line | str]:
    """The first call of each, from text to numbers; then the same answers; then new points."""
    calls, results, turn = dict[str, Callable[[], object]](), dict[str, Any](), itertools.cycle(points)
    for who, make in makers.items():
        start = options.clock()
        f = make()
        results[who] = [f(points[0])]
        yield f"{what}, first call: {who} {duration(options.clock() - start)}"
        calls[who] = lambda f=f: f(next(turn))  # type: ignore[misc]
    agree(what, results, 1e-8)
    yield from compare(what, calls, options, baseline=OURS)


# --- the Laplacian of a network ---


def attention(rng: np.random.Generator, options: Options) -> Iterator[Line | str]:
    """Σ softmax(QKᵀ/√d)V with Q, K, V of 400 numbers each, as a function of all of them."""
    points = [tuple(rng.standard_normal((3, TOKENS, WIDTH))) for _ in range(4)]

    def ours() -> Any:
        token, feature = hb.Fin.of(TOKENS), hb.Fin.of(WIDTH)
        M = hb.R ** (token * feature)

        def row(q: Any, k: Any, v: Any) -> Any:
            weights = hb.exp(k @ q / np.sqrt(WIDTH))
            return (v.T @ weights).sum() / weights.sum()

        rows: Any = hb.lift(hb.fun(hb.R**feature, M, M)(row), token, over=(0,))
        f: Any = hb.fun(M, M, M)(lambda q, k, v: rows(hb.curry(M)(q), k, v).sum())
        second = hb.derivative(hb.grad(f))
        return lambda point: hb.trace(second.at(*map(M.vec, point)))

    makers: dict[str, Callable[[], Any]] = {OURS: ours}
    if (found := jax()) is not None:
        np_ = found.numpy

        def f(x: Any) -> Any:
            q, k, v = x
            return np_.sum(found.nn.softmax(q @ k.T / np.sqrt(WIDTH), axis=-1) @ v)

        def by_jax() -> Any:
            basis = np_.eye(3 * TOKENS * WIDTH).reshape(-1, 3, TOKENS, WIDTH)

            def laplacian(x: Any) -> Any:
                def entry(e: Any) -> Any:
                    return np_.vdot(e, found.jvp(found.grad(f), (x,), (e,))[1])

                return found.lax.map(entry, basis, batch_size=WIDTH).sum()

            made = found.jit(laplacian)
            return lambda point: float(made(np.stack(point)))

        makers["jax (jit), hvp"] = by_jax
        if (folx := optional("folx")) is not None:

            def by_folx() -> Any:
                made = found.jit(lambda x: folx.forward_laplacian(f)(x).laplacian)
                return lambda point: float(made(np.stack(point)))

            makers["folx (jit)"] = by_folx
    yield from timed("Laplacian of attention, 3·400 numbers", makers, points, options)


# --- products of sparse matrices ---


def tomography(rng: np.random.Generator, options: Options) -> Iterator[Line | str]:
    """BᵀWB for the projector B of 48×48 pixels at 40 angles, W the weights of the rays, new at each call."""
    if (sparse := optional("scipy.sparse")) is None:
        return
    b = projector()
    points = [rng.uniform(0.5, 1.5, b.shape[0]) for _ in range(4)]
    v = rng.standard_normal(b.shape[1])

    def ours() -> Any:
        B: Any = hb.from_scipy(b)
        W = B.cod
        energy = hb.fun(B.dom, W)(lambda x, w: 0.5 * hb.inner(w * B(x), B(x)))
        zero = B.dom.zeros()
        return lambda w: hb.hessian(energy, zero, W.vec(w), wrt=0, as_="sparse") @ v

    makers = {OURS: ours, "scipy": lambda: lambda w: (b.T @ (sparse.diags_array(w) @ b)).tocsr() @ v}
    yield from timed("BᵀWB, 48×48 pixels, 40 angles", makers, points, options)


def projector() -> Any:
    """Rays through a grid of pixels: each pixel's centre falls between two detectors, which share it."""
    sparse = optional("scipy.sparse")
    count = int(np.ceil(PIXELS * np.sqrt(2.0))) + 2
    x, y = np.meshgrid(*2 * [np.arange(PIXELS) - (PIXELS - 1) / 2])
    rows, cols, entries = [], [], []
    for k, angle in enumerate(np.arange(ANGLES) * np.pi / ANGLES):
        place = x * np.cos(angle) + y * np.sin(angle) + (count - 1) / 2
        low = np.floor(place).astype(int)
        for side, weight in ((low, 1.0 - (place - low)), (low + 1, place - low)):
            rows.append(k * count + side.reshape(-1))
            cols.append(np.arange(PIXELS * PIXELS))
            entries.append(weight.reshape(-1))
    where = np.concatenate(rows), np.concatenate(cols)
    return sparse.csr_array((np.concatenate(entries), where), shape=(ANGLES * count, PIXELS * PIXELS))


# --- an ODE in few parameters ---


def lotka_volterra(rng: np.random.Generator, options: Options) -> Iterator[Line | str]:
    """Σ |y(t) − data|² of 200 steps of RK4, its Hessian in the four parameters."""
    data = rng.uniform(0.5, 1.5, (STEPS, 2))
    points = [np.array([1.0, 0.8, 0.9, 0.7]) + 0.1 * rng.standard_normal(4) for _ in range(4)]

    def slope(y: Any, p: Any) -> Any:
        return y[0] * (p[0] - p[1] * y[1]), y[1] * (p[2] * y[0] - p[3])

    def after(y: Any, p: Any) -> Any:
        k1 = slope(y, p)
        k2 = slope([a + STEP / 2 * k for a, k in zip(y, k1, strict=True)], p)
        k3 = slope([a + STEP / 2 * k for a, k in zip(y, k2, strict=True)], p)
        k4 = slope([a + STEP * k for a, k in zip(y, k3, strict=True)], p)
        return tuple(a + STEP / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4, strict=True))

    def ours() -> Any:
        P = hb.direct_sum(hb.R, hb.R, hb.R, hb.R)

        def loss(p: Any) -> Any:
            parts, y = p.split(), (1.0, 1.0)
            total: Any = 0.0
            for row in data.tolist():
                y = after(y, parts)
                total = total + (y[0] - row[0]) ** 2 + (y[1] - row[1]) ** 2
            return total

        f: Any = hb.fun(P)(loss)
        return f, P

    def hessian() -> Any:
        f, P = ours()
        return lambda p: hb.hessian(f, P.vec(tuple(p)))

    def lifted() -> Any:
        f, P = ours()
        X = hb.Fin.of(4)
        columns: Any = hb.lift(hb.jvp(hb.grad(f)), X, over=(1,))
        basis = (P**X).vec(tuple(np.eye(4)))
        return lambda p: np.stack([part.array for part in columns(P.vec(tuple(p)), basis).split()])

    makers = {OURS: hessian, "hilbert, lifted": lifted}
    if (found := jax()) is not None:

        def by_jax() -> Any:
            def loss(p: Any) -> Any:
                def body(y: Any, row: Any) -> Any:
                    y = after(y, p)
                    return y, (y[0] - row[0]) ** 2 + (y[1] - row[1]) ** 2

                return found.lax.scan(body, (1.0, 1.0), data)[1].sum()

            made = found.jit(found.hessian(loss))
            return lambda p: found.block_until_ready(made(p))

        makers["jax (jit, scan)"] = by_jax
    yield from timed("Lotka–Volterra, 200 steps, 4 parameters", makers, points, options)
