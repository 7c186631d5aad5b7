"""Griewank's example (theory §8): f(x) = b·sin(aᵀx) with n = m = 10⁶; the derivative is cos(aᵀx)·(b⊗a), never a matrix.

Timed: the derivative at a point, and its application and its adjoint's application to a vector.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from adjoint import adjoint
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, jax
from diff import affine, fun, inner, sin
from hilbert import Fin, R

SIZE = 1_000_000


class In:
    """Tag of an axis."""


class Out:
    """Tag of an axis."""


def lines(options: Options) -> Iterator[Line | str]:
    """The three comparisons, then the memory that they take."""
    domain, codomain = R ** Fin(In, SIZE), R ** Fin(Out, SIZE)
    rng = np.random.default_rng(0)
    a, x, dx, b, dy = (rng.standard_normal(SIZE) for _ in range(5))
    a /= np.sqrt(SIZE)
    av, bv, xv, dxv, dyv = domain.vec(a), codomain.vec(b), domain.vec(x), domain.vec(dx), codomain.vec(dy)
    f = fun(domain)(lambda v: sin(inner(av, v)) * bv)
    linear = affine(f, xv)[1]
    back = adjoint(linear)
    value, cosine = point_by_hand(a, b, x)

    point: dict[str, Callable[[], Any]] = {HAND: partial(point_by_hand, a, b, x), OURS: lambda: affine(f, xv)}
    forward: dict[str, Callable[[], Any]] = {
        HAND: partial(forward_by_hand, a, b, cosine, dx),
        OURS: lambda: linear(dxv).array,
    }
    adjoints: dict[str, Callable[[], Any]] = {
        HAND: partial(adjoint_by_hand, a, b, cosine, dy),
        OURS: lambda: back(dyv).array,
    }
    agree("Griewank value", {HAND: [value], OURS: [affine(f, xv)[0].array]}, 1e-10)
    peer((a, b, x, dx, dy), point, forward, adjoints)
    agree("Griewank forward", {who: [call()] for who, call in forward.items()}, 1e-10)
    agree("Griewank adjoint", {who: [call()] for who, call in adjoints.items()}, 1e-10)
    yield from compare("b·sin(aᵀx), 10⁶: value and derivative", point, options)
    yield from compare("b·sin(aᵀx), 10⁶: forward", forward, options)
    yield from compare("b·sin(aᵀx), 10⁶: adjoint", adjoints, options)
    yield memory(lambda: (affine(f, xv), linear(dxv), back(dyv)))


def point_by_hand(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """The value, and the one number that the derivative adds to a and b."""
    s = a @ x
    return np.sin(s) * b, np.cos(s)


def forward_by_hand(a: Any, b: Any, cosine: Any, dx: Any) -> Any:
    """(c·(b⊗a)) dx as d·b with d = c·(a⊙dx)."""
    return (cosine * (a @ dx)) * b


def adjoint_by_hand(a: Any, b: Any, cosine: Any, dy: Any) -> Any:
    """(c·(a⊗b)) dy."""
    return (cosine * (b @ dy)) * a


def peer(
    arrays: tuple[Any, ...],
    point: dict[str, Callable[[], Any]],
    forward: dict[str, Callable[[], Any]],
    adjoints: dict[str, Callable[[], Any]],
) -> None:
    """JAX, where it is installed: linearised at the point, and compiled."""
    found = jax()
    if found is None:
        return
    a, b, x, dx, dy = found.device_put(arrays)

    def f(v: Any) -> Any:
        return found.numpy.sin(a @ v) * b

    value_of = found.jit(f)
    _, linear = found.linearize(f, x)
    _, back = found.vjp(f, x)
    push, pull = found.jit(linear), found.jit(lambda w: back(w)[0])
    point["jax (linearize)"] = lambda: found.block_until_ready(found.linearize(value_of, x)[0])
    forward["jax (jit)"] = lambda: found.block_until_ready(push(dx))
    adjoints["jax (jit)"] = lambda: found.block_until_ready(pull(dy))


def memory(call: Callable[[], object]) -> str:
    """The peak of new memory; raises ValueError if it is more than a few vectors."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1] // 8
    tracemalloc.stop()
    if peak > 10 * SIZE:
        msg = f"Griewank: a peak of {peak} entries for vectors of {SIZE}"
        raise ValueError(msg)
    return f"b·sin(aᵀx): peak of all new arrays {peak:,} entries; n·m would be {SIZE * SIZE:,}"
