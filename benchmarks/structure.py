"""Jacobians in the form that the term proves, against jitted JAX, which is given nothing but the function.

Each call starts at a new point and ends with the numbers in memory and one product with them. Rows: element-wise sin at
n = 4000 (diagonal), a bow-tie network 4000 → 4 → 4000 (rank 4, as factors and as a dense array).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.timing import OURS, Line, Options, agree, compare, jax
from diff import derivative, fun, sin, tanh
from hilbert import Fin, R
from linmap import factors, matrix

SIZE, WAIST = 4000, 4
PEER = "jax (jit)"


def lines(options: Options) -> Iterator[Line | str]:
    """Both functions; without JAX there is nothing to compare with."""
    if jax() is None:
        yield "structure: JAX is not installed, nothing to compare with"
        return
    rounds = Options(min(options.rounds, 9), options.quick)
    rng = np.random.default_rng(0)
    points = itertools.cycle([rng.standard_normal(SIZE) for _ in range(8)])
    v = rng.standard_normal(SIZE)
    yield from elementwise(points, v, rounds)
    yield from bow_tie(points, v, rng, rounds)


def elementwise(points: Iterator[Any], v: Any, options: Options) -> Iterator[Line]:
    """sin at n = 4000: a diagonal, as a CSR array, and one product."""
    found = jax()
    space = R ** Fin.of(SIZE)
    d = derivative(sin**space.index)
    jacobian = found.jit(found.jacobian(found.numpy.sin))

    def ours(x: Any) -> Any:
        return matrix(d.at(space.vec(x))) @ v

    def peer(x: Any) -> Any:
        return found.block_until_ready(jacobian(x) @ v)

    x = next(points)
    agree("sin", {OURS: [ours(x)], PEER: [peer(x)]}, 1e-10)
    rows: dict[str, Callable[[], Any]] = {PEER: lambda: peer(next(points)), OURS: lambda: ours(next(points))}
    yield from compare("Jacobian of sin, n = 4000, one product", rows, options, baseline=PEER, limit=1 / 300)


def bow_tie(points: Iterator[Any], v: Any, rng: Any, options: Options) -> Iterator[Line]:
    """tanh(U⋆tanh(W⋆x)): rank 4, as factors applied once, and as a dense array."""
    found = jax()
    wide, waist = Fin.of(SIZE), Fin.of(WAIST)
    u, w = rng.standard_normal((SIZE, WAIST)), rng.standard_normal((WAIST, SIZE)) / np.sqrt(SIZE)
    U: Any = (R ** (wide * waist)).vec(u)
    W: Any = (R ** (waist * wide)).vec(w)
    space = R**wide
    d = derivative(fun(space)(lambda x: tanh(U @ tanh(W @ x))))

    def network(x: Any) -> Any:
        return found.numpy.tanh(u @ found.numpy.tanh(w @ x))

    forward, backward = found.jit(found.jacfwd(network)), found.jit(found.jacrev(network))

    def ours(x: Any) -> Any:
        left, right = factors(d.at(space.vec(x)))
        return (right.array @ v) @ left.array

    def dense(x: Any) -> Any:
        return matrix(d.at(space.vec(x)), as_="array")

    def peer(jacobian: Any, x: Any) -> Any:
        return found.block_until_ready(jacobian(x))

    x = next(points)
    agree("bow-tie", {OURS: [ours(x)], PEER: [peer(forward, x) @ v]}, 1e-9)
    agree("bow-tie, dense", {OURS: [dense(x)], PEER: [peer(backward, x)]}, 1e-9)
    rows: dict[str, Callable[[], Any]] = {
        "jax jacfwd": lambda: peer(forward, next(points)),
        "jax jacrev": lambda: peer(backward, next(points)),
        OURS: lambda: ours(next(points)),
    }
    yield from against_best("bow-tie 4000 → 4 → 4000, rank 4", rows, options, 1 / 50)
    rows[OURS] = lambda: dense(next(points))
    yield from against_best("bow-tie 4000 → 4 → 4000, dense", rows, options, 1 / 1.7)


def against_best(what: str, rows: dict[str, Callable[[], Any]], options: Options, limit: float) -> Iterator[Line]:
    """The lines of one comparison, with ratios to the better of the peers."""
    found = list(compare(what, rows, options, baseline=OURS))
    best = min(line.seconds for line in found if line.who != OURS)
    for line in found:
        yield Line(line.what, line.who, line.seconds, line.seconds / best, limit if line.who == OURS else None)
