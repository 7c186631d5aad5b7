"""Linear maps of a parameter, by the structure of their matrices, and what is asked of their systems.

    python -m tests.structured_maps SEED COUNT

draws so many maps, and asks of each: a solution, an inverse and its adjoint, a determinant, first and second
derivatives, and solutions for several right sides, against matrices in full and differences.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb

Piece: TypeAlias = Callable[[Any, Any], Any]
SIZES = 0, 1, 2, 7, 65, 81, 97, 100, 130, 160, 211, 251, 300


def pieces(n: int, rng: np.random.Generator) -> dict[str, Piece]:
    """Functions of p, x ∈ ℝⁿ that are linear in x, by the structure of their matrices."""
    X = hb.Fin.of(n)
    order = hb.Fin.of(n).at(rng.permutation(n), X)
    dense = (hb.R ** (X * X)).vec(rng.standard_normal((n, n)) / max(n, 1))
    found: dict[str, Piece] = {
        "diagonal": lambda p, x: (1.0 + p * p) * x,
        "band": lambda p, x: p * (x.pad(1, 0).crop(0, n) - 0.5 * x.pad(0, 1).crop(1, n + 1)),
        "ring": lambda p, x: p * x.roll(1),
        "rank one": lambda p, x: (p @ x) * hb.sin(p) / max(n, 1),
        "rank two": lambda p, x: (x.sum() * p + (p @ x).rep(x.space)) / max(n, 1),
        "order": lambda p, x: 0.5 * p * x[order],
        "dense": lambda p, x: p * (dense @ x),
        "sums": lambda p, x: x.cumsum() / max(n, 1) + 0.0 * p,
    }
    if n % 5 == 0:
        rows, cols = hb.Fin.of(5), hb.Fin.of(n // 5)
        block = (hb.R ** (rows * rows)).vec(rng.standard_normal((5, 5)) / 5)
        found["blocks"] = lambda p, x: 0.0 * p + (block @ x.reshape(rows * cols)).reshape(X)
    return found


def summed(n: int, of: list[Piece], *, is_squared: bool = False) -> Any:
    """(p, x) ↦ A(p) x for A = 3 + the pieces, or A².  Such matrices are regular for most p."""

    def f(p: Any, x: Any) -> Any:
        return sum((g(p, x) for g in of), 3.0 * x)

    V = hb.R ** hb.Fin.of(n)
    return hb.fun(V, V)((lambda p, x: f(p, f(p, x))) if is_squared else f)


def drawn(rng: np.random.Generator) -> tuple[str, Any]:
    """A random map and its name."""
    n = int(rng.choice(SIZES))
    every = pieces(n, rng)
    names = [str(name) for name in rng.choice(list(every), rng.integers(1, 5), replace=False)]
    is_squared = bool(rng.random() < 0.3)
    return f"{n}: {' + '.join(names)}{' squared' * is_squared}", summed(
        n, [every[k] for k in names], is_squared=is_squared
    )


def ask(f: Any, rng: np.random.Generator) -> None:
    """Compare what is asked of A(p) with the matrix in full, and derivatives with differences."""
    V = f.cod
    p, b = V.random(rng), V.random(rng)
    d = hb.derivative(f, wrt=1)
    at = d.at(p, V.zeros())
    a = hb.matrix(at, "array")
    x, inverse = hb.solve(at, b), hb.linalg.inverse(at)
    close(x.array, np.linalg.solve(a, b.array))
    close(inverse(b).array, x.array)
    close(hb.adjoint(inverse)(b).array, np.linalg.solve(a.T, b.array))
    close(hb.linalg.logdet(at).array, np.linalg.slogdet(a)[1])
    solved = hb.solve(d)
    close(solved(p, V.zeros(), b).array, x.array)
    g = hb.fun(V, V)(lambda p, b: hb.sin(solved(p, V.zeros(), b)).sum() + hb.linalg.logdet(d)(p, V.zeros()))
    slope = hb.grad(g)(p, b)
    for k in range(2):
        v = V.random(rng)

        def value(h: float, k: int = k, v: Any = v) -> Any:
            return g(*(V.vec(w.array + h * v.array) if j == k else w for j, w in enumerate((p, b)))).array

        far, near = ((value(h) - value(-h)) / (2 * h) for h in (2e-6, 1e-6))
        difference = (4.0 * near - far) / 3.0  # without the error in h²
        assert np.isclose(slope.split()[k].array @ v.array, difference, rtol=1e-5, atol=1e-6 * (1 + abs(value(0.0))))


def ask_more(f: Any, rng: np.random.Generator) -> None:
    """Second derivatives beside differences of first ones, and solutions for three right sides beside one by one."""
    V, d = f.cod, hb.derivative(f, wrt=1)
    solved, logdet = hb.solve(d), hb.linalg.logdet(d)
    g = hb.fun(V)(lambda p: solved(p, V.zeros(), V.ones()).sum() + logdet(p, V.zeros()))
    p, v, h = V.random(rng), V.random(rng), 1e-6
    slope = hb.grad(g)
    ends = [slope(V.vec(p.array + s * h * v.array)).array for s in (1, -1)]
    size = 1.0 + np.abs(ends[0]).max(initial=0.0)
    np.testing.assert_allclose(hb.hvp(g)(p, v).array, (ends[0] - ends[1]) / (2 * h), rtol=1e-4, atol=1e-5 * size)
    rows = (V ** hb.Fin.of(3)).random(rng)
    many = hb.lift(hb.fun(V, V)(lambda p, b: solved(p, V.zeros(), b)), hb.Fin.of(3), over=(1,))
    close(many(p, rows).array, np.stack([solved(p, V.zeros(), V.vec(row)).array for row in rows.array]))


def close(a: Any, b: Any) -> None:
    """Compare to ten digits."""
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10 * (1.0 + np.max(np.abs(b), initial=0.0)))


def condition(f: Any, seed: int) -> float:
    """The largest condition number of A(p) at the points that `ask` and `ask_more` draw."""
    V = f.cod
    points = [V.random(np.random.default_rng(seed + k)) for k in (0, 1) if V.dim]
    return max(
        (float(np.linalg.cond(hb.matrix(hb.derivative(f, wrt=1).at(p, V.zeros()), "array"))) for p in points),
        default=1.0,
    )


def main(seed: int, count: int) -> None:
    """Draw maps, ask, and print the methods by which they are solved, and what failed."""
    rng, ways, failed, left_out = np.random.default_rng(seed), Counter[str](), 0, 0
    for k in range(count):
        name, f = drawn(rng)
        number = int(rng.integers(2**31))
        if condition(f, number) > 1e5:
            left_out += 1
            continue
        ways[
            str(hb.cost(hb.solve(hb.derivative(f, wrt=1)))).splitlines()[-1].rpartition(": ")[2].partition(" of")[0]
        ] += 1
        try:
            ask(f, np.random.default_rng(number))
            ask_more(f, np.random.default_rng(number + 1))
        except Exception as error:  # noqa: BLE001 - counted and printed
            failed += 1
            print(f"{k}, {name}, {number}: {type(error).__name__} {str(error)[:300]}", flush=True)
    print(f"{count} maps, {left_out} left out (condition above 10⁵), {failed} failures; {dict(ways)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
