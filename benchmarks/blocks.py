"""Functions that run in blocks: beside JAX and numpy in blocks, sizes of blocks, memory, and the time of proving.

Figures are minima of processor time, with one thread; candidates take turns. Each is checked before to compute the same
to 10⁻¹⁰ of its largest entry. Models with many rows are in `benchmarks.blocked_programs`.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import hilbert.all as hb
from benchmarks import blocked_programs as programs
from benchmarks.blocked_programs import Rows
from benchmarks.peers.arrays import mixture as made
from benchmarks.processor_time import Calls, minima, table
from benchmarks.timing import HAND, OURS, Line, Options, jax
from diff import program
from hilbert.program.blocks.passes import in_passes

WHOLE, BLOCKS, CODE = f"{OURS}, whole", f"{OURS}, blocks", f"{OURS}, compiled"
WRITTEN, SCAN, PRODUCT = "jax (jit)", "jax, scan", "jax, scan, gemm"
QUERY = f"{OURS}, DuckDB"
POINTS, MANY, MOST = 100_000, 1_000_000, 10_000_000
PAIRS, ROOM, DATABASE = 10_000, 20.0, 1000.0
SIZES = [1 << k for k in range(8, 18)]


def lines(options: Options) -> Iterator[Line | str]:
    """All rows; with `--quick` a tenth of the rows of data, and no search of sizes."""
    part = 10 if options.quick else 1
    rounds = 3 if options.quick else 5
    yield from mixtures(POINTS // part, rounds)
    yield from growth(MANY // part)
    yield from pairs(PAIRS // part, rounds)
    with tempfile.TemporaryDirectory() as folder:
        for rows in models(part, Path(folder)):
            yield from beside_numpy(rows, rounds)
    with tempfile.TemporaryDirectory() as folder:
        yield from in_database(MOST // part, Path(folder), rounds)
    if not options.quick:
        with tempfile.TemporaryDirectory() as folder:
            for rows in [*models(10, Path(folder)), programs.mixture(POINTS)]:
                yield from sizes(rows)
    for steps in (1_000, 10_000):
        yield proving(steps)


def of(f: Any, rows: Rows, times: int = 1) -> Callable[[], Sequence[Any]]:
    """A call of the function at its data, so many times, that gives the arrays of the value."""
    return lambda: [f(*rows.at) for _ in range(times)][-1].leaves


def both(rows: Rows, size: int | None = None) -> tuple[Any, Any]:
    """The function in blocks, interpreted and compiled."""
    g = hb.blocked(rows.function, over=rows.over, size=size)
    return g, hb.compiled(g)


# --- the mixture ---


def mixtures(n: int, rounds: int) -> Iterator[Line]:
    """Value and gradient of a mixture, as it is written, and by one product of matrices."""
    for rows in (programs.mixture(n), programs.mixture(n, by_product=True)):
        blocks, code = both(rows)
        calls: Calls = {
            WHOLE: of(rows.function, rows),
            BLOCKS: of(blocks, rows),
            CODE: of(code, rows),
            **in_jax(n),
        }
        limits = [(BLOCKS, WRITTEN, 0.25), (BLOCKS, SCAN, 1.3), (CODE, SCAN, 0.6)]
        name = f"{rows.name}, {n} points"
        yield from table(name, calls, rounds, limits, WRITTEN if WRITTEN in calls else BLOCKS)


def in_jax(n: int) -> Calls:
    """The mixture in JAX: as written, the same in a scan over blocks, and by one product of matrices for a block."""
    found = jax()
    if found is None:
        return {}
    given = made.drawn(10, 25, n)
    xp, prepared, prior = found.numpy, made.prepared_in_jax(given), made.prior_in_jax(given)

    def fit(p: Any, x: Any) -> Any:
        Q, _, w = prepared(*p)
        y = xp.einsum("knj,kij->kni", x[None] - p[1][:, None], Q)
        return found.nn.logsumexp(w[:, None] - 0.5 * (y * y).sum(2), axis=0).sum()

    def by_product(p: Any, x: Any) -> Any:
        return made.fit_in_jax(prepared(*p), x)

    def scanned(part: Any, size: int) -> Any:
        def f(p: Any, x: Any) -> Any:
            def added(total: Any, block: Any) -> Any:
                return found.tree.map(xp.add, total, found.value_and_grad(part)(p, block)), None

            start = found.value_and_grad(lambda p: prior(*p))(p)
            return found.lax.scan(added, start, x.reshape(-1, size, x.shape[1]))[0]

        return f

    functions = {
        WRITTEN: found.value_and_grad(lambda p, x: fit(p, x) + prior(*p)),
        SCAN: scanned(fit, 500),
        PRODUCT: scanned(by_product, 500),
    }
    p, x = found.tree.map(xp.asarray, (tuple(given.params), given.x))
    jitted = {who: found.jit(f) for who, f in functions.items()}
    return {
        who: lambda f=f: found.tree.leaves(found.block_until_ready(f(p, x)))  # type: ignore[misc]
        for who, f in jitted.items()
    }


def growth(n: int) -> Iterator[Line | str]:
    """Many points beside a block of a thousand, and the memory that they take in another process."""
    small, large = programs.mixture(1000), programs.mixture(n)
    for who, f, g in zip((BLOCKS, CODE), (small.function, hb.compiled(small.function)), both(large), strict=True):
        calls: Calls = {"one": of(f, small, 50), "all": of(g, large)}
        found = minima(calls, 3)
        one = found["one"] / 50
        yield Line(
            f"mixture, {n} points, to {n // 1000} of 1000", who, found["all"], found["all"] / one * 1000 / n, 1.05
        )
    yield from memories("mixture", n)


def memories(name: str, n: int) -> Iterator[str]:
    """The memory of a call above its data and results, each in a process of its own."""
    for who, compiled in ((BLOCKS, False), (CODE, True)):
        code = f"from benchmarks.blocks import peak; print(peak({name!r}, {n}, {compiled}))"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
        held = float(run.stdout)
        verdict = "met" if held <= ROOM else "MISSED"
        yield f"{name} of {n}, {who}: {held:.1f} MB above data and results, ≤ {ROOM:.0f} {verdict}"


def peak(name: str, n: int, compiled: bool) -> float:  # noqa: FBT001 - called from a text
    """The megabytes that a call takes above its data and results, once the code is made."""
    make: Callable[[int], Rows] = {"mixture": programs.mixture, "pairs": kernel}[name]
    rows, small = make(n), make(100)
    g = hb.blocked(rows.function, over=rows.over)
    g = hb.compiled(g) if compiled else g
    for f in (small.function, hb.compiled(small.function)):
        f(*small.at)
    gc.collect()
    memory()
    before = memory()
    found = g(*rows.at)
    return memory() - before - sum(float(a.nbytes) for a in found.leaves) / 2**20


def memory() -> float:
    """The most megabytes that the process has held since the last call of this function, by Linux."""
    most = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return int(most.split()[1]) / 1024


# --- pairs ---


def kernel(n: int) -> Rows:
    """The gradient in x of Σ exp(−|x_i − y_j|²) for points in three dimensions, by hand tile by tile."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((n, 3)), rng.standard_normal((n, 3))
    X, Y, V = hb.Fin.of(n), hb.Fin(Other, n), hb.R ** hb.Fin.of(3)

    def energy(xs: Any, ys: Any) -> Any:
        def one(x: Any) -> Any:
            return hb.each(lambda y: hb.exp(-hb.square(x - y).sum()), ys).sum()

        return hb.each(one, xs).sum()

    def hand(size: int) -> list[Any]:
        out = np.zeros_like(x)
        for i in programs.slices(n, size):
            for j in programs.slices(n, size):
                k = np.zeros((len(x[i]), len(y[j])))
                for c in range(3):
                    d = x[i, c, None] - y[j, c]
                    d *= d
                    k -= d
                np.exp(k, out=k)
                out[i] += k @ y[j] - k.sum(1)[:, None] * x[i]
        return [2.0 * out]

    f: Any = hb.fun(V**X, V**Y)(energy)
    return Rows("pairs", hb.grad(f, 0), (X, Y), (f.dom.parts[0].vec(x), f.dom.parts[1].vec(y)), hand)


class Other:
    """The second set of points."""


def pairs(n: int, rounds: int) -> Iterator[Line | str]:
    """The kernel's gradient, and its memory."""
    rows = kernel(n)
    blocks, code = both(rows)
    x, y = (v.array for v in rows.at)
    hand = rows.hand
    assert hand is not None
    calls: Calls = {
        BLOCKS: of(blocks, rows),
        CODE: of(code, rows),
        HAND: lambda: hand(500),
    }
    found = jax()
    if found is not None:
        xp = found.numpy

        def part(_: Any, a: Any) -> Any:
            def near(a: Any) -> Any:
                return xp.exp(-((a[:, None] - xp.asarray(y)[None]) ** 2).sum(2)).sum()

            return None, found.grad(near)(a)

        f = found.jit(lambda x: found.lax.scan(part, None, x.reshape(-1, 50, 3))[1].reshape(-1, 3))
        calls[SCAN] = lambda: [found.block_until_ready(f(x))]
    yield from table(f"kernel of {n} × {n} pairs", calls, rounds, [], HAND)
    yield from memories("pairs", n)


# --- models ---


def models(part: int, folder: Path) -> Iterator[Rows]:
    """The models of many rows."""
    yield programs.logistic(10_000_000 // part, folder)
    yield programs.ratings(10_000_000 // part)
    yield programs.network(1_000_000 // part)
    yield programs.normed(1_000_000 // part)
    yield programs.smoothed(10_000_000 // part)
    yield programs.markov(100_000 // part)


def beside_numpy(rows: Rows, rounds: int) -> Iterator[Line]:
    """A model beside numpy by hand, in blocks of the same size."""
    blocks, code = both(rows)
    hand = rows.hand
    assert hand is not None
    calls: Calls = {
        BLOCKS: of(blocks, rows),
        CODE: of(code, rows),
        HAND: lambda: hand(blocks.size),
    }
    what = f"{rows.name}, {rows.over.size} rows"
    yield from table(what, calls, rounds, [(BLOCKS, HAND, 1.1), (CODE, HAND, 1.1)], HAND)


def in_database(n: int, folder: Path, rounds: int) -> Iterator[Line | str]:
    """Ratings in a Parquet file, by queries of DuckDB on one thread, beside numpy by hand on arrays in memory."""
    rows, path = programs.ratings(n), folder / "ratings.parquet"
    columns = {name: v.array for name, v in zip(("who", "what", "stars"), rows.at[2:], strict=True)}
    hand, size = rows.hand, both(rows)[0].size
    assert hand is not None
    with duckdb.connect() as made:
        made.register("columns", columns)
        made.sql("FROM columns").to_parquet(str(path))
    with connection() as made:
        calls: Calls = {QUERY: lambda: queried(rows, made, path), HAND: lambda: hand(size)}
        yield from table(f"ratings in a file, {n} rows", calls, rounds, [(QUERY, HAND, 2.0)], HAND)
    code = f"from benchmarks.blocks import peak_of_queries; print(peak_of_queries({n}, {str(path)!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    held = float(run.stdout)
    verdict = "met" if held <= DATABASE else "MISSED"
    yield f"ratings of {n}, {QUERY}: {held:.0f} MB above the process before, ≤ {DATABASE:.0f} {verdict}"


def connection() -> Any:
    """A connection with one thread, and 1 GB of memory."""
    return duckdb.connect(config={"threads": 1, "memory_limit": "1GB"})


def queried(rows: Rows, made: Any, path: Path) -> Sequence[Any]:
    """The arrays of the value and the gradients, of ratings in a file."""
    g = hb.distributed(rows.function, over=rows.over)
    leaves: Sequence[Any] = g(*rows.at[:2], data=made.from_parquet(str(path)), engine=made).leaves
    return leaves


def peak_of_queries(n: int, path: str) -> float:
    """The megabytes that a call takes above those of the process that has made the function."""
    rows = programs.ratings(n)
    with connection() as made:
        made.sql("SELECT 1").fetchall()
        gc.collect()
        memory()
        before = memory()
        queried(rows, made, Path(path))
        return memory() - before


def sizes(rows: Rows) -> Iterator[Line]:
    """The default size of blocks beside the best power of two."""
    for who, k in ((BLOCKS, 0), (CODE, 1)):
        found = {size: both(rows, size)[k] for size in (None, *SIZES)}
        times = minima({str(size): of(g, rows) for size, g in found.items()}, 2)
        own = times.pop("None")
        best = min(times, key=times.__getitem__)
        yield Line(f"{rows.name}: {found[None].size}, best {best}", who, own, own / times[best], 1.25)


def proving(steps: int) -> Line:
    """The time of a step to prove that a line runs in blocks, as a ratio to 0.2 ms."""
    X = hb.Fin.of(1000)

    def chain(a: Any, x: Any) -> Any:
        for _ in range(steps // 4):
            x = hb.tanh(a * x + 1.0) * x
        return x.sum()

    line, least = program(hb.fun(hb.R, hb.R**X, planned=False)(chain)).line, np.inf
    for _ in range(3):
        start = time.process_time()
        in_passes(line, X)
        least = min(least, time.process_time() - start)
    each = least / len(line.steps)
    return Line(f"proving {len(line.steps)} steps: a step", OURS, each, each / 2e-4, 1.0)
