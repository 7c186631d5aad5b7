"""The driver: a process for each formulation of a row, all of them alive at once, which take turns.

The load of the machine hits all alike. In the orders of the rounds each formulation comes right after each other one
equally often.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from benchmarks import timing
from benchmarks.peers.machine import CAPS
from benchmarks.peers.row import OURS, Row, agree
from benchmarks.peers.table import Result, Timing

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC")


@frozen
class Options:
    """Times of measuring, the folder of ADBench's files, and a core."""

    rounds: int
    """Turns of each formulation."""
    seconds: float
    """Least time of a turn."""
    longest: int
    """Turns after which a run ends that does not count; until then half as many more are taken again and again."""
    data: Path | None
    core: int
    """The core that all workers run on: XLA's threads heed nothing else."""


def environment() -> dict[str, str]:
    """One thread, the CPU, and none of the variables that cap a BLAS."""
    kept = {name: value for name, value in os.environ.items() if name not in CAPS}
    return kept | dict.fromkeys(THREADS, "1") | {"JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "ignore"}


def header() -> list[str]:
    """The lines about the workers' processes: variables, machine, versions, vectors."""
    capped = [f"{name}={os.environ[name]}" for name in CAPS if name in os.environ]
    said = f"unset for this run: {', '.join(capped)}" if capped else f"none is set of {', '.join(CAPS)}"
    command = [sys.executable, "-m", "benchmarks.peers.machine"]
    found = subprocess.run(  # noqa: S603 - our own module
        command, env=environment(), capture_output=True, text=True, check=True
    )
    return [said, *found.stdout.splitlines()]


@frozen
class Worker:
    """A process, what was told when the model was ready, and the numbers of the results."""

    process: subprocess.Popen[str]
    errors: Path
    told: dict[str, Any]
    numbers: dict[str, list[np.ndarray]]

    def ask(self, label: str, seconds: float) -> dict[str, float]:
        """One turn."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{label} {seconds}\n")
        self.process.stdin.flush()
        answer: dict[str, float] = json.loads(answered(self.process, self.errors))
        return answer


def answered(process: subprocess.Popen[str], errors: Path) -> str:
    """A line of a worker; if there is none, an error with the worker's last complaint."""
    assert process.stdout is not None
    if line := process.stdout.readline():
        return line
    process.wait()
    raise RuntimeError("a worker has ended: " + " | ".join(errors.read_text("utf-8").strip().splitlines()[-3:]))


def started(stack: ExitStack, module: str, row: Row, who: str, options: Options) -> Worker:
    """A worker that has built and called the model once; others wait, so that first calls are undisturbed."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    errors = folder / "errors"
    command = [sys.executable, "-m", "benchmarks.peers.worker", module, row.name, who]
    process = subprocess.Popen(  # noqa: S603 - our own module
        [*command, str(folder), str(options.core), str(options.data or "")],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stack.enter_context(errors.open("w")),
        text=True,
    )
    stack.callback(ended, process)
    told = json.loads(answered(process, errors))
    with np.load(folder / "numbers.npz") as arrays:
        numbers: dict[str, list[np.ndarray]] = {label: [] for label in told["first"]}
        for name in arrays.files:
            numbers[name.rpartition("/")[0]].append(arrays[name])
    return Worker(process, errors, told, numbers)


def ended(process: subprocess.Popen[str]) -> None:
    """Close the standard input, at which a worker ends by itself."""
    process.communicate()


def measured(module: str, row: Row, options: Options) -> Iterator[Result]:
    """The results of a row, label by label."""
    with ExitStack() as stack:
        workers = dict[str, Worker]()
        for who in row.installed():
            workers[who] = started(stack, module, row, who, options)
        for label in workers[OURS].numbers:
            mine = {who: worker for who, worker in workers.items() if label in worker.numbers}
            title = row.title(options.data)
            wrong = tuple(agree(label, {who: w.numbers[label] for who, w in mine.items()}, row.tolerance))
            for timings in turns(label, mine, options):
                result = Result(title, label, row.kind, row.heavy, row.added, timings, wrong)
                if result.counts or wrong:
                    break
            yield result


def turns(label: str, workers: dict[str, Worker], options: Options) -> Iterator[dict[str, Timing]]:
    """The timings of one label after its rounds, and again after half as many more, up to the most."""
    names: Sequence[str] = list(workers)
    design = timing.orders(len(names))
    seconds: dict[str, list[float]] = {who: [] for who in names}
    faults: dict[str, list[float]] = {who: [] for who in names}
    for k in range(max(options.rounds, options.longest)):
        for who in (names[i] for i in design[k % len(design)]):
            answer = workers[who].ask(label, options.seconds)
            seconds[who].append(answer["seconds"])
            faults[who].append(answer["faults"])
        after = k + 1 - options.rounds
        if after >= 0 and after % max(1, options.rounds // 2) == 0:
            yield timed(label, workers, seconds, faults)


def timed(
    label: str, workers: dict[str, Worker], seconds: dict[str, list[float]], faults: dict[str, list[float]]
) -> dict[str, Timing]:
    """The turns so far."""
    return {
        who: Timing(
            tuple(seconds[who]), float(np.median(faults[who])), worker.told["first"][label], worker.told["peak"]
        )
        for who, worker in workers.items()
    }
