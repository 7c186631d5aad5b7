"""`blocked`: the same function, run block by block; passes, threads, derivatives, pickles, machine code, refusals."""

from __future__ import annotations

import gc
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from hilbert.program.blocks.block_sizes import BYTES
from hilbert.program.blocks.passes import in_passes
from hilbert.program.blocks.run_blocks import BlockRunner
from hilbert.program.blocks.tasks import interpreted, put_together

N = 301
X, D = hb.Fin.of(N), hb.Fin.of(4)
P, S, Y = hb.R**D, (hb.R**D) ** X, hb.R**X


@hb.fun(P, S, Y)
def loss(w: Any, xs: Any, ys: Any) -> Any:
    """A logistic loss, and a penalty that does not depend on the rows."""
    return hb.each(lambda x, y: hb.softplus(-y * (w @ x)), xs, ys).mean() + 0.5 * (w @ w)


@hb.fun(S)
def normed(xs: Any) -> Any:
    """Rows normed by mean and variance of all, and a sum of them."""
    centred = xs - xs.mean(over=X).rep(xs.space)
    scaled = centred / hb.sqrt(hb.square(centred).mean(over=X) + 1e-3).rep(xs.space)
    return hb.tanh(scaled).sum()


def at(f: Any) -> Any:
    return f.dom.random(np.random.default_rng(0))


def agree(f: Any, g: Any) -> None:
    x = at(f)
    for a, b in zip(f(x).leaves, g(x).leaves, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-12 * np.max(np.abs(a), initial=0.0))


@pytest.mark.parametrize("size", [1, 7, 100, N, N + 1, None])
def test_values_and_derivatives(size: int | None) -> None:
    for f in (loss, hb.grad(loss), hb.value_and_grad(loss, 0), hb.hvp(loss, 0), normed, hb.grad(normed)):
        agree(f, hb.blocked(f, over=X, size=size))


def test_one_element() -> None:
    """A set of one element has one block, here, as machine code and for data, whatever is done along the set."""
    one = hb.Fin.of(1)
    Y, S = hb.R**one, P**one
    functions: list[Any] = [
        hb.fun(Y)(lambda y: y.cumsum() + y.sort()),
        hb.fun(S)(lambda s: hb.each(lambda x: x.cumprod().sum(), s)),
        hb.grad(hb.fun(S)(lambda s: hb.each(lambda x: x.product(), s).sum())),
        hb.value_and_grad(hb.fun(S)(lambda s: hb.each(lambda x: hb.softplus(x @ x), s).mean())),
    ]
    for f in functions:
        agree(f, hb.blocked(f, over=one))
        agree(f, hb.blocked(f, over=one, size=2, threads=2))
        agree(f, hb.compiled(hb.blocked(f, over=one)))
        g, x = hb.distributed(f, over=one), at(f)
        found = g(data={g.names[0]: x.array})
        for a, b in zip(f(x).leaves, found.leaves, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-10)
    with pytest.raises(SpaceError, match="no array of the function has this axis"):
        hb.blocked(functions[0], over=hb.Fin.of(0))


def test_derivatives_of_blocked_functions_are_blocked() -> None:
    g = hb.blocked(loss, over=X, size=50)
    assert hb.grad(g, 0) is hb.blocked(hb.grad(loss, 0), over=X, size=50)
    assert hb.jvp(g) == hb.blocked(hb.jvp(loss), over=X, size=50)
    assert str(g) == str(loss)
    assert hb.blocked(g, over=X, size=50) == g
    batch = hb.Fin.of(3)
    lifted: Any = hb.lift(g, batch, over=(0,))
    assert lifted.size == 50
    agree(hb.lift(loss, batch, over=(0,)), lifted)


def test_totals_of_totals_take_passes() -> None:
    assert len(hb.blocked(loss, over=X).report.passes) == 1
    assert len(hb.blocked(normed, over=X).report.passes) == 3
    report = hb.blocked(hb.grad(normed), over=X, size=100).report
    assert str(report).startswith(
        "blocks of 100 of the 301 elements of 301, 1 thread\npass 1: 1 steps a block; totals:"
    )
    assert "results: ℝ^{301×4}" in str(report)


def test_results_do_not_depend_on_threads() -> None:
    f = hb.grad(loss)
    x = at(f)
    found = [hb.blocked(f, over=X, size=10, threads=n)(x).leaves for n in (1, 2, 5)]
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_an_error_in_a_thread_ends_the_call() -> None:
    def value(xp: Any, a: Any) -> Any:
        """The argument, where it is small."""
        if bool(xp.any(a > 1e6)):
            raise ArithmeticError
        return a

    picky = hb.operation("picky, of blocks", hb.R, to=hb.R, value=value)
    f: Any = hb.fun(Y)(lambda y: hb.each(picky, y).sum())
    a = np.ones(N)
    g = hb.blocked(f, over=X, size=7, threads=3)
    assert g(Y.vec(a)).array == N
    a[200] = 1e7
    with pytest.raises(ArithmeticError):
        g(Y.vec(a))
    a[200] = 1.0
    assert g(Y.vec(a)).array == N


def test_tables_masks_and_constants_of_the_rows() -> None:
    rng = np.random.default_rng(1)
    ids, keep, weights = rng.integers(0, 5, N), rng.random(N) < 0.5, rng.standard_normal(N)
    groups = hb.Fin.of(5)
    sums = hb.segment_sum(ids, groups, rows=X)
    of = hb.adjoint(sums)
    w = Y.vec(weights)

    def model(c: Any, y: Any) -> Any:
        r = (y - of(c)) * w
        kept = hb.relations.partial(keep, X)
        return hb.square(hb.red(kept)(r)).sum() + sums(r) @ c

    f: Any = hb.fun(hb.R**groups, Y)(model)
    for g in (f, hb.grad(f)):
        agree(g, hb.blocked(g, over=X, size=64))
        agree(g, hb.compiled(hb.blocked(g, over=X, size=64)))


def test_ids_that_are_given() -> None:
    groups = hb.Fin.of(5)
    E = hb.Elements(groups) ** X
    f: Any = hb.fun(hb.R**groups, E, Y)(lambda c, k, y: hb.square(c[k] - y).sum())
    x = f.dom.vec((np.arange(5.0), np.arange(N) % 5, np.linspace(0, 1, N)))
    g = hb.grad(f, 0)
    np.testing.assert_allclose(hb.blocked(g, over=X, size=32)(x).array, g(x).array, rtol=1e-12)


@pytest.mark.parametrize("f", [loss, hb.grad(loss), hb.grad(normed)], ids=["value", "gradient", "passes"])
def test_machine_code_of_blocks(f: Any) -> None:
    pytest.importorskip("llvmlite")
    g = hb.compiled(hb.blocked(f, over=X, size=100))
    assert g == hb.blocked(hb.compiled(f), over=X, size=100)
    assert g != hb.blocked(f, over=X, size=100)
    agree(f, g)


def test_pickles() -> None:
    g = hb.blocked(hb.grad(loss, 0), over=X, size=33, threads=2)
    again = pickle.loads(pickle.dumps(g))
    assert (again, again.size, again.threads) == (g, 33, 2)


def test_sets_without_elements_and_of_one() -> None:
    for n in (0, 1):
        rows = hb.Fin.of(n)
        f: Any = hb.fun(hb.R, hb.R**rows)(lambda a, y: hb.exp(a * y).sum())
        agree(hb.value_and_grad(f), hb.blocked(hb.value_and_grad(f), over=rows))


def test_blocks_are_equal_but_for_the_last() -> None:
    big = hb.Fin.of(1_000_003)
    f: Any = hb.fun(hb.R, hb.R**big)(lambda a, y: hb.exp(a * y).sum())
    size = hb.blocked(f, over=big).size
    assert size < big.size
    assert big.size - size * (big.size // size) > 0.9 * size


def test_memory_of_blocks_is_that_of_one() -> None:
    import tracemalloc

    big, wide = hb.Fin.of(100_000), hb.Fin.of(20)
    f: Any = hb.fun(hb.R**wide, hb.R**big)(lambda a, y: hb.each(lambda v: hb.exp(v * a).logsumexp(), y).sum())
    x = f.dom.random(np.random.default_rng(0))
    g = hb.blocked(hb.grad(f, 0), over=big, size=1000)
    g(x)
    gc.collect()
    tracemalloc.start()
    g(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3e6, peak


def test_rows_in_a_file_are_read_block_by_block(tmp_path: Any) -> None:
    big = hb.Fin.of(50_000)
    space = (hb.R**D) ** big
    rows = np.random.default_rng(0).standard_normal((big.size, 4))
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    v = space.vec(mapped)
    assert np.shares_memory(v.array, mapped)
    f: Any = hb.fun(P, space)(lambda w, xs: hb.each(lambda x: hb.softplus(w @ x), xs).mean())
    w = P.vec([1.0, -1.0, 0.5, 2.0])
    g = hb.blocked(hb.grad(f, 0), over=big, size=500)
    np.testing.assert_allclose(g(w, v).array, hb.grad(f, 0)(w, space.vec(rows)).array, rtol=1e-12)


def refused(f: Any, text: str, over: Any = X) -> None:
    with pytest.raises(SpaceError, match="no blocks along") as found:
        hb.blocked(f, over=over)
    assert text in str(found.value)
    assert any("computed by" in note for note in getattr(found.value, "__notes__", ()))


def test_refusals_name_the_step() -> None:
    refused(hb.fun(Y)(lambda y: y.cumsum().sum()), "relates elements of 301 to others (≤)")
    refused(hb.fun(Y)(lambda y: y.sort()[0]), "argsort along 301 needs all of its elements at once")
    refused(
        hb.fun(Y)(lambda y: hb.fold(lambda s, r: hb.tanh(s + r), y.sum(), y)), "a loop over 301 has its rounds in order"
    )
    rounds: Any = hb.fun(hb.R, Y)(lambda a, y: hb.iterate(lambda s: hb.tanh(s * y).sum(), a, hb.Fin.of(3)))
    refused(rounds, "needs a total over all of 301: write the loop in Python")


def test_a_matrix_of_pairs_is_refused() -> None:
    f: Any = hb.fun(hb.R ** (X * X))(lambda a: a.sum())
    with pytest.raises(SpaceError, match="has the axis 301 2 times"):
        hb.blocked(f, over=X)


def test_other_arrays_are_refused() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX's own
    jnp = jax.numpy
    g = hb.blocked(hb.grad(loss, 0), over=X)
    x = loss.dom.vec((jnp.ones(4), jnp.ones((N, 4)), jnp.ones(N)))
    with pytest.raises(SpaceError, match=r"blocks run on numpy's arrays, not on arrays of jax.*\.map"):
        g(x)


def test_jacobian_programs_are_refused() -> None:
    g = hb.blocked(hb.grad(loss, 0), over=X)
    with pytest.raises(SpaceError, match=r"does not run in blocks: make it of the function itself, `\.map`"):
        hb.jacobian_program(g, wrt=0)
    with pytest.raises(SpaceError, match=r"a matrix of derivatives, such as \.hess, or \.jac of residuals, .*g\.map"):
        hb.as_scipy(hb.blocked(loss, over=X), *loss.dom.random(np.random.default_rng(0)).split()[1:], wrt=0).hess(
            [0.0] * 4
        )


def test_totals_are_put_together_in_pairs() -> None:
    parts = [[np.array(2.0**k)] for k in range(7)]
    assert put_together(["add"], parts)[0] == 127.0
    assert put_together(["logsumexp"], [[np.array(-np.inf)], [np.array(0.0)], [np.array(0.0)]])[0] == np.log(2.0)


def test_cost_and_explain_say_blocks() -> None:
    rows, points, kinds = hb.Fin.of(20_000), hb.Fin.of(10), hb.Fin.of(30)
    space, centres = (hb.R**points) ** rows, (hb.R**points) ** kinds

    def mixture(m: Any, xs: Any) -> Any:
        return hb.each(lambda x: hb.each(lambda c: hb.square(x - c).sum(), m).logsumexp(), xs).sum()

    f = hb.fun(centres, space)(mixture)
    cost: Any = hb.cost(hb.grad(f, 0))
    (line,) = cost.blocks
    assert line.startswith("blocked over=20000: 1 pass in blocks of ")
    held = int(line.split()[-2])
    assert held <= 1.1 * BYTES < 0.2 * cost.run.memory
    g = hb.blocked(hb.grad(f, 0), over=rows)
    cost = hb.cost(g)
    assert cost.blocks == (str(g.report), f"a block holds some {g.held} bytes")
    assert str(g.report) in str(hb.explain(g))
    for h in (loss, hb.fun(hb.R**rows)(lambda v: v.cumsum().sum())):
        cost = hb.cost(h)
        assert not cost.blocks


def test_blas_runs_one_thread_in_blocks() -> None:
    """Its number of threads is what it was after the last of some calls at once."""
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def threads() -> set[int]:
        return {of["num_threads"] for of in threadpoolctl.threadpool_info() if of["user_api"] == "blas"}

    before, seen = threads(), list[set[int]]()

    def value(xp: Any, a: Any) -> Any:  # noqa: ARG001 - the library hands over the namespace
        """The argument; the threads are looked at."""
        seen.append(threads())
        return a

    looking = hb.operation("looking, at threads", hb.R, to=hb.R, value=value)
    h = hb.blocked(hb.fun(Y)(lambda y: hb.each(looking, y).sum()), over=X, size=10, threads=3)
    seen.clear()  # the operation is tried once
    h(Y.ones())
    assert len(seen) == 31
    assert {k for of in seen for k in of} == {1}
    assert threads() == before
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: h(Y.ones()), range(8)))
    assert threads() == before


@pytest.mark.parametrize(
    ("n", "divides"), [(1_000_000, True), (400_000, True), (999_983, False), (999_999, False), (1000, True)]
)
def test_blocks_of_machine_code_are_alike(n: int, divides: bool) -> None:  # noqa: FBT001
    rows = hb.Fin.of(n)
    f: Any = hb.fun(hb.R, hb.R**rows)(lambda a, y: hb.exp(a * y).sum())
    g: Any = hb.compiled(hb.blocked(f, over=rows))
    assert (n % g.size == 0) is divides
    assert g.size % 16 == 0 or g.size == n


def test_one_thread_makes_what_others_wait_for() -> None:
    made, rows = list[Any](), hb.Fin.of(640)
    f: Any = hb.fun(hb.R**rows)(lambda y: hb.cos(hb.sin(y)).sum())

    def make(line: Any) -> Any:
        made.append(line)
        time.sleep(0.1)
        return interpreted(line)

    x = np.linspace(0.0, 1.0, 640)
    (total,) = BlockRunner(in_passes(f.line, rows), 10, 4, make).run([x])
    assert np.isclose(total, np.cos(np.sin(x)).sum())
    assert len(made) == 1
