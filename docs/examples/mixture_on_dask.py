"""A mixture of normal distributions, fitted to points in a file by two processes of Dask: L-BFGS, a pass for each step.

The points are drawn here and written to a file part by part. No process holds all of them: each reads the rows of its
blocks from the file.

    python docs/examples/mixture_on_dask.py [COUNT]
"""

# distributed and scipy ship no types for what is used here, tqdm not all
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TypeAlias

import distributed
import numpy as np
from scipy.optimize import minimize
from tqdm import tqdm

import hilbert.all as hb

dask: Any = distributed
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Point(hb.Axis):
    """The points of the file."""


class Plane(hb.Axis, size=2):
    """The coordinates of a point."""


class Kind(hb.Axis, size=4):
    """The normal distributions."""


class Theta(hb.Record):
    """For each kind the score of its weight, its centre, and the logarithm of its width."""

    weight: hb.Part[hb.Vector[Kind]]
    centre: hb.Part[hb.Copower[hb.Vector[Plane], hb.Fin[Kind]]]
    width: hb.Part[hb.Vector[Kind]]


Points: TypeAlias = hb.Copower[hb.Vector[Plane], hb.Fin[Point]]
P = Theta.space()
CENTRES = np.array([[-2.0, -1.0], [0.0, 2.0], [2.5, -0.5], [1.0, 0.5]])
WIDTHS, SHARES = np.array([0.6, 0.4, 0.8, 0.3]), [0.4, 0.3, 0.2, 0.1]
START = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, -1.0]])
WORKERS, LIMIT, PART = 2, "600MB", 100_000


def mixture(point: hb.Fin[Point]) -> hb.Map[hb.DirectSum[Theta, Points], hb.Scalar]:
    """The mean over the points of −log Σ weight · density, but for a constant."""

    @hb.fun(P, (hb.R**Plane.set) ** point)
    def loss(p: hb.Expr[Theta], xs: hb.Expr[Points]) -> hb.Expr[hb.Scalar]:
        shares = p[Theta.weight].log_softmax()

        def density(x: hb.Expr[hb.Vector[Plane]]) -> hb.Expr[hb.Scalar]:
            def kind(a: hb.Expr[hb.Scalar], m: hb.Expr[hb.Vector[Plane]], s: hb.Expr[hb.Scalar]) -> hb.Expr[hb.Scalar]:
                r = (x - m) * hb.exp(-s)
                return a - 2.0 * s - 0.5 * (r @ r)

            return hb.each(kind, shares, p[Theta.centre], p[Theta.width]).logsumexp()

        return -hb.each(density, xs).mean()

    return loss


def written(path: Path, count: int) -> None:
    """Write so many points to a file, a part at a time."""
    rng = np.random.default_rng(1)
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(count, 2))
    for start in range(0, count, PART):
        n = min(PART, count - start)
        k = rng.choice(len(CENTRES), n, p=SHARES)
        file[start : start + n] = CENTRES[k] + WIDTHS[k, None] * rng.standard_normal((n, 2))
    file.flush()


def fitted(path: Path, client: Any, *, quiet: bool = False) -> tuple[hb.Vec[Theta], int]:
    """The parameters that fit the points of a file, and the number of passes over it."""
    points: Array = np.load(path, mmap_mode="r")
    step = hb.distributed(hb.value_and_grad(mixture(Point.of(len(points))), 0), over=Point.of(len(points)))
    passes = 0

    def objective(x: Array) -> tuple[float, Array]:
        nonlocal passes
        passes += 1
        with tqdm(total=len(points), desc=f"pass {passes}", unit="point", unit_scale=True, disable=quiet) as bar:

            def progress(done: int, _: int) -> None:
                bar.update(done - bar.n)

            value, gradient = step(P.unflat(x), data={"xs": points}, engine=client, progress=progress).split()
        return float(value), gradient.flat()

    start = P.vec((np.zeros(4), START, np.zeros(4)))
    found: Any = minimize(objective, start.flat(), jac=True, method="L-BFGS-B")
    return P.unflat(found.x), passes


def held() -> float:
    """The most megabytes that this process has held."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    """Write the points, fit, and print what was found, the time and the memory of each worker."""
    count = int(sys.argv[1]) if sys.argv[1:] else 10_000_000
    quiet = not sys.stderr.isatty()
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=":0"
        ) as cluster,
        dask.Client(cluster) as client,
    ):
        path = Path(folder) / "points.npy"
        written(path, count)
        print(f"{count} points, a file of {path.stat().st_size / 1e6:.1f} MB, {WORKERS} workers")
        start = time.perf_counter()
        found, passes = fitted(path, client, quiet=quiet)
        seconds = time.perf_counter() - start
        memory: Any = client.run(held)
    order = np.argsort(found[Theta.centre].array[:, 0])
    print(f"centres {np.round(found[Theta.centre].array[order], 1).tolist()}")
    print(f"{passes} passes in {seconds:.1f} s")
    for k, most in enumerate(memory.values(), 1):
        print(f"worker {k}: at most {most:.0f} MB, of which it may hold {LIMIT}")


if __name__ == "__main__":
    main()
