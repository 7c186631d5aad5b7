"""The rows beside peers: all formulations agree at a tiny size, and which run counts, on made numbers."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from benchmarks.peers.driver import environment
from benchmarks.peers.row import BESIDE, CALLS, COMPILED, LISTED, OURS, Kind, Row, agree, leaves
from benchmarks.peers.rows import MODULES
from benchmarks.peers.table import Result, Timing, as_json, mean, tables

ROWS: list[Row] = [row for module in MODULES for row in importlib.import_module(module).ROWS]
SIZES = list({id(row.peers): row for row in ROWS}.values())
"""Rows that differ in more than their size."""


@pytest.mark.parametrize("row", SIZES, ids=lambda row: row.name)
def test_agree(row: Row) -> None:
    """Each formulation whose library is installed computes the same, as finite numbers; small ones stay."""
    results: dict[str, dict[str, list[Any]]] = {}
    for who in row.installed():
        for label, call in row.peers[who](row.small()).items():
            results.setdefault(label, {})[who] = call.numbers(call.run())
        assert np.float64(5e-324) * np.float64(1.0) != 0.0, who
    for label, found in results.items():
        assert next(iter(found)) == OURS
        assert all(np.isfinite(array).all() for array in found[OURS])
        assert agree(label, found, row.tolerance) == []


def test_names() -> None:
    """A row is chosen by its name, and what came later is one of its formulations."""
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert list(row.peers)[:2] == [OURS, COMPILED]
        assert set(row.added) <= set(row.peers)


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formulation without its compiler is left out, and the row says what it lacks."""
    row = next(row for row in ROWS if row.name == "BA1")
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert "gcc" in row.missing()["symforce, C by gcc"]
    assert row.missing()[OURS] == []
    assert OURS in row.installed()
    assert "symforce, C by gcc" not in row.installed()


def test_first_call_has_llvmlite() -> None:
    """The worker of compiled formulations imports neither llvmlite nor JAX before its first call."""
    imports = "".join(f"import {module}\n" for module in MODULES)
    text = f"import sys\nfrom benchmarks.peers.worker import started\n{imports}started('{COMPILED}')\n"
    command = [sys.executable, "-c", f"{text}assert sys.modules.keys().isdisjoint({{'llvmlite', 'jax'}})"]
    subprocess.run(command, env=environment(), check=True)  # noqa: S603 - our own module


def result(kind: Kind = LISTED, *, heavy: bool = False, wrong: tuple[str, ...] = (), **turns: list[float]) -> Result:
    """A result of these turns."""
    named = {"compiled": COMPILED, "blocks": f"{COMPILED}, blocks"}
    timings = {named.get(who, who.replace("_", " ")): Timing(tuple(seconds)) for who, seconds in turns.items()}
    return Result("row", "gradient", kind, heavy, ("numpy blocks",), timings, wrong)


STEADY, DRIFTING = [2.0, 2.0, 9.0, 2.0, 2.05, 2.1], [4.0, 4.0, 4.0, 4.0, 4.4, 4.4]


def test_a_run_counts() -> None:
    """Minima of the first and the last third of ours and of all peers differ by at most 5 %, or 15 % where named."""
    assert Timing(tuple(STEADY)).thirds == (2.0, 2.05)
    assert Timing(tuple(DRIFTING)).drift == pytest.approx(0.1)
    assert Timing((2.0, 2.0, 1.0, 1.0, 2.0, 2.0)).drift == pytest.approx(1.0)
    assert result(ours=STEADY, jax=STEADY).counts
    assert not result(ours=STEADY, jax=DRIFTING).counts
    assert not result(ours=DRIFTING, jax=STEADY).counts
    assert result(ours=STEADY, jax=DRIFTING, heavy=True).counts
    assert result(ours=STEADY, jax=STEADY, numpy_blocks=DRIFTING).counts
    assert not result(ours=STEADY, compiled=DRIFTING, jax=STEADY).counts
    assert result(ours=STEADY, compiled=STEADY, blocks=DRIFTING, jax=STEADY).counts
    assert not result(ours=STEADY, jax=STEADY, wrong=("differs",)).counts


def test_ratios() -> None:
    """A row's number holds for the peers that are not later; the geometric mean for the rows of PEERS."""
    row = result(ours=[4.0], compiled=[0.5], jax=[2.0], numpy=[8.0], numpy_blocks=[1.0])
    assert (row.best(), row.ratio(), row.ratio(added=True)) == (("jax", 2.0), 2.0, 4.0)
    assert (row.ratio(COMPILED), row.ratio(COMPILED, added=True)) == (0.25, 0.5)
    others = [row, result(ours=[1.0], jax=[2.0]), result(BESIDE, ours=[50.0], jax=[1.0])]
    assert math.isclose(mean(others) or 0.0, 1.0)
    assert math.isclose(mean(others, COMPILED) or 0.0, 0.25)
    assert result(ours=[1.0]).ratio() is None


def test_tables() -> None:
    """A table for each kind; each row says whether its run counts, and of which limit."""
    rows = [result(ours=STEADY, jax=STEADY, heavy=True), result(CALLS, ours=[3e-6] * 3, numpy=[1e-6] * 3)]
    rows.append(result(ours=STEADY, compiled=[1.0] * 6, blocks=[6.0] * 6, jax=STEADY))
    text = "\n".join(tables([*rows, result(BESIDE, ours=STEADY, jax=DRIFTING)]))
    none = "0.00 µs"
    assert (
        f"| row: gradient | 2.00 s  |  | jax | 2.00 s  | 1 |  |  |  | {none} (ours); {none} (jax) | yes (15 %) |"
        in text
    )
    assert f"| 3 |  | 2.00 µs |  | {none} (ours) | yes |" in text
    first = f"{none} (ours); {none} (ours, compiled); {none} (jax)"
    assert f"| 2.00 s  | 1.00 s  | jax | 2.00 s  | 1 | 0.5 |  | 3 (compiled, blocks) | {first} | yes |" in text
    assert "geometric mean of 2 rows, ours: 1.000\n\ngeometric mean of 1 rows, ours, compiled: 0.500" in text
    assert "runs that do not count: row: gradient" in text
    assert json.loads(as_json(rows, []))["geometric mean"] == 1.0


def test_differences() -> None:
    """Other numbers, other shapes, and no number."""
    one = np.ones(2)
    assert agree("g", {"ours": [one], "jax": [one + 1e-12]}, 1e-9) == []
    for other in (one + 1e-3, np.ones(3), one * np.nan):
        assert len(agree("g", {"ours": [one], "jax": [other]}, 1e-9)) == 1
    assert leaves({"b": (1.0, [2.0]), "a": 3.0}) == [3.0, 1.0, 2.0]


def test_caps_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have one thread, and no variable that holds one of the libraries back."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    found = environment()
    assert "OPENBLAS_CORETYPE" not in found
    assert found["OMP_NUM_THREADS"] == "1"
