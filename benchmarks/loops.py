"""Loops and equations beside JAX's `scan`, `while_loop` and `custom_root`: value and gradient at a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.timing import OURS, Line, Options, agree, compare, jax

JAX = "jax (jit)"
S, H, X = hb.Fin.of(14), hb.Fin.of(64), hb.Fin.of(32)


def lines(options: Options) -> Iterator[Line | str]:
    """A small state, a wide one, pendulums of numbers, a fixed point and a root."""
    if jax() is None:
        yield "loops: JAX is not installed, nothing to compare with"
        return
    loops: Any = hb  # without types, which mypy would read each function for again and again
    n = 100 if options.quick else 1000
    T = hb.Fin.of(n)
    square = hb.R ** (S * S)
    small = hb.fun(square, hb.R**S)(lambda w, s: loops.iterate(lambda t: hb.tanh(w @ t + t), s, T).sum())
    yield from beside(f"tanh(W·s + s), 14 states, {n} rounds", small, iterated(n), options)
    wide = hb.fun(hb.R ** (H * H), hb.R ** (H * X), hb.R**H, (hb.R**X) ** T)(
        lambda A, B, s, xs: loops.fold(lambda s, x: hb.tanh(A @ s + B @ x), s, xs).sum()
    )
    yield from beside(f"recurrent, 64 states, {n} rounds", wide, recurrent, options)
    swing = hb.fun(hb.R, hb.R)(lambda a, v: loops.iterate(pendulum(hb), (a, v), T)[0])
    yield from beside(f"pendulum, {n} rounds", swing, swung(n), options)
    arm = hb.fun(*[hb.R] * 4)(lambda *s: loops.iterate(runge_kutta(hb), s, T)[0])
    yield from beside(f"double pendulum, {n} steps of Runge and Kutta", arm, swung(n, runge_kutta), options)
    settled = hb.fun(square, hb.R**S)(lambda A, b: loops.fixed_point(lambda x: hb.tanh(A @ x) + b, b).sum())
    yield from beside("fixed point, 14 unknowns", settled, fixed(), options)
    solved = hb.fun(square, hb.R**S)(lambda A, b: loops.root(lambda x: x + hb.tanh(A @ x) - b, b).sum())
    yield from beside("root, 14 unknowns", solved, root(), options)


def pendulum(xp: Any) -> Callable[[tuple[Any, Any]], tuple[Any, Any]]:
    """A step of 1/100 second."""

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        angle, speed = state
        speed = speed - 0.0981 * xp.sin(angle) - 0.001 * speed
        return angle + 0.01 * speed, speed

    return step


def iterated(n: int) -> Callable[..., Any]:
    """JAX's scan."""
    found = jax()
    xp = found.numpy
    return lambda w, s: found.lax.scan(lambda t, _: (xp.tanh(w @ t + t), None), s, None, length=n)[0].sum()


def recurrent(A: Any, B: Any, s: Any, xs: Any) -> Any:
    """JAX's scan, the inputs multiplied by B all together."""
    found = jax()
    return found.lax.scan(lambda s, y: (found.numpy.tanh(A @ s + y), None), s, xs @ B.T)[0].sum()


def runge_kutta(xp: Any) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A step of 1/100 second for a double pendulum, number by number, of order 4."""

    def field(s: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b, v, w = s
        c, d, e, f = xp.cos(a - b), xp.sin(a - b), 9.81 * xp.sin(a), 9.81 * xp.sin(b)
        mass = 2.0 - c * c
        return (
            v,
            w,
            (c * f - 2.0 * e - d * (w * w + c * v * v)) / mass,
            (2.0 * (c * e - f + d * v * v) + c * d * w * w) / mass,
        )

    def moved(s: tuple[Any, ...], k: tuple[Any, ...], t: float) -> tuple[Any, ...]:
        return tuple(x + t * y for x, y in zip(s, k, strict=True))

    def step(s: tuple[Any, ...]) -> tuple[Any, ...]:
        k = field(s)
        m = field(moved(s, k, 0.005))
        n = field(moved(s, m, 0.005))
        last = field(moved(s, n, 0.01))
        return tuple(
            x + 0.01 / 6.0 * (p + 2.0 * q + 2.0 * r + t) for x, p, q, r, t in zip(s, k, m, n, last, strict=True)
        )

    return step


def swung(n: int, rule: Callable[[Any], Callable[..., Any]] | None = None) -> Callable[..., Any]:
    """JAX's scan."""
    found = jax()
    step = (rule or pendulum)(found.numpy)
    return lambda *s: found.lax.scan(lambda s, _: (step(s), None), s, None, length=n)[0][0]


def fixed() -> Callable[..., Any]:
    """A while_loop, its derivative by custom_root."""
    found = jax()
    xp = found.numpy

    def f(A: Any, b: Any) -> Any:
        def body(x: Any) -> Any:
            return xp.tanh(A @ x) + b

        def solve(_: Any, start: Any) -> Any:
            going = lambda s: xp.max(xp.abs(s[0] - s[1])) > 1e-12  # noqa: E731 - as JAX wants it
            return found.lax.while_loop(going, lambda s: (body(s[0]), s[0]), (body(start), start))[0]

        return found.lax.custom_root(lambda x: body(x) - x, b, solve, _solved).sum()

    return f


def root() -> Callable[..., Any]:
    """Newton's iteration, its derivative by custom_root."""
    found = jax()
    xp = found.numpy

    def f(A: Any, b: Any) -> Any:
        def equation(x: Any) -> Any:
            return x + xp.tanh(A @ x) - b

        def solve(g: Any, start: Any) -> Any:
            def newton(s: Any) -> Any:
                x, _ = s
                step = xp.linalg.solve(found.jacfwd(g)(x), g(x))
                return x - step, xp.max(xp.abs(step))

            return found.lax.while_loop(lambda s: s[1] > 1e-12, newton, (start, xp.inf))[0]

        return found.lax.custom_root(equation, b, solve, _solved).sum()

    return f


def _solved(g: Any, y: Any) -> Any:
    found = jax()
    return found.numpy.linalg.solve(found.jacfwd(g)(y), y)


def beside(what: str, f: hb.Map[Any, Any], peer: Callable[..., Any], options: Options) -> Iterator[Line]:
    """Value and gradient of f in all of its arguments."""
    found = jax()
    point: hb.Vec[Any] = f.dom.random(np.random.default_rng(0), scale=0.1)
    ours: hb.Map[Any, Any] = hb.value_and_grad(f)
    compiled = found.jit(found.value_and_grad(peer, tuple(range(len(point.leaves)))))
    here = [found.numpy.asarray(leaf) for leaf in point.leaves]
    candidates: dict[str, Callable[[], Any]] = {
        OURS: lambda: ours(point).leaves,
        JAX: lambda: found.block_until_ready(compiled(*here)),
    }
    value, slopes = candidates[JAX]()
    agree(what, {OURS: candidates[OURS](), JAX: [value, *slopes]}, 1e-8)
    yield from compare(what, candidates, options, baseline=JAX)
