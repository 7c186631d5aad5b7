"""Bundle adjustment: a round of its normal equations, and ten rounds of a search; see `benchmarks.solving`."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg, optimize, sparse
from scipy.sparse.linalg import splu

import hilbert.all as hb
from adjoint.reverse.jacobian_program import jacobian_program
from benchmarks.processor_time import Calls, table
from benchmarks.timing import HAND, OURS, Line
from hilbert.arrays.systems.normal_equations import NormalEquations

SUPERLU, SCIPY = "SuperLU", "least_squares"
DAMPING = 1e-3
FILE = Path(__file__).parents[1] / "docs/examples/bundle_adjustment.py"


def rows(rounds: int, *, quick: bool) -> Iterator[Line | str]:
    """Two scenes; a `quick` run without the large one."""
    sizes = [(20, 2_000, 500)] if quick else [(20, 2_000, 500), (49, 7_776, 650)]
    for size in sizes:
        yield from scene_of(*size, rounds)


def scene(cameras: int, points: int, each: int) -> tuple[Any, Any]:
    """Residuals and a start: each camera sees so many points, chosen at random."""
    spec = importlib.util.spec_from_file_location("bundle_adjustment", FILE)
    assert spec is not None
    assert spec.loader is not None
    ba: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ba)
    rng = np.random.default_rng(0)
    camera_of = np.repeat(np.arange(cameras), each)
    point_of = np.concatenate([rng.choice(points, each, replace=False) for _ in range(cameras)])
    views = [
        0.1 * rng.standard_normal((cameras, 3)),
        np.column_stack([rng.standard_normal((cameras, 2)), rng.standard_normal(cameras) - 10.0]),
        500.0 + 10.0 * rng.standard_normal(cameras),
        rng.standard_normal((cameras, 2)),
        1e-2 * rng.standard_normal((cameras, 2)),
    ]
    places, weights = rng.standard_normal((points, 3)), np.ones(len(camera_of))
    exact = ba.residuals(cameras, points, camera_of, point_of, np.zeros((len(camera_of), 2)))
    seen = exact(exact.dom.vec((views, places, weights))).split()[0].array
    f = ba.residuals(cameras, points, camera_of, point_of, seen + rng.standard_normal(seen.shape))
    moved = places + 0.05 * rng.standard_normal(places.shape)
    return f, f.dom.vec((views, moved, weights))


def damped(jacobian: Any) -> tuple[Any, Any]:
    """JᵀJ and its damped form."""
    gram = (jacobian.T @ jacobian).tocsr()
    main = gram.diagonal()
    return gram + sparse.diags_array(DAMPING * np.maximum(main, 1e-12 * main.max())), main


def by_hand(jacobian: Any, r: Any, cameras: int, points: int) -> Any:
    """A step by Schur complements: weights, which make a diagonal, points in blocks of three, then cameras in full."""
    nc, seen = 11 * cameras, len(r) // 3
    k = nc + 3 * points
    a, _ = damped(jacobian)
    side = -(jacobian.T @ r)
    rest, right, main = a[:k, :k], a[:k, k:], a[k:, k:].diagonal()
    assert len(main) == seen
    scaled = right @ sparse.diags_array(1.0 / main)
    rest, own = (rest - scaled @ right.T).tocsr(), side[:k] - scaled @ side[k:]
    across, blocks = rest[:nc, nc:], rest[nc:, nc:].tobsr((3, 3))
    undone = sparse.bsr_array((np.linalg.inv(blocks.data), blocks.indices, blocks.indptr), shape=blocks.shape)
    part = (across @ undone.tocsr()).tocsr()
    full = rest[:nc, :nc].toarray() - (part @ across.T).toarray()
    x = linalg.solve(full, own[:nc] - part @ own[nc:], assume_a="pos", check_finite=False)
    y = undone @ (own[nc:] - across.T @ x)
    some = np.concatenate([x, y])
    return np.concatenate([some, (side[k:] - right.T @ some) / main])


def by_superlu(jacobian: Any, r: Any) -> Any:
    """A step by sparse LU in symmetric mode."""
    a, _ = damped(jacobian)
    options = {"SymmetricMode": True}
    factors = splu(a.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return factors.solve(-(jacobian.T @ r))


def scene_of(cameras: int, points: int, each: int, rounds: int) -> Iterator[Line | str]:
    """A round at a point, the planning, and ten rounds of a search."""
    f, start = scene(cameras, points, each)
    what = f"bundle, {cameras} cameras, {points} points"
    program = jacobian_program(f, as_="sparse")
    pattern = program.pattern
    begun = time.process_time()
    equations = NormalEquations(pattern.shape, pattern.indptr, pattern.indices)
    planned = time.process_time() - begun
    yield f"{what}: {f.dom.dim} unknowns, {f.cod.dim} residuals, {equations.way}"
    yield Line(f"{what}: plan, to 0.5 s", OURS, planned, planned / 0.5, 1.0)
    entries, r = np.asarray(program(start).flat()), np.asarray(f(start).flat())
    ones = np.ones(len(r))

    def jacobian_of(x: Any) -> Any:
        found = np.asarray(program(x).flat())
        return sparse.csr_array((found, pattern.indices, pattern.indptr), shape=pattern.shape)

    jacobian = jacobian_of(start)
    calls: Calls = {
        OURS: lambda: [equations.solved(entries, ones, -r, DAMPING)],
        HAND: lambda: [by_hand(jacobian, r, cameras, points)],
        SUPERLU: lambda: [by_superlu(jacobian, r)],
    }
    yield from table(what, calls, rounds, [(OURS, HAND, 1.5), (OURS, SUPERLU, 0.5)], HAND)
    yield from searches(what, f, start, jacobian_of)


def searches(what: str, f: Any, start: Any, jacobian_of: Callable[[Any], Any]) -> Iterator[Line | str]:
    """Ten rounds, beside scipy's search with the same Jacobian."""
    space = f.dom

    def ours() -> Any:
        return hb.levenberg_marquardt(f, start, at_most=10)

    def theirs() -> Any:
        return optimize.least_squares(
            lambda x: np.asarray(f(space.unflat(x)).flat()),
            np.asarray(start.flat()),
            jac=lambda x: jacobian_of(space.unflat(x)),
            tr_solver="lsmr",
            x_scale="jac",
            max_nfev=10,
        )

    found = dict[str, tuple[float, float]]()
    for who, search in ((OURS, ours), (SCIPY, theirs)):
        begun = time.process_time()
        end = search()
        found[who] = time.process_time() - begun, end.losses[-1] if who == OURS else end.cost
    for who, (seconds, loss) in found.items():
        yield f"{what}, 10 rounds of {who}: half of the loss at the end is {loss:.6g}"
        yield Line(f"{what}, 10 rounds", who, seconds, seconds / found[SCIPY][0])
