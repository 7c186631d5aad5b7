"""Sparse Jacobians and Hessians whose paths are too many to list: the first call, plan included, and a new point.

Rows: powers of a step of the heat equation and products of tridiagonal matrices, beside scipy's sparse products; the
diagonal of a tridiagonal Hessian, beside a vector written by hand; the Hessian of the Lagrangian of a cart-pole by
RK4, from the Python text to the numbers, beside JAX, which is told by hand that stages do not meet, and gives blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint import grad
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, jax, optional
from diff import cos, derivative, fun, lift, sin
from hilbert import Fin, R
from hilbert.relation import equality, shift
from linmap import compose, diagonal, from_scipy, identity, matrix, red, structure

PEER = "scipy.sparse"
JAX = "jax (jit), blocks"
FIRST, NEXT = f"{OURS}, first", OURS


def lines(options: Options) -> Iterator[Line | str]:
    """All rows; without scipy there is nothing to compare sparse products with."""
    rounds = Options(min(options.rounds, 15), options.quick, options.clock)
    if optional("scipy.sparse") is not None:
        for k in (2, 5) if options.quick else (2, 5, 10):
            yield from powers(k, rounds)
        for n in (4000,) if options.quick else (4000, 100_000):
            yield from products(n, rounds)
    for n in (100_000,) if options.quick else (100_000, 1_000_000):
        yield from diagonals(n, rounds)
    for n in (200,) if options.quick else (200, 20_000):
        yield from cart_pole(n, rounds)


# --- linear maps ---


def heat(n: int) -> Any:
    """A step of the heat equation on a square."""
    x, y = Fin.of(n), Fin.of(n)
    space = R ** (x * y)
    moved = [red(shift(x, k) * equality(y)) for k in (-1, 1)] + [red(equality(x) * shift(y, k)) for k in (-1, 1)]
    return identity(space) + 0.1 * (sum(moved[1:], moved[0]) - 4 * identity(space))


def powers(k: int, options: Options) -> Iterator[Line | str]:
    """k steps of heat on 64×64 as one sparse matrix."""
    sp = optional("scipy.sparse")
    linalg = optional("scipy.sparse.linalg")
    n = 64
    line, one = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]), sp.eye_array(n)
    around = sp.kron(line, one) + sp.kron(one, line) - 4 * sp.eye_array(n * n)
    step = sp.csr_array(sp.eye_array(n * n) + 0.1 * around)
    f = compose([heat(n)] * k)
    due = linalg.matrix_power(step, k)
    agree("heat", {OURS: [matrix(f, "sparse").toarray()], PEER: [due.toarray()]}, 1e-13)
    yield f"heat on 64×64, {k} steps: {structure(f)}; scipy has {due.nnz}"
    rows: dict[str, Callable[[], Any]] = {
        PEER: lambda: linalg.matrix_power(step, k),
        FIRST: lambda: matrix(compose([heat(n)] * k), "sparse"),
        NEXT: lambda: matrix(f, "sparse"),
    }
    yield from compare(f"heat on 64×64, {k} steps", rows, options, baseline=PEER, limit=5.0)


def products(n: int, options: Options) -> Iterator[Line | str]:
    """Products of tridiagonal matrices."""
    sp = optional("scipy.sparse")
    rng = np.random.default_rng(0)
    space = Fin.of(n)
    T_ = sp.csr_array(sp.diags_array([rng.standard_normal(n - abs(k)) for k in (-1, 0, 1)], offsets=[-1, 0, 1]))
    T = from_scipy(T_, space, space)
    f, due = T @ T @ T, T_ @ T_ @ T_
    due.sort_indices()
    found = matrix(f, "sparse")
    agree("T·T·T", {OURS: [found.data, found.indices], PEER: [due.data, due.indices]}, 1e-12)
    rows: dict[str, Callable[[], Any]] = {
        PEER: lambda: T_ @ T_ @ T_,
        FIRST: lambda: matrix(T @ T @ T, "sparse"),
        NEXT: lambda: matrix(f, "sparse"),
    }
    yield from compare(f"T·T·T, n = {n:,}", rows, options, baseline=PEER, limit=5.0)


# --- derivatives ---


def diagonals(n: int, options: Options) -> Iterator[Line]:
    """The diagonal of the Hessian of a chain of springs, at a new point."""
    space = R ** Fin.of(n)
    rng = np.random.default_rng(0)
    points = itertools.cycle([rng.standard_normal(n) for _ in range(4)])
    on_springs: Any = fun(space)
    d = derivative(grad(on_springs(lambda x: ((x[1:] - x[:-1]) ** 4).sum() + cos(x).sum())))

    def ours(x: Any) -> Any:
        return diagonal(d.at(space.vec(x))).array

    def hand(x: Any) -> Any:
        pulls = 12 * (x[1:] - x[:-1]) ** 2
        found = -np.cos(x)
        found[1:] += pulls
        found[:-1] += pulls
        return found

    x = next(points)
    agree("diagonal", {OURS: [ours(x)], HAND: [hand(x)]}, 1e-13)
    rows: dict[str, Callable[[], Any]] = {HAND: lambda: hand(next(points)), OURS: lambda: ours(next(points))}
    yield from compare(f"diagonal of a tridiagonal Hessian, n = {n:,}", rows, options, limit=3.0)


def rk4(x: tuple[Any, ...], u: Any, h: float, sin: Any, cos: Any) -> tuple[Any, ...]:
    """One step of a cart (position, speed) and its pole (angle, speed) under the force u."""

    def rates(state: tuple[Any, ...]) -> tuple[Any, ...]:
        _, angle, speed, turn = state
        s, c = sin(angle), cos(angle)
        mass = 1.0 + 0.1 * s * s
        push = (u + 0.1 * s * (0.5 * turn * turn + 9.81 * c)) / mass
        twist = (-1.0 * (u * c) - 0.05 * turn * turn * c * s - 10.791 * s) / (0.5 * mass)
        return speed, turn, push, twist

    def after(k: float, rate: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(a + k * b for a, b in zip(x, rate, strict=True))

    first = rates(x)
    second = rates(after(0.5 * h, first))
    third = rates(after(0.5 * h, second))
    last = rates(after(h, third))
    steps = zip(x, first, second, third, last, strict=True)
    return tuple(a + (h / 6) * (p + 2.0 * q + 2.0 * r + s) for a, p, q, r, s in steps)


def stage(*z: Any, sin: Any = sin, cos: Any = cos) -> Any:
    """Cost and defect of one stage: state, control, multipliers, next state."""
    x, u, multipliers, following = z[:4], z[4], z[5:9], z[9:]
    total = 0.005 * u * u
    for a, b, c, m in zip(x, rk4(x, u, 0.02, sin, cos), following, multipliers, strict=True):
        total = total + 0.5 * a * a + m * (c - b)
    return total


def lagrangian(stages: int) -> Any:
    """Of the states at all times, the controls and the multipliers."""
    inner, times = Fin.of(stages), Fin.of(stages + 1)
    each = lift(fun(*[R] * 13)(stage), inner, over=tuple(range(13)))

    def whole(*z: Any) -> Any:
        x, u, multipliers = z[:4], z[4], z[5:]
        arguments = [*(a[:stages] for a in x), u, *multipliers, *(a[1:] for a in x)]
        return each(*arguments).sum()

    spaces = [R**times] * 4 + [R**inner] * 5
    return fun(*spaces)(whole)


def cart_pole(stages: int, options: Options) -> Iterator[Line | str]:
    """The Hessian in states, controls and multipliers: from the text to the numbers, and at a new point."""
    rng = np.random.default_rng(0)
    space = lagrangian(stages).dom
    points = itertools.cycle([[rng.standard_normal(leaf.shape) for leaf in space.leaves] for _ in range(4)])
    d = derivative(grad(lagrangian(stages)))

    def ours(d: Any, z: list[Any]) -> Any:
        return matrix(d.at(space.vec(tuple(z))), "sparse")

    rows: dict[str, Callable[[], Any]] = {
        FIRST: lambda: ours(derivative(grad(lagrangian(stages))), next(points)),
        NEXT: lambda: ours(d, next(points)),
    }
    found = jax()
    if found is not None:

        def one(z: Any) -> Any:
            return stage(*z, sin=found.numpy.sin, cos=found.numpy.cos)

        blocks = found.jit(found.vmap(found.hessian(one)))

        def columns(z: list[Any]) -> Any:
            return np.stack([*(a[:-1] for a in z[:4]), *z[4:], *(a[1:] for a in z[:4])], axis=1)

        rows[JAX] = lambda: found.block_until_ready(blocks(columns(next(points))))
        z = next(points)
        agree("cart-pole", {OURS: [ours(d, z).sum()], JAX: [np.asarray(blocks(columns(z))).sum()]}, 1e-9)
    yield f"cart-pole, {stages:,} stages: {ours(d, next(points)).nnz} entries"
    what = f"Hessian of a cart-pole, {stages:,} stages"
    yield from compare(what, rows, options, baseline=JAX if found is not None else NEXT)
