"""Five nonlinear programs with sparse derivatives, at any size: three of Lukšan & Vlček, two of COPS.

Each gives min f(x) with g(x) = 0 and h(x) ≤ 0, and a start. The programs of Lukšan and Vlček are 5.1, 5.3 and 5.4 of
"Sparse and partially separable test problems for unconstrained and equality constrained optimization" (1999), those of
COPS the surface of least area over an obstacle, and the steering of a particle in least time (Dolan, Moré & Munson
2004), by the trapezoidal rule.

    python docs/examples/sparse_programs.py [NAME] [SIZE]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb

Line: TypeAlias = hb.Vector[hb.Anonymous]
Row: TypeAlias = hb.Expr[Line]
Time: TypeAlias = hb.Expr[hb.Scalar]
Program: TypeAlias = tuple[hb.NonlinearProgram[Any], hb.Vec[Any]]


def chained_rosenbrock(n: int) -> Program:
    """5.1: Rosenbrock's function in a chain, with trigonometric and exponential constraints."""
    V = hb.R ** hb.Fin.of(n)

    def f(x: Row) -> Time:
        return (100.0 * (x[:-1] ** 2 - x[1:]) ** 2 + (x[:-1] - 1.0) ** 2).sum()

    def g(x: Row) -> Row:
        a, b, c = x[:-2], x[1:-1], x[2:]
        return 3.0 * b**3 + 2.0 * c - 5.0 + hb.sin(b - c) * hb.sin(b + c) + 4.0 * b - a * hb.exp(a - b) - 3.0

    return hb.nlp(hb.fun(V)(f), equal=hb.fun(V)(g)), V.vec(np.resize([-1.2, 1.0], n))


def chained_powell(n: int) -> Program:
    """5.3: Powell's singular function in a chain; n is even. Two constraints, at the ends."""
    V = hb.R ** hb.Fin.of(n)

    def f(x: Row) -> Time:
        a, b, c, d = x[0 : n - 3 : 2], x[1 : n - 2 : 2], x[2 : n - 1 : 2], x[3:n:2]
        return ((a + 10.0 * b) ** 2 + 5.0 * (c - d) ** 2 + (b - 2.0 * c) ** 4 + 10.0 * (a - d) ** 4).sum()

    def g(x: Row) -> tuple[Time, Time]:
        first = 3.0 * x[0] ** 3 + 2.0 * x[1] - 5.0 + hb.sin(x[0] - x[1]) * hb.sin(x[0] + x[1])
        return first, 4.0 * x[-1] - x[-2] * hb.exp(x[-2] - x[-1]) - 3.0

    return hb.nlp(hb.fun(V)(f), equal=hb.fun(V)(g)), V.vec(np.resize([3.0, -1.0, 0.0, 1.0], n))


def chained_cragg(n: int) -> Program:
    """5.4: the function of Cragg and Levy in a chain; n is even. Tridiagonal constraints."""
    V = hb.R ** hb.Fin.of(n)

    def f(x: Row) -> Time:
        a, b, c, d = x[0 : n - 3 : 2], x[1 : n - 2 : 2], x[2 : n - 1 : 2], x[3:n:2]
        return ((hb.exp(a) - b) ** 4 + 100.0 * (b - c) ** 6 + hb.tan(c - d) ** 4 + a**8 + (d - 1.0) ** 2).sum()

    def g(x: Row) -> Row:
        a, b, c = x[:-2], x[1:-1], x[2:]
        return 8.0 * b * (b**2 - a) - 2.0 * (1.0 - b) + 4.0 * (b - c**2)

    start = np.full(n, 2.0)
    start[0] = 1.0
    return hb.nlp(hb.fun(V)(f), equal=hb.fun(V)(g)), V.vec(start)


def minimal_surface(n: int) -> Program:
    """The least area over the unit square with 1 − (2x − 1)² on two sides, above a block of height 1; about n nodes."""
    k = max(round(n**0.5), 3)
    ids = np.arange(k * k, dtype=np.intp).reshape(k, k)
    node = hb.Fin.of(k * k)
    V, steps = hb.R**node, float(k - 1)
    cells = ids[:-1, :-1], ids[1:, :-1], ids[:-1, 1:], ids[1:, 1:]
    corners: list[hb.LinMap[Line, Line]] = [hb.gather(part.ravel(), node) for part in cells]
    rim = np.concatenate([ids[0], ids[-1], ids[1:-1, 0], ids[1:-1, -1]])
    edge: hb.LinMap[Line, Line] = hb.gather(rim, node)
    y, x = (a.ravel() for a in np.mgrid[0 : 1 : k * 1j, 0 : 1 : k * 1j])
    bow = 1.0 - (2.0 * x - 1.0) ** 2
    height = edge.cod.vec(np.where((y == 0.0) | (y == 1.0), bow, 0.0)[rim])
    block = V.vec(np.where((abs(x - 0.5) <= 0.25) & (abs(y - 0.5) <= 0.25), 1.0, 0.0))

    def area(z: Row) -> Time:
        a, b, c, d = (corner(z) for corner in corners)
        lower = hb.sqrt(1.0 + ((c - a) * steps) ** 2 + ((b - a) * steps) ** 2)
        upper = hb.sqrt(1.0 + ((d - b) * steps) ** 2 + ((d - c) * steps) ** 2)
        return (lower + upper).sum() / (2.0 * steps * steps)

    p = hb.nlp(hb.fun(V)(area), equal=hb.fun(V)(lambda z: edge(z) - height), at_most=hb.fun(V)(lambda z: block - z))
    return p, V.vec(bow)


Flight: TypeAlias = hb.DirectSum[hb.Scalar, Line, Line, Line, Line, Line]


def steering(n: int) -> Program:
    """A particle under a thrust of size 100 is steered from rest at 0 to height 5 with the speed 45; n/5 moments."""
    k = max(n // 5, 3)
    L = hb.R ** hb.Fin.of(k)
    V: Flight = hb.direct_sum(hb.R, L, L, L, L, L)

    def g(t: Time, u: Row, x: Row, y: Row, dx: Row, dy: Row) -> Any:  # more results than checkers know types of
        half = t / (2.0 * (k - 1))

        def rule(q: Row, rate: Row) -> Row:
            return q[1:] - q[:-1] - half * (rate[1:] + rate[:-1])

        steps = rule(x, dx), rule(y, dy), rule(dx, 100.0 * hb.cos(u)), rule(dy, 100.0 * hb.sin(u))
        return *steps, x[0], y[0], dx[0], dy[0], y[-1] - 5.0, dx[-1] - 45.0, dy[-1]

    def h(t: Time, u: Row, *_: Row) -> tuple[Row, Row, Time]:
        return u - np.pi / 2.0, -u - np.pi / 2.0, -t

    s = np.linspace(0.0, 1.0, k)
    start = V.vec((1.0, np.zeros(k), 0.0 * s, 5.0 * s, 45.0 * s, 0.0 * s))
    return hb.nlp(hb.project(V, 0), equal=hb.fun.over(V)(g), at_most=hb.fun.over(V)(h)), start


PROGRAMS: dict[str, Callable[[int], Program]] = {
    made.__name__: made for made in (chained_rosenbrock, chained_powell, chained_cragg, minimal_surface, steering)
}


def main() -> None:
    """Print the sizes of a program, and the times of its first and second Hessian, the making of it among the first.

    A small one goes before, so that the modules of the library are loaded.
    """
    names = [sys.argv[1]] if sys.argv[1:] else list(PROGRAMS)
    size = int(sys.argv[2]) if sys.argv[2:] else 100_000
    small, v = PROGRAMS[names[0]](60)
    small.hessian(small.x0(v), np.ones(small.count))
    for name in names:
        start = time.process_time()
        p, v = PROGRAMS[name](size)
        x, multipliers = p.x0(v), np.ones(p.count)
        entries = p.hessian(x, multipliers, 1.0)
        first = time.process_time()
        p.hessian(x, multipliers, 1.0)
        second = time.process_time()
        p.jacobian(x)
        third = time.process_time()
        print(f"{name}: {p.size} unknowns, {p.count} constraints. Hessian of {len(entries)} entries: ", end="")
        print(f"{1e3 * (first - start):.0f} ms, then {1e3 * (second - first):.1f} ms. Jacobian of ", end="")
        print(f"{len(p.jacobianstructure()[0])} entries: {1e3 * (third - second):.0f} ms")


if __name__ == "__main__":
    main()
