"""A composition of 10⁵ functions K → K: what each operation takes, and how it grows from 10⁴ (10 would be linear)."""

from __future__ import annotations

import gc
import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from adjoint import grad
from benchmarks.timing import Line, Options, agree
from diff import asinh, derivative, exp, log, program, sinh
from hilbert import Map, R
from linmap import compose, scale

T = TypeVar("T")
SMALL, LARGE = 10_000, 100_000
WARM_UP = 100
REPEATS = 5
LIMIT = 13.0
TOLERANCE = 1e-8  # rounding errors of 10⁵ steps
SIZE_LIMIT = 4.0
CYCLE = (exp, log, scale(2.0, R), sinh, asinh, scale(0.5, R))  # value and slope stay in range at any length


def lines(options: Options) -> Iterator[Line | str]:
    """Every operation at both sizes; the ratio is between the shortest times. --quick stops at a tenth of the size."""
    sizes = (SMALL // 10, LARGE // 10) if options.quick else (SMALL, LARGE)
    operations(WARM_UP, options.clock)
    taken: dict[int, list[dict[str, float]]] = {n: [] for n in sizes}
    for _ in range(REPEATS):
        for n in sizes:
            taken[n].append(operations(n, options.clock))
    small, large = sizes
    for what in taken[small][0]:
        a, b = (min(times[what] for times in taken[n]) for n in sizes)
        yield Line(f"composition: {what}", f"n = {small:,}", a)
        yield Line(f"composition: {what}", f"n = {large:,}", b, b / a, LIMIT)
    f = compose(parts(small))
    steps, derived = len(program(f).steps), size_of_derivative(f)
    if derived > SIZE_LIMIT * steps:
        msg = f"the derivative of {steps} steps has {derived}"
        raise ValueError(msg)
    yield f"composition: {steps:,} steps, its derivative {derived:,} steps and arcs"


def parts(n: int) -> list[Map[Any, Any]]:
    """The functions, the one applied first last: primitives and linear maps in turn."""
    return [CYCLE[k % len(CYCLE)] for k in reversed(range(n))]


def size_of_derivative(f: Map[Any, Any]) -> int:
    """Steps of the program and arcs of the body."""
    d = derivative(f)
    return len(d.program.steps) + len(d.body.arcs)


def operations(n: int, clock: Callable[[], float]) -> dict[str, float]:
    """Seconds for each operation, every one on fresh terms; checks results on the way."""
    times: dict[str, float] = {}

    def timed(what: str, call: Callable[[], T]) -> T:
        start = clock()
        result = call()
        times[what] = clock() - start
        return result

    fs = parts(n)
    x = R.vec(0.7)
    gc.collect()
    gc.disable()
    try:
        f = timed("compose(fs)", lambda: compose(fs))
        g = timed("repeated @", lambda: repeated(fs))
        timed("hash", lambda: hash(f))
        same = timed("compare", lambda: f == g)
        copied = timed("pickle and unpickle", lambda: pickle.loads(pickle.dumps(f)))  # noqa: S301 - our own bytes
        timed("lower to a program", lambda: program(f))
        timed("run, first time", lambda: f(x))
        value = timed("run", lambda: f(x))
        d = timed("derivative", lambda: derivative(f))
        gradient = timed("gradient", lambda: grad(f))
        timed("run the gradient, first time", lambda: gradient(x))
        slope = timed("run the gradient", lambda: gradient(x))
        e = derivative(g)
        same &= timed("compare the derivatives", lambda: d == e)
        timed("pickle and unpickle the derivative", lambda: pickle.loads(pickle.dumps(d)))  # noqa: S301 - our own bytes
        timed("print", lambda: str(f))
        timed("print the derivative", lambda: str(d))
        timed("print the gradient", lambda: str(gradient))
    finally:
        gc.enable()
    if not same or copied != f:
        msg = "compositions of the same functions differ"
        raise ValueError(msg)
    by_hand = dual_numbers(n, float(x))
    agree("composition", {"by hand": by_hand, "hilbert": (float(value), float(slope))}, TOLERANCE)
    return times


def repeated(fs: list[Map[Any, Any]]) -> Map[Any, Any]:
    """The composition, one `@` at a time."""
    f = fs[0]
    for g in fs[1:]:
        f = f @ g
    return f


def dual_numbers(n: int, x: float) -> tuple[float, float]:
    """Value and derivative, forward in Python."""
    slope = 1.0
    for k in range(n):
        match k % len(CYCLE):
            case 0:
                x = math.exp(x)
                slope *= x
            case 1:
                x, slope = math.log(x), slope / x
            case 2:
                x, slope = 2 * x, 2 * slope
            case 3:
                x, slope = math.sinh(x), slope * math.cosh(x)
            case 4:
                x, slope = math.asinh(x), slope / math.sqrt(x * x + 1)
            case _:
                x, slope = 0.5 * x, 0.5 * slope
    return x, slope
