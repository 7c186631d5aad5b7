"""docs/examples/mixture_on_dask.py, as a script with few points: the classes of its axes are those of `__main__`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_script() -> None:
    """It finds the centres from which the points were drawn, and its workers hold less than they may."""
    pytest.importorskip("distributed")
    command = [sys.executable, str(ROOT / "docs/examples/mixture_on_dask.py"), "20000"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True, timeout=300)  # noqa: S603
    first, centres, passes, *workers = done.stdout.splitlines()
    assert first == "20000 points, a file of 0.3 MB, 2 workers"
    assert centres.replace("-0.0", "0.0") == "centres [[-2.0, -1.0], [0.0, 2.0], [1.0, 0.5], [2.5, -0.5]]"
    assert passes.split()[1:3] == ["passes", "in"]
    assert len(workers) == 2
    assert all(int(line.split()[4]) < 600 for line in workers)
