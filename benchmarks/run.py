"""Time the library beside others, in one run: `make bench`, or `make bench ARGS="--quick mlp"`.

Each row is a module of this folder with a function `lines(options)`; what peers do better or worse is timed by
`python -m benchmarks.peers`. See docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import os
import time

ROWS = (
    "mlp",
    "griewank",
    "overhead",
    "composition",
    "copower",
    "structure",
    "elimination",
    "plans",
    "tensors",
    "relations",
    "segments",
    "taylor",
    "forests",
    "vocabulary",
    "control",
    "entries",
    "questions",
    "languages",
    "blocks",
    "solving",
)


def main() -> None:
    """Parse the command line, fix the number of threads, then load numpy and the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description="Time the library beside others.")
    parser.add_argument("rows", nargs="*", metavar="row", help=f"rows to run, of: {', '.join(ROWS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, without the largest sizes")
    parser.add_argument("--rounds", type=int, help="samples of each candidate (default: 31, with --quick 7)")
    parser.add_argument("--threads", type=int, default=1, help="threads for BLAS and JAX (default: 1)")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of wall time: for a busy machine")
    args = parser.parse_args()
    unknown = [row for row in args.rows if row not in ROWS]
    if unknown:
        parser.error(f"no row is called {', '.join(unknown)}; there are: {', '.join(ROWS)}")
    limit_threads(args.threads)
    from benchmarks import timing  # numpy and JAX read the variables when they are loaded

    clock = time.process_time if args.cpu else time.perf_counter
    options = timing.Options(args.rounds or (7 if args.quick else 31), args.quick, clock)
    what = "processor" if args.cpu else "wall"
    print(f"{dt.datetime.now(dt.UTC).date()}, {what} time, median of {options.rounds} rounds")
    for line in timing.machine():
        print(line)
    missed = 0
    for row in args.rows or ROWS:
        print(f"\n{timing.HEADER}")
        for line in importlib.import_module(f"benchmarks.{row}").lines(options):
            print(line, flush=True)
            missed += isinstance(line, timing.Line) and line.missed
    print(f"\nrequirements missed: {missed}")


def limit_threads(count: int) -> None:
    """Set the variables that BLAS and XLA read when they are loaded; what the user has set stays."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"):
        os.environ.setdefault(name, str(count))


if __name__ == "__main__":
    main()
