"""Element-wise stretches on long arrays: strip by strip they give the same bits, and keep little in between."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.program.calls import cache_strips
from hilbert.program.calls.cache_strips import LONG, MANY, STRIP, Strips, in_strips
from hilbert.program.calls.schedule import KernelStep
from hilbert.program.run.bound_line import BoundLine, _bind
from hilbert.program.run.fuse import fused

SIZES = [(LONG,), (LONG + 1,), (5 * STRIP - 1,), (7, LONG // 7 + 1), (LONG // 3 + 1, 3)]


@pytest.fixture(autouse=True)
def _small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips are worth it for arrays of few megabytes, too."""
    monkeypatch.setattr(cache_strips, "CACHE", 0)


def wave(x: Any, y: Any) -> Any:
    """Several calls, some of them in place."""
    return hb.exp(0.3 * x * hb.sin(x)) - hb.tanh(y) / (2.0 + hb.cos(x * y))


def over(shape: tuple[int, ...], K: Any = hb.R) -> Any:
    index: Any = hb.Fin.of(shape[0])
    for size in shape[1:]:
        index = index * hb.Fin.of(size)
    return K**index


def arrays(shape: tuple[int, ...], dtype: str = "float64") -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype(dtype) for _ in range(2)]


def made(f: Any, given: list[Any]) -> tuple[list[Strips], list[Any]]:
    """What runs strip by strip, and the results."""
    bound = BoundLine(fused(f.line.pruned()), NUMPY, given)
    return [step[0] for step in bound.steps if isinstance(step[0], Strips)], bound(given)


def whole(f: Any, given: list[Any]) -> list[Any]:
    """The results where no array is long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_strips, "LONG", 1 << 62)
        found, results = made(f, given)
    assert not found
    return results


def same(one: list[Any], other: list[Any]) -> bool:
    """Bit for bit, in one precision."""
    return all(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("K", [hb.R, hb.R32], ids=str)
def test_same_bits(shape: tuple[int, ...], K: Any) -> None:
    """One result, several (a gradient's), and those that others read, in both precisions."""
    V = over(shape, K)
    f = hb.fun(V, V)(wave)
    given = arrays(shape, V.leaves[0].dtype)
    several = hb.fun(V, V)(lambda x, y: (wave(x, y), x * y, wave(y, x)))
    slope = hb.program(hb.grad(hb.fun(V, V)(lambda x, y: (wave(x, y) ** 2).sum())))
    for g in (f, several, slope):
        assert same(made(g, given)[1], whole(g, given))


def test_one_stretch_of_a_series() -> None:
    """Nine coefficients, one step."""
    V = over((LONG,))
    f = hb.jet(hb.fun(V)(lambda x: hb.exp(0.3 * x * hb.sin(x))), 1, 8)
    rng = np.random.default_rng(0)
    given = [rng.normal(size=LONG) for _ in range(9)]
    (one,), results = made(f, given)
    assert len(results) == 9
    assert same(results, whole(f, given))
    assert one is not None


def test_numbers_and_other_layouts() -> None:
    """Operands without axes; transposed, reversed and repeated arrays."""
    V = over((200, 200))
    f = hb.fun(hb.R, V, V)(lambda s, x, y: s * wave(x, y) + s)
    a, b = arrays((200, 200))
    for x, y in ((a.T, b[::-1]), (np.broadcast_to(a[0], a.shape), b), (np.asfortranarray(a), b[:, ::-1])):
        given = [np.array(3.0), x, y]
        found, results = made(f, given)
        assert found
        assert same(results, whole(f, given))


def test_operands_and_earlier_results_stay() -> None:
    """Nothing is written into what others see."""
    V = over((LONG,))
    f = hb.fun(V, V)(wave)
    x, y = map(V.vec, arrays((LONG,)))
    first = f(x, y)
    before = [one.array.copy() for one in (x, y, first)]
    f(y, x)
    assert all(np.array_equal(one.array, kept) for one, kept in zip((x, y, first), before, strict=True))


def test_arrays_that_the_cache_holds_run_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips of them would gain nothing."""
    V = over((4 * LONG,))
    f, given = hb.fun(V, V)(wave), arrays((4 * LONG,))
    for size, due in ((8 * V.dim * 8, False), (2 * V.dim * 8, True)):
        monkeypatch.setattr(cache_strips, "CACHE", size)
        assert bool(made(f, given)[0]) == due


def test_results_are_written_into_arrays() -> None:
    """Those of strips, whose rows are long or short, and of other kernels that can; else they are other arrays."""
    for shape in SIZES:
        V = over(shape)
        f = hb.fun(V, V)(lambda x, y: (wave(x, y), hb.sin(x) - y, 2.0 * x, y.sum(), hb.maximum(x, y), x))
        given, line = arrays(shape), fused(f.line.pruned())
        out = [np.full(shape, np.nan) for _ in range(5)]
        bound = BoundLine(line, NUMPY, given, (0, 1, 2, 4, 5))
        for _ in range(4):  # interpreted, and emitted
            found = bound(given, out)
            written = [a is b for a, b in zip([*found[:3], *found[4:]], out, strict=True)]
            assert written == [True, True, True, True, False]
            assert same(found, BoundLine(line, NUMPY, given)(given))


def test_short_arrays_and_short_stretches_run_whole() -> None:
    """The sum of all is no matter of entries; what is before and after is."""
    below, V = over((LONG - 1,)), over((LONG,))
    assert not made(hb.fun(below, below)(wave), arrays((LONG - 1,)))[0]
    assert not made(hb.fun(V)(lambda x: hb.sin(hb.cos(hb.exp(x)))), arrays((LONG,))[:1])[0]
    f = hb.fun(V, V)(lambda x, y: wave(x, y) * (wave(x, y).sum() + x).sum() * x * x * x)
    found, results = made(f, arrays((LONG,)))
    assert len(found) == 2
    assert all(len(one._steps) >= MANY for one in found)
    assert same(results, whole(f, arrays((LONG,))))


def test_a_function_of_the_user_sees_whole_arrays() -> None:
    """What it does with a part of them is not known."""
    sizes = list[int]()

    def value(xp: Any, x: Any) -> Any:
        sizes.append(x.size)
        return xp.cumulative_sum(x)

    cumulative: Any = hb.register("cumulative of strips", value, lambda x, _: 0.0 * x)
    V = over((LONG,))
    (x,) = arrays((LONG,))[:1]
    f = hb.fun(V)(lambda x: cumulative(hb.sin(x) * x + 2.0 * x - 1.0) * x * x * x * x)
    found, (y,) = made(f, [x])
    assert len(found) == 2
    assert sizes == [LONG]
    np.testing.assert_allclose(y, np.cumsum(np.sin(x) * x + 2.0 * x - 1.0) * x**4, rtol=1e-12, atol=1e-9)


def test_memory() -> None:
    """Results are as long as operands; what lies between is not."""
    n = 1 << 20
    V = over((n,))
    f = hb.fun(V)(lambda x: hb.exp(0.3 * x * hb.sin(x)) * (1.0 + hb.cos(x)) - hb.tanh(x * x))
    x = V.vec(arrays((n,))[0])
    f(x)
    tracemalloc.start()
    try:
        kept = f(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert kept.array.nbytes < peak < 1.3 * kept.array.nbytes


@pytest.mark.parametrize("at", [0, LONG - 1])
def test_an_error_names_its_line(at: int) -> None:
    """Wherever in the array it arises."""
    V = over((LONG,))

    def body(x: Any) -> Any:
        y = hb.sin(x) + hb.cos(x)
        z = hb.log(x)  # here
        return y * z + x

    f = hb.fun(V)(body)
    values = np.ones(LONG)
    values[at] = -1.0
    with pytest.raises(RuntimeWarning, match="invalid value") as caught:
        f(V.vec(values))
    line = body.__code__.co_firstlineno + 2
    assert any(f"test_strips.py:{line}" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("guarded", [np.nan, np.inf, -np.inf])
def test_conditions_choose(guarded: float) -> None:
    """What stands where a condition does not hold is not looked at."""
    V = over((LONG,))
    f = hb.fun(V, V)(lambda x, y: 2.0 * hb.select(x > 0.0, wave(x, y) * y * x) + x * hb.sqrt(hb.select(x > 0.0, x)))
    slope = hb.grad(hb.fun(V)(lambda x: (2.0 * hb.sqrt(hb.select(x > 0.0, x))).sum()))
    x, y = arrays((LONG,))
    y[x <= 0.0] = guarded
    with np.errstate(all="ignore"):
        (value,) = made(f, [x, y])[1]
        assert same([value], whole(f, [x, y]))
        assert np.isfinite(slope(V.vec(x)).array).all()
    assert np.isfinite(value).all()


class Looked(list[KernelStep]):
    """Code that counts how many steps are taken out of it."""

    taken = 0

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.taken += len(found) if isinstance(at, slice) else 1
        return found


def test_code_without_stretches_is_looked_through_once() -> None:
    """Beside one long array, many steps on short ones."""

    def body(x: Any, y: Any) -> Any:
        for _ in range(300):
            y = (y @ hb.sin(y)) * y
        return x.sum() * y

    line = fused(hb.fun(over((LONG,)), over((3,)))(body).line.pruned())
    code = Looked(_bind(line, NUMPY))
    assert in_strips(code, line, NUMPY)[0] == [*code]
    assert code.taken <= 10 * len(code)


@pytest.mark.parametrize("shape", [(200, 2000), (4000, 30)])
def test_repetitions_that_are_not_spread_out_are_in_no_strip(shape: tuple[int, int]) -> None:
    """An array that is repeated along its last axis has one entry there, whatever its space says."""
    X, Y = hb.Fin.of(shape[0]), hb.Fin.of(shape[1])
    V: Any = hb.R ** (X * Y)
    f: Any = hb.fun(V, hb.R**X)(lambda a, x: hb.tanh(hb.sin(hb.exp(a) * x.rep(V, over=1)) * 0.5) + a)
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=shape), rng.normal(size=shape[0])
    assert np.allclose(f(V.vec(a), (hb.R**X).vec(x)).array, np.tanh(np.sin(np.exp(a) * x[:, None]) * 0.5) + a)
