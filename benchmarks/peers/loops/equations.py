"""A fixed point and a root of 14 unknowns: value and gradient of a sum, by the implicit function theorem."""

from __future__ import annotations

from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Given, Made, Ours, Row, gradient, jitted, mine
from benchmarks.timing import jax

VALUE = "value and gradient"


def drawn(n: int) -> Given:
    """A matrix and a vector."""
    rng = np.random.default_rng(0)
    return 0.1 * rng.standard_normal((n, n)), 0.1 * rng.standard_normal(n)


def ours(kind: str) -> Ours:
    """`fixed_point` or `root`."""

    def settled(A: Any, b: Any) -> Any:
        return hb.fixed_point(lambda x: hb.tanh(A @ x) + b, b).sum()

    def solved(A: Any, b: Any) -> Any:
        return hb.root(lambda x: x + hb.tanh(A @ x) - b, b).sum()

    def make(given: Given, made: Made) -> Calls:
        n = hb.Fin.of(len(given[1]))
        f: Any = hb.fun(hb.R ** (n * n), hb.R**n)(settled if kind == "fixed point" else solved)
        both, at = made(hb.value_and_grad(f)), f.dom.vec(given)
        return {VALUE: Call(lambda: both(at))}

    return make


def fixed_in_jax(given: Given) -> Calls:
    """A while_loop, its derivative by custom_root."""
    found = jax()
    xp = found.numpy

    def f(A: Any, b: Any) -> Any:
        def body(x: Any) -> Any:
            return xp.tanh(A @ x) + b

        def solve(_: Any, start: Any) -> Any:
            going = lambda s: xp.max(xp.abs(s[0] - s[1])) > 1e-12  # noqa: E731 - as JAX wants it
            return found.lax.while_loop(going, lambda s: (body(s[0]), s[0]), (body(start), start))[0]

        return found.lax.custom_root(lambda x: body(x) - x, b, solve, solved).sum()

    return {VALUE: jitted(f, given, gradient((0, 1)))}


def root_in_jax(given: Given) -> Calls:
    """Newton's iteration, its derivative by custom_root."""
    found = jax()
    xp = found.numpy

    def f(A: Any, b: Any) -> Any:
        def solve(g: Any, start: Any) -> Any:
            def newton(s: Any) -> Any:
                x, _ = s
                step = xp.linalg.solve(found.jacfwd(g)(x), g(x))
                return x - step, xp.max(xp.abs(step))

            return found.lax.while_loop(lambda s: s[1] > 1e-12, newton, (start, xp.inf))[0]

        return found.lax.custom_root(lambda x: x + xp.tanh(A @ x) - b, b, solve, solved).sum()

    return {VALUE: jitted(f, given, gradient((0, 1)))}


def solved(g: Any, y: Any) -> Any:
    """The solution of a linear equation g(x) = y."""
    found = jax()
    return found.numpy.linalg.solve(found.jacfwd(g)(y), y)


ROWS = tuple(
    Row(
        f"{kind}, 14 unknowns",
        {**mine(ours(kind)), "jax": peer},
        lambda _: drawn(14),
        lambda: drawn(3),
        tolerance=1e-8,
    )
    for kind, peer in (("fixed point", fixed_in_jax), ("root", root_in_jax))
)
