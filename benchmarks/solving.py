"""Systems solved by their structure, beside matrices in full and beside numpy, scipy and lineax by hand.

Figures are minima of processor time, with one thread; candidates take turns. All compute the same, to 10⁻¹⁰ of the
largest entry. Models that end in a system are in `solved_models`,
`hidden_states`, `bundles` and `diffusion`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from scipy import linalg

import hilbert.all as hb
from benchmarks.processor_time import Calls, leaves, table
from benchmarks.timing import OURS, Line, Options, jax, optional

CODE, FULL, LINEAX, BANDS = f"{OURS}, compiled", "dense, one LU", "lineax (jit)", "solveh_banded"


def lines(options: Options) -> Iterator[Line | str]:
    """All rows; with `--quick` without the largest sizes."""
    from benchmarks import bundles, diffusion, hidden_states, solved_models  # which import from here

    rounds = 3 if options.quick else 6
    hb.solve(2.0 * hb.identity(hb.R ** hb.Fin.of(99)), (hb.R ** hb.Fin.of(99)).ones())  # loads scipy
    yield from five(1500, rounds)
    for n in (10_000,) if options.quick else (10_000, 100_000):
        yield from newton(n, rounds)
    yield from solved_models.rows(rounds, quick=options.quick)
    yield from hidden_states.rows(rounds, quick=options.quick)
    yield from bundles.rows(rounds, quick=options.quick)
    yield from diffusion.rows(rounds, quick=options.quick)


def first(make: Callable[[], Callable[[], object]]) -> float:
    """The processor time from the text to the first value."""
    gc.collect()
    start = time.process_time()
    make()()
    return time.process_time() - start


# --- five systems ---


@frozen
class System:
    """A(p) x, the matrix in full, and the derivative of λᵀA(p)x in p."""

    name: str
    limit: float
    spaces: tuple[Any, Any]
    applied: Callable[[Any, Any], Any]
    matrix: Callable[[Any], Any]
    slope: Callable[[Any, Any, Any], Any]


def systems(n: int) -> Iterator[System]:
    """A diagonal and terms of rank one, a diagonal, a chain, a Kronecker product, and a ring."""
    V, ks, eye = hb.R ** hb.Fin.of(n), (1, 2, 3, 4), np.eye(n)

    def ranks(p: Any, x: Any) -> Any:
        return sum(((hb.sin(k * p) @ x) / n * hb.cos(k * p) for k in ks), (3.0 + p * p) * x)

    def ranks_slope(p: Any, x: Any, y: Any) -> Any:
        made = 2.0 * p * x * y
        for k in ks:
            s, c = np.sin(k * p), np.cos(k * p)
            made += k / n * (c * x * (y @ c) - s * y * (s @ x))
        return made

    def ranks_full(p: Any) -> Any:
        return np.diag(3.0 + p * p) + np.cos(np.outer(p, ks)) @ np.sin(np.outer(ks, p)) / n

    yield System("diagonal + 4 of rank one", 1 / 50, (V, V), ranks, ranks_full, ranks_slope)
    yield System(
        "diagonal",
        1 / 50,
        (V, V),
        lambda p, x: (3.0 + p * p) * x,
        lambda p: np.diag(3.0 + p * p),
        lambda p, x, y: 2.0 * p * x * y,
    )

    def chained(p: Any, x: Any) -> Any:
        back, ahead = x[:-1].pad(1, 0, to=V.index), x[1:].pad(0, 1, to=V.index)
        return (3.0 + p * p) * x + p * (back - 0.5 * ahead)

    apart = np.eye(n, k=-1) - 0.5 * np.eye(n, k=1)
    yield System(
        "chain",
        1 / 50,
        (V, V),
        chained,
        lambda p: np.diag(3.0 + p * p) + p[:, None] * apart,
        lambda p, x, y: y * (2.0 * p * x + np.r_[0.0, x[:-1]] - 0.5 * np.r_[x[1:], 0.0]),
    )
    rows, cols = hb.Fin.of(30), hb.Fin(Other, n // 30)
    C, few = hb.R**cols, np.eye(n // 30)
    yield System(
        "5·id + A ⊗ id, A of 30 rows",
        1 / 50,
        ((hb.R**rows) ** rows, hb.R ** (rows * cols)),
        lambda a, x: 5.0 * x + hb.uncurry(C**rows)(hb.each(lambda row: x.T @ row, a)),
        lambda a: 5.0 * eye + np.kron(a, few),
        lambda _, x, y: y @ x.T,
    )
    yield System(
        "ring",
        1 / 25,
        (V, V),
        lambda p, x: (3.0 + p * p) * x + p * x.roll(1),
        lambda p: np.diag(3.0 + p * p) + p[:, None] * np.roll(eye, 1, 0),
        lambda p, x, y: y * (2.0 * p * x + np.roll(x, 1)),
    )


class Other:
    """The second index of a matrix."""


def five(n: int, rounds: int) -> Iterator[Line | str]:
    """Σ sin(A(p)⁻¹b) with its gradient in p and b, beside a matrix in full whose factors serve the adjoint, too."""
    rng = np.random.default_rng(0)
    for system in systems(n):
        P, X = system.spaces
        d: Any = hb.derivative(hb.fun(P, X)(system.applied), wrt=1)
        solve: Any = hb.solve(d)
        zero = X.zeros()
        f: Any = hb.fun(P, X)(lambda p, b, solve=solve, zero=zero: hb.sin(solve(p, zero, b)).sum())
        p, b = P.random(rng), X.random(rng)

        def hand(of: System = system, p: Any = p.array, b: Any = b.array) -> Sequence[Any]:
            factors = linalg.lu_factor(of.matrix(p), overwrite_a=True, check_finite=False)
            x = linalg.lu_solve(factors, b.ravel(), check_finite=False).reshape(b.shape)
            y = linalg.lu_solve(factors, np.cos(x).ravel(), trans=1, check_finite=False).reshape(b.shape)
            return [np.sin(x).sum(), -of.slope(p, x, y), y]

        calls: Calls = {OURS: leaves(hb.value_and_grad(f), p, b), FULL: hand}
        yield str(hb.cost(solve)).splitlines()[-1]
        yield from table(f"{system.name}, n = {n}", calls, rounds, [(OURS, FULL, system.limit)], FULL)


# --- a step of Newton's iteration ---


def step(n: int) -> Any:
    """x − H⁻¹∇f(x) for f(x) = Σ softplus(x) + ½‖x‖² + Σ cosh(x_{i+1} − x_i)."""
    V = hb.R ** hb.Fin.of(n)
    f: Any = hb.fun(V)(lambda x: hb.softplus(x).sum() + 0.5 * (x @ x) + hb.cosh(x[1:] - x[:-1]).sum())
    slope: Any = hb.grad(f)
    solve: Any = hb.solve(hb.derivative(slope))
    return hb.fun(V)(lambda x: x - solve(x, slope(x)))


def newton(n: int, rounds: int) -> Iterator[Line | str]:
    """The step from the function alone, beside bands that are written by hand."""
    x = np.random.default_rng(1).standard_normal(n)
    at, what = (hb.R ** hb.Fin.of(n)).vec(x), f"Newton step, n = {n}"

    def hand() -> Sequence[Any]:
        e = np.exp(-x)
        s, across = 1.0 / (1.0 + e), np.diff(x)
        slope, flux, bend = s + x, np.sinh(across), np.cosh(across)
        bands = np.empty((2, n))
        np.negative(bend, out=bands[0, 1:])
        bands[1] = s * s * e + 1.0
        bands[1, 1:] += bend
        bands[1, :-1] += bend
        slope[1:] += flux
        slope[:-1] -= flux
        return [x - linalg.solveh_banded(bands, slope, overwrite_ab=True, overwrite_b=True, check_finite=False)]

    for small in (step(3), hb.compiled(step(3))):  # loads what is imported late, as JAX is loaded before
        small((hb.R ** hb.Fin.of(3)).zeros())
    started = {OURS: first(lambda: leaves(step(n), at)), CODE: first(lambda: leaves(hb.compiled(step(n)), at))}
    calls: Calls = {OURS: leaves(step(n), at), CODE: leaves(hb.compiled(step(n)), at), BANDS: hand}
    found, lineax = jax(), optional("lineax")
    if found is None or lineax is None:
        yield f"{what}: without lineax"
    else:
        call = in_lineax(found, lineax, x)
        started[LINEAX] = first(lambda: call)
        calls[LINEAX] = call
    for who, seconds in started.items():
        limit = 0.2 if who == OURS and LINEAX in started else None
        yield Line(f"{what}: first call", who, seconds, seconds / started.get(LINEAX, seconds), limit)
    yield from table(what, calls, 2 * rounds, [(OURS, LINEAX, 1.2), (CODE, LINEAX, 1.0)], BANDS)


def in_lineax(found: Any, lineax: Any, x: Any) -> Callable[[], Sequence[Any]]:
    """The step in JAX and lineax, with the three bands by hand."""
    xp = found.numpy

    def step(x: Any) -> Any:
        s, across = found.nn.sigmoid(x), x[1:] - x[:-1]
        flux, bend = xp.sinh(across), xp.cosh(across)
        slope = (s + x).at[1:].add(flux).at[:-1].add(-flux)
        main = (s * (1.0 - s) + 1.0).at[1:].add(bend).at[:-1].add(bend)
        bands = lineax.TridiagonalLinearOperator(main, -bend, -bend)
        return x - lineax.linear_solve(bands, slope, lineax.Tridiagonal()).value

    f, at = found.jit(step), xp.asarray(x)
    return lambda: [found.block_until_ready(f(at))]
