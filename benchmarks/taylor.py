"""Taylor modes: coefficients of order 8, the Laplacian of a network, and Kepler's problem by Taylor steps.

Order-8 coefficients of x ↦ exp(0.3·x·sin x), c times, and of tanh(sin t · exp t), in one direction; the Laplacian of
ℝ¹⁰⁰ → h → h → ℝ at one point and at 64. Timed beside the recurrences and the formula in numpy, JAX's jets, JAX's
nested `jvp`, and the trace of JAX's Hessian.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, jax
from diff import exp, fun, laplacian, lift, ode_solve, sin, tanh, taylor
from hilbert import Fin, R

ORDER = 8
INPUTS = 100


def lines(options: Options) -> Iterator[Line | str]:
    """Coefficients, Laplacians, Kepler."""
    yield from growth(options)
    for n, c in [(1000, 1), (1000, 6), (1, 6)] + [(100_000, 1)] * (not options.quick):
        yield from iterated(n, c, options)
    for h, points in [(256, 1), (256, 64), (1024, 1)] + [(1024, 64)] * (not options.quick):
        yield from laplacians(h, points, options)
    yield kepler()


# --- coefficients ---


def growth(options: Options) -> Iterator[Line]:
    """tanh(sin t · exp t) on 10⁵ points."""
    V = R ** Fin.of(100_000)
    f = fun(V)(lambda t: tanh(sin(t) * exp(t)))
    t = np.linspace(0.0, 1.0, 100_000)
    x, v = V.vec(t), V.ones()
    candidates: dict[str, Callable[[], Any]] = {
        HAND: partial(growth_by_hand, t),
        OURS: lambda: [c.array for c in taylor(f, x, v, ORDER)],
    }
    agree("tanh(sin t·exp t)", {who: call() for who, call in candidates.items()}, 1e-10)
    yield from compare(f"tanh(sin t·exp t), order {ORDER}, 10⁵", candidates, options, limit=1.3)


def growth_by_hand(t: Any) -> list[Any]:
    """The recurrences, in place: w = 1 − v², v_n = 1/n Σ i·u_i·w_{n−i}, the square by halves."""
    s, c, e = [np.sin(t)], [np.cos(t)], [np.exp(t)]
    for n in range(1, ORDER + 1):
        s.append(c[n - 1] / n)
        c.append(s[n - 1] / -n)
        e.append(e[n - 1] / n)
    u = [convolved(s, e, n) for n in range(ORDER + 1)]
    v = [np.tanh(u[0])]
    w = [1.0 - v[0] * v[0]]
    weighted = [i * a for i, a in enumerate(u)]
    for n in range(1, ORDER + 1):
        a = convolved(weighted[1:], w, n - 1)
        a /= n
        v.append(a)
        if n < ORDER:
            b = v[0] * v[n]
            for i in range(1, (n + 1) // 2):
                b += v[i] * v[n - i]
            b *= -2.0
            if n % 2 == 0:
                b -= v[n // 2] * v[n // 2]
            w.append(b)
    return v


def convolved(u: list[Any], w: list[Any], n: int) -> Any:
    """Σ u_i·w_{n−i}."""
    total = u[0] * w[n]
    for i in range(1, n + 1):
        total += u[i] * w[n - i]
    return total


def iterated(n: int, c: int, options: Options) -> Iterator[Line | str]:
    """x ← exp(0.3·x·sin x), c times, on n numbers; and how long the first result takes."""
    V = R ** Fin.of(n)

    def body(x: Any) -> Any:
        for _ in range(c):
            x = exp(0.3 * x * sin(x))
        return x

    points, ones = np.linspace(0.2, 1.0, n), np.ones(n)
    x, v = V.vec(points), V.vec(ones)
    start = time.perf_counter()
    f = fun(V)(body)
    taylor(f, x, v, ORDER)
    first = time.perf_counter() - start
    candidates: dict[str, Callable[[], Any]] = {OURS: lambda: [a.array for a in taylor(f, x, v, ORDER)]}
    what = f"exp(0.3·x·sin x), {c} times, order {ORDER}, n = {n}"
    found = jax()
    if found is not None:
        by_jax: Any = importlib.import_module("jax.experimental.jet").jet

        def same(x: Any) -> Any:
            for _ in range(c):
                x = found.numpy.exp(0.3 * x * found.numpy.sin(x))
            return x

        zeros = [np.zeros(n)] * (ORDER - 1)

        def jets(x: Any, v: Any) -> Any:
            value, series = by_jax(same, (x,), ([v, *zeros],))
            return [value, *(a / math.factorial(k) for k, a in enumerate(series, 1))]

        compiled = found.jit(jets)
        start = time.perf_counter()
        found.block_until_ready(compiled(points, ones))
        theirs = time.perf_counter() - start
        candidates["jax jet"] = lambda: found.block_until_ready(compiled(points, ones))
        agree(what, {who: list(map(np.asarray, call())) for who, call in candidates.items()}, 1e-8)
        yield from compare(what, candidates, options, baseline="jax jet", limit=0.8 if c == 1 and n > 1 else None)
        yield f"{what}: first result {first * 1e3:.0f} ms, JAX's {theirs * 1e3:.0f} ms"


# --- Laplacians ---


def laplacians(h: int, points: int, options: Options) -> Iterator[Line]:
    """Collapsed, by hand, by our own family of jets, and by JAX."""
    X, H = Fin.of(INPUTS), Fin.of(h)
    network = fun(R**X, R ** (H * X), R**H, R ** (H * H), R**H, R**H)(
        lambda x, W, b, U, c, w: tanh(U @ tanh(W @ x + b) + c) @ w
    )
    f: Any = laplacian(network, 0)
    if points > 1:
        f = lift(f, Fin.of(points), over=(0,))
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(leaf.shape) / math.sqrt(leaf.shape[-1]) for leaf in f.dom.leaves]
    z = f.dom.vec(tuple(arrays))
    candidates: dict[str, Callable[[], Any]] = {
        HAND: partial(laplacian_by_hand, *arrays),
        OURS: lambda: [f(z).array],
    }
    candidates["family of jets"] = along(X, points, arrays)
    agree("Laplacian", {who: call() for who, call in candidates.items()}, 1e-9)
    what = f"Laplacian, 100 → {h} → {h} → 1, {points} point{'s' * (points > 1)}"
    yield from compare(what, candidates, options, limit=1.2)


def along(X: Any, points: int, arrays: list[Any]) -> Callable[[], Any]:
    """Σ_d of the second slots of (1,2)-jets along the basis, one array operation for all directions."""
    x, *constants = arrays
    W, b, U, c, w = (
        (R ** Fin.of(len(a)) if a.ndim == 1 else R ** (Fin.of(len(a)) * Fin.of(a.shape[1]))).vec(a) for a in constants
    )
    network = fun(R**X)(lambda x: tanh(U @ tanh(W @ x + b) + c) @ w)
    second = fun(R**X, R**X)(lambda x, v: 2.0 * taylor(network, x, v, 2)[2])
    family: Any = lift(second, X, over=(1,))
    basis = ((R**X) ** X).vec(np.eye(INPUTS))
    f: Any = fun(R**X)(lambda x: family(x, basis).sum())
    if points > 1:
        f = f ** Fin.of(points)
    z = f.dom.vec(x)
    return lambda: [f(z).array]


def laplacian_by_hand(x: Any, W: Any, b: Any, U: Any, c: Any, w: Any) -> list[Any]:
    """Σ_d of the second derivatives, with the sum inside; the points in front."""
    one = x.ndim == 1
    t = np.tanh(x @ W.T + b)
    g = 1.0 - t * t
    J = W.T * g if one else W.T * g[:, None, :]  # directions × hidden
    s = -2.0 * t * g * np.einsum("hd,hd->h", W, W)
    r = np.tanh(t @ U.T + c)
    k = 1.0 - r * r
    K = (J.reshape(-1, len(U)) @ U.T).reshape(J.shape)
    q = np.einsum("dh,dh->h", K, K) if one else np.einsum("ndh,ndh->nh", K, K)
    return [(k * (s @ U.T) - 2.0 * r * k * q) @ w]


# --- Kepler ---


def kepler() -> str:
    """Eccentricity 0.6, ten periods, order 20; and DOP853 of scipy where it is installed."""
    P = R ** Fin.of(2)
    f = fun(P, P)(lambda q, v: (v, -((q @ q) ** -1.5) * q))
    start = f.dom.vec(([0.4, 0.0], [0.0, 2.0]))
    ode_solve(f, start, 0.1, 1e-14, order=20)
    began = time.process_time()
    end = ode_solve(f, start, 20.0 * math.pi, 1e-14, order=20)
    took = time.process_time() - began
    error = max(float(np.abs(a - b).max()) for a, b in zip(end.leaves, start.leaves, strict=True))
    text = f"Kepler, ten periods, order 20: error {error:.1e} in {took:.2f} s"
    try:
        solve_ivp = importlib.import_module("scipy.integrate").solve_ivp
    except ImportError:
        return text

    def slope(_: float, y: Any) -> Any:
        r = (y[0] * y[0] + y[1] * y[1]) ** -1.5
        return [y[2], y[3], -r * y[0], -r * y[1]]

    y0 = [0.4, 0.0, 0.0, 2.0]
    began = time.process_time()
    found = solve_ivp(slope, (0.0, 20.0 * math.pi), y0, method="DOP853", rtol=1e-13, atol=1e-13)
    took = time.process_time() - began
    error = float(np.abs(found.y[:, -1] - y0).max())
    return f"{text}; DOP853 at 1e-13: error {error:.1e} in {took:.2f} s, {found.nfev} evaluations"
