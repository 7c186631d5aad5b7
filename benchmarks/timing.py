"""Timing side by side: candidates take turns in one process, so that drift of the machine falls on all alike."""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

OURS = "hilbert"
HAND = "numpy by hand"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC")
BLAS_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "XLA_FLAGS")
SAMPLE = 2e-3  # seconds: a shorter call is repeated within one sample

Candidates: TypeAlias = Mapping[str, Callable[[], object]]


@frozen
class Options:
    """The options of the command line."""

    rounds: int
    """Samples of each candidate."""
    quick: bool
    """Leave out the largest sizes."""
    clock: Callable[[], float] = time.perf_counter
    """Wall time; or processor time, which other work on the machine disturbs less."""


@frozen
class Line:
    """One line of the table: a median, its ratio to the baseline, and what the project requires of that ratio."""

    what: str
    who: str
    seconds: float
    ratio: float | None = None
    limit: float | None = None

    @property
    def missed(self) -> bool:
        """Tell if the ratio is above its limit."""
        return self.limit is not None and self.ratio is not None and self.ratio > self.limit

    def __str__(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}" if self.ratio >= 0.1 else f"{self.ratio:.2g}"
        limit = "" if self.limit is None else f"≤ {self.limit:.3g} {'MISSED' if self.missed else 'met'}"
        return f"{self.what:<46} {self.who:<16} {duration(self.seconds):>11} {ratio:>8}  {limit}".rstrip()


HEADER = f"{'what':<46} {'who':<16} {'median':>11} {'ratio':>8}  requirement"


def duration(seconds: float) -> str:
    """Seconds with three significant digits and a fitting unit."""
    unit, size = next((u, s) for u, s in (("s ", 1.0), ("ms", 1e-3), ("µs", 0.0)) if seconds >= s)
    scaled = seconds / (size or 1e-6)
    return f"{scaled:.{max(0, 3 - len(str(int(scaled))))}f} {unit}"


def medians(candidates: Candidates, options: Options) -> dict[str, float]:
    """Median seconds for each candidate.

    Warm-up first; then rounds in which each candidate gives one sample, in `orders`. Calls shorter than `SAMPLE` are
    repeated within a sample. The garbage collector rests meanwhile.
    """
    names = list(candidates)
    repeats = {name: _repeats(candidates[name]) for name in names}
    samples: dict[str, list[float]] = {name: [] for name in names}
    design = orders(len(names))
    rounds = len(design) * max(1, round(options.rounds / len(design)))
    gc.collect()
    gc.disable()
    try:
        for order in itertools.islice(itertools.cycle(design), rounds):
            for k in order:
                name = names[k]
                samples[name].append(_sample(candidates[name], repeats[name], options.clock))
    finally:
        gc.enable()
    return {name: statistics.median(samples[name]) for name in names}


def orders(n: int) -> list[list[int]]:
    """Orders of n candidates in which each comes right after each other one equally often: a design by E. J. Williams.

    What a candidate leaves in the caches, and the clock of the processor, slow the next one for milliseconds, so that
    random orders favour whoever comes after the right ones.
    """
    first = [(k + 1) // 2 if k % 2 else -(k // 2) for k in range(n)]
    square = [[(start + k) % n for k in first] for start in range(n)]
    return square if n % 2 == 0 else square + [row[::-1] for row in square]


def _sample(call: Callable[[], object], repeats: int, clock: Callable[[], float]) -> float:
    loop = range(repeats)
    start = clock()
    for _ in loop:
        call()
    return (clock() - start) / repeats


def _repeats(call: Callable[[], object]) -> int:
    """Warm up (compile, bind, fill caches), and find how many calls make one sample."""
    for _ in range(2):
        call()
    return max(1, round(SAMPLE / min(_sample(call, 1, time.perf_counter) for _ in range(3))))


def compare(
    what: str, candidates: Candidates, options: Options, *, baseline: str = HAND, limit: float | None = None
) -> Iterator[Line]:
    """The lines of one comparison; the limit is for ours against the baseline."""
    found = medians(candidates, options)
    for who, seconds in found.items():
        yield Line(what, who, seconds, seconds / found[baseline], limit if who == OURS else None)


def agree(what: str, results: Mapping[str, Iterable[Any]], tolerance: float) -> None:
    """Raise ValueError unless all candidates computed the same arrays, each relative to its largest entry."""
    named = {who: [np.asarray(array, dtype=np.float64) for array in arrays] for who, arrays in results.items()}
    reference, *others = named
    for who in others:
        for k, (a, b) in enumerate(zip(named[reference], named[who], strict=True)):
            error = float(np.max(np.abs(a - b), initial=0.0)) / max(float(np.max(np.abs(a), initial=0.0)), 1e-300)
            if a.shape != b.shape or not error <= tolerance:
                msg = f"{what}: result {k} of {who} differs from that of {reference} by {error:.1e} > {tolerance:.0e}"
                raise ValueError(msg)


def optional(name: str) -> Any:
    """A library to compare with, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def jax() -> Any:
    """JAX on the CPU with float64 switched on, or None."""
    found = optional("jax")
    if found is not None:
        found.config.update("jax_platforms", "cpu")
        found.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX's own signature
    return found


def machine() -> Iterator[str]:
    """The machine and the versions that figures come from."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    yield f"{_processor()}, {cores} cores; {platform.system()} {platform.release()}"
    busy = ": busy with other work, which --cpu leaves out" if load > cores / 2 else ""
    yield f"load {load:.1f} at the start{busy}"
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    versions = [f"Python {platform.python_version()}", f"numpy {np.__version__} ({blas['name']} {blas['version']})"]
    versions += [
        f"{name} {metadata.version(name)}"
        for name in ("scipy", "jax", "autograd", "torch", "casadi", "asdex", "folx", "symforce")
        if optional(name) is not None
    ]
    yield ", ".join(versions)
    pools = optional("threadpoolctl")
    if pools is not None:
        for pool in pools.threadpool_info():
            kernels = pool.get("architecture", "")
            yield f"{pool['internal_api']} {pool['version']}: {pool['num_threads']} thread(s) {kernels}".rstrip()
    yield ", ".join(f"{name}={os.environ.get(name, '(unset)')}" for name in (*THREAD_VARIABLES, *BLAS_VARIABLES))
    if os.environ.get("OPENBLAS_CORETYPE"):
        yield "OPENBLAS_CORETYPE holds numpy to some kernels, but not JAX: do not compare their products of matrices"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()
