"""Claims of docs/blocks.md that are seen by a test of their own: sizes, refusals, files, what is compiled."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hilbert.all as library
from diff.blocks.data_sources import Sliced
from diff.blocks.nested_blocks import Nested, passes_of
from diff.primitives.primitives import exp
from hilbert import SpaceError
from hilbert.arrays.libraries import blas_threads
from hilbert.arrays.libraries.blas_threads import one_blas_thread
from hilbert.index.index import Fin
from hilbert.index.leaf import Entry, Leaf
from hilbert.program.blocks.block_sizes import bytes_at_once
from hilbert.program.blocks.passes import in_passes, joined
from hilbert.program.blocks.run_blocks import BlockRunner
from hilbert.program.blocks.sources import InFile, source_of
from hilbert.program.blocks.tasks import interpreted
from hilbert.program.control.branch import Cond
from hilbert.program.line.builder import Builder, line_of
from hilbert.program.line.choice import AnyLane

hb: Any = library
N = 12
X = hb.Fin.of(N)
Y = hb.R**X


def test_blas_threads_are_restored_by_the_last() -> None:
    calls = list[Any]()

    class Limit:
        def restore_original_limits(self) -> None:
            calls.append("restored")

    class Lib:
        def limit(self, limits: int) -> Limit:
            calls.append(limits)
            return Limit()

    with mock.patch.object(blas_threads, "_libraries", Lib):
        with one_blas_thread(), one_blas_thread():
            assert calls == [1]
        assert calls == [1, "restored"]


def test_one_system_for_all_elements_is_refused() -> None:
    D = hb.Fin.of(2)
    V = hb.R**D
    f = hb.fun(Y, V, Y)(
        lambda w, p, bs: hb.each(
            lambda b: (
                hb.solve(
                    hb.derivative(
                        hb.fun(Y, V, V)(lambda w, p, x: x * p * (w @ w) + p * (w @ hb.exp(w * x[0].rep(Y)))), wrt=2
                    )
                )(w, p, p, b.rep(V))
            )[0],
            bs,
        )
    )
    with pytest.raises(SpaceError, match="depends on all elements"):
        hb.blocked(f, over=X, size=5)


def test_one_equation_for_all_elements_is_refused() -> None:
    f = hb.fun(Y, Y)(
        lambda w, bs: hb.each(lambda b: hb.root(lambda u: u + u * u * u + hb.tanh(w * u.rep(Y)) @ w - b, b), bs)
    )
    with pytest.raises(SpaceError, match="depends on all elements"):
        hb.blocked(f, over=X, size=5)


def test_blocks_take_some_megabytes() -> None:
    big = hb.Fin.of(1_000_000)
    f = hb.fun(hb.R, hb.R**big)(lambda a, y: hb.exp(a * y).sum())
    g = hb.blocked(f, over=big)
    assert 2.2e6 < bytes_at_once(g.passes, g.size) < 2.7e6
    pytest.importorskip("llvmlite")
    h = hb.compiled(g)
    assert 5.5e6 < bytes_at_once(h.passes, h.size) < 6.5e6


def test_blocks_have_sixteen_elements_at_least() -> None:
    rows, wide = hb.Fin.of(100), hb.Fin.of(1_000_000)
    f = hb.fun((hb.R**wide) ** rows)(lambda xs: hb.each(lambda x: hb.exp(x).sum(), xs).sum())
    assert hb.blocked(f, over=rows).size >= 15


def test_what_lanes_steer_is_no_result() -> None:
    X = Fin.of(10)
    mask, number = Leaf(Entry("bool"), (X,)), Leaf(Entry("float64"), ())
    one = Builder([number])
    then = one.line([one.step(exp, (0,))])
    line_of([number], exp, 0)
    two = Builder([number])
    otherwise = two.line([two.scale(2.0, 0)])
    b = Builder([mask, number])
    some = b.step(AnyLane(0, True), (0,))  # noqa: FBT003
    line = b.line([b.unpack(b.step(Cond(then, otherwise), (b.pack([some, 1]),)))[0]])
    with pytest.raises(
        SpaceError, match=r"depends on all of 10 if this branch is taken: write where\(c, a, b\) with values"
    ):
        in_passes(line, X)


def test_light_work_is_done_in_each_block_of_machine_code() -> None:
    rows = hb.Fin.of(1000)
    D = hb.Fin.of(60)
    M = hb.R ** (D * D)
    hb.R**D
    Y = hb.R**rows
    heavy: Any = hb.fun(M, Y)(lambda a, y: hb.exp((a @ a @ a @ a).sum() * y).sum())
    light: Any = hb.fun(hb.R, Y)(lambda a, y: hb.exp(hb.exp(a) * y).sum())

    def between(f: Any) -> int:
        p = hb.blocked(hb.compiled(f), over=rows, size=500)
        (before,), (after,) = p.passes.passes, joined(p.passes, 500).passes
        return len(after.line.steps) - len(before.line.steps)

    assert between(heavy) == 0  # computed once
    assert between(light) == 1


def test_a_file_that_changes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, np.arange(10.0))
    place = source_of(np.load(path, mmap_mode="r"), 0).sent(0, 10)
    assert isinstance(place, InFile)
    os.utime(path, ns=(1, 1))
    with pytest.raises(SpaceError, match="has changed while blocks were read from it"):
        place.read(0, 10)


def test_what_is_changed_in_memory_alone_travels(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, np.zeros(10))
    rows = np.load(path, mmap_mode="c")
    rows[5] = 7.0  # in memory alone
    assert source_of(rows, 0).sent(0, 10).read(5, 6).tolist() == [7.0]


def test_blocks_are_larger_where_totals_are() -> None:
    rows, wide = hb.Fin.of(1_000_000), hb.Fin.of(500)  # a total of 2 MB
    f = hb.fun(hb.R ** (rows * wide))(lambda a: a.T @ a)
    g = hb.blocked(f, over=rows)
    assert bytes_at_once(g.passes, g.size) > 1.2e7


def test_more_rows_and_fewer_are_refused() -> None:
    X = hb.Fin.of(10)
    g = hb.distributed(hb.fun(hb.R**X)(lambda y: y.sum()), over=X)
    for n in (9, 11):
        with pytest.raises(SpaceError, match=f"the data have {n} rows, and 10 has 10 elements"):
            g(data={"y": np.ones(n)})


def test_the_row_of_a_missing_value_is_named(tmp_path: Path) -> None:
    y = pa.array([1.0] * 7 + [None] + [1.0] * 2)
    pq.write_table(pa.table({"y": y}), tmp_path / "a.parquet", row_group_size=5)
    f = hb.distributed(hb.fun(hb.R ** hb.Fin.of(10))(lambda y: y.sum()), over=hb.Fin.of(10))
    with pytest.raises(SpaceError, match=r"no value in 1 rows \(7\)"):
        f(data=hb.parquet(tmp_path / "a.parquet"))


def test_an_iterator_is_for_one_pass() -> None:
    X = hb.Fin.of(10)
    f = hb.distributed(hb.fun(hb.R**X)(lambda y: hb.square(y - y.mean().rep(y.space)).sum()), over=X)
    assert len(f.report.passes) == 2
    with pytest.raises(SpaceError, match="there are 2 passes over the data, and an iterator gives them once"):
        f(data=iter([{"y": np.ones(10)}]))


def test_inner_blocks_fit_every_pass() -> None:
    X, Y = hb.Fin.of(3000), hb.Fin.of(40_000)
    A, B = hb.R**X, hb.R**Y

    def light(a: Any, b: Any) -> Any:
        return hb.each(lambda x: hb.each(lambda y: x * y, b).sum(), a).sum()

    def both(a: Any, b: Any) -> Any:
        m = light(a, b)
        return hb.each(
            lambda x: hb.each(lambda y: hb.exp(hb.sin(x * y - m) * hb.cos(x + y) + hb.tanh(x - y)), b).sum(), a
        ).sum()

    g = hb.blocked(hb.fun(A, B)(both), over=(X, Y), size=(50, None))
    rest = Nested(g.over[1:], (None,), is_compiled=False)
    each = [rest.sizes(passes_of(l, rest.over, is_compiled=False))[0] for l in g._nested._along(g.passes, 50)]
    assert len(set(each)) > 1
    assert g.sizes[1] == min(each)


def test_blocks_of_compiled_blocks_are_compiled() -> None:
    pytest.importorskip("llvmlite")
    X = hb.Fin.of(30)
    f = hb.fun(hb.R**X)(lambda y: hb.exp(y).sum())
    assert hb.blocked(hb.compiled(hb.blocked(f, over=X, size=5)), over=X, size=7).is_compiled


def test_a_vector_of_another_space_is_named() -> None:
    X = hb.Fin.of(10)
    g = hb.distributed(hb.fun(hb.R ** hb.Fin.of(3), hb.R**X)(lambda w, y: w.sum() * y.sum()), over=X)
    with pytest.raises(SpaceError, match=r"w is .* where a vector of ℝ\^3 is due"):
        g((hb.R ** hb.Fin.of(4)).ones(), data={"y": np.ones(10)})


def test_arrays_of_dask_are_computed_by_the_worker() -> None:
    class Lazy:
        def __getitem__(self, at: Any) -> Any:
            return self

        def compute(self, scheduler: Any = None) -> Any:
            return scheduler

    assert Sliced(Lazy()).read(0, 1) == "synchronous"


def test_blocks_are_worth_the_calls_of_their_steps() -> None:
    """Many steps that make few entries, those of rounds too, take longer blocks than the cache has room for."""
    rows, wide = hb.Fin.of(100_000), hb.Fin.of(400)
    many: Any = hb.fun(*[hb.R**rows] * 100)(lambda *ys: sum((hb.exp(y) for y in ys), ys[0]).sum())
    start: Any = hb.fun(hb.R**wide)(lambda x: hb.exp(x).sum())
    rounds: Any = hb.fun(hb.R**wide)(lambda x: hb.iterate(lambda t: hb.sin(t) + t, start(x), hb.Fin.of(500)))
    sizes = [hb.blocked(f, over=rows).size for f in (many, each_of(start, rows), each_of(rounds, rows))]
    assert sizes[0] > 10_000
    assert sizes[1] < 1000
    assert sizes[2] > 3000


def each_of(f: Any, rows: Any) -> Any:
    """The sum of a function over rows."""
    return hb.fun(f.dom**rows)(lambda xs: hb.each(f, xs).sum())


def test_blocks_of_machine_code_have_a_hundred_rows_at_least() -> None:
    pytest.importorskip("llvmlite")
    start: Any = hb.fun(hb.R ** hb.Fin.of(12_500))(lambda x: hb.exp(hb.sin(x)).sum())
    assert hb.compiled(hb.blocked(each_of(start, hb.Fin.of(100_000)), over=hb.Fin.of(100_000))).size >= 128


def test_a_worker_holds_totals_and_what_blocks_share() -> None:
    """Small blocks of large totals, which wait for others in pairs of pairs, and a matrix that all blocks read."""
    rows, wide = hb.Fin.of(1000), hb.Fin.of(300)
    A, M = hb.R ** (rows * wide), hb.R ** (wide * wide)
    products: Any = hb.fun(A)(lambda a: hb.sin(a).T @ a)
    shared: Any = hb.fun(M, A)(lambda m, a: hb.tanh(a @ hb.exp(m)).sum())
    for f, size in ((products, 4), (shared, 1)):
        g, x = hb.blocked(f, over=rows, size=size), f.dom.random(np.random.default_rng(0))
        g(x)
        tracemalloc.start()
        g(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 0.7 * g.held < peak < 1.3 * g.held


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_written_where_they_belong(threads: int) -> None:
    """The function that runs a block is given the rows of the result; other results of it are copied there."""
    rows = hb.Fin.of(100)
    f: Any = hb.fun(hb.R**rows)(hb.sin)
    given, x = list[Any](), np.linspace(0.0, 1.0, 100)
    for is_there in (True, False):

        def make(line: Any, is_there: bool = is_there) -> Any:  # noqa: FBT001
            def run(arrays: Any, out: Any) -> Any:
                given.append(out[0])
                return interpreted(line)(arrays, out if is_there else None)

            return run

        (made,) = BlockRunner(in_passes(f.line, rows), 10, threads, make).run([x])
        np.testing.assert_allclose(made, np.sin(x))
        assert len(given) == 10
        assert all(np.shares_memory(part, made) for part in given)
        given.clear()


def test_rows_that_lie_apart_are_written_by_machine_code() -> None:
    """Columns of a matrix, whose rows are no row of the result."""
    pytest.importorskip("llvmlite")
    rows, wide = hb.Fin.of(3000), hb.Fin.of(5)
    f: Any = hb.fun(hb.R**wide, hb.R**rows)(lambda a, y: hb.exp(hb.outer(a, y)))
    g, x = hb.compiled(hb.blocked(f, over=rows, size=700)), f.dom.random(np.random.default_rng(0))
    np.testing.assert_allclose(g(x).array, f(x).array)


def test_few_rows_are_a_total() -> None:
    rows = hb.Fin.of(100_000)
    f: Any = hb.fun(hb.R**rows)(lambda y: (y[:3], y[1:] - y[:-1]))
    assert "totals: ℝ^3; results: ℝ^99999; reads" in str(hb.blocked(f, over=rows).report)
