"""The cost of Python: calls on scalars, where the arithmetic itself takes next to no time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, jax
from diff import affine, cos, exp, fun, program, sin, tanh
from diff.trace.expr import Expr
from hilbert import Field, R
from linmap import compose, scale

BARE = "python floats"
NODES = 10


def body(x: Expr[Field]) -> Expr[Field]:
    """Ten operations: five primitives, four products, one sum."""
    y = sin(x) * cos(x)
    z = tanh(y) * exp(y)
    return (z + y) * sin(z) * x


def lines(options: Options) -> Iterator[Line | str]:
    """A program of ten steps, its derivative at a point, and a closed linear map of ten arcs."""
    f = fun(R)(body)
    nodes = len(program(f).steps)
    x, array = R.vec(0.7), np.asarray(0.7)
    candidates: dict[str, Callable[[], Any]] = {
        HAND: lambda: in_library(np, array),
        OURS: lambda: f(x),
        BARE: lambda: in_library(math, 0.7),
    }
    found = jax()
    if found is not None:
        compiled, here = found.jit(lambda v: in_library(found.numpy, v)), found.numpy.asarray(array)
        candidates["jax (jit)"] = lambda: found.block_until_ready(compiled(here))
    agree("program of ten steps", {who: [float(call())] for who, call in candidates.items()}, 1e-12)
    yield from compare(f"f(x), {nodes} scalar steps", candidates, options)

    point: dict[str, Callable[[], Any]] = {
        HAND: lambda: in_library(np, array),
        OURS: lambda: affine(f, x),
    }
    yield from compare("value of f and f'(x) as a linear map", point, options)

    factors = [1.0 + k / 10 for k in range(NODES)]
    chain = compose([scale(k, R) for k in factors])
    linear: dict[str, Callable[[], Any]] = {
        HAND: lambda: scaled(factors, array),
        OURS: lambda: chain(x),
    }
    agree("chain of ten scalings", {who: [float(call())] for who, call in linear.items()}, 1e-12)
    yield from compare(f"closed linear map, {NODES} arcs", linear, options)
    at = affine(f, x)[1]
    yield from compare("f'(x)(dx) at a point", {HAND: lambda: scaled(factors, array), OURS: lambda: at(x)}, options)


def in_library(xp: Any, x: Any) -> Any:
    """`body` in numpy, math or JAX."""
    y = xp.sin(x) * xp.cos(x)
    z = xp.tanh(y) * xp.exp(y)
    return (z + y) * xp.sin(z) * x


def scaled(factors: list[float], x: Any) -> Any:
    """One product after the other."""
    for k in factors:
        x = x * k
    return x
