"""A call of compiled code: arrays that are copied and arrays that are not, numbers, `out`, kernels in between."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import product
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert.compiled.machine.compiled_line import GIVEN, TAKEN, CompiledLine

pytest.importorskip("llvmlite")

SIZES = {"number": 0, "none": None, "few": 3, "copied in": TAKEN // 8, "large": TAKEN // 8 + 1}
assert GIVEN < TAKEN


def space(size: int | None) -> Any:
    """R for 0, R^n for others; None stands for an empty index set."""
    return hb.R if size == 0 else hb.R ** hb.Fin.of(size or 0)


def mixed(one: int | None, other: int | None) -> Any:
    """A map of two arrays into three, of which the last is a number."""
    return hb.fun(space(one), space(other))(lambda x, y: (hb.sin(x), 2.0 * y, x.sum() * y.sum()))


@pytest.mark.parametrize(("one", "other"), [*product(SIZES, SIZES)])
def test_calls(one: str, other: str) -> None:
    """By vectors, by arrays, into `out`: what the interpreter gives; results are fresh."""
    f, rng = mixed(SIZES[one], SIZES[other]), np.random.default_rng(0)
    c, points = hb.compiled(f), [[part.random(rng) for part in f.dom.parts] for _ in range(2)]
    wants = [[np.array(a) for a in f(*p).leaves] for p in points]
    for p, want in zip(points, wants, strict=True):
        arrays = [np.array(a) for v in p for a in v.leaves]
        by_vectors, by_arrays = c(*p), c.on_arrays(*arrays)
        out = [np.full(leaf.shape, np.nan) for leaf in f.cod.leaves]
        assert all(a is b for a, b in zip(c.on_arrays(*arrays, out=out), out, strict=True))
        c.on_arrays(*(np.array(a) for v in points[0] for a in v.leaves))  # writes over no results
        for made in (by_vectors.leaves, by_arrays, out):
            assert all(np.allclose(a, b, rtol=1e-13) for a, b in zip(made, want, strict=True))
        assert not any(a.flags.writeable for a in by_vectors.leaves)
        assert all(a.flags.writeable for a in by_arrays if a.ndim)


NUMBERS = [0.5, np.float64(0.5), np.float32(0.5), np.array(0.5), np.array(0.5, np.float32), np.array(0.5)[...]]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers(number: Any) -> None:
    """Numbers of Python and of numpy are arrays without axes."""
    c = hb.compiled(hb.fun(hb.R, hb.R)(lambda x, y: x * hb.exp(y)))
    assert c.on_arrays(number, 1)[0] == c.on_arrays(np.array(0.5), np.float64(1.0))[0]
    out = [np.empty(())]
    assert c.on_arrays(number, 1.0, out=out)[0] is out[0]
    assert np.isclose(out[0], 0.5 * np.exp(1.0))


@pytest.mark.parametrize("bad", [True, np.True_, np.zeros((), bool), np.ones(1), np.array(1j), "1", None, [1.0]])
def test_what_is_no_number(bad: Any) -> None:
    """Truth values, other shapes and complex numbers are refused."""
    c = hb.compiled(hb.fun(hb.R, hb.R)(lambda x, y: x + y))
    with pytest.raises(hb.SpaceError, match="on_arrays, array 1"):
        c.on_arrays(1.0, bad)
    with pytest.raises(hb.SpaceError, match="on_arrays, array 1"):
        c.on_arrays(1.0, bad, out=[np.empty(())])


def test_single_precision() -> None:
    """Double precision is refused where single is due, of numpy's numbers too; Python's numbers are taken."""
    c = hb.compiled(hb.fun(hb.R32)(lambda x: x + x))
    for good in (0.1, np.float32(0.1), np.array(0.1, np.float32)):
        (made,) = c.on_arrays(good)
        assert made.dtype == np.float32
        assert made == np.float32(0.1) * 2
    for bad in (np.float64(0.1), np.array(0.1)):
        with pytest.raises(hb.SpaceError, match="array 0"):
            c.on_arrays(bad)


def test_memory_that_out_shares() -> None:
    """An `out` that is the memory of an argument is refused, however the argument is given."""
    V = hb.R ** hb.Fin.of(4)
    c = hb.compiled(hb.fun(V)(lambda x: x + x))
    a = np.ones(4)
    for given in (a, a[:], a[::-1], a.view(np.ndarray)):
        with pytest.raises(hb.SpaceError, match="shares memory with an argument"):
            c.on_arrays(given, out=[a])


@pytest.mark.parametrize("n", [5, TAKEN])
def test_kernels_between(n: int) -> None:
    """A kernel of the interpreter reads and writes arrays of the workspace, and large ones outside of it."""
    V = hb.R ** hb.Fin.of(n)
    f = hb.fun(V, V)(lambda x, y: (hb.sin(x).sort() * y, x.sort()))
    c, rng = hb.compiled(f), np.random.default_rng(0)
    x, y = V.random(rng), V.random(rng)
    assert c.report.calls
    out = [np.empty(n), np.empty(n)]
    for made in (c(x, y).leaves, c.on_arrays(x.array, y.array), c.on_arrays(x.array, y.array, out=out)):
        assert all(map(np.allclose, made, f(x, y).leaves))


@pytest.mark.parametrize("doubtful", [False, True])
def test_results_in_doubt(*, doubtful: bool) -> None:
    """Where the interpreter runs a call again, results are fresh, go to `out`, and are read-only in vectors."""
    M, V = hb.R ** (hb.Fin.of(2) * hb.Fin.of(2)), hb.R ** hb.Fin.of(2)
    c = hb.compiled(hb.fun(M, V)(lambda a, b: (hb.solve(a, b), b, b.sum())))
    a = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-15 * doubtful + (not doubtful)]])
    b = np.array([1.0, 2.0])
    out = [np.empty(2), np.empty(2), np.empty(())]
    results = c.on_arrays(a, b), c.on_arrays(a, b, out=out), c(M.vec(a), V.vec(b)).leaves
    assert c.reruns == (3 if doubtful else 0)
    for made in results:
        assert np.allclose(made[1], b)
        assert np.allclose(made[2], 3.0)
        assert np.allclose(made[0], results[0][0])
    assert not np.shares_memory(results[0][1], b)
    assert results[0][1].flags.writeable
    assert not any(leaf.flags.writeable for leaf in results[2])


@pytest.mark.parametrize("n", [5, TAKEN])
def test_an_operation_may_keep_its_arguments(n: int) -> None:
    """What it keeps stays, as by the interpreter: one that remembers its last argument gives no old numbers."""
    V, last = hb.R ** hb.Fin.of(n), list[Any]()

    def remembered(xp: Any, x: Any) -> Any:
        if not last or not xp.array_equal(last[0], x):
            last[:] = [x, 2.0 * x]
        return last[1]

    op = hb.operation("remembered", V, to=V, value=remembered)
    for f in (hb.fun(V)(lambda x: op(hb.sin(x))), hb.fun(V)(lambda x: hb.iterate(op, hb.sin(x), hb.Fin.of(3)))):
        c, out = hb.compiled(f), [np.empty(n)]
        assert c.report.calls
        wants = [f(V.full(k)).array for k in (1.0, 2.0, 3.0)]
        for k, want in enumerate(wants, 1):
            x = np.full(n, float(k))
            for made in (*c.on_arrays(x, out=out), *c.on_arrays(x), c(V.full(k)).array):
                assert np.allclose(made, want)


@pytest.mark.parametrize("n", [2, 8])
def test_no_kernel_is_given_numbers_in_doubt(n: int) -> None:
    """The error of a singular matrix comes first: an operation behind that does not see its inverse."""
    X = hb.Fin.of(n)
    M = hb.R ** (X * X)
    seen = list[Any]()

    def look(_: Any, x: Any) -> Any:
        seen.append(x)
        return x

    op = hb.operation("look", M, to=M, value=look)
    c = hb.compiled(hb.fun(M)(lambda a: op(hb.inverse(a)) + hb.eigh(hb.inverse(a))[1]))
    for _ in range(2):
        for error in ("operation inverse: Singular matrix", ""):
            with pytest.raises(hb.SpaceError, match=error) if error else nullcontext():
                c(M.vec(np.zeros((n, n)) if error else np.eye(n)))
    assert len(seen) == 2
    assert all(np.array_equal(x, np.eye(n)) for x in seen)


def test_a_line_of_another_number_of_inputs() -> None:
    """The error says how many there are."""
    line = hb.program(hb.fun(hb.R)(hb.sin)).line
    with pytest.raises(hb.SpaceError, match="a compiled line of 1 inputs does not apply to 2 arrays"):
        CompiledLine(line)([np.zeros(()), np.zeros(())])


def test_the_type_of_compiled_functions() -> None:
    """`CompiledProgram` is the type that users annotate with."""
    f = hb.fun(hb.R)(hb.sin)
    assert isinstance(hb.compiled(f), hb.CompiledProgram)
    assert isinstance(hb.compiled(hb.jacobian_program(f)), hb.CompiledJacobianProgram)
