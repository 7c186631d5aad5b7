"""Faults of workers: one that dies in the middle, rows that raise or kill, a call that is broken off."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError

N = 800
ROOT = Path(__file__).parents[2]


class Row(hb.Axis, size=N): ...


f = hb.fun(hb.R, hb.R**Row.set)(lambda k, y: hb.each(lambda v: hb.exp(k * v), y).sum())
g = hb.distributed(hb.value_and_grad(f, 0), over=Row.set, size=50)
Y = np.random.default_rng(0).standard_normal(N)
K = hb.R.vec(0.3)
WANT = g(K, data={"y": Y})


class Fragile:
    """Rows that are computed where blocks run, and that harm the process which reads some of them."""

    def __init__(self, mark: str, at: int, harm: str, rows: Any = None, start: int = 0) -> None:
        self.mark, self.at, self.harm, self.start = mark, at, harm, start
        self.rows = Y if rows is None else rows
        self.shape = self.rows.shape

    def __getitem__(self, at: slice) -> Fragile:
        return Fragile(self.mark, self.at, self.harm, self.rows[at], self.start + at.start)

    def compute(self, scheduler: str) -> Any:
        assert scheduler == "synchronous"
        if self.start <= self.at < self.start + len(self.rows):
            if self.harm == "raise":
                raise ArithmeticError
            if self.harm == "always" or not Path(self.mark).exists():
                Path(self.mark).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return self.rows


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers, each a process."""
    distributed = pytest.importorskip("distributed")
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{before}"
    import dask

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.worker.daemon": True}),
        distributed.LocalCluster(silence_logs=50, **options) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made
    os.environ["PYTHONPATH"] = before


def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a.leaves, b.leaves, strict=True))


@pytest.mark.filterwarnings("ignore")
def test_a_worker_dies_in_the_middle(client: Any, tmp_path: Path) -> None:
    data = {"y": Fragile(str(tmp_path / "mark"), 400, "once")}
    assert same(g(K, data=data, engine=client), WANT)
    assert (tmp_path / "mark").exists()


@pytest.mark.filterwarnings("ignore")
def test_rows_that_raise_and_rows_that_kill(client: Any, tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError) as found:
        g(K, data={"y": Fragile(str(tmp_path / "none"), 400, "raise")}, engine=client)
    assert "  in the block of the elements 400 to 449 of Row800" in found.value.__notes__
    with pytest.raises(Exception, match="worker") as killed:
        g(K, data={"y": Fragile(str(tmp_path / "mark"), 400, "always")}, engine=client)
    assert "  in the blocks of the elements 400 to 449 of Row800" in killed.value.__notes__
    assert same(g(K, data={"y": Y}, engine=client), WANT)  # the workers were started again


def test_a_call_that_is_broken_off() -> None:
    """What has not begun is cancelled, and no thread is left."""
    begun = list[int]()

    def slow(done: int, total: int) -> None:
        begun.append(total - done)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyboardInterrupt):
            g(K, data={"y": Y}, engine=pool, progress=slow)
        start = time.monotonic()
        pool.submit(int).result(timeout=10)
        assert time.monotonic() - start < 10
    assert len(begun) == 1


def test_a_source_of_another_length_in_a_later_pass() -> None:
    two = hb.distributed(hb.fun(hb.R**Row.set)(lambda y: hb.square(y - y.mean().rep(y.space)).sum()), over=Row.set)
    lengths = iter([N, N, N - 1])  # the first part is looked at once more
    with pytest.raises(SpaceError, match="the data have 799 rows, and Row800 has 800 elements"):
        two(data=lambda: iter([{"y": Y[: next(lengths)]}]))
