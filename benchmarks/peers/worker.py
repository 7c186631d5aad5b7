"""The process of one formulation: build, call once, warm up, and then take turns on demand.

    python -m benchmarks.peers.worker MODULE ROW FORMULATION FOLDER CORE DATA

A line of JSON goes out when the model is ready, and one for each turn; a line `LABEL SECONDS` on the standard input
asks for a turn. The numbers of the results go to the file FOLDER/numbers.npz before.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import timing
from benchmarks.peers.row import Call, Row, library

LEAST = 1e-3
"""Seconds of a sample: a shorter call is repeated within one."""


def main() -> None:
    """Answer on what was the standard output; what libraries print goes to the standard error."""
    module, name, who, folder, core, data = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    row = next(row for row in importlib.import_module(module).ROWS if row.name == name)
    started(who)
    path = row.path(Path(data) if data else None)
    calls, told, spans = prepared(row, who, row.given(path), Path(folder))
    answers.write(json.dumps(told) + "\n")
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        label, seconds = line.rsplit(maxsplit=1)
        answers.write(json.dumps(turn(calls[label], spans[label], float(seconds))) + "\n")


def started(who: str) -> None:
    """Import the library of a formulation, so that first calls are of the model; llvmlite is part of ours, compiled."""
    if library(who) == "jax":
        timing.jax().numpy.zeros(3).block_until_ready()
    elif (package := library(who)) is not None:
        importlib.import_module(package)
    elif who.startswith("ours"):
        import hilbert.all as hb

        hb.grad(hb.fun(hb.R)(hb.sin))(hb.R.vec(1.0))


def prepared(row: Row, who: str, given: Any, folder: Path) -> tuple[dict[str, Call], dict[str, Any], dict[str, float]]:
    """The calls of all labels; what is told of their first calls and of memory; how long a call takes."""
    start = time.process_time()
    calls = dict(row.peers[who](given))
    built = time.process_time() - start
    first, spans, numbers = dict[str, float](), dict[str, float](), dict[str, Any]()
    for label, call in calls.items():
        start = time.process_time()
        result = call.run()
        first[label] = built + time.process_time() - start
        numbers |= {f"{label}/{k}": np.asarray(a) for k, a in enumerate(call.numbers(result))}
        spans[label] = warm(call)
    np.savez(folder / "numbers.npz", **numbers)
    return calls, {"first": first, "peak": peak()}, spans


def peak() -> float:
    """The most memory of this process, in MB; `ru_maxrss` would count its parent's, too."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def warm(call: Call) -> float:
    """The shortest of some calls, in seconds."""
    shortest, spent = math.inf, 0.0
    for _ in range(20):
        start = time.perf_counter()
        call.run()
        shortest = min(shortest, time.perf_counter() - start)
        spent += time.perf_counter() - start
        if spent > 0.2:
            break
    return shortest


def turn(call: Call, span: float, seconds: float) -> dict[str, float]:
    """The least processor time and the page faults of a call; a first short one, on caches of others, is left out."""
    repeats = max(1, math.ceil(LEAST / max(span, 1e-9)))
    run, loop = call.run, range(repeats)
    if span < seconds:
        run()
    least, samples, until = math.inf, 0, time.perf_counter() + seconds
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    while not samples or time.perf_counter() < until:
        start = time.process_time()
        for _ in loop:
            run()
        least = min(least, (time.process_time() - start) / repeats)
        samples += 1
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    return {"seconds": least, "faults": faults / (samples * repeats)}


if __name__ == "__main__":
    main()
