"""Functions written entry by entry, `x[i]` in Python's loops, from the text to the first sparse Jacobian or Hessian.

CasADi's SX is made for such texts. Both are given the same Python functions; the first call is traced, differentiated
and run, and a second point follows.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.timing import OURS, Line, Options, agree, duration, optional

LIMIT = 5.0
"""So much of CasADi's time may the first call take."""


def rosenbrock(_: Any, x: Any, n: int) -> Any:
    """A number."""
    return sum((1 - x[i]) ** 2 + 100 * (x[i + 1] - x[i] ** 2) ** 2 for i in range(n - 1))


def broyden(_: Any, x: Any, n: int) -> list[Any]:
    """Broyden's tridiagonal system, its ends apart."""
    ends = [(3 - 2 * x[0]) * x[0] - 2 * x[1] + 1, (3 - 2 * x[n - 1]) * x[n - 1] - x[n - 2] + 1]
    return [(3 - 2 * x[i]) * x[i] - x[i - 1] - 2 * x[i + 1] + 1 for i in range(1, n - 1)] + ends


def waves(lib: Any, x: Any, n: int) -> list[Any]:
    """The right side of a differential equation on a ring."""
    return [lib.sin(x[i - 1] * x[i]) + 100 * (x[(i + 1) % n] - 2 * x[i] + x[i - 1]) - x[i] ** 3 for i in range(1, n)]


def arm(lib: Any, x: Any, n: int) -> list[Any]:
    """The end of an arm of n links."""
    angle, along, up = x[0], lib.cos(x[0]), lib.sin(x[0])
    for i in range(1, n):
        angle = angle + x[i]
        along, up = along + lib.cos(angle), up + lib.sin(angle)
    return [along, up]


TEXTS: dict[str, Callable[[Any, Any, int], Any]] = {
    "Rosenbrock, sparse Hessian": rosenbrock,
    "Broyden, sparse Jacobian": broyden,
    "waves, sparse Jacobian": waves,
    "arm, sparse Jacobian": arm,
}


def ours(text: Callable[[Any, Any, int], Any], n: int) -> Callable[[Any], Any]:
    """Traced; the second derivative of a number, the first of a list."""
    V = hb.R ** hb.Fin.of(n)
    if text is rosenbrock:
        f = hb.fun(V)(lambda x: text(hb, x, n))
        return lambda x: hb.hessian(f, V.vec(x), as_="sparse")
    count = len(text(np, np.zeros(n), n))
    many: Any = hb.fun(V)(lambda x: hb.stack(hb.Fin.of(count))(*text(hb, x, n)))
    return lambda x: hb.jacobian(many, V.vec(x), as_="sparse")


def by_casadi(text: Callable[[Any, Any, int], Any], n: int) -> Callable[[Any], Any]:
    """Its virtual machine."""
    ca = optional("casadi")
    x = ca.SX.sym("x", n)
    made = text(ca, x, n)
    derived = ca.hessian(made, x)[0] if text is rosenbrock else ca.jacobian(ca.vertcat(*made), x)
    return ca.Function("derived", [x], [derived])  # type: ignore[no-any-return]


def lines(options: Options) -> Iterator[Line | str]:
    """n = 100, 1,000, 10,000: the least of three first calls in turns, and of ten calls at another point."""
    if optional("casadi") is None or optional("scipy") is None:
        yield "entries: casadi or scipy is not installed"
        return
    makers = {"casadi": by_casadi, OURS: ours}
    for name, text in TEXTS.items():
        for n in (100, 1_000, *(() if options.quick else (10_000,))):
            point, first, later = np.linspace(0.1, 0.9, n), dict[str, float](), dict[str, float]()
            results: dict[str, Any] = {}
            for _ in range(3):
                for who, make in makers.items():
                    gc.collect()
                    start = options.clock()
                    f = make(text, n)
                    results[who] = f(point)
                    first[who] = min(options.clock() - start, first.get(who, np.inf))
                    for k in range(10):
                        start = options.clock()
                        f(point + 0.01 * k)
                        later[who] = min(options.clock() - start, later.get(who, np.inf))
            both = [results["casadi"].sparse(), results[OURS]]
            agree(name, {who: [m @ np.cos(np.arange(n))] for who, m in zip(makers, both, strict=True)}, 1e-10)
            for who, seconds in first.items():
                limit = LIMIT if who == OURS else None
                yield Line(f"{name}, n = {n:,}, first call", who, seconds, seconds / first["casadi"], limit)
            points = ", ".join(f"{who} {duration(seconds)}" for who, seconds in later.items())
            yield f"{name}, n = {n:,}, another point: {points}"
