"""Rows beside those of a block: slices, paddings, bands, windows and convolutions along X, right or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as library
from hilbert.program.blocks.halos import BlockRows

hb: Any = library

N = 71
X, D, K, ONE = hb.Fin.of(N), hb.Fin.of(3), hb.Fin.of(5), hb.Fin.of(1)
INNER = hb.Fin.of(N - 1)
Y, S, W = hb.R**X, (hb.R**D) ** X, hb.R**K
SIZES = (1, 7, N, N + 1)
WEIGHTS = np.linspace(-1.0, 1.0, N - 1)
SEGMENTS = hb.segment_sum(np.arange(N) % 3, D, rows=X)


def conv(y: Any, w: Any, **given: Any) -> Any:
    return hb.conv(y.reshape(X * ONE), w.reshape(K * ONE * ONE), **given)


def heat(y: Any) -> Any:
    """Some rounds of diffusion, written out."""
    for _ in range(6):
        around = y.pad(1, 1)
        y = y + 0.1 * (around[2:] - 2.0 * y + around[:-2])
    return y


PROGRAMS: dict[str, Any] = {
    "differences": hb.fun(Y)(lambda y: hb.square(y[1:] - y[:-1]).sum()),
    "products of neighbours": hb.fun(Y)(lambda y: y[1:] * y[:-1]),
    "second differences": hb.fun(Y)(lambda y: hb.exp(y[2:] - 2.0 * y[1:-1] + y[:-2]).sum()),
    "paddings": hb.fun(Y)(lambda y: hb.square(y.pad(1, 4)[5:] - hb.sin(y)).sum()),
    "a shift": hb.fun(Y)(lambda y: hb.square(hb.red(hb.relations.shift(X, 3))(y) - y).sum()),
    "a band": hb.fun(Y)(lambda y: hb.square(hb.red(hb.relations.band(X, 2, 1))(y) - hb.exp(y)).sum()),
    "windows": hb.fun(Y)(lambda y: hb.square(hb.red(hb.relations.window(X, 4, offset=-2, dilation=3, to=X))(y))),
    "a convolution": hb.fun(Y, W)(lambda y, w: hb.square(conv(y, w)).sum()),
    "convolutions of one size": hb.fun(Y, W)(
        lambda y, w: hb.tanh(conv(hb.tanh(conv(y, w, padding="same"))[:, 0], w, padding="same")).sum()
    ),
    "a convolution with gaps": hb.fun(Y, W)(lambda y, w: hb.square(conv(y, w, dilation=4)).sum()),
    "rounds of diffusion": hb.fun(Y)(lambda y: hb.square(heat(y)).sum()),
    "rows of vectors": hb.fun(S)(lambda s: hb.each(lambda a, b: hb.square(a - b).sum(), s[1:], s[:-1]).sum()),
    "both axes": hb.fun(hb.R ** (D * X))(lambda a: hb.exp(a[1:, 1:] * a[:-1, :-1]).sum() + hb.square(a[0, 2:]).sum()),
    "an argument for the differences": hb.fun(Y, hb.R**INNER)(lambda y, z: hb.square(y[1:] - z * y[:-1]).sum()),
    "constants and tables": hb.fun(Y, hb.R**D)(
        lambda y, c: (hb.R**INNER).vec(WEIGHTS) @ (hb.adjoint(SEGMENTS)(c)[1:] * y[:-1]) + SEGMENTS(y.pad(2, 0)[2:]) @ c
    ),
    "the mean of all": hb.fun(Y)(lambda y: hb.square(y[1:] - y.mean().rep(hb.R**INNER)).sum()),
    "first and last": hb.fun(Y)(lambda y: hb.square(y - y[0].rep(Y)).sum() * y[-1] + (y[:2] @ y[-2:])),
    "a few": hb.fun(Y)(lambda y: hb.exp(y[10:25]).sum() * y[11]),
    "ends put together": hb.fun(Y)(lambda y: hb.square(y[:1].concatenate(hb.tanh(y[1:-1])).concatenate(y[-1:])).sum()),
    "a rotation by slices": hb.fun(Y)(lambda y: hb.square(y[1:].concatenate(y[:1]).named(X) - y).sum()),
    "softmax of differences": hb.fun(Y)(lambda y: hb.square((y[1:] - y[:-1]).softmax()).sum()),
    "the greatest difference": hb.fun(Y, Y)(lambda y, z: (y[1:] * z[:-1])[(y[1:] - y[:-1]).argmax()] * z[1:].max()),
    "rounds for each pair": hb.fun(Y)(
        lambda y: hb.each(lambda a, b: hb.iterate(lambda s: hb.tanh(s * b), a, hb.Fin.of(3)), y[1:], y[:-1]).sum()
    ),
    "a part that ends early": hb.fun(Y)(lambda y: hb.square(hb.tanh(y)[: N - 5]).sum() + hb.exp(y[3:]).sum()),
    "the greatest of sums of pairs": hb.fun(Y, W)(
        lambda y, w: hb.each(
            lambda k: hb.each(lambda a, b: hb.exp(-hb.square(a - b * k)), y[1:], y[:-1]).sum(), w
        ).max()
    ),
    "branches": hb.fun(Y)(
        lambda y: hb.each(lambda a, b: hb.where(a > b, lambda: hb.log(a - b), lambda: a * b), y[1:], y[:-1])[3:].sum()
    ),
    "a choice": hb.fun(Y)(lambda y: hb.where(y[1:] > 0.3, y[:-1], hb.exp(y[1:])).sum()),
}


def derived(name: str) -> list[Any]:
    f = PROGRAMS[name]
    return [f, hb.grad(f)] if f.cod == hb.R else [f]


def agree(f: Any, g: Any) -> None:
    x = f.dom.random(np.random.default_rng(0))
    for a, b in zip(f(x).leaves, g(x).leaves, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-12 * np.max(np.abs(a), initial=1.0))


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name: str) -> None:
    for f in derived(name):
        for size in SIZES:
            agree(f, hb.blocked(f, over=X, size=size))


@pytest.mark.parametrize("name", PROGRAMS)
def test_machine_code(name: str) -> None:
    pytest.importorskip("llvmlite")
    for f in derived(name):
        for size in (7, N):
            agree(f, hb.compiled(hb.blocked(f, over=X, size=size)))


@pytest.mark.parametrize("name", ["differences", "a band", "a few", "the greatest difference"])
def test_results_do_not_depend_on_threads(name: str) -> None:
    for f in derived(name):
        x = f.dom.random(np.random.default_rng(0))
        found = [hb.blocked(f, over=X, size=6, threads=n)(x).leaves for n in (1, 2, 5)]
        for other in found[1:]:
            for a, b in zip(found[0], other, strict=True):
                np.testing.assert_array_equal(b, a)


def test_curvature() -> None:
    f = PROGRAMS["second differences"]
    h = hb.hvp(f, 0)
    agree(h, hb.blocked(h, over=X, size=10))


def grown(rng: np.random.Generator, y: Any, mean: Any) -> Any:
    """A random expression along X, of the size of X: slices, paddings, bands and functions, one in the other."""
    made = [y]
    for _ in range(int(rng.integers(2, 7))):
        a = made[int(rng.integers(len(made)))]
        low, high = (int(k) for k in rng.integers(0, 4, 2))
        match int(rng.integers(6)):
            case 0:
                a = a.pad(low, high)[high : high + N]
            case 1:
                a = a[low : N - high].pad(high, low)
            case 2:
                a = hb.red(hb.relations.band(X, low, high))(a)
            case 3:
                a = hb.sin(a) * made[0]
            case 4:
                a = a - mean(a).rep(Y)
            case _:
                inner = hb.cos(a[low : N - high])
                a = (inner * inner).pad(low, high) + 0.5 * a
        made.append(a)
    low, high = (int(k) for k in rng.integers(0, 4, 2))
    return hb.square(made[-1][low : N - high]).sum() + made[-2].sum()


@pytest.mark.parametrize("seed", range(40))
def test_generated(seed: int) -> None:
    f: Any = hb.fun(Y)(lambda y: grown(np.random.default_rng(seed), y, lambda a: a.mean()))
    for g in (f, hb.grad(f)):
        for size in (1, 7, 24):
            agree(g, hb.blocked(g, over=X, size=size))


def test_rows_that_a_block_reads() -> None:
    """Its own, and one more; the last has none."""
    f = PROGRAMS["differences"]
    (part,) = hb.blocked(f, over=X, size=10).passes.passes
    assert [list(part.rows(k, min(k + 10, N)).lanes) for k in (0, 10, 70)] == [[(0, 11)], [(10, 21)], [(71, 71)]]
    assert part.rows(10, 20).key == part.rows(60, 70).key != part.rows(70, 71).key
    (part,) = hb.blocked(hb.grad(f), over=X, size=10).passes.passes
    assert list(part.rows(10, 20).lanes) == [(9, 21)]


def test_another_thread_plans_another_block_first(monkeypatch: pytest.MonkeyPatch) -> None:
    f: Any = hb.fun(Y)(lambda y: hb.exp(y[2:] * y[:-2]).sum())
    (part,) = hb.blocked(f, over=X, size=10).passes.passes
    key = BlockRows.key

    def slow(own: BlockRows, *given: Any) -> Any:
        if own.start == 10:
            part.rows(20, 30)
        return key(own, *given)

    monkeypatch.setattr(BlockRows, "key", slow)
    assert [list(part.rows(k, k + 10).lanes) for k in (10, 20, 30)] == [[(10, 22)], [(20, 32)], [(30, 42)]]


def test_blocks_are_longer_than_their_halo() -> None:
    """By default, so that most rows are computed once."""
    n, lag = 1_000_000, 50_000
    f: Any = hb.fun(hb.R ** hb.Fin.of(n))(lambda y: hb.square(y[lag:] - y[: n - lag]).sum())
    g = hb.blocked(f, over=hb.Fin.of(n))
    assert g.passes.passes[0].halo == (0, lag)
    assert g.size >= 4 * lag


def test_memory_is_that_of_a_block() -> None:
    import tracemalloc

    n = 200_000
    f: Any = hb.fun(hb.R ** hb.Fin.of(n))(lambda y: hb.exp(hb.square(y[1:] - y[:-1])).sum())
    x = f.dom.random(np.random.default_rng(0))
    g = hb.blocked(f, over=hb.Fin.of(n), size=2000)
    g(x)
    tracemalloc.start()
    g(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000, peak


@pytest.mark.parametrize("engine", [None, map])
def test_distributed(engine: Any, tmp_path: Any) -> None:
    f = hb.value_and_grad(PROGRAMS["an argument for the differences"])
    rng = np.random.default_rng(0)
    y, z = rng.standard_normal(N), rng.standard_normal(N - 1)
    np.save(tmp_path / "y.npy", y)
    due = f((Y.vec(y), (hb.R**INNER).vec(z)))
    for rows in (y, np.load(tmp_path / "y.npy", mmap_mode="r")):
        found = hb.distributed(f, over=X, size=4)((hb.R**INNER).vec(z), data={"y": rows}, engine=engine)
        for a, b in zip(due.leaves, found.leaves, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-10)


def test_rows_that_come_in_tables_are_refused() -> None:
    g = hb.distributed(PROGRAMS["differences"], over=X, size=4)
    with pytest.raises(hb.SpaceError, match="f reads rows beside their own along 71: give the data as one table"):
        g(data=[{"y": np.ones(40)}, {"y": np.ones(31)}])


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda y: y.roll(1) @ y, "it relates elements of 71 to others (rotation by 1)"),
        (lambda y: hb.square(y[::2]).sum(), "it relates elements of 71 to others ((36↪71 by 2)ᵀ)"),
        (lambda y: y[::-1] @ y, "it relates elements of 71 to others"),
        (
            lambda y: hb.iterate(lambda s: s + hb.red(hb.relations.shift(X, 1))(s), y, hb.Fin.of(3)).sum(),
            "it relates elements of 71 to others (band(−1..−1))",
        ),
    ],
    ids=["a rotation", "every second", "backwards", "in a loop"],
)
def test_refused(f: Any, text: str) -> None:
    with pytest.raises(hb.SpaceError, match="no blocks along 71") as found:
        hb.blocked(hb.fun(Y)(f), over=X)
    assert text in str(found.value)


def test_pairs() -> None:
    """Differences of rows in blocks along them, each in blocks along a second set."""
    cells = hb.Fin.of(9)

    def energy(y: Any, c: Any) -> Any:
        return hb.each(lambda a, b: hb.each(lambda k: hb.exp(-hb.square(a - b * k)), c).sum(), y[1:], y[:-1]).sum()

    f: Any = hb.fun(Y, hb.R**cells)(energy)
    for g in (f, hb.grad(f)):
        agree(g, hb.blocked(g, over=(X, cells), size=(8, 4)))


def test_results_that_are_longer() -> None:
    """The last block has the rows behind those of X; rows that are read before a block only are no fewer behind."""
    f: Any = hb.fun(Y)(lambda y: hb.exp(y).pad(2, 3))
    g = hb.blocked(f, over=X, size=10)
    agree(f, g)
    assert str(g.report).endswith("reads 2 rows before and 0 behind its own")
