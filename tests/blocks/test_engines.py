"""Blocks on executors of threads and of processes, and on Dask: the same results, and errors with their rows."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from hilbert.program.blocks.sources import Held, InFile, Mapped, source_of

N = 1000
X, D = hb.Fin.of(N), hb.Fin.of(3)
S = (hb.R**D) ** X
f: Any = hb.fun(hb.R**D, S)(lambda w, xs: hb.each(lambda x: hb.softplus(w @ x), xs).mean())
g = hb.blocked(hb.value_and_grad(f), over=X, size=130)  # the gradient in the rows is written block by block
W = (hb.R**D).vec([1.0, -1.0, 0.5])


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Rows in a file."""
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, np.random.default_rng(0).standard_normal((N, 3)))
    return S.vec(np.load(path, mmap_mode="r"))


def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a.leaves, b.leaves, strict=True))


def test_map_itself(mapped: Any) -> None:
    assert same(g.on(map)(W, mapped), g(W, mapped))


def test_threads(mapped: Any) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert same(g.on(pool.map)(W, mapped), g(W, mapped))
        assert same(g.on(pool)(W, mapped), g(W, mapped))


def test_processes(mapped: Any) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert same(g.on(pool.map)(W, mapped), g(W, mapped))
        assert same(g.on(pool)(W, mapped), g(W, mapped))
        in_memory = S.vec(np.array(mapped.array))
        assert same(g.on(pool.map)(W, in_memory), g(W, mapped))


def test_dask(mapped: Any) -> None:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        assert same(g.on(client)(W, mapped), g(W, mapped))
        on_dask = g.on(lambda task, rows: client.gather(client.map(task, list(rows))))
        assert same(on_dask(W, mapped), g(W, mapped))


def test_dask_sends_a_task_as_bytes(mapped: Any) -> None:
    """Workers pass a task on to each other: as bytes, which are pickled without the classes of the client."""
    pytest.importorskip("distributed")

    class Future:
        def __init__(self, value: Any) -> None:
            self.value = value

        def result(self) -> Any:
            return self.value

    class Client:
        def scheduler_info(self) -> None: ...

        def nthreads(self) -> dict[str, int]:
            return {"worker": 1}

        def submit(self, function: Any, *args: Any, **_: Any) -> Future:
            given = [pickle.loads(pickle.dumps(a.value if isinstance(a, Future) else a)) for a in args]
            assert isinstance(given[0], bytes)
            return Future(function(*given))

    assert same(g.on(Client())(W, mapped), g(W, mapped))


def test_rows_of_a_file_travel_as_places(mapped: Any) -> None:
    seen = list[Any]()

    def watched(task: Any, rows: Any) -> Iterator[Any]:
        for given in rows:
            seen.append(given)
            yield pickle.loads(pickle.dumps(task))(pickle.loads(pickle.dumps(given)))

    assert same(g.on(watched)(W, mapped), g(W, mapped))
    assert len(seen) == 8
    assert all(type(lane) is InFile for _, _, lanes in seen for lane in lanes)
    assert len(pickle.dumps(seen[0])) < 500


def test_parts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    whole = np.arange(60.0).reshape(5, 4, 3)
    np.save(path, whole)
    mapped = np.load(path, mmap_mode="r")
    for array, at, start in ((mapped, 0, 1), (mapped[2:], 0, 0), (mapped[1], 1, 1)):
        found = source_of(np.asarray(array), at)
        assert type(found) is Mapped
        assert np.array_equal(found.read(start, start + 2), np.take(array, range(start, start + 2), at))
    turned = source_of(np.asarray(mapped.T), 0)
    assert type(turned) is Held
    assert np.array_equal(turned.sent(1, 3).read(2, 3), mapped.T[2:3])


def test_an_error_names_its_rows() -> None:
    def value(xp: Any, a: Any) -> Any:
        """The argument, where it is small."""
        if bool(xp.any(a > 1e6)):
            raise ArithmeticError
        return a

    picky = hb.operation("picky, of rows", hb.R, to=hb.R, value=value)
    h: Any = hb.fun(hb.R**X)(lambda y: hb.each(picky, y).sum())
    a = np.ones(N)
    a[777] = 1e7
    with pytest.raises(ArithmeticError) as found:
        hb.blocked(h, over=X, size=100)((hb.R**X).vec(a))
    assert "  in the block of the elements 700 to 799 of 1000" in found.value.__notes__


def test_what_is_no_map_is_refused() -> None:
    with pytest.raises(SpaceError, match=r"g\.on\(engine\) takes an executor, a Dask client, or a function like map"):
        g.on(3)
    with pytest.raises(SpaceError, match="the map gave 2 results for 8 runs of blocks: it gives one each, in order"):
        g.on(lambda task, rows: [task(row) for row in list(rows)[:2]])(W, S.zeros())
    with pytest.raises(SpaceError, match="the map gave 0 results for 0 runs of blocks"):
        g.on(lambda task, rows: [])(W, S.zeros())  # noqa: ARG005 - neither is used
    with pytest.raises(SpaceError, match="the map gave 9 results for 8 runs of blocks"):
        g.on(lambda task, rows: [task(row) for row in rows] + [None])(W, S.zeros())


def test_runs_of_blocks_are_put_together_as_blocks_are(mapped: Any) -> None:
    """Few blocks are sent one by one, many in runs of two, four, …: the results are the same, to the last bit."""
    counts = list[int]()

    def watched(task: Any, rows: Any) -> Iterator[Any]:
        for given in rows:
            counts[-1] += 1
            yield task(given)

    for size in (1, 3, 7, 130):
        h = hb.blocked(hb.value_and_grad(f), over=X, size=size)
        counts.append(0)
        assert same(h.on(watched)(W, mapped), h(W, mapped))
    assert counts == [125, 84, 72, 8]
