"""Break each statement: each row of docs/traceability.md cites a test that fails when its code is wrong.

    make statements [ARGS="--only §2.2"]

A mutant of `broken.py` changes one place of the code behind a row; a test that the row cites is run on a copy of the
library with that change, and must fail. A row whose tests pass cites the wrong tests. That every row has a mutant,
and that each can be made, is a test of its own: `tests/test_traceability.py`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutation.broken import STATEMENTS, Statement

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"HYPOTHESIS_PROFILE": "mutants", "OMP_NUM_THREADS": "1"}
COPIED = ("hilbert", "linmap", "diff", "adjoint", "tests", "docs", "pyproject.toml", "README.md")


def judged(statement: Statement) -> tuple[Statement, bool]:
    """Whether the test of a statement fails on its mutant, or cannot be loaded."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place)
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        path = copy / statement.path
        text = path.read_text("utf-8")
        assert text.count(statement.before) == 1, f"{statement.row}: {statement.before!r} stands not once"
        path.write_text(text.replace(statement.before, statement.after), "utf-8")
        run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", statement.test]
        done = subprocess.run(  # noqa: S603 - our own tests
            run, cwd=copy, env=os.environ | ENVIRONMENT | {"PYTHONPATH": place}, capture_output=True, check=False
        )
    return statement, done.returncode in {1, 2}  # a test fails, or its module does when it is imported


def main() -> None:
    """Judge all, say of each whether it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="a part of a row's name")
    parser.add_argument("--start", type=int, default=0, help="leave out as many")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    chosen = [s for s in STATEMENTS if args.only in s.row][args.start :]
    survived = 0
    with ThreadPoolExecutor(args.processes) as pool:
        for statement, killed in pool.map(judged, chosen):
            survived += not killed
            what = "killed  " if killed else "SURVIVES"
            print(f"{what} {statement.row:32} {statement.path:36} {statement.test}", flush=True)
    print(f"{len(chosen)} mutants, {survived} survive")
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()
